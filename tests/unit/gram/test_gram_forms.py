"""Every form of a Gram matrix says the same of the same rows, with weights and without."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.linalg import ArpackError

from kfrc.columns import Nominal, Numeric, Table
from kfrc.exceptions import KFRCError
from kfrc.gram import ChebyshevGrams, ColumnGrams, DenseGram, DenseGrams, FactoredGram, FactoredGrams, gram_family
from kfrc.gram.base import Gram
from kfrc.gram.low_rank import ChebyshevGram
from kfrc.gram.nystrom import NystromGrams
from kfrc.kernels import Kernel
from kfrc.kernels.gaussian import GaussianProduct, GaussianSum
from kfrc.kernels.linear import Linear
from kfrc.kernels.path import PathKernel
from kfrc.spectrum import leading_spectrum, spectrum_of

THETA = np.array([0.9, 1.6, 2.5])
ROWS = np.random.default_rng(8).standard_normal((60, 3)) * [1.0, 1.5, 0.7]
NEW = np.random.default_rng(9).standard_normal((7, 3)) * 2.0
WEIGHTS = np.random.default_rng(10).uniform(0.3, 2.5, 60)


def table(weights):
    return Table(ROWS, (Numeric(),) * 3, weights)


FORMS = {
    "dense sum": lambda s: DenseGrams(ROWS, GaussianSum(), s),
    "dense product": lambda s: DenseGrams(ROWS, GaussianProduct(), s),
    "columns, sum": lambda s: ColumnGrams(table(s), GaussianSum()),
    "columns, linear": lambda s: ColumnGrams(table(s), Linear()),
    "landmarks, product": lambda s: NystromGrams(ROWS, GaussianProduct(), 60, s),
    "polynomials": lambda s: ChebyshevGrams(ROWS, GaussianSum()),
    "features": lambda s: FactoredGrams(ROWS, Linear()),
}
WITHOUT_WEIGHTS = ("polynomials", "features")


def forms():
    for name in FORMS:
        for weights in (None, WEIGHTS):
            if weights is None or name not in WITHOUT_WEIGHTS:
                yield pytest.param(name, weights, id=f"{name}{'' if weights is None else ', weighted'}")


every_form = pytest.mark.parametrize(("form", "weights"), list(forms()))


def expected(form, weights):
    """Centered inner products and squared distances, from the kernel itself."""
    kernel = FORMS[form](None).kernel
    E = kernel.shifted(ROWS, ROWS, THETA)
    shares = np.full(60, 1 / 60) if weights is None else weights / weights.sum()
    H = np.eye(60) - shares
    return H @ E @ H.T, kernel


@every_form
def test_products_diagonal_and_columns_are_those_of_the_kernel(form, weights):
    gram = FORMS[form](weights).at(THETA)
    inner, _ = expected(form, weights)
    shares = np.full(60, 1 / 60) if weights is None else weights / weights.sum()
    H = np.eye(60) - shares
    V = np.random.default_rng(1).standard_normal((60, 2))
    assert gram.total == pytest.approx(60 if weights is None else weights.sum())
    assert_allclose(gram.mean(V), shares @ V, rtol=1e-12)
    assert_allclose(H @ gram.matmul(H.T @ V), inner @ V, atol=1e-8)
    assert_allclose(H @ gram.matmul(H.T @ V[:, 0]), inner @ V[:, 0], atol=1e-8)
    assert_allclose(gram.centered_diagonal, np.diagonal(inner), atol=1e-8)
    assert_allclose(H @ gram.columns(range(60)) @ H.T, inner, atol=1e-8)
    assert_allclose(gram.columns([7, 3]), gram.columns(range(60))[:, [7, 3]], atol=1e-12)
    assert_allclose(gram.diagonal(), np.diagonal(gram.columns(range(60))), atol=1e-8)
    assert_allclose(gram.row_means(), Gram.row_means(gram), atol=1e-8)


@every_form
def test_distances_to_centers_are_those_of_the_kernel_for_old_rows_and_new(form, weights):
    gram = FORMS[form](weights).at(THETA)
    _, kernel = expected(form, weights)
    P = np.random.default_rng(2).dirichlet(np.ones(60), 3).T
    own, E = kernel.shifted_diagonal(ROWS, THETA), kernel.shifted(ROWS, ROWS, THETA)
    by_hand = own[:, None] - 2 * E @ P + np.einsum("ji,jk,ki->i", P, E, P)
    distances, norms = gram.center_distances(P)
    assert_allclose(distances, by_hand, atol=1e-8)
    assert_allclose(Gram.center_distances(gram, P)[0], by_hand, atol=1e-8)
    assert_allclose(norms, np.einsum("ji,ji->i", P, gram.matmul(P)), atol=1e-8)
    centers = gram.centers(P)
    assert_allclose(centers.squared_distances(ROWS), by_hand, atol=1e-7)
    new = kernel.shifted_diagonal(NEW, THETA)[:, None] - 2 * kernel.shifted(NEW, ROWS, THETA) @ P
    if not form.startswith("landmarks"):  # new rows are not among them
        assert_allclose(centers.squared_distances(NEW), new + np.einsum("ji,jk,ki->i", P, E, P), atol=1e-7)


@pytest.mark.parametrize("form", ["dense sum", "columns, sum", "columns, linear", "polynomials", "features"])
def test_rows_with_blanks_are_as_far_as_their_known_columns_say(form):
    gram = FORMS[form](None).at(THETA)
    P = np.random.default_rng(2).dirichlet(np.ones(60), 3).T
    centers = gram.centers(P).for_blanks()
    assert_allclose(centers.squared_distances(NEW), gram.centers(P).squared_distances(NEW), atol=1e-7)
    Z = NEW.copy()
    Z[0, 1] = Z[1, [0, 2]] = np.nan
    parts = [
        FORMS[form](None).kernel.shifted(x[:, None], y[:, None], t[None])
        for x, y, t in zip(NEW.T, ROWS.T, THETA, strict=True)
    ]
    kernel = FORMS[form](None).kernel
    own = [kernel.shifted(y[:, None], y[:, None], t[None]) for y, t in zip(ROWS.T, THETA, strict=True)]
    of_new = [kernel.shifted_diagonal(x[:, None], t[None]) for x, t in zip(NEW.T, THETA, strict=True)]
    by_column = [
        o[:, None] - 2 * part @ P + np.einsum("ji,jk,ki->i", P, E, P)
        for o, part, E in zip(of_new, parts, own, strict=True)
    ]
    found = centers.squared_distances(Z)
    assert_allclose(found[0], by_column[0][0] + by_column[2][0], atol=1e-7)
    assert_allclose(found[1], by_column[1][1], atol=1e-7)
    assert_allclose(found[2], sum(part[2] for part in by_column), atol=1e-7)


@pytest.mark.parametrize("form", ["dense product", "landmarks, product"])
def test_rows_with_blanks_have_no_place_where_distances_are_no_sums_over_columns(form):
    with pytest.raises(KFRCError, match="sums over columns"):
        FORMS[form](None).at(THETA).centers(np.full((60, 1), 1 / 60)).for_blanks()


def test_what_was_given_without_rows_knows_neither_kernel_nor_bandwidths():
    for gram in (DenseGram(np.eye(3)), FactoredGram(np.eye(3))):
        with pytest.raises(ValueError, match="neither"):
            gram.centers(np.ones((3, 1)) / 3)
        with pytest.raises(ValueError, match="neither"):
            gram.log_bandwidth_gradients([])


def test_kernels_without_short_features_are_refused_where_these_are_needed():
    with pytest.raises(ValueError, match="no short feature vectors"):
        FactoredGrams(ROWS, GaussianSum()).at(THETA)
    with pytest.raises(ValueError, match="no sum over columns"):
        ColumnGrams(table(None), GaussianProduct())


@pytest.mark.parametrize(
    ("kernel", "approximation", "message"),
    [
        (GaussianSum(), "nystrom", "exact features"),
        (PathKernel(), "auto", "complete numbers"),
        (GaussianProduct(), "low_rank", "needs kernel='sum'"),
    ],
)
def test_a_form_that_a_table_does_not_have_is_refused(kernel, approximation, message):
    with pytest.raises(ValueError, match=message):
        gram_family(table(None), kernel, approximation)


def test_an_unknown_form_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="auto, none, low_rank, nystrom"):
        gram_family(ROWS, GaussianSum(), "lowrank")


def test_a_table_may_be_held_by_landmarks():
    family = gram_family(table(WEIGHTS), GaussianProduct(), "nystrom", 60)
    assert isinstance(family, NystromGrams)
    dense = gram_family(table(WEIGHTS), GaussianProduct(), "none")
    assert_allclose(
        spectrum_of(family.at(THETA), 2).eigenvalues, spectrum_of(dense.at(THETA), 2).eigenvalues, rtol=1e-7
    )


@pytest.mark.parametrize(("n_values", "kind"), [(20, ColumnGrams), (21, ChebyshevGrams)])
def test_columns_of_few_values_are_compared_by_these_where_a_tolerance_is_given(n_values, kind):
    X = np.tile(np.arange(float(n_values)), 10)[: 10 * n_values, None] / n_values
    family = gram_family(X, GaussianSum(), "low_rank", tol=1e-6)
    assert type(family) is kind
    assert type(gram_family(X, GaussianSum(), "low_rank")) is ChebyshevGrams
    exact = spectrum_of(DenseGrams(X, GaussianSum()).at(np.ones(1)), 2).eigenvalues
    assert_allclose(spectrum_of(family.at(np.ones(1)), 2).eigenvalues, exact, atol=1e-4)


def test_many_values_of_a_column_are_resolved_by_polynomials_up_to_a_number_of_them():
    z = np.random.default_rng(0).standard_normal(400)
    family = ColumnGrams(Table(z[:, None], (Numeric(),), None), GaussianSum())
    wide, narrow = np.array([1.0]), np.array([1e-3])
    assert family.resolves(wide)
    assert family.at(wide).approximation_error < 1e-12
    assert not family.resolves(narrow)
    found = family.at(narrow)
    exact = -2.0 * GaussianSum().shifted(z[:200, None], z[:200, None], narrow)
    assert found.approximation_error > 0.1
    assert found.approximation_error < 10.0
    assert exact.mean() == pytest.approx(2.0, rel=0.05)
    few = ColumnGrams(Table(np.round(z)[:, None], (Numeric(),), None), GaussianSum())
    assert few.resolves(narrow)
    assert few.at(narrow).approximation_error == 0.0


def test_the_stated_error_of_a_column_is_the_largest_of_its_known_rows():
    z = np.random.default_rng(0).standard_normal(150)
    z[::3] = np.nan
    family = ColumnGrams(Table(z[:, None], (Numeric(),), None), GaussianSum(), tol=1e-3)
    block = family.at(np.array([0.5])).column_blocks[0]
    known = np.flatnonzero(~np.isnan(z))
    exact = -2.0 * GaussianSum().shifted(z[known, None], z[known, None], np.array([0.5]))
    features = np.empty((block.rank, 150))
    block.write_features(slice(0, 150), features)
    F = features.T[known]
    distances = np.square(F[:, None] - F).sum(axis=2)
    error, mean = block.error(np.arange(150))
    assert error == pytest.approx(np.abs(distances - exact).max(), rel=1e-6)
    assert mean == pytest.approx(exact.mean())
    assert block.error(np.arange(0, 150, 3)) == (0.0, 0.0)


def test_features_that_do_not_fit_are_made_anew_on_every_pass(monkeypatch):
    V = np.random.default_rng(1).standard_normal((60, 2))
    stored = FORMS["columns, sum"](WEIGHTS).at(THETA).matmul(V)
    for name in ("_FEATURE_BYTES", "_SMALL_BYTES"):
        monkeypatch.setattr(f"kfrc.gram.column_grams.{name}", 0)
    monkeypatch.setattr("kfrc.gram.column_grams._BLOCK_ELEMENTS", 200)
    gram = FORMS["columns, sum"](WEIGHTS).at(THETA)
    assert_allclose(gram.matmul(V), stored, rtol=1e-10, atol=1e-10)
    assert gram._stored is None
    assert gram.ranks.sum() == gram.rank


@pytest.mark.parametrize("blanks", [False, True])
def test_columns_of_features_in_several_blocks_are_those_of_one(blanks, monkeypatch):
    values = ROWS.copy()
    if blanks:
        values[::7, 1] = np.nan
    data = Table(values, (Numeric(),) * 3)
    whole = ColumnGrams(data, GaussianSum()).at(THETA)
    wanted = [0, 9, 10, 11, 59]  # 10 begins a block
    columns = whole.columns(wanted)
    monkeypatch.setattr("kfrc.gram.column_grams._BLOCK_ELEMENTS", 10 * whole.rank)
    parts = ColumnGrams(data, GaussianSum()).at(THETA)
    assert [rows.start for rows, _ in parts.blocks()] == [0, 10, 20, 30, 40, 50]
    assert_allclose(parts.columns(wanted), columns, rtol=0, atol=1e-13)


def test_levels_are_resolved_at_every_bandwidth():
    data = Table(np.arange(60.0)[:, None] % 3, (Nominal(("a", "b", "c")),))
    family = ColumnGrams(data, GaussianSum())
    assert family.resolves(np.array([1e-9]))


def test_a_center_of_rows_without_a_value_is_at_the_mean_of_that_column():
    values = ROWS.copy()
    values[:5, 1] = np.nan
    gram = ColumnGrams(Table(values, (Numeric(),) * 3), GaussianSum()).at(THETA)
    P = np.zeros((60, 2))
    P[:5, 0] = 0.2
    P[5:, 1] = 1 / 55
    distances = gram.centers(P).squared_distances(NEW)
    assert np.isfinite(distances).all()
    assert_allclose(
        distances[:, 0] - _column_distances(NEW[:, [0, 2]], values[:5, [0, 2]], THETA[[0, 2]]),
        _column_distances(NEW[:, [1]], values[5:, [1]], THETA[[1]]),
        rtol=0,
        atol=1e-9,
    )


def _column_distances(Z, X, theta):
    """Squared distances of rows from the mean of others, from the kernel itself."""
    kernel = GaussianSum()
    across, among = kernel.shifted(Z, X, theta), kernel.shifted(X, X, theta)
    return -2.0 * across.mean(axis=1) + among.mean()


def test_polynomials_are_not_sent_to_other_processes():
    family = ChebyshevGrams(ROWS, GaussianSum())
    gram = family.at(np.full(3, 2.0))
    assert isinstance(gram, ChebyshevGram)
    assert family._basis is None or pickle.loads(pickle.dumps(family))._basis is None
    family.moments(8)
    again = pickle.loads(pickle.dumps(family))
    assert again._basis is None
    assert_array_equal(again.moments(8), family.moments(8))


def test_landmarks_of_a_path_kernel_state_what_they_do_not_span():
    gram = gram_family(np.random.default_rng(0).standard_normal((80, 2)), PathKernel(), rank=10).at(np.ones(2))
    assert gram.backend == "nystrom"
    assert 0.0 < gram.approximation_error < 1.0
    with pytest.raises(KFRCError, match="no derivative"):
        gram.log_bandwidth_gradients([])


@pytest.mark.parametrize("fails", ["error", "too few"])
def test_the_matrix_is_formed_where_lanczos_steps_fail(fails, monkeypatch):
    gram = FORMS["dense product"](WEIGHTS).at(THETA)
    formed = spectrum_of(gram, 3)

    def failing(*arguments, **options):
        if fails == "error":
            raise ArpackError(-9999)
        return np.zeros(2), np.zeros((60, 2))

    monkeypatch.setattr("kfrc.spectrum._FORMED_MAX_SAMPLES", 10)
    monkeypatch.setattr("kfrc.spectrum.eigsh", failing)
    assert_allclose(spectrum_of(gram, 3).eigenvalues, formed.eigenvalues, rtol=1e-12)


def test_more_eigenvalues_than_rows_are_refused():
    assert len(leading_spectrum(ROWS[:5], THETA, n_eigenvalues=5).eigenvalues) == 5
    with pytest.raises(ValueError, match="exceeds the number of samples"):
        leading_spectrum(ROWS[:5], THETA, n_eigenvalues=6)


@pytest.mark.parametrize("kernel", ["sum", "product"])
def test_large_bandwidths_have_a_linear_limit_unless_rows_have_weights(kernel):
    kernel = Kernel.from_name(kernel)
    for family in (DenseGrams(ROWS, kernel), gram_family(ROWS, kernel, "none")):
        assert family.linear_limit(np.full(3, 1e6), 1e-6) is not None
        assert family.linear_limit(np.full(3, 1e-155), 1e-6) is None
    assert DenseGrams(ROWS, kernel, WEIGHTS).linear_limit(np.full(3, 1e6), 1e-6) is None


def test_a_column_with_one_value_adds_nothing():
    with_it = Table(np.column_stack([ROWS, np.zeros(60)]), (Numeric(),) * 4, WEIGHTS)
    grams = [
        ColumnGrams(table(WEIGHTS), GaussianSum()).at(THETA),
        ColumnGrams(with_it, GaussianSum()).at(np.append(THETA, 1.0)),
    ]
    assert_allclose(grams[1].centered_diagonal, grams[0].centered_diagonal, rtol=1e-12)
    assert_array_equal(grams[1].ranks[:3], grams[0].ranks)
    assert grams[1].ranks[3] == 1


def test_columns_of_infinite_bandwidth_are_left_out():
    without = ColumnGrams(Table(ROWS[:, :2], (Numeric(),) * 2, None), GaussianSum()).at(THETA[:2])
    gram = ColumnGrams(table(None), GaussianSum()).at(np.array([*THETA[:2], np.inf]))
    assert gram.rank == without.rank
    assert_allclose(gram.centered_diagonal, without.centered_diagonal, rtol=1e-12)

"""Laws of tables with columns of any type, blanks and weights: the same numbers as for complete numbers, and more."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from kfrc._numerics import standardize
from kfrc.columns import Column, Numeric, Table
from kfrc.contributions import cluster_contributions, scatter
from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import ComplementaryRoot, Fuzzifier, Power, Quadratic
from kfrc.gram import ChebyshevGrams, ColumnGrams, DenseGrams, FactoredGram, gram_family, places_of
from kfrc.kernels import Kernel
from kfrc.kernels.gaussian import GaussianSum
from kfrc.kernels.linear import Linear
from kfrc.relational import NearUniform, descend, sized_rule, solve_relational
from kfrc.spectrum import eigenvalue_gradients, spectrum_of

KERNELS = ["sum", "linear", "product"]
KINDS = ("numeric", "nominal", "ordinal", "numeric", "nominal")


def codes_of(seed, n_rows=80, missing=0.0):
    """Two overlapping groups in numbers, and levels cut from numbers; some entries missing at random."""
    rng = np.random.default_rng(seed)
    shift = np.repeat([0.0, 2.0], [n_rows // 2, n_rows - n_rows // 2])
    X = rng.normal(size=(n_rows, 5)) + shift[:, None] * [1.0, 0.8, 1.0, 0.3, 0.0]
    for d, cuts in ((1, [0.0, 1.0, 2.0]), (2, [0.5, 1.5]), (4, [0.0])):
        X[:, d] = np.digitize(X[:, d], cuts)
    X[rng.random(X.shape) < missing] = np.nan
    return X


def table(codes, kinds=KINDS, weights=None):
    columns = []
    for d, kind in enumerate(kinds):
        column = Column.registry[kind].learn(f"x{d}", codes[:, d])
        encoded = column.encode(codes[:, d])
        columns.append((column.scaled(encoded, weights), encoded))
    values = np.column_stack([column.standardize(encoded) for column, encoded in columns])
    return Table(values, tuple(column for column, _ in columns), weights)


def bandwidths_of(seed, n=5):
    return np.exp(np.random.default_rng(seed).normal(0.3, 0.5, n))


seeds = st.integers(0, 10**6)
quick = settings(max_examples=15, deadline=None)


@given(seeds, st.sampled_from(["sum", "linear"]))
@quick
def test_a_complete_table_of_numbers_has_the_spectrum_of_the_array(seed, name):
    X = standardize(np.random.default_rng(seed).normal(size=(160, 4)) ** 3)
    theta, kernel = bandwidths_of(seed, 4), Kernel.from_name(name)
    grams = [gram_family(rows, kernel).at(theta) for rows in (X, table(X, ["numeric"] * 4))]
    spectra = [spectrum_of(gram, 3) for gram in grams]
    assert_allclose(spectra[1].eigenvalues, spectra[0].eigenvalues, rtol=0, atol=1e-10)
    gradients = [eigenvalue_gradients(*pair) for pair in zip(grams, spectra, strict=True)]
    assert_allclose(gradients[1], gradients[0], rtol=0, atol=1e-9)


@given(seeds, st.sampled_from(KERNELS), st.booleans(), st.sampled_from([KINDS, ("numeric",) * 5]))
@quick
def test_gradients_are_slopes_with_levels_blanks_and_weights(seed, name, weighted, kinds):
    weights = np.random.default_rng(seed).uniform(0.2, 3.0, 80) if weighted else None
    family = gram_family(table(codes_of(seed, missing=0.2), kinds, weights), Kernel.from_name(name))
    theta = bandwidths_of(seed)
    gram = family.at(theta)
    # All eigenvalues together have a gradient also where two of them are equal.
    spectrum = spectrum_of(gram, 3)
    analytic = gram.log_bandwidth_gradients([spectrum.adjoint(np.ones(3))])[0]
    # The sum of three has no gradient where the third meets the fourth.
    assume(spectrum.eigenvalues[2] - spectrum_of(gram, 4).eigenvalues[3] > 0.01)

    def total(step):
        return spectrum_of(family.at(theta * np.exp(step)), 3).eigenvalues.sum()

    def slope(d, h):
        e = h * np.eye(5)[d]
        return (total(e) - total(-e)) / (2 * h)

    # Two steps, extrapolated: the error falls with the fourth power of the step.
    differences = [(4 * slope(d, 3e-4) - slope(d, 6e-4)) / 3 for d in range(5)]
    assert_allclose(analytic, differences, rtol=0, atol=1e-9)


@given(seeds, st.booleans(), st.sampled_from([0.0, 0.2]))
@quick
def test_points_with_blanks_have_the_numbers_of_features_column_by_column(seed, weighted, missing):
    weights = np.random.default_rng(seed).uniform(0.2, 3.0, 80) if weighted else None
    rows, theta = table(codes_of(seed, missing=missing), ["numeric"] * 5, weights), bandwidths_of(seed)
    points, features = (family.at(theta) for family in (gram_family(rows, Linear()), ColumnGrams(rows, Linear())))
    assert isinstance(points, FactoredGram)
    p = np.random.default_rng(seed).dirichlet(np.full(80, 0.1), size=3).T
    spectra = [spectrum_of(gram, 3) for gram in (points, features)]
    slopes = [
        gram.log_bandwidth_gradients([s.adjoint(np.ones(3))])
        for gram, s in zip((points, features), spectra, strict=True)
    ]
    for found, expected in (
        (points.center_distances(p)[0], features.center_distances(p)[0]),
        (points.columns(range(80)), features.columns(range(80))),
        (points.centers(p).squared_distances(rows.values), features.centers(p).squared_distances(rows.values)),
        (spectra[0].eigenvalues, spectra[1].eigenvalues),
        tuple(slopes),
    ):
        assert_allclose(found, expected, rtol=1e-9, atol=1e-10)


def test_a_nominal_column_has_the_kernel_of_li_and_racine():
    codes = codes_of(0)[:, [1]]
    rows, theta = table(codes, ["nominal"]), np.array([0.7])
    gram = ColumnGrams(rows, GaussianSum()).at(theta)
    shares = np.bincount(codes[:, 0].astype(int)) / len(codes)
    gini = (1 - shares @ shares) * len(codes) / (len(codes) - 1)
    different = np.exp(-1.0 / (gini * theta[0] ** 2))
    K = np.where(np.equal.outer(codes[:, 0], codes[:, 0]), 1.0, different)
    H = np.eye(len(K)) - 1.0 / len(K)
    assert_allclose(gram.matmul(np.eye(len(K))), H @ K @ H, rtol=0, atol=1e-13)


@given(seeds, st.sampled_from(KERNELS), st.booleans())
@quick
def test_a_boolean_column_may_be_called_nominal_or_numeric(seed, name, weighted):
    codes = codes_of(seed, missing=0.1)
    weights = np.random.default_rng(seed).uniform(0.2, 3.0, 80) if weighted else None
    kinds = [("numeric", "nominal", "ordinal", "numeric", last) for last in ("nominal", "numeric", "ordinal")]
    theta = bandwidths_of(seed)
    spectra = [spectrum_of(gram_family(table(codes, k, weights), Kernel.from_name(name)).at(theta), 3) for k in kinds]
    for other in spectra[1:]:
        assert_allclose(other.eigenvalues, spectra[0].eigenvalues, rtol=0, atol=1e-10)


@given(seeds, st.sampled_from(KERNELS))
@quick
def test_other_names_of_nominal_levels_change_nothing(seed, name):
    codes = codes_of(seed, missing=0.1)
    renamed = codes.copy()
    renamed[:, 1] = np.array([2.0, 0.0, 3.0, 1.0])[np.nan_to_num(codes[:, 1]).astype(int)]
    renamed[np.isnan(codes[:, 1]), 1] = np.nan
    theta = bandwidths_of(seed)
    solutions = []
    for values in (codes, renamed):
        gram = gram_family(table(values), Kernel.from_name(name)).at(theta)
        solutions.append(solve_relational(Dissimilarity(gram), 2, Power(1.3), tol=1e-9, random_state=0))
    assert_allclose(solutions[1].objective, solutions[0].objective, rtol=1e-10)
    assert_allclose(solutions[1].memberships, solutions[0].memberships, rtol=0, atol=1e-7)


@given(seeds, st.sampled_from(KERNELS))
@quick
def test_a_weight_is_a_number_of_copies_and_zero_is_absence(seed, name):
    codes = codes_of(seed, missing=0.15)
    weights = np.random.default_rng(seed).integers(0, 4, 80)
    theta, kernel = bandwidths_of(seed), Kernel.from_name(name)
    weighted = gram_family(table(codes, weights=weights.astype(float)), kernel).at(theta)
    repeated = gram_family(table(np.repeat(codes, weights, axis=0)), kernel).at(theta)
    assert_allclose(spectrum_of(weighted, 3).eigenvalues, spectrum_of(repeated, 3).eigenvalues, rtol=0, atol=1e-10)
    start = np.random.default_rng(seed).dirichlet(np.ones(3), size=80)
    for t in (Power(1.4), Quadratic(0.3), ComplementaryRoot(1.3)):
        one = descend(Dissimilarity(weighted), t, start, 200, 1e-8)
        many = descend(Dissimilarity(repeated), t, np.repeat(start, weights, axis=0), 200, 1e-8)
        assert_allclose(one.objective, many.objective, rtol=1e-10)
        assert_allclose(np.repeat(one.memberships, weights, axis=0), many.memberships, rtol=0, atol=1e-7)


@given(seeds)
@quick
def test_sizes_in_the_objective_count_weights_as_copies(seed):
    codes = codes_of(seed, missing=0.15)
    weights = np.random.default_rng(seed).integers(0, 4, 80)
    theta = bandwidths_of(seed)
    start = np.random.default_rng(seed).dirichlet(np.ones(2), size=80)
    runs = []
    for values, s, U in (
        (codes, weights.astype(float), start),
        (np.repeat(codes, weights, axis=0), None, np.repeat(start, weights, axis=0)),
    ):
        dissimilarity = Dissimilarity(gram_family(table(values, weights=s), GaussianSum()).at(theta))
        rule = sized_rule(dissimilarity, U, own_scales=True)
        runs.append((rule.gain, rule.dimension, descend(dissimilarity, rule, U, 20, 0.0).objective))
    assert_allclose(runs[0], runs[1], rtol=1e-6)


@given(seeds, st.sampled_from(KERNELS), st.booleans())
@quick
def test_the_objective_never_rises_with_blanks(seed, name, weighted):
    weights = np.random.default_rng(seed).uniform(0.0, 3.0, 80) if weighted else None
    rows = table(codes_of(seed, missing=0.4), weights=weights)
    dissimilarity = Dissimilarity(gram_family(rows, Kernel.from_name(name)).at(bandwidths_of(seed)))
    start = np.random.default_rng(seed).dirichlet(np.ones(3), size=80)
    for t in (Power(1.5), ComplementaryRoot(1.5), Quadratic(0.4)):
        path = descend(dissimilarity, t, start, 100, 1e-8).objective_path
        assert (np.diff(path) <= 1e-12 * path[0]).all()


@pytest.mark.parametrize("kinds", [("numeric",) * 4, ("numeric", "nominal", "ordinal", "numeric")])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["sum", "product"])
def test_the_critical_m_separates_collapse_from_structure_with_thirty_percent_missing(kinds, weighted, name):
    codes = codes_of(3, n_rows=150, missing=0.3)[:, :4]
    weights = np.random.default_rng(3).integers(0, 4, 150).astype(float) if weighted else None
    gram = gram_family(table(codes, kinds, weights), Kernel.from_name(name)).at(np.ones(4))
    critical = Fuzzifier.from_name("power").critical_m(3, float(spectrum_of(gram, 1).eigenvalues[0]))
    dissimilarity = Dissimilarity(gram)
    start = NearUniform().memberships(dissimilarity, 3, np.random.default_rng(0))
    below, above = (descend(dissimilarity, Power(f * critical), start, 20000, 1e-12) for f in (0.98, 1.02))
    assert np.abs(below.memberships - 1 / 3).max() > 5e-3
    assert np.abs(above.memberships - 1 / 3).max() < 1e-8


def test_the_linear_limit_is_principal_components_of_scores_and_indicators():
    codes = codes_of(5)
    rows = table(codes)
    linear = spectrum_of(ColumnGrams(rows, Linear()).at(np.ones(5)), 4).eigenvalues
    wide = spectrum_of(ColumnGrams(rows, GaussianSum()).at(np.full(5, 1e4)), 4).eigenvalues
    assert_allclose(wide, linear, rtol=0, atol=1e-7)
    blocks = []
    for d, column in enumerate(rows.columns):
        if column.name == "nominal":
            blocks.append(np.eye(len(column.levels))[codes[:, d].astype(int)] / (np.sqrt(2) * column.scale))
        else:
            blocks.append(standardize(codes[:, [d]]))
    Z = np.hstack(blocks)
    Z -= Z.mean(axis=0)
    scaled = Z / np.sqrt((Z**2).sum(axis=1, keepdims=True) * len(Z))
    assert_allclose(linear, np.sort(np.linalg.eigvalsh(scaled.T @ scaled))[::-1][:4], rtol=0, atol=1e-10)
    centered = places_of(rows)
    assert_allclose(centered @ centered.T, Z @ Z.T, rtol=0, atol=1e-10)


@given(seeds)
@quick
def test_partial_distances_are_sums_over_known_columns(seed):
    codes = codes_of(seed, n_rows=30, missing=0.3)
    rows, theta = table(codes), bandwidths_of(seed)
    gram = ColumnGrams(rows, GaussianSum()).at(theta)
    prototypes = np.random.default_rng(seed).dirichlet(np.ones(30), size=2).T
    distances, _ = gram.center_distances(prototypes)
    expected = np.zeros_like(distances)
    for d, column in enumerate(rows.columns):
        known = np.flatnonzero(rows.observed[:, d])
        z = rows.values[known, d]
        E = np.expm1(-0.5 * column.squares(z, z, theta[d]))
        p = prototypes[known] / prototypes[known].sum(axis=0)
        expected[known] += -2 * E @ p + np.einsum("ji,jk,ki->i", p, E, p)
    assert_allclose(distances, expected, rtol=0, atol=1e-11)
    assert_allclose(gram.centers(prototypes).squared_distances(rows.values), expected, rtol=0, atol=1e-10)
    to_rows = Dissimilarity(gram).columns([0, 7])
    assert_allclose(to_rows, gram.center_distances(np.eye(30)[:, [0, 7]])[0], rtol=0, atol=1e-11)


def test_polynomials_and_values_describe_the_same_column():
    rng = np.random.default_rng(0)
    x = np.round(rng.normal(size=400), 2)  # few enough values for indicators at small bandwidths
    rows = table(x[:, None], ["numeric"])
    assert len(np.unique(x)) > 32
    for theta in (0.02, 0.2, 2.0):
        gram = ColumnGrams(rows, GaussianSum()).at(np.array([theta]))
        dense = DenseGrams(rows.values, GaussianSum()).at(np.array([theta]))
        assert_allclose(spectrum_of(gram, 5).eigenvalues, spectrum_of(dense, 5).eigenvalues, rtol=0, atol=1e-11)


def test_the_product_kernel_of_complete_numbers_is_the_usual_one():
    X = standardize(np.random.default_rng(1).normal(size=(60, 3)))
    theta = bandwidths_of(1, 3)
    grams = [gram_family(rows, Kernel.from_name("product")).at(theta) for rows in (X, table(X, ["numeric"] * 3))]
    assert_allclose(grams[1].E, grams[0].E, rtol=0, atol=1e-12)


def test_the_product_kernel_takes_its_expected_value_at_blanks():
    codes = codes_of(2, n_rows=40, missing=0.3)
    rows, theta = table(codes), bandwidths_of(2)
    E = gram_family(rows, Kernel.from_name("product")).at(theta).E
    assert np.linalg.eigvalsh(E + 1.0).min() > -1e-12
    K = np.ones_like(E)
    for d, column in enumerate(rows.columns):
        known = rows.observed[:, d]
        z = rows.values[known, d]
        among = np.exp(-0.5 * column.squares(z, z, theta[d]))
        factor = np.full(E.shape, among.mean())
        factor[np.ix_(known, known)] = among
        factor[np.ix_(known, ~known)] = among.mean(axis=1)[:, None]
        factor[np.ix_(~known, known)] = among.mean(axis=0)
        K *= factor
    assert_allclose(E + 1.0, K, rtol=0, atol=1e-12)


@given(seeds)
@quick
def test_scatter_of_columns_adds_up_to_the_objective(seed):
    rows, theta = table(codes_of(seed, missing=0.2)), bandwidths_of(seed)
    dissimilarity = Dissimilarity(ColumnGrams(rows, GaussianSum()).at(theta))
    t = Power(1.5)
    U = descend(dissimilarity, t, np.random.default_rng(seed).dirichlet(np.ones(2), size=80), 30, 1e-9).memberships
    found = scatter(rows, GaussianSum(), theta, t.value(U))
    here = descend(dissimilarity, t, U, max_iter=0, tol=0.0)
    assert_allclose(found.within.sum(), here.objective, rtol=1e-9)
    assert (found.between >= 0).all()
    shares = cluster_contributions(rows, GaussianSum(), theta, U, t)
    assert_allclose(shares.sum(), 1.0)


def test_a_complete_table_contributes_as_the_array_does():
    X = standardize(np.random.default_rng(2).normal(size=(170, 3)))
    U = np.random.default_rng(2).dirichlet(np.ones(2), size=170)
    arguments = (GaussianSum(), bandwidths_of(2, 3), Power(2.0).value(U))
    plain, typed = scatter(X, *arguments), scatter(table(X, ["numeric"] * 3), *arguments)
    assert_allclose(typed.between, plain.between, rtol=0, atol=1e-9)
    assert_allclose(typed.total, plain.total, rtol=1e-9)


def test_centers_of_complete_rows_place_rows_with_blanks_by_what_is_known():
    rng = np.random.default_rng(4)
    for n_rows in (60, 200):
        X = standardize(rng.normal(size=(n_rows, 3)))
        Z = rng.normal(size=(5, 3))
        Z[[0, 1, 2], [0, 1, 2]] = np.nan
        p = rng.dirichlet(np.ones(n_rows), size=2).T
        for kernel in (GaussianSum(), Linear()):
            theta = bandwidths_of(4, 3)
            plain = gram_family(X, kernel).at(theta).centers(p).for_blanks().squared_distances(Z)
            typed = gram_family(table(X, ["numeric"] * 3), kernel).at(theta).centers(p)
            # in the same units, as X is standardized
            assert_allclose(plain, typed.squared_distances(Z), rtol=1e-9, atol=1e-10)


def test_numbers_with_few_values_are_described_by_indicators():
    rows = Table(np.repeat([[0.0], [1.0], [2.0]], 5, axis=0), (Numeric("x"),))
    gram = ColumnGrams(rows, GaussianSum()).at(np.ones(1))
    assert gram.rank == 2
    assert isinstance(gram_family(np.random.default_rng(0).normal(size=(200, 2)), GaussianSum()), ChebyshevGrams)
    assert_array_equal(gram.centered_diagonal[:5], gram.centered_diagonal[0])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_eigenpairs_do_not_depend_on_whether_rows_or_features_are_fewer(missing, weighted, monkeypatch):
    weights = np.random.default_rng(3).uniform(0.2, 3.0, 40) if weighted else None
    gram = gram_family(table(codes_of(3, 40, missing), weights=weights), GaussianSum()).at(bandwidths_of(3))
    spectra = []
    for features_per_row in (0, 1000):
        monkeypatch.setattr("kfrc.spectrum._DUAL_FROM", features_per_row)
        spectra.append(spectrum_of(gram, 4))
    assert_allclose(spectra[0].eigenvalues, spectra[1].eigenvalues, rtol=1e-9)
    assert_allclose(np.abs(np.sum(spectra[0].eigenvectors * spectra[1].eigenvectors, axis=0)), 1.0, rtol=1e-9)

"""Matrices that were computed in single precision are taken for what they are: rounding is no property of the data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kfrc import FANNY, FRC, KFRC, NERFCM, RFCM, KFRCError
from kfrc._numerics import symmetrize
from kfrc.metrics import fuzzy_silhouette_score
from kfrc.relational import solve_relational
from kfrc.simulation import overlap
from kfrc.stability import leading_eigenvalue

RELATIONAL = [FRC, RFCM, NERFCM, FANNY]
SHAPES = [(20, 3), (90, 8), (150, 700), (600, 40)]


def embeddings(n_rows: int, n_columns: int, *, repeated: bool = False) -> np.ndarray:
    """Rows of length one in single precision, around three directions."""
    rng = np.random.default_rng(1000 * n_rows + n_columns)
    directions = rng.standard_normal((3, n_columns))
    E = directions[np.arange(n_rows) % 3] + 0.4 * rng.standard_normal((n_rows, n_columns))
    if repeated:
        E = E[np.arange(n_rows) % 6]
    E = E.astype(np.float32)
    return E / np.linalg.norm(E, axis=1, keepdims=True)


def products(E: np.ndarray) -> np.ndarray:
    """Inner products, each by an order of summation of its own, so that they are not symmetric either."""
    halves = np.tril(E @ E.T) + np.triu((E[:, ::-1] @ E.T[::-1]), 1)
    assert halves.dtype == np.float32
    return halves


def similar(n_clusters: int) -> KFRC:
    return KFRC(n_clusters, kernel="precomputed", fuzzifier="quadratic", m=0.5, n_init=1, random_state=0)


@pytest.mark.parametrize("repeated", [False, True], ids=["different", "repeated"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
class TestSinglePrecision:
    def test_gram_matrix_gives_what_double_precision_gives(self, shape, repeated):
        E = embeddings(*shape, repeated=repeated)
        fit = similar(3).fit(products(E))
        exact = similar(3).fit(E.astype(float) @ E.T.astype(float))
        np.testing.assert_allclose(fit.memberships_, exact.memberships_, atol=1e-4)

    def test_gram_matrix_places_new_rows(self, shape, repeated):
        K = products(embeddings(*shape, repeated=repeated))
        model = similar(3).fit(K)
        np.testing.assert_allclose(model.predict_proba(K), model.memberships_, atol=1e-4)

    @pytest.mark.parametrize("method", RELATIONAL, ids=lambda method: method.__name__)
    def test_dissimilarities_give_what_double_precision_gives(self, method, shape, repeated):
        E = embeddings(*shape, repeated=repeated)
        exact = 2.0 - 2.0 * E.astype(float) @ E.T.astype(float)
        np.fill_diagonal(exact, 0.0)
        model = method(3, metric="precomputed", m=1.7, random_state=0).fit(2.0 - 2.0 * products(E))
        np.testing.assert_allclose(
            model.memberships_,
            method(3, metric="precomputed", m=1.7, random_state=0).fit(np.maximum(exact, 0)).memberships_,
            atol=1e-3,
        )
        np.testing.assert_allclose(model.predict_proba(2.0 - 2.0 * products(E)), model.memberships_, atol=1e-3)


@pytest.mark.parametrize(
    "form",
    [np.asarray, np.float64, lambda K: K.tolist(), pd.DataFrame, lambda K: 1e6 * K],
    ids=["float32", "converted", "list", "frame", "scaled"],
)
def test_digits_say_the_precision_however_they_are_passed(form):
    K = products(embeddings(90, 8))
    KFRC(2, kernel="precomputed", n_init=1, random_state=0).fit(form(K))
    FRC(2, metric="precomputed", n_init=1, random_state=0).fit(form(2 - 2 * K))


@pytest.mark.parametrize(
    "use",
    [
        lambda R: solve_relational(R, 2),
        leading_eigenvalue,
        lambda R: fuzzy_silhouette_score(R, np.eye(2)[np.arange(len(R)) % 2], metric="precomputed"),
    ],
    ids=["solve_relational", "leading_eigenvalue", "fuzzy_silhouette_score"],
)
def test_functions_take_single_precision_too(use):
    use(2 - 2 * products(embeddings(90, 8)))


@pytest.mark.parametrize("size", [1e-4, 1e-2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_more_than_rounding_is_refused(dtype, size):
    K = symmetrize(products(embeddings(90, 8)).astype(float))
    direction = np.random.default_rng(0).standard_normal(90)
    direction /= np.linalg.norm(direction)
    largest = np.linalg.eigvalsh(K)[-1]
    with pytest.raises(KFRCError, match="not positive semi-definite"):
        KFRC(2, kernel="precomputed").fit((K - size * largest * np.outer(direction, direction)).astype(dtype))
    R = np.maximum(2 - 2 * K, 0)
    np.fill_diagonal(R, 0.0)
    for change, message in [((3, 5), "symmetric"), ((4, 4), "non-zero diagonal")]:
        wrong = R.copy()
        wrong[change] += size * R.max()
        with pytest.raises(ValueError, match=message):
            FRC(2, metric="precomputed").fit(wrong.astype(dtype))
    wrong = R.copy()
    wrong[3, 5] = wrong[5, 3] = -size * R.max()
    with pytest.raises(ValueError, match="negative entries"):
        FRC(2, metric="precomputed").fit(wrong.astype(dtype))


def test_double_precision_is_held_to_its_own_rounding():
    K = (lambda E: E.astype(float) @ E.T.astype(float))(embeddings(90, 8))
    direction = np.random.default_rng(0).standard_normal(90)
    direction -= direction.mean()
    direction /= np.linalg.norm(direction)
    with pytest.raises(KFRCError, match="not positive semi-definite"):
        KFRC(2, kernel="precomputed").fit(K - 1e-6 * np.outer(direction, direction) * np.linalg.eigvalsh(K)[-1])


def test_whether_a_matrix_of_low_rank_is_positive_takes_no_search_for_its_smallest_eigenvalue():
    # One of very many equal ones, which Lanczos looks for in vain.
    E = embeddings(600, 40).astype(float)
    assert similar(3).fit(E @ E.T).status_ == "converged"


@pytest.mark.parametrize("value", [0.0, 0.1, 1.0])
def test_constant_kernel_is_refused_for_what_it_is(value):
    with pytest.raises(KFRCError, match="coincide in feature space"):
        similar(2).fit(np.full((20, 20), value))


@pytest.mark.parametrize("seed", range(3))
def test_covariances_in_single_precision_are_symmetric(seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((2, 400, 12)).astype(np.float32)
    covariances = np.stack([products(a.T) / 400 for a in A])
    means = np.zeros((2, 12))
    found = overlap([0.5, 0.5], means, covariances)
    exact = overlap([0.5, 0.5], means, [symmetrize(c.astype(float)) for c in covariances])
    assert found.average == pytest.approx(exact.average, abs=1e-4)

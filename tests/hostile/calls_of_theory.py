"""Calls of functions of the theory: fuzzifiers, stability, spectra, searches, and the clustering of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from hostile.attack import Broken
from hostile.calls import ROUNDING, Call, between, draw_bandwidths, odd
from hostile.invariants import check_memberships
from hostile.parameters import NONSENSE
from hostile.partitions import draw_frequencies, draw_labels, draw_memberships
from hostile.tables import draw_matrix, draw_table
from kfrc import stability
from kfrc.bandwidth import select_bandwidths
from kfrc.fuzzifiers import ComplementaryRoot, Exponential, Power, Quadratic
from kfrc.relational import solve_relational
from kfrc.spectrum import leading_spectrum

_M = [1.0001, 1.2, 2.0, 2.0, 5.0, 50.0, 1e3, 1e6, 1e12, 1e300, 1 + 1e-15, np.float32(2.5), 2, 1e-12, 1e-300]
_FAMILIES = {Power: _M, Exponential: _M, ComplementaryRoot: _M, Quadratic: [0.5, 1.0, 1e-3, 1e-15, 1e-300, 0.999]}


def draw_fuzzifier(rng: np.random.Generator) -> Any:
    """A fuzzifier or the name of one; sometimes neither."""
    if rng.random() < 0.1:
        return NONSENSE[rng.integers(len(NONSENSE))]
    family = list(_FAMILIES)[rng.integers(4)]
    if rng.random() < 0.3:
        return family.name
    m = _FAMILIES[family][rng.integers(len(_FAMILIES[family]))]
    return family(m) if m in family.m_range else family()


def _draw_count(rng: np.random.Generator) -> Any:
    if rng.random() < 0.15:
        return NONSENSE[rng.integers(len(NONSENSE))]
    return [2, 2, 3, 3, 4, np.int32(3), 1, 0, 17, 10**6, 10**15][rng.integers(11)]


def stability_of(rng: np.random.Generator) -> Call:
    """κ, τ, m* and λ₁."""
    t, c, kind = draw_fuzzifier(rng), _draw_count(rng), rng.integers(4)
    if kind == 0:
        return Call(stability.kappa, (t, c), {}, between(0.0, np.inf))
    if kind == 1:
        return Call(stability.stability_threshold, (t, c), {}, between(0.0, np.inf))
    if kind == 2:
        matrix = draw_matrix(rng)
        unit = 2.0 ** rng.integers(-8, 8)

        def check(result: Any) -> None:
            between(0.0, np.inf)(result)
            if matrix.ordinary and abs(stability.leading_eigenvalue(matrix.values * unit) - result) > ROUNDING:
                raise Broken("the leading eigenvalue depends on the unit")

        return Call(stability.leading_eigenvalue, (matrix.X,), {}, check, matrix)
    values = [
        0.0,
        0.1,
        0.3,
        0.4999999,
        0.5,
        0.7,
        1.0,
        1e-300,
        1e-17,
        -0.1,
        2.0,
        np.inf,
        0.0719,
        0.1438,
        np.float32(0.2),
    ]
    keywords: dict[str, Any] = {"lambda1": values[rng.integers(len(values))]}
    if rng.random() < 0.3:
        keywords = {"R": draw_matrix(rng).X}
    odd(keywords, rng)
    return Call(stability.critical_fuzzifier, (t, c), keywords, between(0.0, np.inf))


def hessian(rng: np.random.Generator) -> Call:
    """The second variation at the uniform solution."""
    matrix = draw_matrix(rng)

    def check(found: Any) -> None:
        if not np.isfinite(found.matrix).all() or not np.isfinite(found.min_eigenvalue):
            raise Broken("the Hessian is not finite")
        if found.stable != (found.min_eigenvalue >= 0):
            raise Broken("stable is not what min_eigenvalue says")

    return Call(stability.uniform_hessian, (matrix.X, draw_fuzzifier(rng), _draw_count(rng)), {}, check, matrix)


def merging(rng: np.random.Generator) -> Call:
    """Where the first two clusters merge."""
    table = draw_matrix(rng) if rng.random() < 0.4 else draw_table(rng)
    labels, _ = draw_labels(len(table.values), rng)
    named = ["sqeuclidean", "euclidean", "cityblock", "cosine", "x"]
    keywords = {"fuzzifier": draw_fuzzifier(rng)}
    keywords["metric"] = "precomputed" if table.made_by[0] == "matrix" else str(rng.choice(named))
    odd(keywords, rng)
    if callable(keywords["metric"]):
        keywords["metric"] = "x"  # whose function fails has its error

    def check(found: Any) -> None:
        between(0.0, np.inf)(found.m)
        if np.isnan(found.pairwise).any() or found.m != found.pairwise.min():
            raise Broken("m is not the smallest of the pairs")
        if (found.pair is None) != np.isinf(found.m):
            raise Broken("a pair is named that never merges, or none that does")

    return Call(stability.merge_bound, (table.X, labels), keywords, check, table)


def draw_distances(rng: np.random.Generator) -> tuple[Any, bool]:
    """Squared distances to centers, and whether they are what is asked for."""
    n, c = int(rng.choice([0, 1, 2, 7, 50])), int(rng.choice([1, 2, 3, 5, 17, 40]))
    A = rng.chisquare(3, (n, c))
    with np.errstate(all="ignore"):
        kinds = [
            A,
            A * 10.0 ** rng.integers(-323, 308),
            10.0 ** rng.uniform(-323, 308, (n, c)),
            np.where(rng.random((n, c)) < 0.3, 0.0, A),
            np.where(rng.random((n, c)) < 0.3, np.inf, A),
            np.full((n, c), rng.choice([0.0, 1.0, np.inf, 5e-324])),
            A.astype(np.float32),
            np.round(A).astype(int),
            1.0 + 1e-15 * A,
            A.tolist(),
        ]
        wrong = [-A, np.where(rng.random((n, c)) < 0.1, np.nan, A), A[:, 0], A[:, :0], A[None], A.astype(str), A + 1j]
    if rng.random() < 0.2:
        pool = [*wrong, *NONSENSE]
        return pool[rng.integers(len(pool))], False
    return kinds[rng.integers(len(kinds))], True


def membership_step(rng: np.random.Generator) -> Call:
    """The exact memberships of squared distances: on the simplex, and in the same order."""
    family = list(_FAMILIES)[rng.integers(4)]
    m = _FAMILIES[family][rng.integers(len(_FAMILIES[family]))]
    t = family(m) if m in family.m_range else family()
    distances, _ = draw_distances(rng)

    def check(U: Any) -> None:
        given = np.asarray(distances, dtype=np.float64)
        if U.shape != given.shape:
            raise Broken("memberships have another shape than distances")
        check_memberships(U, "memberships")
        order = np.argsort(given, axis=1)
        if (np.diff(np.take_along_axis(U, order, axis=1), axis=1) > 1e-9).any():
            raise Broken("a farther center has the larger membership")

    return Call(t.memberships, (distances,), {}, check)


def fuzzifier_curve(rng: np.random.Generator) -> Call:
    """t, t′, t″ on [0, 1], and fuzzifiers of any m."""
    family = list(_FAMILIES)[rng.integers(4)]
    if rng.random() < 0.3:
        pool = [*_FAMILIES[family], *NONSENSE]
        return Call(family, (), {"m": pool[rng.integers(len(pool))]}, lambda t: between(0.0, 1.0)(float(t.value(0.5))))
    m = _FAMILIES[family][rng.integers(len(_FAMILIES[family]))]
    t = family(m) if m in family.m_range else family()
    u = np.sort(np.concatenate([[0.0, 1.0], rng.random(5), 10.0 ** rng.uniform(-300, 0, 3)]))
    name = str(rng.choice(["value", "derivative", "second_derivative", "inverse_derivative"]))

    def check(values: Any) -> None:
        values = np.asarray(values)
        inner = values[1:-1]  # slopes may be infinite at the ends
        if np.isnan(values).any() or (values < 0).any() or not np.isfinite(inner).all():
            raise Broken(f"{name} is NaN or negative")
        if name != "second_derivative" and (np.diff(inner) < -1e-12 * np.abs(inner[1:])).any():
            raise Broken(f"{name} falls")
        if name == "value" and (abs(values[0]) > 0 or abs(values[-1] - 1) > 1e-12):
            raise Broken("t(0) is not 0, or t(1) is not 1")

    return Call(getattr(t, name), (u,), {}, check)


def spectrum(rng: np.random.Generator) -> Call:
    """Leading eigenvalues of F, and their gradients."""
    table = draw_table(rng)
    bandwidths, usual = draw_bandwidths(table.values.shape[1], rng)
    keywords: dict[str, Any] = {"kernel": str(rng.choice(["sum", "sum", "product", "linear", "path"]))}
    keywords["n_eigenvalues"] = int(rng.choice([1, 2, 3, len(table.values), len(table.values) + 1]))
    keywords["gradient"] = bool(rng.random() < 0.5)
    if rng.random() < 0.5:
        keywords["approximation"] = str(rng.choice(["auto", "none", "low_rank", "nystrom"]))
        keywords["rank"] = [None, None, 1, 5, 10**6][rng.integers(5)]
    odd(keywords, rng)
    order, unit = rng.permutation(table.values.shape[1]), 2.0 ** rng.integers(-8, 8)

    def check(found: Any) -> None:
        values = found.eigenvalues
        if table.ordinary and usual and keywords["kernel"] != "path" and keywords.get("approximation") != "nystrom":
            moved = leading_spectrum(table.values[:, order] * unit, bandwidths[order] * unit, **keywords)
            if np.abs(moved.eigenvalues - values).max() > 1e-7:
                raise Broken("eigenvalues depend on the unit or on the order of columns")
        if not np.isfinite(values).all() or (values < 0).any() or (values > 1 + ROUNDING).any():
            raise Broken("eigenvalues are outside 0 and 1")
        if (np.diff(values) > ROUNDING).any() or values.sum() > 1 + 1e-6:
            raise Broken("eigenvalues do not fall, or sum to more than one")
        if not np.allclose(found.eigenvectors.T @ found.eigenvectors, np.eye(len(values)), atol=1e-6):
            raise Broken("eigenvectors are not orthonormal")
        if not np.isfinite(found.centered_diagonal).all() or (found.centered_diagonal < 0).any():
            raise Broken("the centered diagonal is negative or not finite")
        if (found.gradients is None) == bool(keywords["gradient"]):
            raise Broken("gradients are there that were not asked for, or the other way round")
        if found.gradients is not None and not np.isfinite(found.gradients).all():
            raise Broken("gradients are not finite")

    return Call(leading_spectrum, (table.X, bandwidths), keywords, check, table)


def search(rng: np.random.Generator) -> Call:
    """Bandwidths from one start."""
    table = draw_table(rng)
    keywords: dict[str, Any] = {"kernel": str(rng.choice(["sum", "sum", "product", "linear"]))}
    keywords["threshold"] = float(rng.choice([0.0, 0.0, 0.1, 0.1, 0.2, 0.2, 0.5, 1.0, 1e300]))
    keywords["criterion"] = str(rng.choice(["sum", "log_sum", "gap"]))
    keywords["max_anisotropy"] = float(rng.choice([1.0, 3.0, 10.0, 1e300, np.inf]))
    keywords["n_starts"] = 1
    keywords["random_state"] = 0
    if rng.random() < 0.5:
        keywords["level"] = float(rng.choice([0.0, 1.0, 3.0, -3.0, 99.0, -99.0]))
    elif rng.random() < 0.3:
        bounds = [(0.0, 1.0), (1.0, 0.0), (np.nan, 1.0), (-np.inf, np.inf), (2.0, 2.0), (0.0,), "ab", (None, 1.0), 3]
        keywords["level_bounds"] = bounds[rng.integers(len(bounds))]
    keywords["search_samples"] = ["auto", "auto", None, None, 5, 2][rng.integers(6)]
    odd(keywords, rng, never=("n_starts",))
    bound = keywords["max_anisotropy"]

    def check(found: Any) -> None:
        if found.bandwidths.shape != (table.values.shape[1],) or not (found.bandwidths > 0).all():
            raise Broken("bandwidths are not positive, or not one for each column")
        if not np.isfinite(found.log_bandwidths).all() or not np.isfinite(found.eigenvalues).all():
            raise Broken("log-bandwidths or eigenvalues are not finite")
        if found.feasible and found.eigenvalues[0] < found.threshold - 1e-3:
            raise Broken("the threshold is not reached")
        if np.ptp(found.log_bandwidths) > np.log(bound) + 1e-6:
            raise Broken("bandwidths differ by more than max_anisotropy")

    c = _draw_count(rng) if rng.random() < 0.2 else int(rng.choice([2, 2, 3]))
    return Call(select_bandwidths, (table.X, c), keywords, check, table)


def clustering(rng: np.random.Generator) -> Call:
    """Memberships from a matrix of dissimilarities."""
    matrix = draw_matrix(rng)
    n = len(matrix.values)
    c = _draw_count(rng) if rng.random() < 0.3 else int(rng.choice([2, 2, 3]))
    init = rng.choice(["spectral", "near_uniform", "random", "kmeans++", "blocks"])
    keywords: dict[str, Any] = {"init": str(init), "max_iter": int(rng.choice([1, 5, 100]))}
    keywords["tol"] = float(rng.choice([1e-6, 0.0, 1e300, np.inf]))
    keywords["n_init"] = int(rng.choice([1, 2]))
    keywords["random_state"] = 0
    keywords["sample_weight"] = draw_frequencies(n, rng)
    odd(keywords, rng, never=("n_init",))
    if rng.random() < 0.25:
        keywords["init"], _ = draw_memberships(n, rng)
        c = keywords["init"].shape[1] if getattr(keywords["init"], "ndim", 0) == 2 else c

    def check(found: Any) -> None:
        check_memberships(found.memberships, "memberships")
        if found.memberships.shape != (n, c):
            raise Broken("memberships have another shape")
        if not np.isfinite(found.objective_path).all() or found.objective != found.objective_path[-1]:
            raise Broken("the objective is not finite, or not the last of its path")
        if len(found.objective_path) != found.n_iter + 1:
            raise Broken("the path of the objective has another length than n_iter says")
        path = found.objective_path
        if (np.diff(path) > 1e-9 * np.abs(path).max()).any():
            raise Broken("the objective rises")

    return Call(solve_relational, (matrix.X, c, draw_fuzzifier(rng)), keywords, check, matrix)

"""When the uniform solution is stable, so that a fit collapses to it (Section 3): κ, τ, m*, the Hessian, merges."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.linalg import eigh

from kfrc._numerics import double_center
from kfrc._validation import (
    check_data,
    check_dissimilarities,
    check_labels,
    check_n_clusters,
    check_number,
    check_squares,
)
from kfrc.fuzzifiers import Fuzzifier
from kfrc.gram import DenseGram
from kfrc.spectrum import spectrum_of
from kfrc.typing import ArrayLike, FloatArray


def kappa(fuzzifier: str | Fuzzifier, n_clusters: int) -> float:
    """κ(t_m, 1/c) = 2 t′(1/c)² / (t(1/c) t″(1/c)); the uniform solution is unstable when κ λ₁(F) > 1.

    Parameters
    ----------
    fuzzifier : str or Fuzzifier
        A name stands for its default m.
    n_clusters : int

    References
    ----------
    Corollary 3.2.1 of the paper.

    Examples
    --------
    >>> from kfrc.fuzzifiers import Power
    >>> from kfrc.stability import kappa
    >>> kappa(Power(m=2), n_clusters=3)
    4.0
    """
    return Fuzzifier.resolve(fuzzifier).kappa(check_n_clusters(n_clusters, n_clusters))


def stability_threshold(fuzzifier: str | Fuzzifier, n_clusters: int) -> float:
    """τ = lim 1/κ as m grows to its largest value: with λ₁ ≥ τ no m collapses (Section 3.3).

    Parameters
    ----------
    fuzzifier : str or Fuzzifier
    n_clusters : int

    Examples
    --------
    >>> from kfrc.stability import stability_threshold
    >>> {name: round(stability_threshold(name, 4), 3) for name in ["power", "quadratic", "complementary_root"]}
    {'power': 0.5, 'quadratic': 0.25, 'complementary_root': 0.144}
    """
    return Fuzzifier.resolve(fuzzifier).threshold(check_n_clusters(n_clusters, n_clusters))


def leading_eigenvalue(R: ArrayLike) -> float:
    """λ₁ of F for any symmetric dissimilarities: the uniform solution is unstable exactly when κ λ₁ > 1.

    With ``D_j = R_j• / n − R_•• / 2n²``, the second variation of J is ψ (D − κ B / n) for B = −HRH/2, so λ₁ is the
    largest eigenvalue of D^{-1/2} B D^{-1/2} / n. A sample with D_j < 0 (possible only if R is not Euclidean) makes the
    uniform solution unstable at every m, and the answer is ``inf``.

    Parameters
    ----------
    R : array-like of shape (n_samples, n_samples)

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.stability import leading_eigenvalue
    >>> x = np.array([0.0, 0.0, 1.0, 1.0])
    >>> round(leading_eigenvalue(np.subtract.outer(x, x) ** 2), 6)
    1.0
    """
    return _leading_eigenvalue(check_dissimilarities(R))


def _leading_eigenvalue(R: FloatArray) -> float:
    gram = DenseGram(-0.5 * R)
    if (gram.centered_diagonal < 0).any():
        return math.inf
    return float(spectrum_of(gram, 1).eigenvalues[0])


def critical_fuzzifier(
    fuzzifier: str | Fuzzifier,
    n_clusters: int,
    *,
    lambda1: float | None = None,
    R: ArrayLike | None = None,
) -> float:
    """m*: the fuzziness at which a fit collapses to 1/c, known before fitting; ``inf`` if it never does.

    Parameters
    ----------
    fuzzifier : str or Fuzzifier
        Which function; its own m is irrelevant.
    n_clusters : int
    lambda1 : float, optional
        Leading eigenvalue of F; a negative one counts as zero.
    R : array-like of shape (n_samples, n_samples), optional
        Dissimilarities to compute it from; give exactly one of the two.

    References
    ----------
    Theorem 3.2 and Corollary 3.2.1 of the paper.

    Examples
    --------
    >>> from kfrc.stability import critical_fuzzifier
    >>> round(critical_fuzzifier("power", 3, lambda1=0.36966), 3)
    3.836
    """
    if (lambda1 is None) == (R is None):
        raise ValueError("give exactly one of lambda1 (the leading eigenvalue of F) and R (dissimilarities)")
    value = leading_eigenvalue(R) if R is not None else check_number(lambda1, "lambda1", minimum=-math.inf)
    # F is positive semi-definite: what is below zero is rounding.
    return Fuzzifier.resolve(fuzzifier).critical_m(check_n_clusters(n_clusters, n_clusters), max(value, 0.0))


@dataclass(frozen=True)
class UniformHessian:
    """Second variation of J at the uniform solution.

    Attributes
    ----------
    matrix : ndarray of shape (n_samples, n_samples)
        Q of Theorem 3.2, with HRH in place of R so that no side condition is needed.
    """

    matrix: FloatArray

    @cached_property
    def min_eigenvalue(self) -> float:
        """Smallest eigenvalue of Q; negative means the uniform solution is a saddle and a fit leaves it."""
        return float(eigh(self.matrix, eigvals_only=True, subset_by_index=[0, 0])[0])

    @property
    def stable(self) -> bool:
        """Whether a fit started near 1/c falls back to it."""
        return self.min_eigenvalue >= 0


def uniform_hessian(R: ArrayLike, fuzzifier: str | Fuzzifier, n_clusters: int) -> UniformHessian:
    """``Q = χ²/(2nζ) HRH + ψ/(2n) diag(R1) − ψ R_••/(4n²) I``, exact for any symmetric R.

    Here ζ = t(1/c), χ = t′(1/c), ψ = t″(1/c). The paper states Q with R and restricts it to vectors that sum to zero;
    moving mass between clusters enters only through HRH, so with HRH no restriction is needed.

    Parameters
    ----------
    R : array-like of shape (n_samples, n_samples)
    fuzzifier : str or Fuzzifier
    n_clusters : int

    References
    ----------
    Theorem 3.2 of the paper.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.stability import uniform_hessian
    >>> x = np.array([0.0, 0.1, 5.0, 5.1])
    >>> uniform_hessian(np.subtract.outer(x, x) ** 2, "power", 2).stable
    False
    """
    R = check_dissimilarities(R)
    t = Fuzzifier.resolve(fuzzifier)
    n_samples = len(R)
    n_clusters = check_n_clusters(n_clusters, n_samples)
    t.check_weights(n_clusters)
    u = np.float64(1.0 / n_clusters)
    zeta, chi, psi = float(t.value(u)), float(t.derivative(u)), float(t.second_derivative(u))
    row_sums = R.sum(axis=1)
    Q = chi**2 / (2 * n_samples * zeta) * double_center(R)
    Q[np.diag_indices(n_samples)] += psi / (2 * n_samples) * row_sums - psi * row_sums.sum() / (4 * n_samples**2)
    return UniformHessian(Q)


@dataclass(frozen=True)
class MergeBound:
    """The fuzziness up to which every pair of clusters stays apart.

    Attributes
    ----------
    m : float
        Smallest pairwise m*: from here on some pair, looked at alone, has a stable solution in which it is merged.
    pair : tuple of int or None
        The two clusters that merge first; None if no pair ever does.
    pairwise : ndarray of shape (n_clusters, n_clusters)
        m* of every pair, ``inf`` on the diagonal.
    """

    m: float
    pair: tuple[int, int] | None
    pairwise: FloatArray


def merge_bound(
    X_or_R: ArrayLike,
    labels: ArrayLike,
    *,
    fuzzifier: str | Fuzzifier = "power",
    metric: str = "sqeuclidean",
) -> MergeBound:
    """The fuzziness at which two clusters can first merge: the c = 2 condition on every pair.

    The paper calls the smallest of these an upper bound of the first merge. It is where the merged solution of a pair
    becomes stable; a fit that already separates the pair can keep it apart somewhat longer, as the transition is not
    always gradual (the same holds for m*, see ``docs/decisions/where-collapse-happens.md``).

    Parameters
    ----------
    X_or_R : array-like
        Data (n_samples, n_features), or dissimilarities with ``metric="precomputed"``.
    labels : array-like of shape (n_samples,)
        Hardened clusters of a fit with small m.
    fuzzifier : str or Fuzzifier, default="power"
    metric : str, default="sqeuclidean"
        Any metric of scikit-learn, or ``"precomputed"``.

    References
    ----------
    Last paragraph of Section 3.2 of the paper.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.stability import merge_bound
    >>> X = np.random.default_rng(0).normal(size=(60, 8))
    >>> labels = np.repeat([0, 1, 2], 20)
    >>> X[labels == 2] += 5.0
    >>> bound = merge_bound(X, labels)
    >>> bound.pair, round(bound.m, 2)
    ((0, 1), 1.83)
    """
    if metric == "precomputed":
        R = check_dissimilarities(X_or_R)
    else:
        from sklearn.metrics import pairwise_distances

        X = check_data(X_or_R)
        check_squares(X)
        R = check_dissimilarities(pairwise_distances(X, metric=metric))
    groups = check_labels(labels, len(R))
    t = Fuzzifier.resolve(fuzzifier)
    n_clusters = int(groups.max()) + 1
    if n_clusters < 2:
        raise ValueError("labels name a single cluster: nothing can merge")
    pairwise = np.full((n_clusters, n_clusters), math.inf)
    for a, b in combinations(range(n_clusters), 2):
        members = np.flatnonzero((groups == a) | (groups == b))
        value = _leading_eigenvalue(R[np.ix_(members, members)])
        pairwise[a, b] = pairwise[b, a] = t.critical_m(2, value)
    first, second = divmod(int(np.argmin(pairwise)), n_clusters)
    smallest = float(pairwise.min())
    return MergeBound(smallest, (first, second) if math.isfinite(smallest) else None, pairwise)

"""Spectrum of the normalized, centered Gram matrix F (Corollary 3.2.1) and its derivative in K (Appendix A)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from kfrc._eigenpairs import LANCZOS_TOL, largest_pairs, starting_vectors
from kfrc._numerics import DIAGONAL_FLOOR, EIGENVALUE_TIE, check_memory
from kfrc._validation import check_bandwidths, check_data, check_flag, check_positive_int, check_squares
from kfrc.columns import Table
from kfrc.exceptions import ApproximationWarning, KFRCError
from kfrc.gram import Gram, gram_family
from kfrc.kernels import Kernel, SymmetricLowRank
from kfrc.typing import ArrayLike, FloatArray

_FORMED_MAX_SAMPLES = 300
"""Up to here F is formed; beyond it Lanczos uses products with K."""

_DUAL_FROM = 4
"""Features per row from which on the n × n problem is solved instead of the r × r one: it is sixteen times smaller."""


@dataclass(frozen=True)
class Spectrum:
    """Leading eigenpairs of F = D^{-1/2} HKH D^{-1/2} / n, D = diag(HKH).

    With weights s of the rows, S = Σ s, the mean that H takes away is weighted, and F is
    s^{1/2} D^{-1/2} HKHᵀ D^{-1/2} s^{1/2} / S.

    Attributes
    ----------
    eigenvalues : ndarray of shape (k,)
        Descending; all eigenvalues of F lie in [0, 1] and sum to one.
    eigenvectors : ndarray of shape (n_samples, k)
        Orthonormal.
    centered_diagonal : ndarray of shape (n_samples,)
        D: squared distance of every sample to the center of mass in feature space.
    gradients : ndarray of shape (k, n_features) or None
        ∂λ_i / ∂ log θ_d.
    row_weights : ndarray of shape (n_samples,) or None
        s; None if all rows count once.
    """

    eigenvalues: FloatArray
    eigenvectors: FloatArray
    centered_diagonal: FloatArray
    gradients: FloatArray | None = None
    row_weights: FloatArray | None = None

    @cached_property
    def scaled_eigenvectors(self) -> FloatArray:
        """H D^{-1/2} v_i, of shape (n_samples, k); with weights Hᵀ s^{1/2} D^{-1/2} v_i."""
        W = self.eigenvectors / np.sqrt(self.centered_diagonal)[:, None]
        s = self.row_weights
        if s is None:
            return W - W.mean(axis=0)
        W *= np.sqrt(s)[:, None]
        return W - np.outer(s / s.sum(), W.sum(axis=0))

    def adjoint(self, weights: FloatArray) -> SymmetricLowRank:
        """∂(Σ_i w_i λ_i)/∂K: rank at most k + 2 (MATH: G = w̃w̃ᵀ/n + (a1ᵀ + 1aᵀ)/n − (Σa) 11ᵀ/n²).

        Weights of (nearly) equal eigenvalues are averaged: the single eigenvalues of an invariant subspace have no
        gradient, their sum does, and the average is a subgradient.
        """
        weights = average_over_ties(np.asarray(weights, dtype=np.float64), self.eigenvalues)
        used = np.flatnonzero(weights)
        n_samples = len(self.centered_diagonal)
        pull = (self.eigenvectors[:, used] ** 2 @ (weights[used] * self.eigenvalues[used])) / self.centered_diagonal
        s = self.row_weights
        return SymmetricLowRank(
            vectors=self.scaled_eigenvectors[:, used],
            weights=weights[used],
            shift=pull - (pull.sum() / (2 * n_samples) if s is None else pull.sum() / (2 * s.sum()) * s),
            diagonal=-pull,
            row_weights=s,
        )

    def coordinates(self) -> FloatArray:
        """Kernel principal coordinates √n D^{1/2} V Λ^{1/2}: rows approximate the centered feature vectors."""
        s = self.row_weights
        total = len(self.centered_diagonal) if s is None else float(s.sum())
        scale = np.sqrt(total * self.eigenvalues)
        coordinates = np.sqrt(self.centered_diagonal)[:, None] * self.eigenvectors * scale
        if s is not None:
            # A row that stands for none has no direction of its own; it starts at the center.
            coordinates *= np.where(s > 0, 1.0 / np.sqrt(np.where(s > 0, s, 1.0)), 0.0)[:, None]
        return coordinates


def leading_spectrum(
    X: ArrayLike | Table,
    bandwidths: ArrayLike,
    *,
    kernel: str | Kernel = "sum",
    n_eigenvalues: int = 2,
    gradient: bool = False,
    approximation: str = "auto",
    rank: int | None = None,
) -> Spectrum:
    """Leading eigenvalues of F at given bandwidths, with their gradients on request.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or Table
        Used as it is; standardize first if the columns have different units. :func:`kfrc.columns.table_of` makes a
        table of columns of any type, blanks and weights.
    bandwidths : array-like of shape (n_features,) or float
        θ, one per feature.
    kernel : {"sum", "product", "linear"} or Kernel, default="sum"
    n_eigenvalues : int, default=2
        How many of the largest eigenvalues.
    gradient : bool, default=False
        Whether to differentiate them with respect to log θ.
    approximation : {"auto", "none", "low_rank", "nystrom"}, default="auto"
        How the Gram matrix is held, see :func:`kfrc.gram.gram_family`.
    rank : int, optional
        Landmarks of ``"nystrom"``.

    Returns
    -------
    Spectrum

    References
    ----------
    Corollary 3.2.1 and Appendix A of the paper.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from kfrc.spectrum import leading_spectrum
    >>> X = scale(load_iris().data)
    >>> leading_spectrum(X, [0.5, 1, 5, 0.5], n_eigenvalues=2).eigenvalues.round(3)
    array([0.369, 0.191])
    """
    if not isinstance(X, Table):
        X = check_data(X)
        check_squares(X)
    bandwidths = check_bandwidths(bandwidths, X.shape[1])
    n_eigenvalues = check_positive_int(n_eigenvalues, "n_eigenvalues")
    if n_eigenvalues > len(X):
        raise ValueError(f"n_eigenvalues = {n_eigenvalues} exceeds the number of samples, {len(X)}")
    gradient = check_flag(gradient, "gradient")
    family = gram_family(X, Kernel.resolve(kernel), approximation, rank)
    gram = family.at(bandwidths)
    if not family.resolves(bandwidths):
        warnings.warn(
            "the bandwidths are too small for the kernel to be resolved at every row: squared distances are off by up "
            f"to {gram.approximation_error:.2g} times their mean. Use larger bandwidths or at most 5000 rows",
            ApproximationWarning,
            stacklevel=2,
        )
    spectrum = spectrum_of(gram, n_eigenvalues)
    if gradient:
        spectrum = replace(spectrum, gradients=eigenvalue_gradients(gram, spectrum))
    return spectrum


def eigenvalue_gradients(gram: Gram, spectrum: Spectrum) -> FloatArray:
    """∂λ_i/∂ log θ_d for every eigenvalue of ``spectrum``, of shape (k, n_features)."""
    identity = np.eye(len(spectrum.eigenvalues))
    return gram.log_bandwidth_gradients([spectrum.adjoint(row) for row in identity])


def spectrum_of(gram: Gram, n_eigenvalues: int, *, warm_start: Spectrum | None = None) -> Spectrum:
    """Leading eigenpairs of F for a Gram matrix in any form.

    Parameters
    ----------
    gram : Gram
    n_eigenvalues : int
    warm_start : Spectrum, optional
        The spectrum at nearby bandwidths; saves Lanczos steps, never changes the answer beyond rounding.
    """
    diagonal = _floored(gram.centered_diagonal, gram)
    if gram.feature_blocks() is not None:
        many = next(_blocks(gram))[1].shape[1] > _DUAL_FROM * gram.n_samples
        pairs = _pairs_from_many_features if many else _pairs_from_features
        values, vectors = pairs(gram, diagonal, n_eigenvalues)
    elif gram.n_samples <= max(_FORMED_MAX_SAMPLES, n_eigenvalues + 1):
        values, vectors = _pairs_of_formed(gram, diagonal, n_eigenvalues, warm_start)
    else:
        values, vectors = _pairs_by_lanczos(gram, diagonal, n_eigenvalues, warm_start)
    # F is positive semi-definite with trace one; what is outside [0, 1] is rounding.
    return Spectrum(np.clip(values, 0.0, 1.0), vectors, diagonal, row_weights=gram.weights)


def _floored(diagonal: FloatArray, gram: Gram) -> FloatArray:
    scale = float(gram.mean(diagonal))
    if not scale > 0:
        raise KFRCError(
            "all samples coincide in feature space, so there is no direction to separate them: "
            "check for duplicated rows, or use smaller bandwidths"
        )
    return np.maximum(diagonal, DIAGONAL_FLOOR * scale)


def _pairs_from_features(gram: Gram, diagonal: FloatArray, n_eigenvalues: int) -> tuple[FloatArray, FloatArray]:
    """F = AAᵀ with A = D^{-1/2} Φ / √n: the r × r problem AᵀA has the same non-zero eigenvalues."""
    n_samples, totals = gram.n_samples, gram.feature_totals
    scale = _row_scale(gram, diagonal)
    rank = next(_blocks(gram))[1].shape[1]
    # The matrix, and one term of its sum.
    remedy = "fewer columns, larger bandwidths, or fewer rows"
    check_memory(16 * rank**2, f"the eigenvalue problem of {rank} features", remedy)
    inner: FloatArray | float = 0.0
    for rows, features in _blocks(gram):
        A = features * scale[rows, None]
        if totals is not None:
            A /= np.sqrt(totals)
        inner = inner + A.T @ A
    values, small = largest_pairs(np.asarray(inner), n_eigenvalues)
    # Beyond the rank of F the eigenvalue is zero and any orthonormal completion is an eigenvector.
    n_positive = int((values > n_samples * np.finfo(float).eps * values[0]).sum())
    small = small[:, :n_positive] / np.sqrt(values[:n_positive])
    if totals is not None:
        small /= np.sqrt(totals)[:, None]
    vectors = np.empty((n_samples, n_eigenvalues))
    for rows, features in _blocks(gram):
        vectors[rows, :n_positive] = (features @ small) * scale[rows, None]
    if n_positive < n_eigenvalues:
        vectors[:, n_positive:] = _null_vectors(gram, scale, n_eigenvalues - n_positive)
    padded = np.zeros(n_eigenvalues)
    padded[:n_positive] = values[:n_positive]
    return padded, vectors


def _pairs_from_many_features(gram: Gram, diagonal: FloatArray, n_eigenvalues: int) -> tuple[FloatArray, FloatArray]:
    """F = AAᵀ itself, with A = D^{-1/2} Φ / √n: where features outnumber rows the n × n problem is the small one."""
    n_samples, totals, scale = gram.n_samples, gram.feature_totals, _row_scale(gram, diagonal)
    A: FloatArray | None = None
    for rows, features in _blocks(gram):
        if A is None:
            A = np.empty((n_samples, features.shape[1]))
        np.multiply(features, scale[rows, None], out=A[rows])
    assert A is not None  # there are rows
    if totals is not None:
        A /= np.sqrt(totals)
    return largest_pairs(A @ A.T, n_eigenvalues)


def _row_scale(gram: Gram, diagonal: FloatArray) -> FloatArray:
    """√(s_j / (S D_j)): what rows of features are multiplied by; S goes with the features where columns have blanks."""
    total = gram.total if gram.feature_totals is None else 1.0
    scale: FloatArray = 1.0 / np.sqrt(total * diagonal)
    return scale if gram.weights is None else scale * np.sqrt(gram.weights)


def _null_vectors(gram: Gram, scale: FloatArray, n_vectors: int) -> FloatArray:
    """Orthonormal vectors orthogonal to the range of A = scale ∘ Φ; only tiny ranks ever ask for them."""
    totals = np.ones(1) if gram.feature_totals is None else gram.feature_totals
    A = np.vstack([features * scale[rows, None] / np.sqrt(totals) for rows, features in _blocks(gram)])
    guess = starting_vectors((gram.n_samples, n_vectors))
    guess -= A @ np.linalg.lstsq(A, guess, rcond=None)[0]
    return np.linalg.qr(guess)[0]


def _blocks(gram: Gram) -> Iterator[tuple[slice, FloatArray]]:
    blocks = gram.feature_blocks()
    assert blocks is not None  # the caller has checked
    return blocks


def _pairs_of_formed(
    gram: Gram, diagonal: FloatArray, n_eigenvalues: int, warm_start: Spectrum | None = None
) -> tuple[FloatArray, FloatArray]:
    scale = 1.0 / np.sqrt(diagonal) if gram.weights is None else np.sqrt(gram.weights / diagonal)
    F = gram.columns(range(gram.n_samples))
    means = gram.mean(F)
    F = F - means  # not in place: the columns are the kernel's own
    F -= (means - gram.mean(means))[:, None]
    F *= scale
    F *= (scale / gram.total)[:, None]
    return largest_pairs(F, n_eigenvalues, None if warm_start is None else warm_start.eigenvectors.sum(axis=1))


def _pairs_by_lanczos(
    gram: Gram, diagonal: FloatArray, n_eigenvalues: int, warm_start: Spectrum | None
) -> tuple[FloatArray, FloatArray]:
    n_samples, total, s = gram.n_samples, gram.total, gram.weights
    scale = 1.0 / np.sqrt(diagonal) if s is None else np.sqrt(s / diagonal)

    def apply(x: FloatArray) -> FloatArray:
        y = scale * x.ravel()
        y -= y.mean() if s is None else y.sum() / total * s
        z = gram.matmul(y)
        z -= gram.mean(z)
        z *= scale
        z /= total
        return z

    operator = LinearOperator((n_samples, n_samples), matvec=apply, dtype=np.float64)
    start = starting_vectors(n_samples) if warm_start is None else warm_start.eigenvectors.sum(axis=1)
    n_vectors = min(n_samples - 1, max(2 * n_eigenvalues + 1, 20))
    try:
        values, vectors = eigsh(operator, k=n_eigenvalues, which="LA", v0=start, ncv=n_vectors, tol=LANCZOS_TOL)
    except ArpackError:
        values = np.empty(0)
    if len(values) < n_eigenvalues:
        return _pairs_of_formed(gram, diagonal, n_eigenvalues)
    order = np.argsort(values)[::-1]
    return values[order], vectors[:, order]


def average_over_ties(weights: FloatArray, eigenvalues: FloatArray) -> FloatArray:
    """Weights of eigenvalues with those of (nearly) equal ones averaged: only their sum has a gradient."""
    averaged = weights.copy()
    for group in _tied_groups(eigenvalues):
        averaged[group] = weights[group].mean()
    return averaged


def _tied_groups(eigenvalues: FloatArray) -> list[slice]:
    values = eigenvalues.tolist()  # a few numbers: plain ones are faster
    tolerance = EIGENVALUE_TIE * max(values[0], np.finfo(float).tiny)
    cuts = [k for k in range(1, len(values)) if values[k - 1] - values[k] > tolerance]
    return [slice(low, high) for low, high in pairwise([0, *cuts, len(values)]) if high - low > 1]

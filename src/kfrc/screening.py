"""Which columns say anything about each other: columns that depend on no other cannot tell groups apart with them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtri
from scipy.stats import pearson3, rankdata

from kfrc import activity
from kfrc._numerics import double_center
from kfrc._registry import Registered
from kfrc.columns import Rows, Table, thinned_rows
from kfrc.typing import BoolArray, FloatArray, IntArray

_MAX_LOG = 300.0
"""Largest −log₁₀ p that is told apart: below 10⁻³⁰⁰ numbers end."""


_LEAST_ROWS = 8
"""With fewer rows no p-value can be small."""

_MAX_ENTRIES = 2.5e7
"""Entries of all kernels together: 200 MB."""

_TINY = 1e-100
"""Stands for the moments of a column that does not vary among the rows that are seen."""


@dataclass(frozen=True)
class Screening:
    """What a screen found.

    Attributes
    ----------
    dependence : ndarray of shape (n_features, n_features)
        How surely two columns depend on each other: −log₁₀ of the p-value, corrected for the number of tries.
    threshold : float
        Above it a pair counts as dependent.
    """

    dependence: FloatArray
    threshold: float

    @property
    def dependent(self) -> BoolArray:
        """Which pairs of columns depend on each other, of shape (n_features, n_features)."""
        return self.dependence > self.threshold

    @property
    def relevance(self) -> FloatArray:
        """The surest dependence of each column on another one, of shape (n_features,)."""
        if len(self.dependence) < 2:
            return np.zeros(len(self.dependence))
        off_diagonal = self.dependence + np.diag(np.full(len(self.dependence), -np.inf))
        return off_diagonal.max(axis=1)

    @property
    def relevant(self) -> BoolArray:
        """Columns that depend on another one; all of them if there are none."""
        found = self.relevance > self.threshold
        return found if found.any() else np.ones_like(found)

    def components(self) -> list[IntArray]:
        """Groups of columns that hang together by dependent pairs, single columns left out."""
        n_components, member = connected_components(self.dependent, directed=False)
        groups = [np.flatnonzero(member == k) for k in range(n_components)]
        return [group for group in groups if len(group) > 1]


@dataclass(frozen=True)
class Screen(Registered, ABC):
    """A way to tell columns that take part in a structure from columns that do not.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.screening import Screen
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([0, 1], 50)
    >>> X = np.column_stack([4 * labels, 4 * labels, 0 * labels]) + rng.standard_normal((100, 3))
    >>> Screen.from_name("dependence").examine(X).relevant
    array([ True,  True, False])
    """

    @property
    def width(self) -> float:
        """Columns up to which a choice sees all of a table; of wider ones it sees the foremost columns only."""
        return math.inf

    def sees(self, n_features: int) -> bool:
        """Whether so many columns are examined, rather than all taken for relevant."""
        return True

    @abstractmethod
    def examine(self, X: Rows) -> Screening:
        """Dependence of the columns of X, of shape (n_samples, n_features)."""


@dataclass(frozen=True)
class NoScreen(Screen, name="none"):
    """Every column counts as relevant."""

    def examine(self, X: Rows) -> Screening:  # noqa: D102
        n_features = X.shape[1]
        return Screening(np.where(np.eye(n_features, dtype=bool), 0.0, _MAX_LOG), threshold=1.0)


@dataclass(frozen=True)
class DependenceScreen(Screen, name="dependence"):
    """Pairwise tests of independence that see dependence of any form (HSIC).

    Columns are replaced by their normal scores, so that neither units nor outliers matter. Two columns are compared by
    Gaussian kernels of a few bandwidths: small ones see rings, large ones see lines. Under independence the statistic
    is tr(A P B Pᵀ) for a random permutation P: its mean and variance are known exactly, its skewness in the limit, and
    a Pearson type III distribution with these three moments gives the p-value. The Gaussian and gamma null that are
    common for this test have the wrong tail.

    Parameters
    ----------
    bandwidths : tuple of float
        In standard deviations of the scores.
    threshold : float
        −log₁₀ of the corrected p-value above which a pair counts as dependent.
    max_rows : int
        Rows beyond are left out evenly: strong structure needs few rows, and the cost grows with their square. Wide
        tables are seen by fewer, so that all kernels fit into 200 MB.
    max_columns : int
        Wider tables are not screened: every column counts as relevant.
    max_width : int
        Of tables with more columns than this an automatic choice sees the foremost only, see
        ``kfrc.selection.wide``.

    References
    ----------
    A. Gretton et al. (2007). A kernel statistical test of independence. NIPS.
    F. Kazi-Aoual et al. (1995). Refined approximations to permutation tests for multivariate inference. CSDA 20.
    """

    bandwidths: tuple[float, ...] = (0.15, 0.3, 1.0)
    threshold: float = 2.0
    max_rows: int = 500
    max_columns: int = 1000
    max_width: int = 250

    @property
    def width(self) -> float:  # noqa: D102
        return self.max_width

    def sees(self, n_features: int) -> bool:  # noqa: D102
        return n_features <= self.max_columns

    def examine(self, X: Rows) -> Screening:  # noqa: D102
        n_samples, n_features = X.shape
        if n_features > self.max_columns:
            return NoScreen().examine(X)
        n_rows = min(self.max_rows, int(np.sqrt(_MAX_ENTRIES / n_features)))
        if isinstance(X, Table):
            X = replace(X[thinned_rows(X, n_rows)], weights=None)
        elif n_samples > n_rows:
            X = X[thinned_rows(X, n_rows)]
        if n_features < 2 or len(X) < _LEAST_ROWS:
            return Screening(np.zeros((n_features, n_features)), self.threshold)
        if isinstance(X, Table):
            surest = np.max([_minus_log_p_of_table(X, h) for h in self.bandwidths], axis=0)
        else:
            scores = normal_scores(X)
            surest = np.max([_minus_log_p(scores, h) for h in self.bandwidths], axis=0)
        tries = len(self.bandwidths) * (n_features - 1)
        return Screening(surest - np.log10(tries), self.threshold)


def normal_scores(X: FloatArray) -> FloatArray:
    """Ranks of each column as quantiles of a standard normal distribution, of the shape of X; ties share a rank."""
    return np.asarray(ndtri((rankdata(X, axis=0) - 0.5) / len(X)))


def _minus_log_p(scores: FloatArray, bandwidth: float) -> FloatArray:
    """−log₁₀ p of every pair of columns, of shape (n_features, n_features)."""
    n_samples, n_features = scores.shape
    kernels = np.empty((n_features, n_samples, n_samples))
    # Columns without ties have the same scores in another order, hence the same entries and eigenvalues.
    keys = [np.sort(column).tobytes() for column in scores.T]
    of_values: dict[bytes, FloatArray] = {}
    for d in range(n_features):
        values, place, counts = np.unique(scores[:, d], return_inverse=True, return_counts=True)
        if keys[d] not in of_values:
            of_values[keys[d]] = _centered_kernel(values, bandwidth, counts)
        of_values[keys[d]].take(place, axis=0).take(place, axis=1, out=kernels[d])
    return _minus_log_p_of_kernels(kernels, scores, keys)


def _minus_log_p_of_table(table: Table, bandwidth: float) -> FloatArray:
    """The same for columns of any type: levels are alike or not, and a blank is at the center."""
    n_samples, n_features = table.shape
    kernels = np.zeros((n_features, n_samples, n_samples))
    for d, column in enumerate(table.columns):
        known = np.flatnonzero(table.observed[:, d])
        x = table.values[known, d]
        if len(known) < 2:
            continue
        if column.discrete:
            kernel = double_center(np.equal.outer(x, x).astype(np.float64))
        else:
            kernel = _centered_kernel(normal_scores(x[:, None])[:, 0], bandwidth)
        kernels[d][np.ix_(known, known)] = kernel
    values = np.where(table.observed, table.values, np.nan)
    return _minus_log_p_of_kernels(kernels, values, [bytes([d % 256, d // 256]) for d in range(n_features)])


def _minus_log_p_of_kernels(kernels: FloatArray, values: FloatArray, same: list[bytes]) -> FloatArray:
    """From centered kernels (n_features, n_samples, n_samples) of columns; equal eigenvalues have equal keys."""
    n_features, n_samples = kernels.shape[:2]
    traces = np.empty((n_features, 4))
    known: dict[bytes, float] = {}
    for d in range(n_features):
        activity.step("looking at columns", d, n_features)
        diagonal = np.diagonal(kernels[d])
        if same[d] not in known:
            known[same[d]] = _trace_of_cube(kernels[d], values[:, d])
        traces[d] = diagonal.sum(), np.vdot(kernels[d], kernels[d]), np.vdot(diagonal, diagonal), known[same[d]]
    flat = kernels.reshape(n_features, -1)
    mean, variance, skewness = _permutation_moments(traces, n_samples)
    z = (flat @ flat.T - mean) / np.sqrt(np.maximum(variance, _TINY))
    return np.clip(-pearson3.logsf(z, skewness) / np.log(10.0), 0.0, _MAX_LOG)


def _trace_of_cube(kernel: FloatArray, x: FloatArray) -> float:
    """The trace of A³ for the kernel of a column: rows with one value have one row of A, which is computed once."""
    _, first, counts = np.unique(x, return_index=True, return_counts=True)
    weighted = kernel[np.ix_(first, first)] * counts
    return float(np.vdot((weighted @ weighted).T, weighted))


def _centered_kernel(values: FloatArray, bandwidth: float, counts: IntArray | None = None) -> FloatArray:
    """HKH of one column, with a row for each of its values, of which there are so many."""
    kernel = np.exp(-0.5 * np.square(np.subtract.outer(values, values) / bandwidth))
    shares = np.full(len(values), 1.0 / len(values)) if counts is None else counts / counts.sum()
    means = kernel @ shares
    return kernel - means - means[:, None] + means @ shares


def _permutation_moments(traces: FloatArray, n: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean, variance and skewness of tr(A P B Pᵀ) over permutations P, for all pairs of matrices A, B.

    Parameters
    ----------
    traces : ndarray of shape (k, 4)
        tr A, tr A², Σ a_jj² and tr A³ of centered matrices.
    n : int
        Their size.

    Returns
    -------
    mean, variance, skewness : ndarray of shape (k, k)
        The first two exact (Kazi-Aoual et al. 1995), the last as n → ∞, where the statistic is a sum of squared normal
        variables weighted by the products of the eigenvalues.
    """
    first, second, squares, third = traces.T
    mean = np.outer(first, first) / (n - 1)
    spread = (n - 1) * second - first**2
    shape = n * (n + 1) * squares - (n - 1) * (first**2 + 2.0 * second)
    variance = 2.0 * np.outer(spread, spread) / ((n - 1) ** 2 * (n + 1) * (n - 2))
    variance += np.outer(shape, shape) / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
    skewness = np.sqrt(8.0) * np.outer(third, third) / np.maximum(np.outer(second, second), _TINY) ** 1.5
    return mean, variance, skewness

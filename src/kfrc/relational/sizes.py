"""Sizes and scales of clusters in the objective: the entropy rule, adapted exactly while a run descends."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.special import entr

from kfrc._numerics import Interval, row_blocks
from kfrc._validation import check_memberships
from kfrc.dissimilarity import Dissimilarity
from kfrc.exceptions import KFRCError
from kfrc.fuzzifiers import Fuzzifier
from kfrc.gram import Gram
from kfrc.spectrum import spectrum_of
from kfrc.typing import FloatArray

SCALE_ROWS = 5.0
"""Rows of the common scale that are added to each cluster which has a scale of its own: two rows cannot fix one."""

_SIZE_ROWS = 1e-6
"""Rows added to the size of each cluster, so that the size of an empty one has a logarithm."""

_SMALLEST_SCALE = 1e-8
"""Scales are at least this share of the scale of all rows together: clusters of equal rows keep a finite density."""

_BLOCK_ELEMENTS = 1 << 22
"""Entries of the Gram matrix that are looked at together."""

_FULL_MAX_SAMPLES = 200
"""Up to here the eigenvalue comes from the whole matrix, which beats the overhead of Lanczos steps."""

_START_SEED = 20261
"""Seed of the Lanczos starting vector: results do not depend on global state."""


@dataclass(frozen=True)
class SizedEntropy(Fuzzifier):
    """Memberships by size, scale and distance: u_ji ∝ π_i s_i^(−q/2T) exp(−d_ji / (2 T s_i)).

    The rule minimizes, over memberships, centers, sizes π and scales s,

        J = Σ_ji u_ji [(d_ji / (2 s_i) + (q/2) log s_i) / T − log π_i + log u_ji] + priors,

    where d_ji are squared distances to the centers in feature space. At T = 1 this is what expectation-maximization
    lowers for round Gaussian clusters in q dimensions; a larger T is fuzzier.

    Parameters
    ----------
    m : float
        The temperature T > 0.
    log_sizes : tuple of float
        log π_i of every cluster.
    scales : tuple of float
        s_i of every cluster, all equal unless ``own_scales``.
    dimension : float
        q, the effective number of dimensions in which rows vary within clusters. It stays fixed.
    common_scale : float
        The scale that own scales are drawn to. It stays fixed.
    smallest_scale : float
        No scale may be smaller.
    own_scales : bool
        Whether each cluster has its own scale. Then each gets ``SCALE_ROWS`` rows of the common scale s₀, that is,
        ``SCALE_ROWS`` · Σ_i (q s₀ / (2 s_i) + (q/2) log s_i) / T is among the priors.
    gain : float
        The temperature at which equal memberships become stable, per unit of λ₁.

    Notes
    -----
    J never rises, at any T, because an iteration is a sequence of exact minimizations, each over some of the unknowns
    with the others fixed:

    - Memberships. Row by row, Σ_i u_i (a_i + log u_i) over the simplex has the minimizer u_i ∝ exp(−a_i).
    - Centers. Of cluster i only Σ_j u_ji d_ji / (2 T s_i) depends on its center, and the mean with weights u_ji
      minimizes it, whatever the scale.
    - Sizes. −Σ_i (n_i + ε) log π_i over the simplex, n_i = Σ_j u_ji, is smallest at π_i ∝ n_i + ε; the ε rows are a
      prior, and keep an empty cluster finite.
    - Scales. A sum A/s + B log s falls up to s = A/B and rises from there, so with a lower bound on s the minimizer is
      the larger of A/B and the bound. For a common scale A/B = Σ_ji u_ji d_ji / (n q), for own ones
      (Σ_j u_ji d_ji + 5 q s₀) / (q (n_i + 5)).

    q and s₀ are no unknowns: they come from the partition at the start.

    Equal memberships, all centers at the mean and sizes 1/c, are a fixed point. A small deviation e_i of cluster i,
    summing to zero over the rows, becomes M e_i / T in one iteration, with M = HKH / (n s), and for own scales the
    additional term of rank one from s_i. So it dies out exactly if T exceeds the largest eigenvalue of M.
    """

    m: float = 1.0
    log_sizes: tuple[float, ...] = ()
    scales: tuple[float, ...] = ()
    dimension: float = 1.0
    common_scale: float = 1.0
    smallest_scale: float = 0.0
    own_scales: bool = False
    gain: float = 1.0
    m_range: ClassVar[Interval] = Interval(0, math.inf)
    label: ClassVar[str] = "entropy with sizes"
    has_penalty: ClassVar[bool] = True

    def value(self, u: Any) -> Any:
        """u: what makes memberships fuzzy is their entropy, not their weight."""
        return u

    def derivative(self, u: Any) -> Any:
        """One."""
        return np.ones_like(u)

    def second_derivative(self, u: Any) -> Any:
        """Zero."""
        return np.zeros_like(u)

    def memberships(self, distances: FloatArray) -> FloatArray:
        """Exact minimizer of J over each row of memberships, given squared distances; their scale matters here.

        ``inf`` marks an empty cluster; a row that is infinitely far from all is shared equally.
        """
        return self.sample_memberships(np.ascontiguousarray(np.asarray(distances, dtype=np.float64).T)).T.copy()

    def sample_memberships(self, distances: FloatArray) -> FloatArray:
        """The same for samples (n_clusters, n_samples), in the precision of the distances."""
        scales = np.array(self.scales)
        offsets = np.array(self.log_sizes) - 0.5 * self.dimension / self.m * np.log(scales)
        kind = distances.dtype
        logits = offsets.astype(kind)[:, None] - distances / (2.0 * self.m * scales).astype(kind)[:, None]
        largest = logits.max(axis=0)
        nowhere = np.isneginf(largest)
        if nowhere.any():
            logits, largest = np.where(nowhere, 0.0, logits), np.where(nowhere, 0.0, largest)
        logits -= largest
        U: FloatArray = np.exp(logits, out=logits)
        U /= U.sum(axis=0)
        return U

    def costs(self, distances: FloatArray) -> FloatArray:
        """d_ji / (2 T s_i)."""
        return distances / (2.0 * self.m * np.array(self.scales))

    def sample_costs(self, distances: FloatArray) -> FloatArray:
        """The same for samples (n_clusters, n_samples)."""
        return distances / (2.0 * self.m * np.array(self.scales)).astype(distances.dtype)[:, None]

    def penalty(self, U: FloatArray, row_weights: FloatArray | None = None) -> float:
        """All of J but the distances: entropy, sizes, scales and priors."""
        entropy = float(entr(U).sum()) if row_weights is None else float(row_weights @ entr(U).sum(axis=1))
        return self.penalty_of(_masses(U, row_weights), entropy)

    def penalty_of(self, masses: FloatArray, entropy: float) -> float:
        """The same from sums over all samples."""
        log_scales = np.log(self.scales)
        volumes = float(masses @ log_scales)
        if self.own_scales:
            volumes += SCALE_ROWS * float((self.common_scale / np.array(self.scales) + log_scales).sum())
        sizes = float((masses + _SIZE_ROWS) @ np.array(self.log_sizes))
        return 0.5 * self.dimension / self.m * volumes - sizes - entropy

    def adapted(self, U: FloatArray, distances: FloatArray, row_weights: FloatArray | None = None) -> SizedEntropy:
        """The sizes and scales that minimize J, given memberships and distances."""
        # Nobody belongs to an empty cluster, however far it is.
        counts = U if row_weights is None else U * row_weights[:, None]
        scatters = np.einsum("ji,ji->i", counts, np.where(U > 0, distances, 0.0))
        return self.adapted_to(_masses(U, row_weights), scatters)

    def adapted_to(self, masses: FloatArray, scatters: FloatArray) -> SizedEntropy:
        """The same from sums over all samples."""
        sizes = masses + _SIZE_ROWS
        if self.own_scales:
            scatters = scatters + SCALE_ROWS * self.dimension * self.common_scale
            scales = scatters / (self.dimension * (masses + SCALE_ROWS))
        else:
            scales = np.full(len(masses), scatters.sum() / (self.dimension * masses.sum()))
        return replace(
            self,
            log_sizes=tuple(np.log(sizes / sizes.sum()).tolist()),
            scales=tuple(np.maximum(scales, self.smallest_scale).tolist()),
        )

    def reordered(self, order: list[int]) -> SizedEntropy:
        """The rule for clusters in another order."""
        return replace(
            self,
            log_sizes=tuple(self.log_sizes[i] for i in order),
            scales=tuple(self.scales[i] for i in order),
        )

    def collapsed_row(self, U: FloatArray) -> FloatArray:
        """The mean row: where all centers coincide, memberships are the sizes."""
        row: FloatArray = U.mean(axis=0)
        return row

    def inverse_kappa(self, n_clusters: int) -> float:
        """The λ₁ above which equal memberships are unstable at this temperature."""
        return self.m / self.gain

    def threshold(self, n_clusters: int) -> float:
        """Infinite: a temperature that is high enough makes all memberships equal."""
        return math.inf

    def critical_m(self, n_clusters: int, leading_eigenvalue: float) -> float:
        """The temperature from which on equal memberships are stable.

        It is exact for the λ₁ of the rows that the rule was made from, and in proportion to λ₁ for others.
        """
        return self.gain * leading_eigenvalue


def sized_rule(
    dissimilarity: Dissimilarity, U: FloatArray, temperature: float = 1.0, own_scales: bool = False
) -> SizedEntropy:
    """The rule that a partition implies, to start a run of :func:`kfrc.relational.descend` from that partition.

    Parameters
    ----------
    dissimilarity : Dissimilarity
    U : ndarray of shape (n_samples, n_clusters)
        Memberships; rows sum to one.
    temperature : float, default=1.0
    own_scales : bool, default=False
        Whether each cluster has its own scale.

    Examples
    --------
    A few rows far from many: plain k-means would rather cut the many.

    >>> import numpy as np
    >>> from kfrc.dissimilarity import Dissimilarity
    >>> from kfrc.relational import descend, sized_rule
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 1, (95, 2)), rng.normal(3.5, 1, (5, 2))])
    >>> dissimilarity, U = Dissimilarity.from_features(X), np.repeat(np.eye(2), [90, 10], axis=0)
    >>> rule = sized_rule(dissimilarity, U, temperature=1.0)
    >>> solution = descend(dissimilarity, rule, U, max_iter=1000, tol=1e-6)
    >>> bool(np.exp(solution.fuzzifier.log_sizes).min() < 0.1)
    True
    """
    U = check_memberships(U, shape=(dissimilarity.n_samples, None))
    n_clusters, gram = U.shape[1], dissimilarity.gram
    masses = _masses(U, gram.weights)
    counts = U if gram.weights is None else U * gram.weights[:, None]
    prototypes = counts / np.where(masses > 0, masses, 1.0)
    distances = np.maximum(dissimilarity.center_distances(prototypes)[0], 0.0)
    deviations = np.maximum(gram.centered_diagonal, 0.0)
    dimension = effective_dimension(gram, U)
    total_scale = float(gram.mean(deviations)) / dimension
    if not total_scale > 0:  # all rows coincide: any scale will do
        total_scale = 1.0
    rule = SizedEntropy(
        m=temperature,
        dimension=dimension,
        common_scale=max(float((counts * distances).sum()) / (gram.total * dimension), _SMALLEST_SCALE * total_scale),
        smallest_scale=_SMALLEST_SCALE * total_scale,
        own_scales=own_scales,
    )
    gain = _gain(gram, deviations, rule, n_clusters)
    return replace(rule, gain=gain).adapted(U, distances, gram.weights)


def _masses(U: FloatArray, row_weights: FloatArray | None) -> FloatArray:
    """Rows in each cluster, weights counted."""
    masses: FloatArray = U.sum(axis=0) if row_weights is None else row_weights @ U
    return masses


def effective_dimension(gram: Gram, U: FloatArray) -> float:
    """Return q = tr(S)² / tr(S²), S the scatter of samples about the centers of a partition; one if all are on a line.

    With centers v_i = Σ_j u_ji φ_j / n_i the scatter Σ_ji u_ji (φ_j − v_i)(φ_j − v_i)ᵀ is Φᵀ A Φ, A = I − PPᵀ with
    P_ji = u_ji / √n_i. It is formed where there are features. Otherwise the same traces come from the columns of K:
    tr(S) = tr(KA) and tr(S²) = tr(KAKA).

    Parameters
    ----------
    gram : Gram
    U : ndarray of shape (n_samples, n_clusters)
        Rows sum to one.
    """
    masses = _masses(U, gram.weights)
    P = U / np.sqrt(np.where(masses > 0, masses, 1.0))
    root = None if gram.weights is None else np.sqrt(gram.weights)[:, None]
    if root is not None:
        P = root * P  # each row counts s times: rows of features by √s, weights of centers too
    blocks = gram.feature_blocks()
    if blocks is not None:
        moments: FloatArray | float = 0.0
        sums: FloatArray | float = 0.0
        for rows, features in blocks:
            if root is not None:
                features = features * root[rows]
            moments = moments + features.T @ features
            sums = sums + features.T @ P[rows]
        sums = np.asarray(sums)
        scatter = np.asarray(moments) - sums @ sums.T
        trace, squares = float(np.trace(scatter)), float(np.square(scatter).sum())
    else:
        trace, squares = _traces_by_columns(gram, P)
    # Between rows of a matrix that are weighted, traces are of rows that are not: a measure of dimension all the same.
    return max(trace**2 / squares, 1.0) if trace > 0 and squares > 0 else 1.0


def _traces_by_columns(gram: Gram, P: FloatArray) -> tuple[float, float]:
    """tr(KA) and tr(KAKA) = Σ_jk (KA)_jk (KA)_kj, from columns of K."""
    product = gram.matmul(P)
    inner = P.T @ product
    trace = float(gram.diagonal().sum()) - float(np.trace(inner))
    # tr(KAKA) = ‖K‖² − 2‖KP‖² + ‖PᵀKP‖². K is centered first, which A allows and which saves digits.
    means = gram.row_means()
    level = float(means.mean())
    weights = P.sum(axis=0)
    product = product - np.outer(means, weights) - np.outer(np.ones(len(P)), means @ P - level * weights)
    inner = P.T @ product
    squares = 0.0
    for rows in row_blocks(len(P), len(P), _BLOCK_ELEMENTS):
        block = gram.columns(range(*rows.indices(len(P)))) - means[:, None] - means[rows] + level
        squares += float(np.square(block).sum())
    squares += float(np.square(inner).sum()) - 2.0 * float(np.square(product).sum())
    return trace, squares


def _gain(gram: Gram, deviations: FloatArray, rule: SizedEntropy, n_clusters: int) -> float:
    """The critical temperature of the rows, divided by their λ₁."""
    n_samples, total, q, s = len(deviations), gram.total, rule.dimension, gram.weights
    scatter = float(gram.mean(deviations)) * total if s is not None else float(deviations.sum())
    pull = np.zeros(n_samples)
    scale = max(scatter / (total * q), rule.smallest_scale)
    if rule.own_scales:
        rows = total + n_clusters * SCALE_ROWS
        scale = max((scatter + n_clusters * SCALE_ROWS * q * rule.common_scale) / (q * rows), rule.smallest_scale)
        # Where far rows join a cluster its scale grows, and more far rows join.
        pull = (deviations - gram.mean(deviations)) / (scale * math.sqrt(2.0 * q * rows))
    weights = np.ones(n_samples) if s is None else s
    root = np.sqrt(weights)
    pull *= root

    def apply(V: FloatArray) -> FloatArray:
        # In √s x, in which a row that counts s times is symmetric.
        inside = (root * V.T).T
        y = gram.matmul(inside - np.multiply.outer(weights, inside.sum(axis=0) / total)) / (total * scale)
        return (root * (y - gram.mean(y)).T).T + np.multiply.outer(pull, pull @ V)

    try:
        leading = float(spectrum_of(gram, 1).eigenvalues[0])
    except KFRCError:  # all rows coincide
        leading = 0.0
    if not leading > 0:
        return q
    if n_samples <= _FULL_MAX_SAMPLES:
        M = apply(np.eye(n_samples))
        critical = float(eigh(0.5 * (M + M.T), eigvals_only=True, subset_by_index=[n_samples - 1, n_samples - 1])[0])
    else:
        operator = LinearOperator((n_samples, n_samples), matvec=apply, dtype=np.float64)
        start = np.random.default_rng(_START_SEED).standard_normal(n_samples)
        critical = float(eigsh(operator, k=1, which="LA", v0=start, tol=1e-8, return_eigenvectors=False)[0])
    return critical / leading

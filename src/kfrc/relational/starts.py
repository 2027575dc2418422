"""Starting memberships: what ``init`` may be."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from kfrc._numerics import as_generator
from kfrc._registry import Registered
from kfrc._validation import as_array, check_membership_shape, check_memberships
from kfrc.dissimilarity import Dissimilarity
from kfrc.spectrum import spectrum_of
from kfrc.typing import ArrayLike, FloatArray, RandomStateLike

_PERTURBATION = 1e-3  # of the near-uniform start: small enough that the linear theory decides what grows
_OWN_MEMBERSHIP = 0.9  # of a sample in the cluster of its block of rows


@dataclass(frozen=True)
class Start(Registered, ABC):
    """A way to draw the memberships a run starts from.

    Attributes
    ----------
    deterministic : bool
        Whether a second run would start at the same place; further runs then start from k-means++ instead.
    keeps_numbering : bool
        Whether the clusters of the start have numbers that mean something, so that the result keeps them.

    Examples
    --------
    A start of your own works wherever a name does:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from kfrc.relational import Start, solve_relational
    >>> @dataclass(frozen=True)
    ... class EveryOther(Start):
    ...     '''Samples join the clusters in turn.'''
    ...     deterministic = True
    ...     def memberships(self, dissimilarity, n_clusters, rng):
    ...         return np.eye(n_clusters)[np.arange(dissimilarity.n_samples) % n_clusters]
    >>> x = np.array([0.0, 5.0, 0.1, 5.2])
    >>> solve_relational(np.subtract.outer(x, x) ** 2, 2, init=EveryOther()).memberships.argmax(axis=1)
    array([0, 1, 0, 1])
    """

    deterministic: ClassVar[bool] = False
    keeps_numbering: ClassVar[bool] = False

    @abstractmethod
    def memberships(self, dissimilarity: Dissimilarity, n_clusters: int, rng: np.random.Generator) -> FloatArray:
        """Starting memberships of shape (n_samples, n_clusters)."""

    def numbers_run(self, run: int) -> bool:
        """Whether the result of a run, counted from 0, keeps its numbers: not one that began from k-means++ instead."""
        return self.keeps_numbering and (run == 0 or not self.deterministic)


@dataclass(frozen=True)
class Spectral(Start, name="spectral"):
    """k-means on the leading c − 1 kernel principal coordinates, the directions in which uniformity breaks first."""

    deterministic: ClassVar[bool] = True

    def memberships(  # noqa: D102
        self, dissimilarity: Dissimilarity, n_clusters: int, rng: np.random.Generator
    ) -> FloatArray:
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning

        if n_clusters == 1:
            return np.ones((dissimilarity.n_samples, 1))
        gram = dissimilarity.gram
        if (gram.centered_diagonal <= 0).any() and gram.feature_blocks() is None:
            # Not squared distances of anything: there are no coordinates, but nearest seeds still make sense.
            return KMeansPlusPlus().memberships(dissimilarity, n_clusters, rng)
        n_coordinates = min(n_clusters - 1, gram.n_samples - 1)
        coordinates = spectrum_of(gram, n_coordinates).coordinates()
        with warnings.catch_warnings():
            # Fewer distinct points than clusters: the solver deals with the empty ones.
            warnings.simplefilter("ignore", ConvergenceWarning)
            k_means = KMeans(n_clusters, n_init=4, random_state=int(rng.integers(2**31)))
            labels = k_means.fit_predict(coordinates, sample_weight=gram.weights)
        return np.eye(n_clusters)[labels]


@dataclass(frozen=True)
class NearUniform(Start, name="near_uniform"):
    """1/c plus a perturbation of 10⁻³: lets the structure emerge, as the paper argues for (Section 2.2)."""

    def memberships(  # noqa: D102
        self, dissimilarity: Dissimilarity, n_clusters: int, rng: np.random.Generator
    ) -> FloatArray:
        noise = rng.standard_normal((dissimilarity.n_samples, n_clusters))
        U = 1.0 + _PERTURBATION * n_clusters * np.clip(noise, -3.0, 3.0)
        U = np.maximum(U, 0.0)
        return U / U.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class Random(Start, name="random"):
    """Uniform random numbers, normalized by row."""

    def memberships(  # noqa: D102
        self, dissimilarity: Dissimilarity, n_clusters: int, rng: np.random.Generator
    ) -> FloatArray:
        U = 1.0 - rng.random((dissimilarity.n_samples, n_clusters))
        return U / U.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class KMeansPlusPlus(Start, name="kmeans++"):
    """Seeds drawn with probability proportional to the dissimilarity to the nearest seed; samples join the nearest."""

    def memberships(  # noqa: D102
        self, dissimilarity: Dissimilarity, n_clusters: int, rng: np.random.Generator
    ) -> FloatArray:
        n_samples, weights = dissimilarity.n_samples, dissimilarity.gram.weights
        to_seeds = np.empty((n_samples, n_clusters))
        shares = None if weights is None else weights / weights.sum()
        first = int(rng.integers(n_samples)) if shares is None else int(rng.choice(n_samples, p=shares))
        to_seeds[:, :1] = dissimilarity.columns([first])
        for i in range(1, n_clusters):
            nearest = to_seeds[:, :i].min(axis=1)
            if weights is not None:
                nearest = nearest * weights
            total = nearest.sum()
            seed = rng.choice(n_samples, p=nearest / total if total > 0 else shares)
            to_seeds[:, i : i + 1] = dissimilarity.columns([int(seed)])
        return np.eye(n_clusters)[to_seeds.argmin(axis=1)]


@dataclass(frozen=True)
class Blocks(Start, name="blocks"):
    """Membership 0.9 in the own of c consecutive blocks of ⌊n/c⌋ rows, the last one taking the rest: FANNY's start.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.dissimilarity import Dissimilarity
    >>> from kfrc.relational import Blocks
    >>> rows = Dissimilarity.from_features(np.arange(5.0)[:, None])
    >>> Blocks().memberships(rows, 2, np.random.default_rng()).T
    array([[0.9, 0.9, 0.1, 0.1, 0.1],
           [0.1, 0.1, 0.9, 0.9, 0.9]])
    """

    deterministic: ClassVar[bool] = True

    def memberships(  # noqa: D102
        self, dissimilarity: Dissimilarity, n_clusters: int, rng: np.random.Generator
    ) -> FloatArray:
        n_samples = dissimilarity.n_samples
        if n_clusters == 1:
            return np.ones((n_samples, 1))
        U = np.full((n_samples, n_clusters), (1.0 - _OWN_MEMBERSHIP) / (n_clusters - 1))
        blocks = np.minimum(np.arange(n_samples) // (n_samples // n_clusters), n_clusters - 1)
        U[np.arange(n_samples), blocks] = _OWN_MEMBERSHIP
        return U


@dataclass(frozen=True, eq=False)
class Given(Start):
    """Memberships that are there already: what an array passed as ``init`` becomes.

    Parameters
    ----------
    U : array-like of shape (n_samples, n_clusters)
        Rows sum to one; rounding is corrected.
    """

    U: Any

    deterministic: ClassVar[bool] = True
    keeps_numbering: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "U", check_memberships(self.U, "init"))

    @classmethod
    def examples(cls) -> tuple[Self, ...]:  # noqa: D102
        return (cls(np.eye(2)),)

    def memberships(  # noqa: D102
        self, dissimilarity: Dissimilarity, n_clusters: int, rng: np.random.Generator
    ) -> FloatArray:
        U: FloatArray = self.U.copy()  # a run may work in place
        return U


def resolve_start(init: str | Start | ArrayLike, n_samples: int, n_clusters: int) -> Start:
    """Turn what a user passed as ``init`` into a start, and complain early if it cannot be one.

    Parameters
    ----------
    init : str, Start or array-like of shape (n_samples, n_clusters)
    n_samples, n_clusters : int
        What given memberships must fit.

    Returns
    -------
    Start

    Examples
    --------
    >>> from kfrc.relational import resolve_start
    >>> resolve_start("random", 4, 2)
    Random()
    >>> resolve_start([[1, 0], [1, 0], [0, 1], [0, 1]], 4, 2).keeps_numbering
    True
    """
    if isinstance(init, str) or (isinstance(init, Start) and not isinstance(init, Given)):
        return Start.resolve(init)
    U = init.U if isinstance(init, Given) else as_array(init, "init")
    if U.ndim == 0:
        raise TypeError(
            f"init: expected a Start or one of the names {', '.join(Start.registry)}, or memberships of shape "
            f"({n_samples}, {n_clusters}), got {init!r}"
        )
    check_membership_shape(U, "init", (n_samples, n_clusters))
    return init if isinstance(init, Given) else Given(U)


def draw_memberships(
    start: Start, dissimilarity: Dissimilarity, n_clusters: int, rng: np.random.Generator
) -> FloatArray:
    """Starting memberships, checked if the start is not one of the library's own.

    Parameters
    ----------
    start : Start
    dissimilarity : Dissimilarity
    n_clusters : int
    rng : numpy.random.Generator

    Returns
    -------
    U : ndarray of shape (n_samples, n_clusters)
        Rows sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.dissimilarity import Dissimilarity
    >>> from kfrc.relational import Blocks, draw_memberships
    >>> rows = Dissimilarity.from_features(np.arange(4.0)[:, None])
    >>> draw_memberships(Blocks(), rows, 2, np.random.default_rng()).T
    array([[0.9, 0.9, 0.1, 0.1],
           [0.1, 0.1, 0.9, 0.9]])
    """
    U = start.memberships(dissimilarity, n_clusters, rng)
    if type(start).__module__ == __name__:  # tested already, and dividing by the sums once more would move last digits
        return U
    return check_memberships(U, f"start {start.label}", shape=(dissimilarity.n_samples, n_clusters))


def starting_memberships(
    start: Start,
    n_init: int,
    dissimilarity: Dissimilarity,
    n_clusters: int,
    random_state: RandomStateLike,
) -> Iterator[FloatArray]:
    """Memberships of every run; after a deterministic start the others are k-means++."""
    first, *others = as_generator(random_state).spawn(n_init)
    yield draw_memberships(start, dissimilarity, n_clusters, first)
    repeat = KMeansPlusPlus() if start.deterministic else start
    for rng in others:
        yield draw_memberships(repeat, dissimilarity, n_clusters, rng)

"""Cluster shapes on which Gaussian methods fail: moons, rings, heavy tails, unequal sizes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from kfrc._numerics import as_generator
from kfrc._numerics import standardize as standardize_columns
from kfrc._registry import Registered
from kfrc._validation import check_n_clusters, check_number, check_positive_int
from kfrc.simulation.dataset import add_noise_features
from kfrc.typing import FloatArray, IntArray, RandomStateLike

_LARGEST_LENGTH = 1e100
"""Squares of lengths up to this, and sums of them, are ordinary numbers."""

_FEWEST_DEGREES = 0.1
"""Of freedom: a million points then reach 10⁶⁰."""


@dataclass(frozen=True)
class Shape(Registered, ABC):
    """A family of clusters in the plane; a subclass says how many there are and where their points lie.

    Defining a subclass with ``name=`` makes it available to :func:`make_shape_dataset` under that name.

    Examples
    --------
    >>> from kfrc.simulation import Shape
    >>> sorted(Shape.registry)
    ['heavy_tails', 'imbalanced', 'moons', 'rings']
    """

    @property
    @abstractmethod
    def proportions(self) -> FloatArray:
        """Share of each cluster, shape (n_clusters,)."""

    @abstractmethod
    def place(self, labels: IntArray, rng: np.random.Generator) -> FloatArray:
        """Positions (n_samples, 2) of points with the given labels."""

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.proportions)

    def sample(self, n_samples: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
        """Points (n_samples, 2) and labels (n_samples,) in random order, sizes rounded from the shares."""
        # Every cluster gets one point; the rest goes by cumulative rounding, which never drifts.
        bounds = np.rint(np.cumsum(self.proportions) * (n_samples - self.n_clusters))
        sizes = np.diff(bounds, prepend=0).astype(int) + 1
        labels = rng.permutation(np.repeat(np.arange(self.n_clusters, dtype=np.int64), sizes))
        return self.place(labels, rng), labels


@dataclass(frozen=True)
class Moons(Shape, name="moons"):
    """Two interleaving half circles of radius 1.

    Parameters
    ----------
    jitter : float
        Standard deviation of the points around their curve.

    Examples
    --------
    >>> from kfrc.simulation import Moons
    >>> Moons(jitter=0.0).n_clusters
    2
    """

    jitter: float = 0.1

    def __post_init__(self) -> None:
        _check_length(self.jitter, "jitter")

    @property
    def proportions(self) -> FloatArray:
        """Equal shares."""
        return np.full(2, 0.5)

    def place(self, labels: IntArray, rng: np.random.Generator) -> FloatArray:
        """(cos φ, sin φ), and its mirror image shifted to (1, 1/2)."""
        angle = rng.uniform(0, math.pi, size=len(labels))
        upper = np.column_stack([np.cos(angle), np.sin(angle)])
        points = np.where(labels[:, None] == 0, upper, np.array([1.0, 0.5]) - upper)
        return points + self.jitter * rng.standard_normal(points.shape)


@dataclass(frozen=True)
class Rings(Shape, name="rings"):
    """Concentric circles of radius 1, 2, …: all clusters have the same center.

    Parameters
    ----------
    n_rings : int
    jitter : float
        Standard deviation of the radius.

    Examples
    --------
    >>> from kfrc.simulation import Rings
    >>> Rings(n_rings=3).n_clusters
    3
    """

    n_rings: int = 2
    jitter: float = 0.1

    def __post_init__(self) -> None:
        check_positive_int(self.n_rings, "n_rings")
        _check_length(self.jitter, "jitter")

    @property
    def proportions(self) -> FloatArray:
        """Equal shares."""
        return np.full(self.n_rings, 1 / self.n_rings)

    def place(self, labels: IntArray, rng: np.random.Generator) -> FloatArray:
        """(r cos φ, r sin φ) with r = label + 1 + noise."""
        angle = rng.uniform(0, 2 * math.pi, size=len(labels))
        radius = labels + 1 + self.jitter * rng.standard_normal(len(labels))
        return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


@dataclass(frozen=True)
class HeavyTails(Shape, name="heavy_tails"):
    """Spherical bivariate t clusters with centers on a circle: many points far from every center.

    Parameters
    ----------
    n_groups : int
    degrees_of_freedom : float
        Below or at 2 the variance is infinite.
    separation : float
        Distance of neighboring centers, in units of the scale of a cluster.

    Examples
    --------
    >>> from kfrc.simulation import HeavyTails
    >>> HeavyTails(n_groups=4).n_clusters
    4
    """

    n_groups: int = 3
    degrees_of_freedom: float = 2.5
    separation: float = 6.0

    def __post_init__(self) -> None:
        check_positive_int(self.n_groups, "n_groups")
        if check_number(self.degrees_of_freedom, "degrees_of_freedom", minimum=0.0, strict=True) < _FEWEST_DEGREES:
            raise ValueError(
                f"degrees_of_freedom must be at least {_FEWEST_DEGREES:g}, got {self.degrees_of_freedom:g}: points "
                "would be too far away to be numbers"
            )
        _check_length(self.separation, "separation")

    @property
    def proportions(self) -> FloatArray:
        """Equal shares."""
        return np.full(self.n_groups, 1 / self.n_groups)

    def place(self, labels: IntArray, rng: np.random.Generator) -> FloatArray:
        """Center + z / √(χ²_ν / ν), z standard normal."""
        tails = np.sqrt(rng.chisquare(self.degrees_of_freedom, size=len(labels)) / self.degrees_of_freedom)
        spread = rng.standard_normal((len(labels), 2)) / tails[:, None]
        return _centers_on_circle(self.n_groups, self.separation)[labels] + spread


@dataclass(frozen=True)
class Imbalanced(Shape, name="imbalanced"):
    """Gaussian clusters of very different size and spread: the large one reaches out to the small ones.

    Parameters
    ----------
    shares : tuple of float
        Proportions of the clusters, summing to one.
    separation : float
        Distance of neighboring centers; the standard deviations are √(share / largest share).

    Examples
    --------
    >>> from kfrc.simulation import Imbalanced
    >>> Imbalanced().proportions.tolist()
    [0.8, 0.15, 0.05]
    """

    shares: tuple[float, ...] = (0.80, 0.15, 0.05)
    separation: float = 4.0

    def __post_init__(self) -> None:
        if not isinstance(self.shares, (tuple, list)):
            raise TypeError(f"shares must be a tuple of numbers, got {self.shares!r}")
        for share in self.shares:
            check_number(share, "each of shares", minimum=0.0, strict=True)
        if not math.isclose(sum(self.shares), 1.0, abs_tol=1e-8):
            raise ValueError(f"shares must sum to 1, got {sum(self.shares):g}")
        _check_length(self.separation, "separation")

    @property
    def proportions(self) -> FloatArray:
        """The shares."""
        return np.array(self.shares, dtype=np.float64)

    def place(self, labels: IntArray, rng: np.random.Generator) -> FloatArray:
        """Center + √(share / largest share) z, z standard normal."""
        deviations = np.sqrt(self.proportions / self.proportions.max())
        spread = deviations[labels, None] * rng.standard_normal((len(labels), 2))
        return _centers_on_circle(self.n_clusters, self.separation)[labels] + spread


@dataclass(frozen=True, eq=False)
class ShapeDataset:
    """A data set with clusters of a given shape.

    Attributes
    ----------
    X : ndarray of shape (n_samples, 2 + n_noise)
        Shape columns first, then noise.
    labels : ndarray of shape (n_samples,)
    shape : Shape
    informative : ndarray of shape (2,)
        Indices of the columns that hold the shape.

    Examples
    --------
    >>> from kfrc.simulation import make_shape_dataset
    >>> make_shape_dataset("rings", n_noise=1, random_state=0).informative.tolist()
    [0, 1]
    """

    X: FloatArray
    labels: IntArray
    shape: Shape
    informative: IntArray


def make_shape_dataset(
    shape: str | Shape,
    *,
    n_samples: int = 200,
    n_noise: int = 0,
    standardize: bool = True,
    random_state: RandomStateLike = None,
) -> ShapeDataset:
    """Draw clusters of a given shape in two columns, and append noise columns.

    Parameters
    ----------
    shape : {"moons", "rings", "heavy_tails", "imbalanced"} or Shape
        A name for the default parameters, or an instance.
    n_samples : int
    n_noise : int
        Number of independent N(0, 1) columns.
    standardize : bool
        Give every column mean 0 and standard deviation 1 (ddof = 1), so that signal and noise weigh the same.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    ShapeDataset

    Examples
    --------
    >>> from kfrc.simulation import Rings, make_shape_dataset
    >>> make_shape_dataset("moons", n_noise=3, random_state=0).X.shape
    (200, 5)
    >>> make_shape_dataset(Rings(n_rings=3), random_state=0).labels.max()
    np.int64(2)
    """
    family = Shape.resolve(shape)
    n_samples = check_positive_int(n_samples, "n_samples")
    check_n_clusters(family.n_clusters, n_samples)
    rng = as_generator(random_state)
    signal, labels = family.sample(n_samples, rng)
    X = add_noise_features(signal, n_noise, random_state=rng)
    return ShapeDataset(
        X=standardize_columns(X) if standardize else X,
        labels=labels,
        shape=family,
        informative=np.arange(signal.shape[1]),
    )


def _centers_on_circle(n_centers: int, separation: float) -> FloatArray:
    """Corners of a regular polygon with the given side; a single center has no neighbor and lies at the origin."""
    if n_centers == 1:
        return np.zeros((1, 2))
    angles = 2 * math.pi * np.arange(n_centers) / n_centers
    radius = separation / (2 * math.sin(math.pi / n_centers))
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])


def _check_length(value: float, name: str) -> None:
    if check_number(value, name, minimum=0.0) > _LARGEST_LENGTH:
        raise ValueError(f"{name} must be at most {_LARGEST_LENGTH:g}, got {value:g}")

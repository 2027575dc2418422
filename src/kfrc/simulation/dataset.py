"""Data sets of the synthetic study: Gaussian signal, noise columns, labels and true posteriors."""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass

import numpy as np

from kfrc._numerics import as_generator, check_memory, standardize
from kfrc._validation import check_data, check_flag, check_n_clusters, check_number, check_positive_int
from kfrc.exceptions import KFRCError
from kfrc.simulation.mixsim import GaussianMixtureSpec, make_gaussian_mixture
from kfrc.typing import Any, ArrayLike, FloatArray, IntArray, RandomStateLike

STUDY_N_FEATURES = 10
STUDY_N_SAMPLES = 200
STUDY_N_SIGNAL = (10, 8, 5, 2)
STUDY_N_CLUSTERS = (2, 4, 6)
STUDY_AVERAGE_OVERLAPS = (0.001, 0.01, 0.05, 0.10)

IMBALANCED_MIN_PROPORTION = 0.05
"""Lower bound on the mixing proportions of imbalanced designs, as the authors' simulation sets it."""

_MAX_REDRAWS = 1000  # of the rows: with n = 200 and proportions of 0.05 one draw in 28000 misses a component
_OVERLAP_RESOLUTION = 1e-9  # an overlap enters the seed as a whole number of these


@dataclass(frozen=True)
class StudyDesign:
    """One cell of the synthetic study: everything about a data set except its seed.

    Parameters
    ----------
    n_clusters : int
    average_overlap : float in (0, 1)
        Average pairwise overlap of the signal mixture.
    spherical : bool
        Spherical or elliptical components; all components share one covariance.
    balanced : bool
        Equal proportions, or random ones bounded below by 0.05.
    n_signal, n_noise : int
        Columns with and without cluster structure.
    n_samples : int

    Examples
    --------
    >>> from kfrc.simulation import StudyDesign
    >>> design = StudyDesign(n_clusters=4, average_overlap=0.05, n_signal=5, n_noise=5)
    >>> design.key
    'c4-overlap0.05-spherical-balanced-signal5-noise5-n200'
    >>> design.signal_to_noise
    1.0
    """

    n_clusters: int
    average_overlap: float
    spherical: bool = True
    balanced: bool = True
    n_signal: int = STUDY_N_FEATURES
    n_noise: int = 0
    n_samples: int = STUDY_N_SAMPLES

    def __post_init__(self) -> None:
        check_flag(self.spherical, "spherical")
        check_flag(self.balanced, "balanced")
        check_positive_int(self.n_signal, "n_signal")
        _check_n_noise(self.n_noise)
        check_n_clusters(self.n_clusters, check_positive_int(self.n_samples, "n_samples"))
        if check_number(self.average_overlap, "average_overlap", minimum=0.0, strict=True) >= 1:
            raise ValueError(f"average_overlap must be below 1, got {self.average_overlap:g}")

    @property
    def key(self) -> str:
        """Readable identifier, unique among designs."""
        shape = "spherical" if self.spherical else "elliptical"
        sizes = "balanced" if self.balanced else "imbalanced"
        return (
            f"c{self.n_clusters}-overlap{self.average_overlap:g}-{shape}-{sizes}"
            f"-signal{self.n_signal}-noise{self.n_noise}-n{self.n_samples}"
        )

    @property
    def signal_to_noise(self) -> float:
        """p_s / p_n, infinite without noise columns."""
        return self.n_signal / self.n_noise if self.n_noise else float("inf")


@dataclass(frozen=True, eq=False)
class StudyDataset:
    """A data set of the synthetic study with all that is known about it.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Signal columns first, then noise; every column with mean 0 and standard deviation 1 (ddof = 1).
    labels : ndarray of shape (n_samples,)
        Component of each row; every component occurs.
    posteriors : ndarray of shape (n_samples, n_clusters)
        True component probabilities, from the signal before standardizing.
    design : StudyDesign
    informative : ndarray of shape (n_signal,)
        Indices of the signal columns.
    mixture : GaussianMixtureSpec
        Distribution of the signal before standardizing.

    Examples
    --------
    >>> from kfrc.simulation import StudyDesign, make_study_dataset
    >>> dataset = make_study_dataset(StudyDesign(2, 0.01, n_signal=2, n_noise=8), random_state=1)
    >>> dataset.X.shape, dataset.informative.tolist()
    ((200, 10), [0, 1])
    """

    X: FloatArray
    labels: IntArray
    posteriors: FloatArray
    design: StudyDesign
    informative: IntArray
    mixture: GaussianMixtureSpec


def study_designs() -> tuple[StudyDesign, ...]:
    """The 192 designs of the synthetic study, in a fixed order.

    From slowest to fastest: p_s in 10, 8, 5, 2 (with p_n = 10 − p_s); balanced, imbalanced; spherical,
    elliptical; average overlap 0.001, 0.01, 0.05, 0.10; c in 2, 4, 6. All have n = 200.

    Returns
    -------
    tuple of StudyDesign

    References
    ----------
    .. [1] The KFRC paper, Section "Synthetic data".

    Examples
    --------
    >>> from kfrc.simulation import study_designs
    >>> designs = study_designs()
    >>> len(designs), designs[100].key
    (192, 'c4-overlap0.01-spherical-balanced-signal5-noise5-n200')
    """
    return tuple(
        StudyDesign(n_clusters, average_overlap, spherical, balanced, n_signal, STUDY_N_FEATURES - n_signal)
        for n_signal, balanced, spherical, average_overlap, n_clusters in itertools.product(
            STUDY_N_SIGNAL, (True, False), (True, False), STUDY_AVERAGE_OVERLAPS, STUDY_N_CLUSTERS
        )
    )


def make_study_dataset(design: StudyDesign, *, random_state: int = 0) -> StudyDataset:
    """Draw the data set of a design and a seed.

    A homogeneous Gaussian mixture with the average overlap of the design is drawn in the signal columns,
    noise columns are independent N(0, 1), and signal and noise are standardized together, as the study does
    before it clusters. The true posteriors are those of the signal before standardizing.

    The random stream depends on the seed and on every field of the design, and on nothing else: any data
    set can be made alone, in any order, and two designs of one seed share no draws.

    Parameters
    ----------
    design : StudyDesign
        For example an element of :func:`study_designs`.
    random_state : int
        Seed, non-negative; the study uses 25 of them.

    Returns
    -------
    StudyDataset

    Notes ----- Imbalanced designs: the paper speaks of one group with 5 % of the observations, while its
    simulation asks MixSim for proportions of at least 0.05. The simulation is followed here: weights are
    0.05 plus a uniform draw from the simplex for the rest, so the smallest group is usually a little larger
    than 5 %. To fix the proportions, build a :class:`GaussianMixtureSpec` with them. Rows are redrawn in
    the rare case that a component would be empty.

    References
    ----------
    .. [1] The KFRC paper, Section "Synthetic data".
    .. [2] Maitra & Melnykov (2010), Simulating data to study performance of finite mixture modeling and
       clustering algorithms, JCGS 19(2).

    Examples
    --------
    >>> from kfrc.simulation import make_study_dataset, study_designs
    >>> dataset = make_study_dataset(study_designs()[-1], random_state=7)
    >>> dataset.X.shape, dataset.posteriors.shape
    ((200, 10), (200, 6))
    >>> round(dataset.mixture.overlap().average, 6)
    0.1
    """
    if not isinstance(design, StudyDesign):
        raise TypeError(f"design must be a StudyDesign, got {type(design).__name__}: see study_designs()")
    rng = _study_stream(design, random_state)
    mixture = make_gaussian_mixture(
        design.n_clusters,
        design.n_signal,
        average_overlap=design.average_overlap,
        spherical=design.spherical,
        homogeneous=True,
        min_proportion=None if design.balanced else min(IMBALANCED_MIN_PROPORTION, 1 / design.n_clusters),
        random_state=rng,
    )
    signal, labels = _sample_all_components(mixture, design.n_samples, rng)
    return StudyDataset(
        X=standardize(add_noise_features(signal, design.n_noise, random_state=rng)),
        labels=labels,
        posteriors=mixture.posteriors(signal),
        design=design,
        informative=np.arange(design.n_signal),
        mixture=mixture,
    )


def add_noise_features(X: ArrayLike, n_noise: int, *, random_state: RandomStateLike = None) -> FloatArray:
    """Append independent N(0, 1) columns that carry no cluster structure.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    n_noise : int
        How many, possibly 0.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    ndarray of shape (n_samples, n_features + n_noise)

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.simulation import add_noise_features
    >>> add_noise_features(np.eye(3), 2, random_state=0).shape
    (3, 5)
    """
    signal = check_data(X, min_samples=1)
    n_noise = _check_n_noise(n_noise)
    check_memory(8 * len(signal) * n_noise, f"noise in {n_noise} columns", "fewer of them")
    noise = as_generator(random_state).standard_normal((len(signal), n_noise))
    return np.hstack([signal, noise])


def _sample_all_components(
    mixture: GaussianMixtureSpec, n_samples: int, rng: np.random.Generator
) -> tuple[FloatArray, IntArray]:
    """A sample in which every component occurs."""
    for _ in range(_MAX_REDRAWS):
        X, labels = mixture.sample(n_samples, rng)
        if len(np.unique(labels)) == mixture.n_clusters:
            return X, labels
    raise KFRCError(
        f"{n_samples} rows are too few for all {mixture.n_clusters} components to occur "
        f"(smallest proportion {mixture.weights.min():.3g}, {_MAX_REDRAWS} draws): raise n_samples"
    )


def _study_stream(design: StudyDesign, seed: Any) -> np.random.Generator:
    """Generator of one (design, seed): every field of the design enters as an integer."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"random_state must be a non-negative integer, the seed of the study, got {seed!r}")
    fields = {**asdict(design), "average_overlap": round(design.average_overlap / _OVERLAP_RESOLUTION)}
    return np.random.default_rng([int(seed), *(int(value) for value in fields.values())])


def _check_n_noise(n_noise: Any) -> int:
    if isinstance(n_noise, bool) or not isinstance(n_noise, (int, np.integer)):
        raise TypeError(f"n_noise must be an integer, got {n_noise!r}")
    if n_noise < 0:
        raise ValueError(f"n_noise must be at least 0, got {n_noise}")
    return int(n_noise)

"""What a judge is: something that tells, without labels, which of many partitions to believe."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from kfrc._registry import Registered
from kfrc.kernels import Kernel
from kfrc.typing import FloatArray


class PosteriorModel(Protocol):
    """What can tell the probabilities of the clusters for any rows, such as a fitted ``Mixture``."""

    def posterior(self, X: Any) -> FloatArray:
        """Probabilities of shape (n_samples, n_clusters) for rows (n_samples, n_features) of what was judged."""


@dataclass(frozen=True)
class Opinion:
    """What a judge holds to be a good description of the data.

    Attributes
    ----------
    name : str
        The kind of description.
    evidence : float
        How good it is; larger is better. Comparable between kinds and between numbers of clusters.
    posterior : ndarray of shape (n_samples, n_clusters)
        Probability of every cluster for each row.
    row_evidence : ndarray of shape (n_samples,)
        Shares of the rows in ``evidence``, weights counted, so that resampled rows can be judged again.
    model : PosteriorModel or None
        Gives probabilities for new rows, if the judge has such a model.
    kernel : Kernel or None
        The kernel that proposed the partition, if the judge looked for partitions of its own.
    n_parameters : int
        Free numbers of the description, which ``evidence`` has paid for.
    """

    name: str
    evidence: float
    posterior: FloatArray
    row_evidence: FloatArray
    model: PosteriorModel | None = None
    kernel: Kernel | None = None
    n_parameters: int = 0


@dataclass(frozen=True)
class Judge(Registered, ABC):
    """Something that can tell, without labels, which of many partitions to believe.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.judges import Judge
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-2, 1, (50, 2)), rng.normal(2, 1, (50, 2))])
    >>> halves, stripes = np.repeat(np.eye(2), 50, axis=0), np.tile(np.eye(2), (50, 1))
    >>> opinions = Judge.from_name("mixture").examine(X, [stripes, halves])
    >>> opinions[0].name, bool((opinions[0].posterior.argmax(axis=1) == halves.argmax(axis=1)).mean() > 0.95)
    ('tied_diagonal', True)
    """

    has_model: ClassVar[bool] = False
    """Whether its opinions come with a model, which gives probabilities for rows it has not seen."""

    has_density: ClassVar[bool] = False
    """Whether its evidence is a log-density of the columns less a price for parameters, so that what it says of some
    columns can be compared with what it says of others."""

    takes_tables: ClassVar[bool] = False
    """Whether it can judge tables with columns of any type, blanks and weights."""

    @abstractmethod
    def examine(self, X: Any, partitions: Sequence[FloatArray]) -> list[Opinion]:
        """Opinions formed from proposed partitions, the best first.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features) or Table
            Columns with mean zero and standard deviation one; columns of any type only if ``takes_tables``.
        partitions : sequence of ndarray of shape (n_samples, n_clusters)
            Memberships to start from, all with the same number of clusters.

        Returns
        -------
        list of Opinion
        """

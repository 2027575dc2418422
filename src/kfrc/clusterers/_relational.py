"""What the methods that see dissimilarities only share: making them, fitting, and placing new rows."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.callback import with_callbacks
from sklearn.metrics import pairwise_distances

from kfrc._numerics import as_generator, check_memory, clear_rounding, squared_distances
from kfrc._validation import check_dissimilarities, check_positive_int, check_squares, find_varying_columns
from kfrc.clusterers._input_space import centers_of
from kfrc.clusterers.base import FuzzyClusterer
from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Fuzzifier
from kfrc.relational import RelationalSolution, Start, resolve_start, solve_relational
from kfrc.spectrum import spectrum_of
from kfrc.typing import ArrayLike, FloatArray, Progress, RandomStateLike


def pairwise(X: FloatArray, Y: FloatArray, metric: Any, metric_params: dict[str, Any] | None) -> FloatArray:
    """Dissimilarities of rows X to rows Y under any metric of :func:`sklearn.metrics.pairwise_distances`."""
    if isinstance(metric, str) and metric in ("euclidean", "sqeuclidean") and not metric_params:
        check_squares(Y)
        return cdist(X, Y, metric)  # by differences: no digits lost, unlike inner products
    return pairwise_distances(X, Y, metric=metric, **(metric_params or {}))


class RelationalClusterer(FuzzyClusterer):
    """Base of the relational estimators: subclasses name the fuzzifier, and may change R or how it is solved."""

    metric: Any
    metric_params: dict[str, Any] | None
    init: str | Start | ArrayLike
    n_init: int
    max_iter: int
    tol: float
    random_state: RandomStateLike
    verbose: int

    @abstractmethod
    def _resolve_fuzzifier(self) -> Fuzzifier:
        """The fuzzifier that the parameters ask for."""

    @with_callbacks
    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Find clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data, or dissimilarities (n_samples, n_samples) with ``metric="precomputed"``.
        y : ignored

        Returns
        -------
        self
        """
        with self._all_or_nothing():
            data = self._table(X)
            n_clusters = self._check_clusters(len(data))
            fuzzifier = self._resolve_fuzzifier()
            start = resolve_start(self.init, len(data), n_clusters)
            dissimilarity = self._dissimilarity(data)
            progress = self._start_progress(check_positive_int(self.n_init, "n_init"), self.verbose)
            solution = self._solve(dissimilarity, n_clusters, fuzzifier, start, progress)
            self._store(solution, fuzzifier)
            if self.metric == "sqeuclidean":
                self._origin = data.mean(axis=0)
                self._locations = centers_of(data - self._origin, solution)
                self.cluster_centers_ = self._origin + self._locations
            else:
                self._prototypes = solution.prototypes
                self._squared_norms = solution.squared_norms
                self._fit_X = None if self.metric == "precomputed" else data
            self._warn_about(solution, fuzzifier, lambda: self._leading_eigenvalue(dissimilarity))
            self._end_progress()
        return self

    def _dissimilarity(self, X: FloatArray) -> Dissimilarity:
        if self.metric == "precomputed":
            return Dissimilarity.from_matrix(check_dissimilarities(X))
        find_varying_columns(X, getattr(self, "feature_names_in_", None))
        if self.metric == "sqeuclidean":
            return Dissimilarity.from_features(X)
        check_memory(
            16 * len(X) ** 2,
            f"the {len(X)} x {len(X)} dissimilarity matrix",
            'metric="sqeuclidean" or KFRC, or fewer rows',
        )
        return Dissimilarity.from_matrix(check_dissimilarities(self._pairwise(X, X)))

    def _pairwise(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        return pairwise(X, Y, self.metric, self.metric_params)

    def _solve(
        self, dissimilarity: Dissimilarity, n_clusters: int, fuzzifier: Fuzzifier, start: Start, progress: Progress
    ) -> RelationalSolution:
        return solve_relational(
            dissimilarity,
            n_clusters,
            fuzzifier,
            init=start,
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=as_generator(self.random_state),
            progress=progress,
        )

    def _leading_eigenvalue(self, dissimilarity: Dissimilarity) -> float:
        return float(spectrum_of(dissimilarity.gram, 1).eigenvalues[0])

    def _center_distances(self, X: Any) -> FloatArray:
        X = self._rows(X)
        if self.metric == "sqeuclidean":
            # Relative to the origin: far from zero the centers themselves have lost digits.
            found = np.isfinite(self._locations[:, 0])
            distances = np.full((len(X), len(found)), np.inf)
            distances[:, found] = squared_distances(X - self._origin, self._locations[found])
            return distances
        to_samples = X if self._fit_X is None else self._pairwise(X, self._fit_X)
        distances = self._between(to_samples) @ self._prototypes + self._squared_norms
        return np.maximum(clear_rounding(distances, 0.0, self._squared_norms), 0.0)

    def _between(self, to_samples: FloatArray) -> FloatArray:
        """Dissimilarities of new rows to the training samples as the fit would see them."""
        return to_samples

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

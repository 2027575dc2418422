"""Errors and warnings that carry what went wrong and what to do about it."""

from __future__ import annotations

from collections.abc import Callable


class KFRCError(ValueError):
    """Base class of the errors that belong to this library's subject rather than to Python."""


class InfeasibleBandwidthError(KFRCError):
    """No bandwidths reach the stability threshold λ₁ ≥ τ.

    Attributes
    ----------
    best_eigenvalue : float
        The largest λ₁ that any start reached.
    threshold : float
        The threshold τ that was asked for.
    """

    def __init__(self, message: str, *, best_eigenvalue: float, threshold: float) -> None:
        super().__init__(message)
        self.best_eigenvalue = best_eigenvalue
        self.threshold = threshold

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments are lost by the default pickling of exceptions, which worker processes use.
        return (_rebuild_infeasible, (str(self), self.best_eigenvalue, self.threshold))


def _rebuild_infeasible(message: str, best_eigenvalue: float, threshold: float) -> InfeasibleBandwidthError:
    return InfeasibleBandwidthError(message, best_eigenvalue=best_eigenvalue, threshold=threshold)


class UniformCollapseWarning(UserWarning):
    """The memberships are all close to 1/c: nothing was found, and the message says why."""


class ConstantFeatureWarning(UserWarning):
    """Columns without variation were left out of the analysis."""


class UnequalScalesWarning(UserWarning):
    """The scales of columns differ a hundredfold in a method that does not standardize: the largest decides alone."""


class NonEuclideanWarning(UserWarning):
    """The dissimilarities are not squared distances in any Euclidean space, and that mattered."""


class TrivialPartitionWarning(UserWarning):
    """One cluster was asked for: everything belongs to it."""


class NoStructureWarning(UserWarning):
    """There is no sign of more than one group."""


class LargestNumberWarning(UserWarning):
    """The number of clusters that was found is the largest that was tried."""


class NearTieWarning(UserWarning):
    """An automatic choice was made between different partitions that describe the data equally well."""


class IgnoredParameterWarning(UserWarning):
    """Parameters that were set have no effect in this fit; the message names them and says why."""


class OutlierWarning(UserWarning):
    """Few values ruled the standard deviation of a column and were moved closer; the message names them.

    Attributes
    ----------
    retell : callable or None
        The message in the words of another program: takes ``row_name``, what a row is called by its position, and
        ``keep``, how to ask for the values as they are.
    """

    def __init__(self, message: str, retell: Callable[..., str | None] | None = None) -> None:
        super().__init__(message)
        self.retell = retell


class ApproximationWarning(UserWarning):
    """Bandwidths are too small for the kernel to be computed exactly; the message states the error."""


class LeftOutColumnWarning(UserWarning):
    """Columns were left out; the message says why, and which ones or how many.

    Either they cannot be clustered by, or a wide table has more columns in which clusters differ than a choice sees.
    """


class UnseenCategoryWarning(UserWarning):
    """New rows have levels that were not there in the fit; they count as missing."""


class MissingRowWarning(UserWarning):
    """Nothing is known of some rows, so that they belong equally to all clusters; the message names them."""


class LevelOrderWarning(UserWarning):
    """A column of text was called ordinal without an order of its levels; the message says which one was taken."""

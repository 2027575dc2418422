"""How a model was fitted and how the fit ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kfrc import KFRC
from kfrc.clusterers import FuzzyClusterer
from kfrc.metrics import partition_coefficient
from kfrc.typing import FloatArray
from kfrc_app.facts.importance import Importance
from kfrc_app.facts.text import count, shortened


@dataclass(frozen=True)
class Fit:
    """Settings and end of a fit.

    Attributes
    ----------
    method : str
    fuzzifier : str
    m : float
    memberships : {"fuzzy", "posterior"}
        Whether they minimize the objective or are the judge's probabilities.
    status : {"converged", "max_iter", "collapsed"}
    n_iter : int
    objective, uniformity, partition_coefficient : float
    kernel, criterion, approximation : str or None
        None, as all that follow, for methods without bandwidths.
    kernel_remark : str
        What a reader should know of distances under that kernel, if anything.
    max_anisotropy : float or None
        ``inf`` if any ratio of bandwidths was allowed; None for a precomputed kernel.
    level : float or None
        Mean log-bandwidth in standard deviations; None without a search.
    approximation_error : float or None
    linear_limit : bool or None
    """

    method: str
    fuzzifier: str
    m: float
    memberships: str
    status: str
    n_iter: int
    objective: float
    uniformity: float
    partition_coefficient: float
    kernel: str | None = None
    kernel_remark: str = ""
    criterion: str | None = None
    max_anisotropy: float | None = None
    level: float | None = None
    approximation: str | None = None
    approximation_error: float | None = None
    linear_limit: bool | None = None

    @property
    def collapsed(self) -> bool:
        """Whether all memberships are the same, so that the largest of them says nothing."""
        return self.status == "collapsed"

    @property
    def is_posterior(self) -> bool:
        """Whether the memberships are the judge's probabilities, which no iteration found."""
        return self.memberships == "posterior"


def fit_facts(model: FuzzyClusterer, weights: FloatArray | None = None) -> Fit:
    """Settings and end of a fit.

    Parameters
    ----------
    model : FuzzyClusterer
        Fitted.
    weights : ndarray of shape (n_samples,), optional
        How many rows each row stands for.
    """
    common: dict[str, Any] = {
        "method": type(model).__name__,
        "fuzzifier": model.fuzzifier_.label,
        "m": float(model.fuzzifier_.m),
        "memberships": model.memberships_kind_ if isinstance(model, KFRC) else "fuzzy",
        "status": str(model.status_),
        "n_iter": int(model.n_iter_),
        "objective": float(model.objective_),
        "uniformity": float(model.uniformity_),
        "partition_coefficient": float(partition_coefficient(model.memberships_, sample_weight=weights)),
    }
    if not isinstance(model, KFRC):
        return Fit(**common)
    return Fit(
        **common,
        kernel="precomputed" if model.kernel_ is None else model.kernel_.label,
        kernel_remark="" if model.kernel_ is None else model.kernel_.remark,
        criterion=model.criterion_.label,
        max_anisotropy=None if model.max_anisotropy_ is None else float(model.max_anisotropy_),
        level=None if model.search_ is None else float(model.search_.level),
        approximation=model.approximation_,
        approximation_error=float(model.approximation_error_),
        linear_limit=bool(model.linear_limit_),
    )


def remarks(model: FuzzyClusterer, importance: Importance | None = None) -> tuple[str, ...]:
    """What a reader of the result should know of the fit itself."""
    found = []
    if isinstance(model, KFRC):
        left_out = () if importance is None else importance.left_out
        n_constant = sum(not column.varies for column in left_out)
        if n_constant:
            verb = "does not vary and was" if n_constant == 1 else "do not vary and were"
            found.append(f"{count(n_constant, 'column')} {verb} left out.")
        set_aside = [column.name for column in left_out if column.varies]
        if set_aside:
            verbs = ("was", "it tells") if len(set_aside) == 1 else ("were", "they tell")
            found.append(
                f"{count(len(set_aside), 'column')} {verbs[0]} left out, because {verbs[1]} nothing apart: "
                f"{shortened(set_aside)}."
            )
        if getattr(model, "one_scale_", False):
            found.append(
                "All columns are on one scale, so columns that vary more count more; scale them yourself if all should "
                "count the same."
            )
        foremost = getattr(model, "foremost_", None)  # models of earlier versions have none
        if foremost is not None:
            found.append(
                f"The choice saw the {len(foremost.columns)} foremost of {foremost.n_columns} columns. "
                f"The clusters differ in about {foremost.n_differing} of all, one in ten of these by chance alone."
            )
        if model.kernel_ is not None and model.kernel_.remark:
            found.append(model.kernel_.remark)
        if model.linear_limit_:
            found.append(
                "The chosen bandwidths are so large that the kernel acts like weighted squared Euclidean distance: "
                "only the ratios of the bandwidths matter."
            )
        if model.approximation_ == "nystrom":
            found.append(
                f"The kernel was approximated from landmark rows; {100 * model.approximation_error_:.2g} % of the "
                "variance is left out."
            )
    if model.status_ == "max_iter":
        found.append("The memberships still moved when the iterations ran out: raise the number of iterations.")
    return tuple(found)

"""Whether a fuzzy clustering of a table collapses: λ₁, τ and m* for three kinds of distances, and what to do.

Every sentence says which distances it speaks of: those that ``kfrc fit`` chooses by itself, plain ones, or bandwidths
tuned until no m collapses. The first are found by the same fit that ``kfrc fit`` makes, so that the two agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from kfrc import KFRC
from kfrc.exceptions import InfeasibleBandwidthError
from kfrc.fuzzifiers import Fuzzifier
from kfrc.typing import FloatArray
from kfrc_app.facts.encoding import is_complete_numbers, standardized
from kfrc_app.facts.stability import FuzzifierOutlook, Stability, fuzzifier_outlooks, model_stability, plain_eigenvalue
from kfrc_app.facts.text import words
from kfrc_app.facts.weighting import fit_weighted

DEFAULT_LEVEL = 1.0
"""Mean log-bandwidth in standard deviations at which stable bandwidths are looked for first: where it works, clusters
of other than elliptical shape can be told apart. Where nothing is stable at this level, the level is searched."""

PLAIN_FUZZIFIER = "power"
"""The fuzzifier of plain fuzzy c-means."""


@dataclass(frozen=True)
class Outlook:
    """What every fuzzifier does on one set of distances.

    Attributes
    ----------
    leading_eigenvalue : float
        λ₁ of F.
    fuzzifiers : tuple of FuzzifierOutlook
    """

    leading_eigenvalue: float
    fuzzifiers: tuple[FuzzifierOutlook, ...]

    def of(self, name: str) -> FuzzifierOutlook:
        """The outlook of one fuzzifier."""
        return next(found for found in self.fuzzifiers if found.name == name)


@dataclass(frozen=True)
class ChosenFit:
    """What ``kfrc fit`` does with these data if nothing but the number of clusters is given.

    Attributes
    ----------
    outlook : Outlook
        For the bandwidths that it chooses.
    stability : Stability
        For these and its fuzzifier: what ``kfrc fit`` reports.
    fuzzifier : str
    m : float
        The fuzziness that it chooses.
    collapsed : bool
        Whether it ended with equal memberships.
    """

    outlook: Outlook
    stability: Stability
    fuzzifier: str
    m: float
    collapsed: bool

    @property
    def answer(self) -> str:
        """Can it collapse? In the words of ``kfrc fit``."""
        return self.stability.answer(self.m, collapsed=self.collapsed)

    @property
    def verdict(self) -> str:
        """The same as a sentence about these data."""
        taken = f"Left to itself, kfrc fit takes the {words(self.fuzzifier)} fuzzifier with m = {self.m:g}"
        if self.collapsed:
            return f"{taken} and collapses: nothing is found."
        first = f"{taken} and does not collapse"
        if self.stability.stable:
            return f"{first}; with the bandwidths that it chooses no m would."
        return (
            f"{first}; with the bandwidths that it chooses every m from m* = {self.stability.critical_m:.3f} on would."
        )


@dataclass(frozen=True)
class Advice:
    """One thing to do.

    Attributes
    ----------
    text : str
    fit_options : tuple of str or None
        What to add to ``kfrc fit`` of these data and this number of clusters, if the command line can do it.
    fuzzifier : str or None
        With plain distances: which fuzzifier ...
    m : float or None
        ... and at which fuzziness.
    """

    text: str
    fit_options: tuple[str, ...] | None = None
    fuzzifier: str | None = None
    m: float | None = None


@dataclass(frozen=True)
class Diagnosis:
    """Everything ``kfrc diagnose`` says.

    Attributes
    ----------
    n_rows, n_columns, n_clusters : int
    chosen : ChosenFit or None
        The fit that ``kfrc fit`` makes by default; None if it finds no bandwidths.
    plain : Outlook
        For squared Euclidean distances of standardized columns.
    tuned : Outlook or None
        For the bandwidths that KFRC finds; None if it finds none that are stable.
    fuzzifier : str
        The one that the bandwidths were tuned for.
    best_eigenvalue : float
        λ₁ that the search reached.
    tuned_with : tuple of str
        Options of ``kfrc fit`` that find the same tuned bandwidths.
    notes : tuple of str
    encoded : bool
        Whether plain distances needed numbers in the place of levels and blanks.
    """

    n_rows: int
    n_columns: int
    n_clusters: int
    chosen: ChosenFit | None
    plain: Outlook
    tuned: Outlook | None
    fuzzifier: str
    best_eigenvalue: float
    tuned_with: tuple[str, ...]
    notes: tuple[str, ...]
    encoded: bool = False

    @property
    def plain_distances(self) -> str:
        """Which distances are called plain."""
        first = "Plain squared distances, standardized columns"
        return f"{first} (one column per level, means for blanks)" if self.encoded else first

    @property
    def verdict(self) -> str:
        """Will it collapse? In words."""
        plain = self.plain.of(PLAIN_FUZZIFIER)
        m, c = plain.default_m, self.n_clusters
        if plain.collapses:
            first = (
                f"Plain fuzzy c-means with m = {m:g} collapses on these data: every membership becomes 1/{c} and "
                f"nothing is found. It does so at every m from m* = {plain.critical_m:.3f} on."
            )
        elif math.isfinite(plain.critical_m):
            first = (
                f"Plain fuzzy c-means with m = {m:g} does not collapse on these data, but it does at every m from "
                f"m* = {plain.critical_m:.3f} on."
            )
        else:
            first = "Plain fuzzy c-means does not collapse on these data, whatever m is."
        chosen = "" if self.chosen is None else f"{self.chosen.verdict} "
        return f"{chosen}{first} {self._tuned_verdict()}"

    def _tuned_verdict(self) -> str:
        threshold = Fuzzifier.from_name(self.fuzzifier).threshold(self.n_clusters)
        if self.tuned is None:
            return (
                f"No tuned bandwidths were found that rule collapse out: λ₁ reached {self.best_eigenvalue:.3f}, and "
                f"{threshold:.3f} is needed."
            )
        return (
            f"With bandwidths tuned until λ₁ reaches τ = {threshold:.3f} no m collapses with the "
            f"{words(self.fuzzifier)} fuzzifier; other bandwidths may collapse."
        )

    @property
    def advice(self) -> tuple[Advice, ...]:
        """What to do, best first."""
        found = []
        if self.chosen is not None and not self.chosen.collapsed:
            found.append(Advice(f"Let kfrc choose bandwidths and m{self._chosen_limit()}.", fit_options=()))
        if self.tuned is not None:
            found.append(
                Advice(
                    "Or fix the settings of the tuned bandwidths above: with these bandwidths no m collapses.",
                    fit_options=self.tuned_with,
                )
            )
        else:
            found.append(
                Advice(
                    "Leave out columns that cannot matter (--drop), or allow larger differences between the bandwidths "
                    "(--max-anisotropy 20): too many columns without structure hide the clusters."
                )
            )
        plain = self.plain.of(PLAIN_FUZZIFIER)
        if math.isfinite(plain.critical_m):
            m = plain.advised_m if plain.collapses else plain.default_m
            found.append(
                Advice(
                    f"To stay with plain fuzzy c-means, standardize the columns and keep m below "
                    f"{plain.critical_m:.3f}, for example m = {m:g}.",
                    fuzzifier=PLAIN_FUZZIFIER,
                    m=m,
                )
            )
        return tuple(found)

    def _chosen_limit(self) -> str:
        if self.chosen is None or self.chosen.stability.stable:
            return ""
        critical = f"m* = {self.chosen.stability.critical_m:.3f}"
        return f": it takes m = {self.chosen.m:g}, below the {critical} from which on its bandwidths collapse"


def diagnose(
    data: pd.DataFrame,
    n_clusters: int,
    *,
    choose: Callable[[], KFRC],
    make: Callable[[float | None], KFRC],
    weights: FloatArray | None = None,
    notes: list[str] | None = None,
) -> Diagnosis:
    """Compute what decides on collapse: for what ``kfrc fit`` chooses, for plain distances and for tuned bandwidths.

    Parameters
    ----------
    data : DataFrame of shape (n_samples, n_features)
    n_clusters : int
    choose : callable
        Builds an unfitted KFRC as ``kfrc fit`` does if nothing else is given.
    make : callable
        Builds an unfitted KFRC that looks for bandwidths at a level; None leaves the level to the search.
    weights : ndarray of shape (n_samples,), optional
        How many rows each row stands for.
    notes : list of str, optional
        Remarks made so far.

    Returns
    -------
    Diagnosis
    """
    notes = [] if notes is None else notes
    chosen = _chosen_fit(choose(), data, weights, n_clusters)
    plain = _outlook(plain_eigenvalue(standardized(data, weights).to_numpy(), weights), n_clusters)
    try:
        model = _fit_stable(make, data, weights, notes)
    except InfeasibleBandwidthError as error:
        tuned, best, model = None, error.best_eigenvalue, make(None)
    else:
        best = float(model.eigenvalues_[0])
        tuned = _outlook(best, n_clusters)
    return Diagnosis(
        n_rows=len(data),
        n_columns=data.shape[1],
        n_clusters=n_clusters,
        chosen=chosen,
        plain=plain,
        tuned=tuned,
        fuzzifier=model.fuzzifier if isinstance(model.fuzzifier, str) else model.fuzzifier.label,
        best_eigenvalue=best,
        tuned_with=_fit_options(model),
        notes=tuple(notes),
        encoded=not is_complete_numbers(data),
    )


def _chosen_fit(model: KFRC, data: pd.DataFrame, weights: FloatArray | None, n_clusters: int) -> ChosenFit | None:
    try:
        fit_weighted(model, data, weights)
    except InfeasibleBandwidthError:
        return None
    stability = model_stability(model)
    assert stability is not None  # the theory covers KFRC
    return ChosenFit(
        _outlook(stability.leading_eigenvalue, n_clusters),
        stability,
        model.fuzzifier_.label,
        float(model.fuzzifier_.m),
        str(model.status_) == "collapsed",
    )


def _fit_stable(
    make: Callable[[float | None], KFRC], data: pd.DataFrame, weights: FloatArray | None, notes: list[str]
) -> KFRC:
    model = make(DEFAULT_LEVEL)
    try:
        fit_weighted(model, data, weights)
        return model
    except InfeasibleBandwidthError:
        model = make(None)
        fit_weighted(model, data, weights)
        assert model.search_ is not None  # bandwidths are never given here
        notes.append(
            f"no bandwidths at the usual level {DEFAULT_LEVEL:g} reach λ₁ ≥ τ, so the level was searched: it is "
            f"{model.search_.level:.2f}"
        )
        return model


def _fit_options(model: KFRC) -> tuple[str, ...]:
    """How the command line asks for the bandwidths of a model; what is not named has the same default there."""
    level = "search" if model.level is None else f"{model.level:g}"
    m = "default" if model.m is None else f"{model.m:g}"
    return ("--level", level, "--max-anisotropy", f"{model.max_anisotropy:g}", "-m", m)


def _outlook(leading_eigenvalue: float, n_clusters: int) -> Outlook:
    return Outlook(leading_eigenvalue, fuzzifier_outlooks(n_clusters, leading_eigenvalue))

"""Can a fit collapse? λ₁ against the threshold τ, and the critical m*, for a fitted model and for every fuzzifier."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from kfrc import KFRC
from kfrc.bandwidth.projections import FEASIBILITY_TOL
from kfrc.clusterers import FuzzyClusterer
from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Fuzzifier
from kfrc.spectrum import spectrum_of
from kfrc.typing import FloatArray
from kfrc_app.facts.geometry import fitted_space

ADVISED_SHARE = 0.5
"""Advised m: this share of the way from the hard limit to m*. At m* itself memberships are already nearly uniform."""


@dataclass(frozen=True)
class Stability:
    """What decides whether memberships can all become 1/c.

    Attributes
    ----------
    leading_eigenvalue : float
        λ₁ of F.
    threshold : float
        τ of the fuzzifier: with λ₁ ≥ τ no m collapses. Zero for one cluster.
    critical_m : float
        m*: a fit may collapse from here on; ``inf`` if it is stable.
    stable : bool
        λ₁ ≥ τ, to the tolerance of the search.
    """

    leading_eigenvalue: float
    threshold: float
    critical_m: float
    stable: bool

    def answer(self, m: float, *, collapsed: bool, given: str = "bandwidths") -> str:
        """Can a fit with this m and these bandwidths collapse? ``kfrc fit`` and ``kfrc diagnose`` both say this.

        Examples
        --------
        >>> from kfrc_app.facts.stability import Stability
        >>> Stability(0.15, 0.2, 3.2, False).answer(1.6, collapsed=False)
        'λ₁ < τ: yes, at every m from m* = 3.200 on with these bandwidths (m = 1.6 was used).'
        """
        if collapsed:
            return "It did: every membership is the same, and nothing was found. The notes say why."
        if self.stable:
            return f"λ₁ ≥ τ: no. With these {given} no value of the fuzzifier m collapses."
        critical = f"m* = {self.critical_m:.3f}"
        return f"λ₁ < τ: yes, at every m from {critical} on with these {given} (m = {m:g} was used)."


@dataclass(frozen=True)
class FuzzifierOutlook:
    """What one fuzzifier does on given distances.

    Attributes
    ----------
    name : str
    default_m : float
    threshold : float
        τ: with λ₁ ≥ τ no m collapses.
    critical_m : float
        m*: collapses from here on; ``inf`` if never.
    advised_m : float
        An m well below m*.
    """

    name: str
    default_m: float
    threshold: float
    critical_m: float
    advised_m: float

    @property
    def collapses(self) -> bool:
        """Whether the default m collapses."""
        return self.default_m >= self.critical_m

    @property
    def never_collapses(self) -> bool:
        """Whether no m collapses."""
        return math.isinf(self.critical_m)


def stability(fuzzifier: Fuzzifier, n_clusters: int, leading: float) -> Stability:
    """λ₁ against τ for one fuzzifier.

    Parameters
    ----------
    fuzzifier : Fuzzifier
    n_clusters : int
    leading : float
        λ₁.

    Examples
    --------
    >>> from kfrc.fuzzifiers import Power
    >>> from kfrc_app.facts.stability import stability
    >>> stability(Power(2.0), 3, 0.4)
    Stability(leading_eigenvalue=0.4, threshold=0.5, critical_m=5.0..., stable=False)
    """
    if n_clusters == 1:
        return Stability(leading, 0.0, math.inf, True)
    threshold = float(fuzzifier.threshold(n_clusters))
    stable = leading >= threshold - FEASIBILITY_TOL
    critical_m = math.inf if stable else float(fuzzifier.critical_m(n_clusters, leading))
    return Stability(leading, threshold, critical_m, stable)


def model_stability(
    model: FuzzyClusterer, X: FloatArray | pd.DataFrame | None = None, weights: FloatArray | None = None
) -> Stability | None:
    """The stability of a fitted model; None for methods that the theory does not cover.

    Parameters
    ----------
    model : FuzzyClusterer
    X : ndarray or DataFrame, optional
        What it was fitted on; :class:`kfrc.KFRC` needs none.
    weights : ndarray of shape (n_samples,), optional
        How many rows each row stands for.
    """
    if isinstance(model, KFRC):
        leading = float(model.eigenvalues_[0])
    elif X is None or not model._minimizes_relation:
        return None
    else:
        leading = float(spectrum_of(fitted_space(model, X, weights=weights).gram(), 1).eigenvalues[0])
    return stability(model.fuzzifier_, model.memberships_.shape[1], leading)


def fuzzifier_outlooks(n_clusters: int, leading: float) -> tuple[FuzzifierOutlook, ...]:
    """What every registered fuzzifier does where the leading eigenvalue is given.

    Parameters
    ----------
    n_clusters : int
        At least two.
    leading : float
        λ₁.
    """
    outlooks = []
    for name in Fuzzifier.registry:
        t = Fuzzifier.from_name(name)
        critical = stability(t, n_clusters, leading).critical_m
        low = t.m_range.low
        advised = min(t.m, low + ADVISED_SHARE * (critical - low)) if math.isfinite(critical) else t.m
        threshold = float(t.threshold(n_clusters))
        outlooks.append(FuzzifierOutlook(name, float(t.m), threshold, critical, float(f"{advised:.3g}")))
    return tuple(outlooks)


def plain_eigenvalue(X: FloatArray, weights: FloatArray | None = None) -> float:
    """λ₁ for squared Euclidean distances between rows; weights say how many rows each row stands for."""
    return float(spectrum_of(Dissimilarity.from_features(X, weights).gram, 1).eigenvalues[0])

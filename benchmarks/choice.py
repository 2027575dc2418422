"""Automatic choice against one fit with fixed settings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

from harness import Row, cpu_seconds

from kfrc import KFRC
from kfrc.simulation import StudyDesign, make_study_dataset

REPEATS = 5


def rows() -> Iterator[Row]:
    for n_samples, bound in ((200, "<= 15"), (2000, "<= 8")):
        design = StudyDesign(4, 0.01, spherical=False, balanced=True, n_signal=5, n_noise=5, n_samples=n_samples)
        X = make_study_dataset(design, random_state=0).X

        def chosen(X=X):
            return KFRC(4, random_state=0).fit(X)

        def fixed(X=X):
            return KFRC.paper(4, optimizer="lbfgs", random_state=0).fit(X)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            choice, fit = cpu_seconds(chosen, fixed, repeats=REPEATS)
        yield Row(
            f"automatic choice / one fit with fixed settings, n={n_samples}",
            choice / fit,
            bound,
            f"{choice:.2f} s / {fit:.2f} s, {len(chosen().selection_['score'])} candidates",
        )

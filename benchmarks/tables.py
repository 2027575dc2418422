"""Tables with levels and blanks against complete numbers of the same size."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
from harness import Row, cpu_seconds, mixture

from kfrc import KFRC
from kfrc.columns import table_of
from kfrc.gram import gram_family
from kfrc.kernels import Kernel
from kfrc.spectrum import eigenvalue_gradients, spectrum_of

N_LEVELS = 5


def cut(X: np.ndarray) -> pd.DataFrame:
    """Numbers as levels, a fifth of the rows in each."""
    names = [f"level {k}" for k in range(N_LEVELS)]
    return pd.DataFrame({f"x{d}": pd.qcut(x, N_LEVELS, labels=names).astype(object) for d, x in enumerate(X.T)})


def rows() -> Iterator[Row]:
    X, _ = mixture(4000, 10, 3)
    theta, kernel = np.full(10, 1.5), Kernel.from_name("sum")
    holes = X.copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    families = [gram_family(rows, kernel) for rows in (X, table_of(X), table_of(holes), table_of(cut(X)))]

    def evaluate(family):
        gram = family.at(theta)
        return eigenvalue_gradients(gram, spectrum_of(gram, 3))

    plain, typed, blank, levels = cpu_seconds(*(lambda family=family: evaluate(family) for family in families))
    yield Row("spectrum and gradient, table of numbers / array, n=4000 p=10", typed / plain, "<= 2")
    yield Row("the same with a fifth missing / array", blank / plain, "<= 2.5")
    yield Row("the same with five levels each / array", levels / plain, "<= 0.7")
    X, _ = mixture(8000, 21, 2, spread=1.0)
    table = cut(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_levels, by_numbers = cpu_seconds(
            lambda: KFRC(2, random_state=0).fit(table), lambda: KFRC(2, random_state=0).fit(X), repeats=3
        )
    detail = f"{by_levels:.1f} s / {by_numbers:.1f} s"
    yield Row("default fit, 8000 x 21 levels / numbers", by_levels / by_numbers, "<= 1", detail)

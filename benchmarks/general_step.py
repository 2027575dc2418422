"""The membership step of a user's fuzzifier, found from t′ and t″ alone, against a closed form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from harness import Row, cpu_seconds

from kfrc.fuzzifiers import ComplementaryRoot, Fuzzifier

REPEATS = 101


@dataclass(frozen=True)
class Blend(Fuzzifier):
    """t(u) = (u + u^m) / 2."""

    m: float = 3.0

    def value(self, u):
        return (u + u**self.m) / 2

    def derivative(self, u):
        return (1 + self.m * u ** (self.m - 1)) / 2

    def second_derivative(self, u):
        return self.m * (self.m - 1) * u ** (self.m - 2) / 2


def rows() -> Iterator[Row]:
    for n_samples, n_clusters, bound in ((150, 3, "<= 12"), (10_000, 4, "<= 12")):
        distances = np.random.default_rng(0).chisquare(3, size=(n_samples, n_clusters))
        general, closed = cpu_seconds(
            lambda A=distances: Blend().memberships(A),
            lambda A=distances: ComplementaryRoot().memberships(A),
            repeats=REPEATS,
        )
        what = f"general membership step / closed form of complementary root, n={n_samples} c={n_clusters}"
        yield Row(what, general / closed, bound, f"{1e3 * general:.2f} ms")

"""What the laws are tried on: examples of every family, and hypothesis strategies for data."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import strategies as st

import kfrc.clusterers
from kfrc.clusterers import FuzzyClusterer
from kfrc.fuzzifiers import Fuzzifier
from kfrc.kernels import EmbeddedKernel

FUZZIFIERS = list(Fuzzifier.registry)
EXPORTED = [getattr(kfrc.clusterers, name) for name in kfrc.clusterers.__all__]
CLUSTERERS = [cls for cls in EXPORTED if issubclass(cls, FuzzyClusterer) and cls is not FuzzyClusterer]
NEAR_HARD = 0.02  # distance of m to the hard end; closer, t is a step and every number rounds to 0 or 1
FUZZIEST = 30.0  # distance of m to the hard end when the range is unbounded


@dataclass(frozen=True)
class Blend(Fuzzifier):
    """A user's fuzzifier without closed forms: t(u) = (u + u^m) / 2."""

    m: float = 3.0

    def value(self, u):
        return (u + u**self.m) / 2

    def derivative(self, u):
        return (1 + self.m * u ** (self.m - 1)) / 2

    def second_derivative(self, u):
        return self.m * (self.m - 1) * u ** (self.m - 2) / 2


@dataclass(frozen=True)
class PlainPower(Fuzzifier):
    """u^m as a user would write it: everything else comes from the base class."""

    m: float = 2.0

    def value(self, u):
        return u**self.m

    def derivative(self, u):
        return self.m * u ** (self.m - 1)

    def second_derivative(self, u):
        return self.m * (self.m - 1) * u ** (self.m - 2)


@dataclass(frozen=True)
class TwoPowers(Fuzzifier):
    """t(u) = (u^m + u^{2m}) / 2: t′(0) = 0 without being a power."""

    m: float = 2.0

    def value(self, u):
        return (u**self.m + u ** (2 * self.m)) / 2

    def derivative(self, u):
        return self.m * (u ** (self.m - 1) + 2 * u ** (2 * self.m - 1)) / 2

    def second_derivative(self, u):
        m = self.m
        return m * ((m - 1) * u ** (m - 2) + 2 * (2 * m - 1) * u ** (2 * m - 2)) / 2


@dataclass(frozen=True)
class NaiveRoot(Fuzzifier):
    """1 − (1 − u)^{1/m} written down without a thought of u = 1, where t′ and t″ are infinite."""

    m: float = 2.0

    def value(self, u):
        return 1 - (1 - u) ** (1 / self.m)

    def derivative(self, u):
        return (1 - u) ** (1 / self.m - 1) / self.m

    def second_derivative(self, u):
        return (1 - 1 / self.m) / self.m * (1 - u) ** (1 / self.m - 2)


@dataclass(frozen=True)
class Hyperbola(Fuzzifier):
    """t(u) = u / (m − (m − 1) u), the recipe of CONTRIBUTING.md."""

    m: float = 2.0

    def value(self, u):
        return u / (self.m - (self.m - 1) * u)

    def derivative(self, u):
        return self.m / (self.m - (self.m - 1) * u) ** 2

    def second_derivative(self, u):
        return 2 * self.m * (self.m - 1) / (self.m - (self.m - 1) * u) ** 3


@dataclass(frozen=True)
class General(Fuzzifier):
    """Another fuzzifier's t, with everything else from the base class."""

    of: Fuzzifier = None

    def __post_init__(self):
        pass

    def value(self, u):
        return self.of.value(u)

    def derivative(self, u):
        return self.of.derivative(u)

    def second_derivative(self, u):
        return self.of.second_derivative(u)


USER_FUZZIFIERS = [Blend, PlainPower, TwoPowers, NaiveRoot, Hyperbola]


def has_blocks(kernel):
    """Whether a kernel is a function of two rows, with a derivative: one that depends on all rows has an embedding."""
    return not isinstance(kernel, EmbeddedKernel)


def examples_of(family, where=lambda example: True):
    """The examples that every named class of a family brings along, or those of them that fulfill a condition."""
    return [example for cls in family.registry.values() for example in cls.examples() if where(example)]


def each(argument, family, where=lambda example: True):
    """Run a test on every example of a family; its id begins with the name of the class."""
    parameters = [
        pytest.param(example, id=cls.label if k == 0 else f"{cls.label}-{k + 1}")
        for cls in family.registry.values()
        for k, example in enumerate(cls.examples())
        if where(example)
    ]
    return pytest.mark.parametrize(argument, parameters)


def each_name(argument, family, where=lambda example: True):
    """Run a test on the names of a family."""
    return pytest.mark.parametrize(argument, list(dict.fromkeys(e.name for e in examples_of(family, where))))


def members(family, where=lambda example: True):
    """Draw an example of a family."""
    return st.sampled_from(examples_of(family, where))


def build_fuzzifier(fuzzifier, position):
    """A fuzzifier, or the one of that name, with m at a relative position between its hard and its fuzzy end."""
    t = Fuzzifier.resolve(fuzzifier)
    high = t.m_range.high if math.isfinite(t.m_range.high) else t.m_range.low + FUZZIEST
    low = t.m_range.low + NEAR_HARD
    return t.with_m(low * (high / low) ** position)


def fuzzifiers():
    """Every registered fuzzifier over its whole range of m."""
    return st.builds(build_fuzzifier, members(Fuzzifier), st.floats(0, 1))


def user_fuzzifiers():
    """Fuzzifiers as users write them, from nearly hard to very fuzzy."""
    fuzziness = st.floats(math.log(NEAR_HARD), math.log(FUZZIEST)).map(lambda log: 1.0 + math.exp(log))
    return st.builds(lambda cls, m: cls(m), st.sampled_from(USER_FUZZIFIERS), fuzziness)


def general_fuzzifiers():
    """Every registered fuzzifier and every user's one, with the membership step of the base class."""
    return st.one_of(fuzzifiers().map(lambda t: General(of=t)), user_fuzzifiers())


@st.composite
def distance_rows(draw, max_clusters=7, decades=4.0, min_clusters=2):
    """Positive distances of a few samples to a few centers, several decades apart."""
    n_clusters = draw(st.integers(min_clusters, max_clusters))
    n_samples = draw(st.integers(1, 6))
    logs = draw(
        st.lists(st.floats(-decades, decades), min_size=n_samples * n_clusters, max_size=n_samples * n_clusters)
    )
    return 10.0 ** np.array(logs).reshape(n_samples, n_clusters)


@st.composite
def data_matrices(draw, min_samples=6, max_samples=30, min_features=1, max_features=5):
    """Random data with a random number of groups, so that the spectrum is neither flat nor rank one."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_samples = draw(st.integers(min_samples, max_samples))
    n_features = draw(st.integers(min_features, max_features))
    spread = draw(st.sampled_from([0.0, 2.0, 6.0]))
    centers = spread * rng.standard_normal((3, n_features))
    return rng.standard_normal((n_samples, n_features)) + centers[rng.integers(3, size=n_samples)]


@st.composite
def log_bandwidths(draw, n_features, low=-2.0, high=12.0):
    """Log-bandwidths around a common level, as a search sees them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    level = draw(st.floats(low, high))
    return np.clip(level + rng.standard_normal(n_features), low, high)


def random_memberships(rng, n_samples, n_clusters, concentration=1.0):
    """Rows drawn from a Dirichlet distribution."""
    return rng.dirichlet(np.full(n_clusters, concentration), size=n_samples)

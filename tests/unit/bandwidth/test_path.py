"""The path of levels: every level starts where the one above ended."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kfrc._numerics import standardize
from kfrc.bandwidth import QuasiNewton
from kfrc.bandwidth.path import bandwidth_path
from kfrc.gram import gram_family
from kfrc.kernels import Kernel


@pytest.fixture(scope="module")
def Z(wine):
    return standardize(wine)


@pytest.fixture(scope="module")
def path(Z):
    return bandwidth_path(Z, gram_family(Z, Kernel.from_name("sum")), 3, [0.0, 4.0, 1.0], random_state=0)


def test_levels_come_from_the_highest_down(path, Z):
    assert [result.level for result in path] == [4.0, 1.0, 0.0]
    for result in path:
        assert result.log_bandwidths.mean() == pytest.approx(result.level, abs=1e-9)
        assert np.ptp(result.log_bandwidths) <= np.log(5.0) + 1e-9


def test_a_level_starts_where_the_one_above_ended(path):
    for above, below in pairwise(path):
        (run,) = below.candidates
        assert_allclose(run.start, above.log_bandwidths - above.level + below.level, atol=1e-9)
        assert np.abs(run.log_bandwidths - run.start).max() > 1e-3, "and moves on from there"


def test_the_optimizer_that_is_given_is_used(Z, path):
    family = gram_family(Z, Kernel.from_name("sum"))
    short = bandwidth_path(Z, family, 3, [0.0, 4.0, 1.0], optimizer=QuasiNewton(max_iter=1), random_state=0)
    assert sum(r.n_evaluations for r in short) < sum(r.n_evaluations for r in path)


@pytest.mark.slow
def test_levels_that_miss_the_threshold_are_left_out(Z, path):
    leading = [result.eigenvalues[0] for result in path]
    threshold = 0.5 * (min(leading) + max(leading))
    family = gram_family(Z, Kernel.from_name("sum"))
    found = bandwidth_path(Z, family, 3, [0.0, 4.0, 1.0], threshold=threshold, random_state=0)
    assert 0 < len(found) < len(path)
    assert all(result.eigenvalues[0] >= threshold - 1e-6 for result in found)

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kfrc import metrics

INDICES = [
    metrics.partition_coefficient,
    metrics.partition_entropy,
    metrics.modified_partition_coefficient,
    metrics.uniformity_index,
]


@pytest.mark.parametrize("n_clusters", [2, 3, 7])
def test_uniform_and_crisp_partitions_are_the_ends_of_every_scale(n_clusters):
    crisp, uniform = np.eye(n_clusters), np.full((5, n_clusters), 1 / n_clusters)
    for index, at_crisp, at_uniform in zip(
        INDICES, (1, 0, 1, 0), (1 / n_clusters, math.log(n_clusters), 0, 1), strict=True
    ):
        assert index(crisp) == at_crisp
        assert_allclose(index(uniform), at_uniform, atol=1e-15)


def test_uniformity_of_nearly_crisp_memberships_keeps_its_digits():
    u = 1e-12
    assert_allclose(metrics.uniformity_index([[1 - u, u]] * 3), 4 * u, rtol=1e-3)


def test_one_cluster_has_a_coefficient_but_no_uniformity():
    assert metrics.partition_coefficient(np.ones((3, 1))) == 1.0
    for index in (metrics.uniformity_index, metrics.modified_partition_coefficient):
        with pytest.raises(ValueError, match="at least 2 clusters"):
            index(np.ones((3, 1)))


def test_base_of_the_logarithm_is_above_one():
    with pytest.raises(ValueError, match="base must be > 1, got 1"):
        metrics.partition_entropy(np.eye(2), base=1)


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize(
    ("U", "message"),
    [
        ([[0.5, 0.6]], "must sum to 1"),
        ([[1.5, -0.5]], "negative memberships"),
        ([[np.nan, 1.0]], "NaN or infinity"),
        (np.empty((0, 3)), "is empty"),
        ([0.5, 0.5], "matrix of memberships"),
    ],
)
def test_bad_memberships_are_named(index, U, message):
    with pytest.raises(ValueError, match=message):
        index(U)

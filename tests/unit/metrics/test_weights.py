from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kfrc.metrics import effective_n_features, importance_weights


def test_weights_are_inverse_bandwidths():
    assert_allclose(importance_weights([1.0, 2.0, 4.0]), np.array([4, 2, 1]) / 7, atol=1e-15)


def test_an_infinite_bandwidth_switches_a_feature_off():
    assert importance_weights([1.0, np.inf]).tolist() == [1.0, 0.0]
    assert effective_n_features([3.0, np.inf, 3.0]) == 2.0


def test_equal_bandwidths_make_every_feature_count():
    assert_allclose(effective_n_features(np.full(13, 0.3)), 13, atol=1e-12)


def test_effective_number_is_the_inverse_sum_of_squared_weights():
    assert effective_n_features([1.0, 3.0]) == pytest.approx(1 / (0.75**2 + 0.25**2))
    assert effective_n_features([1.0, 2.0, 4.0]) == pytest.approx(49 / 21)


def test_tiny_bandwidths_do_not_overflow():
    assert_allclose(importance_weights([1e-320, 1e-320]), [0.5, 0.5])


@pytest.mark.parametrize("function", [importance_weights, effective_n_features])
@pytest.mark.parametrize(
    ("bandwidths", "message"),
    [
        ([1.0, 0.0], "positive"),
        ([1.0, -2.0], "positive"),
        ([1.0, np.nan], "positive"),
        ([], "is empty"),
        (1.0, r"shape \(n_features,\)"),
        ([[1.0]], r"shape \(n_features,\)"),
        ([np.inf, np.inf], "all bandwidths are infinite"),
    ],
)
def test_bad_bandwidths_are_named(function, bandwidths, message):
    with pytest.raises(ValueError, match=message):
        function(bandwidths)

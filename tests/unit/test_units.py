"""Columns on one scale: who counts as such, and what an automatic choice makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from kfrc import KFRC
from kfrc.fitting.units import have_one_scale
from kfrc.metrics import adjusted_rand_score


@pytest.fixture(scope="module")
def picture():
    """Ten columns of 0 to 16 that tell two groups apart, and eight corners that are seldom not zero."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 100)
    middle = np.clip(np.round(np.where(labels[:, None] == 0, 5, 11) + 3.5 * rng.standard_normal((200, 10))), 0, 16)
    middle[0], middle[-1] = 0, 16
    corners = 2.0 * (rng.random((200, 8)) < 0.1)
    return np.column_stack([middle, corners]), labels


def test_pixels_are_on_one_scale_and_other_numbers_are_not(picture):
    X, _ = picture
    assert have_one_scale(X)
    assert have_one_scale(X - 8)
    assert not have_one_scale(X + 0.5)  # no whole numbers
    assert not have_one_scale(X * np.arange(1, 19))  # other ends
    assert not have_one_scale(np.round(X / 8))  # answers from 0 to 2
    assert not have_one_scale(X[:, :3])  # too few to tell
    assert not have_one_scale(X[:, 8:])  # most do not reach the end
    assert not have_one_scale(X / 16)


@pytest.mark.slow
def test_columns_that_vary_more_count_more(picture):
    X, labels = picture
    model = KFRC(2, random_state=0).fit(X)
    assert model.one_scale_
    assert adjusted_rand_score(labels, model.labels_) > 0.9
    assert model.contributions_[:10].sum() > 0.95
    assert np.isfinite(model.bandwidths_[:10]).all()
    scaled = KFRC(2, random_state=0).fit(X / X.std(axis=0, ddof=1))
    assert not scaled.one_scale_


@pytest.mark.slow
def test_new_rows_are_placed_as_the_old_ones_were(picture):
    X, _ = picture
    model = KFRC(2, random_state=0).fit(X)
    np.testing.assert_allclose(model.predict_proba(X), model.memberships_, rtol=0, atol=1e-6)


def test_given_bandwidths_are_in_the_units_of_the_table_either_way(picture):
    X, _ = picture
    model = KFRC(2, bandwidths=4.0, m=1.5, random_state=0).fit(X)
    np.testing.assert_allclose(model.bandwidths_, 4.0)

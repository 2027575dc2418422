"""Tables of some sixty columns, such as images: what is coarse is close, and what hardly varies is not judged."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kfrc import KFRC
from kfrc._numerics import standardize
from kfrc.bandwidth.path import bandwidth_path
from kfrc.gram import gram_family
from kfrc.gram.column_grams import ColumnGrams
from kfrc.gram.low_rank import ChebyshevGrams
from kfrc.judges import MixtureJudge
from kfrc.kernels import Kernel
from kfrc.metrics import adjusted_rand_score
from kfrc.screening import NoScreen
from kfrc.selection.columns import ColumnEvidence
from kfrc.spectrum import spectrum_of

SUM = Kernel.from_name("sum")


@pytest.fixture(scope="module")
def images():
    """Pixels from 0 to 8 of five patterns, many of them zero, and margins in which a few rows have a speck."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(5), 60)
    patterns = np.where(rng.random((5, 45)) < 0.4, 6.0, 0.0)
    pixels = np.clip(np.round(patterns[labels] + rng.normal(0.0, 1.5, (300, 45))), 0.0, 8.0)
    margins = np.zeros((300, 6))
    margins[rng.choice(300, 5, replace=False)] = 8.0
    return np.hstack([pixels, margins]), labels


@pytest.mark.slow
def test_digits_like_data_are_clustered_by_what_varies(images):
    X, labels = images
    model = KFRC(5, random_state=0).fit(X)
    assert adjusted_rand_score(labels, model.labels_) > 0.95
    assert_array_equal(np.isfinite(model.bandwidths_)[45:], np.zeros(6, dtype=bool))


def test_columns_that_hardly_vary_are_in_no_view_unless_there_are_no_others(images):
    Z = standardize(images[0])
    evidence = ColumnEvidence(Z, NoScreen().examine(Z), MixtureJudge())
    assert max(view.max() for view in evidence.views()) == 44
    rare = np.ascontiguousarray(Z[:, 45:])
    assert len(ColumnEvidence(rare, NoScreen().examine(rare), MixtureJudge()).views()[0]) == 6


def test_a_background_models_values_that_many_rows_share_no_finer_than_a_mixture_does(images):
    Z = np.ascontiguousarray(standardize(images[0])[:, :8])
    evidence = ColumnEvidence(Z, NoScreen().examine(Z), MixtureJudge())
    one = MixtureJudge().examine(Z, [np.ones((len(Z), 1))])
    gaussian = next(opinion for opinion in one if opinion.name == "tied")
    background, _ = evidence.background(np.arange(0))
    assert background.sum() == pytest.approx(gaussian.evidence, rel=1e-6)


@pytest.mark.parametrize("few_values", [True, False])
def test_coarse_grams_are_close_and_have_a_low_rank(images, few_values):
    Z = standardize(images[0][:, :45])
    if not few_values:
        Z = Z + 0.1 * np.random.default_rng(1).standard_normal(Z.shape)
    coarse = gram_family(Z, SUM, tol=1e-6)
    assert isinstance(coarse, ColumnGrams if few_values else ChebyshevGrams)
    for level in (1.0, 4.0):
        bandwidths = np.full(Z.shape[1], np.exp(level))
        exact, close = gram_family(Z, SUM).at(bandwidths), coarse.at(bandwidths)
        assert close.rank < len(Z)
        assert_allclose(spectrum_of(close, 5).eigenvalues, spectrum_of(exact, 5).eigenvalues, atol=1e-5)


def test_many_columns_keep_the_shape_of_the_linear_kernel_at_every_level(images):
    Z = standardize(images[0][:, :45])
    results = bandwidth_path(Z, gram_family(Z, SUM), 5, [4.0, 1.0, 0.0], n_starts=1, random_state=0)
    shapes = [result.log_bandwidths - result.log_bandwidths.mean() for result in results]
    assert np.ptp(shapes[0]) > 1.0
    assert_allclose(shapes[1:], [shapes[0]] * 2, atol=1e-12)
    assert [result.n_evaluations for result in results] == [1, 1, 1]

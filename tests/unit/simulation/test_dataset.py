import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kfrc.exceptions import KFRCError
from kfrc.simulation import StudyDesign, add_noise_features, make_study_dataset, study_designs


def test_the_study_has_192_distinct_designs_in_a_fixed_order():
    designs = study_designs()
    assert len(designs) == len(set(designs)) == len({design.key for design in designs}) == 192
    assert {(d.n_signal, d.n_noise) for d in designs} == {(2, 8), (5, 5), (8, 2), (10, 0)}
    assert {d.n_clusters for d in designs} == {2, 4, 6}
    assert {d.average_overlap for d in designs} == {0.001, 0.01, 0.05, 0.10}
    assert {d.n_samples for d in designs} == {200}
    assert sum(d.spherical for d in designs) == sum(d.balanced for d in designs) == 96
    assert {d.signal_to_noise for d in designs} == {0.25, 1.0, 4.0, np.inf}
    assert designs == study_designs()


@pytest.mark.parametrize("index", range(0, 192, 7))
def test_data_sets_are_as_designed(index):
    design = study_designs()[index]
    dataset = make_study_dataset(design, random_state=1)
    assert dataset.X.shape == (200, 10)
    assert_allclose(dataset.X.mean(axis=0), 0, atol=1e-12)
    assert_allclose(dataset.X.std(axis=0, ddof=1), 1)
    assert_array_equal(np.unique(dataset.labels), np.arange(design.n_clusters))
    assert dataset.posteriors.shape == (200, design.n_clusters)
    assert_array_equal(dataset.informative, np.arange(design.n_signal))
    assert dataset.mixture.overlap().average == pytest.approx(design.average_overlap, rel=0, abs=1e-8)
    covariances = dataset.mixture.covariances
    assert_array_equal(covariances, np.broadcast_to(covariances[0], covariances.shape))
    if design.balanced:
        assert_allclose(dataset.mixture.weights, 1 / design.n_clusters)
    else:
        assert dataset.mixture.weights.min() >= 0.05
        assert np.ptp(dataset.mixture.weights) > 0
    if design.spherical:
        assert_allclose(covariances[0], covariances[0, 0, 0] * np.eye(design.n_signal))


def test_posteriors_belong_to_the_signal_and_ignore_the_noise():
    design = StudyDesign(3, 0.1, spherical=False, balanced=False, n_signal=4, n_noise=6)
    dataset = make_study_dataset(design, random_state=2)
    # With equal covariances log-odds are affine in the signal, and stay so when the signal is standardized.
    log_odds = np.log(dataset.posteriors[:, 1:] / dataset.posteriors[:, :1])
    columns = np.column_stack([dataset.X[:, dataset.informative], np.ones(design.n_samples)])
    fitted = columns @ np.linalg.lstsq(columns, log_odds, rcond=None)[0]
    assert_allclose(fitted, log_odds, atol=1e-8)
    assert (dataset.posteriors.argmax(axis=1) == dataset.labels).mean() > 0.8


def test_noise_columns_know_nothing_of_the_labels():
    design = StudyDesign(2, 0.001, n_signal=2, n_noise=8, n_samples=5000)
    dataset = make_study_dataset(design)
    gaps = np.abs(dataset.X[dataset.labels == 0].mean(axis=0) - dataset.X[dataset.labels == 1].mean(axis=0))
    assert gaps[:2].max() > 0.5
    assert gaps[2:].max() < 0.15


def test_the_same_design_and_seed_give_the_same_data_in_any_order():
    designs = study_designs()[:3]
    forward = [make_study_dataset(design, random_state=4).X for design in designs]
    backward = [make_study_dataset(design, random_state=4).X for design in reversed(designs)]
    for first, second in zip(forward, reversed(backward), strict=True):
        assert_array_equal(first, second)


def test_designs_and_seeds_have_streams_of_their_own():
    designs = study_designs()
    weights = [make_study_dataset(designs[i], random_state=s).mixture.means[0, 0] for i in (0, 3, 6) for s in (0, 1)]
    assert len(set(weights)) == 6


@pytest.mark.parametrize("seed", [-1, 1.5, None, True, "1"])
def test_seeds_of_the_study_are_non_negative_integers(seed):
    with pytest.raises(ValueError, match="random_state must be a non-negative integer"):
        make_study_dataset(study_designs()[0], random_state=seed)


def test_a_design_must_be_a_design():
    with pytest.raises(TypeError, match="must be a StudyDesign, got int"):
        make_study_dataset(3)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_clusters": 1}, ValueError, "n_clusters must be at least 2"),
        ({"n_samples": 2}, ValueError, "n_samples=2 should be >= n_clusters=3"),
        ({"average_overlap": 0.0}, ValueError, "average_overlap must be > 0"),
        ({"average_overlap": 1.0}, ValueError, "average_overlap must be below 1"),
        ({"n_signal": 0}, ValueError, "n_signal must be at least 1"),
        ({"n_noise": -1}, ValueError, "n_noise must be at least 0"),
        ({"n_noise": 1.0}, TypeError, "n_noise must be an integer"),
    ],
)
def test_bad_designs_are_named(options, error, message):
    with pytest.raises(error, match=message):
        StudyDesign(**{"n_clusters": 3, "average_overlap": 0.05, **options})


def test_too_few_rows_for_every_component_is_an_error():
    with pytest.raises(KFRCError, match="30 rows are too few for all 30 components"):
        make_study_dataset(StudyDesign(30, 0.01, n_samples=30))


def test_noise_columns_are_appended_after_the_signal():
    X = np.arange(6.0).reshape(3, 2)
    extended = add_noise_features(X, 4, random_state=0)
    assert extended.shape == (3, 6)
    assert_array_equal(extended[:, :2], X)
    assert_array_equal(add_noise_features(X, 0), X)
    assert_array_equal(extended, add_noise_features(X, 4, random_state=0))

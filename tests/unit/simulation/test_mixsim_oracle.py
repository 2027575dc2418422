"""Overlaps, study designs and posteriors against numbers from MixSim (see the JSON files for versions and seeds)."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kfrc.simulation import GaussianMixtureSpec, overlap, study_designs

GOLDEN = Path(__file__).parents[2] / "golden"
CASES = json.loads((GOLDEN / "mixsim_overlap.json").read_text())["cases"]
STUDY = json.loads((GOLDEN / "mixsim_study_seed1.json").read_text())
ORDINARY = [case for case, facts in CASES.items() if not facts["type"].startswith("KNOWN_MIXSIM_DEFECT")]
DEFECTIVE = [case for case in CASES if case not in ORDINARY]


@pytest.fixture(scope="module")
def mixtures():
    with np.load(GOLDEN / "mixsim_overlap.npz") as arrays:
        return dict(arrays)


@pytest.fixture(scope="module")
def study():
    with np.load(GOLDEN / "mixsim_study_seed1.npz") as arrays:
        return dict(arrays)


def read_mixture(mixtures, case, order=slice(None)):
    return [mixtures[f"{case}__{part}"][order] for part in ("Pi", "Mu", "S")]


def read_study_mixture(study, index):
    n_clusters, n_signal = STUDY["designs"][index][:2]
    covariance = study["S0"][index, :n_signal, :n_signal]
    return GaussianMixtureSpec(
        study["Pi"][index, :n_clusters],
        study["Mu"][index, :n_clusters, :n_signal],
        np.broadcast_to(covariance, (n_clusters, n_signal, n_signal)),
    )


@pytest.mark.parametrize("case", ORDINARY)
def test_overlap_map_equals_mixsim(mixtures, case):
    result = overlap(*read_mixture(mixtures, case))
    assert_allclose(result.omega_map, mixtures[f"{case}__OmegaMap"], rtol=0, atol=1e-6)
    # The second oracle was run with eps = 1e-10.
    assert_allclose(result.omega_map, mixtures[f"{case}__OmegaMap_eps1e10"], rtol=0, atol=1e-10)
    assert result.average == pytest.approx(CASES[case]["BarOmega_eps1e10"], rel=0, abs=2e-10)
    assert result.maximum == pytest.approx(CASES[case]["MaxOmega_eps1e10"], rel=0, abs=2e-10)


@pytest.mark.parametrize("case", DEFECTIVE)
def test_an_equal_pair_among_unequal_components_is_handled_where_mixsim_fails(mixtures, case):
    result = overlap(*read_mixture(mixtures, case))
    reordered = overlap(*read_mixture(mixtures, case, [2, 0, 1]))
    assert reordered.average == pytest.approx(result.average, rel=0, abs=1e-12)
    assert abs(result.average - CASES[case]["BarOmega"]) > 1e-3  # the value MixSim gets wrong

    spec = GaussianMixtureSpec(*read_mixture(mixtures, case))
    n_draws = 40_000
    rng = np.random.default_rng(0)
    for i in range(3):
        X = rng.multivariate_normal(spec.means[i], spec.covariances[i], size=n_draws)
        posteriors = spec.posteriors(X)
        frequencies = (posteriors > posteriors[:, [i]]).mean(axis=0)
        expected = np.where(np.arange(3) == i, 0, result.omega_map[i])
        error = np.sqrt(expected * (1 - expected) / n_draws)
        assert (np.abs(frequencies - expected) <= 5 * error).all()


@pytest.mark.parametrize("index", range(192))
def test_overlap_of_the_authors_study_mixtures(study, index):
    n_clusters = STUDY["designs"][index][0]
    result = read_study_mixture(study, index).overlap()
    assert_allclose(result.omega_map, study["OmegaMap"][index, :n_clusters, :n_clusters], rtol=0, atol=1e-6)
    assert result.average == pytest.approx(STUDY["designs"][index][-1], rel=0, abs=1e-6)


def test_study_designs_come_in_the_order_of_the_authors():
    ours = [
        [d.n_clusters, d.n_signal, d.n_noise, d.average_overlap, d.spherical, 1 if d.balanced else 0.05]
        for d in study_designs()
    ]
    assert ours == [design[:-1] for design in STUDY["designs"]]


@pytest.mark.parametrize("index", [47, 110, 191])
def test_posteriors_equal_those_of_the_authors(study, index):
    posteriors = read_study_mixture(study, index).posteriors(study[f"signal_{index}"])
    assert_allclose(posteriors, study[f"posteriors_{index}"], rtol=0, atol=1e-9)

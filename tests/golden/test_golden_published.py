"""The six published configurations: their bandwidths give the published spectrum, partition and indices.

Image segmentation uses the complementary root, whose update in the reference code is exact; diabetes and rice have two
clusters, where clipping and renormalizing happens to be exact too. On seeds, wine and vehicle (quadratic, three or four
clusters) the published memberships are not minimizers of J, and ours are lower and crisper.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import adjusted_rand_score

from kfrc import KFRC
from kfrc._numerics import standardize
from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Fuzzifier
from kfrc.gram import gram_family
from kfrc.kernels.gaussian import GaussianSum
from kfrc.metrics import adjusted_mutual_info_score, fuzzy_adjusted_rand_score

NAMES = {"quad": "quadratic", "crt": "complementary_root"}
FILES = {"IS": "image_segmentation"}
SAME_STEP = ["kfrc__IS__crt__logsum__a5", "kfrc__diabetes__quad__logsum__a1", "kfrc__rice__quad__gap__aInf"]
SAME_PARTITION = ["kfrc__seeds__quad__logsum__a1", "kfrc__wine__quad__logsum__a1"]
VEHICLE = "kfrc__vehicle__quad__logsum__aInf"


class Published:
    """One configuration with its data and memberships."""

    def __init__(self, shared, name):
        folder = shared / "oracles" / "reference_results"
        self.config = json.loads((folder / "kfrc_best_configs.json").read_text())[name]
        file = FILES.get(self.config["dataset"], self.config["dataset"])
        rows = np.genfromtxt(shared / "data" / f"{file}.csv", delimiter=",", dtype=str)[1:]
        self.labels = rows[:, -1]
        self.X = standardize(rows[:, :-1].astype(float))
        self.c = self.config["K"]
        memberships = np.genfromtxt(folder / f"{name}__U.csv.gz", delimiter=",", dtype=str)[1:, -self.c :]
        self.U = np.char.strip(memberships, '"').astype(float)

    def fit(self, **options):
        estimator = KFRC(
            self.c,
            fuzzifier=NAMES[self.config["fuzzifier"]],
            m=self.config["m"],
            bandwidths=self.config["bw"],
            standardize=False,
            **{"random_state": 0, **options},
        )
        return estimator.fit(self.X)

    def objective(self, U):
        t = Fuzzifier.from_name(NAMES[self.config["fuzzifier"]], m=self.config["m"])
        weights = t.value(U)
        gram = gram_family(self.X, GaussianSum()).at(np.array(self.config["bw"]))
        distances, _ = Dissimilarity(gram).center_distances(weights / weights.sum(axis=0))
        return float((weights * distances).sum())

    def assert_hard_indices(self, labels, digits=3):
        assert adjusted_rand_score(self.labels, labels) == pytest.approx(self.config["ARI"], abs=0.5 * 10**-digits)
        ami = adjusted_mutual_info_score(self.labels, labels)
        assert ami == pytest.approx(self.config["AMI"], abs=0.5 * 10**-digits)


@pytest.mark.parametrize("name", SAME_STEP)
def test_published_bandwidths_give_the_published_numbers(shared, name):
    published = Published(shared, name)
    fit = published.fit(n_init=1)
    assert_allclose(fit.eigenvalues_, published.config["eigenvalues"], rtol=0, atol=1e-10)
    published.assert_hard_indices(fit.labels_)
    fuzzy = fuzzy_adjusted_rand_score(published.labels, fit.memberships_)
    assert fuzzy == pytest.approx(published.config["FARI_crisp"], abs=5e-4)
    assert fit.uniformity_ == pytest.approx(published.config["uniformity"], abs=5e-4)
    assert_allclose(np.sort(fit.memberships_, axis=1), np.sort(published.U, axis=1), atol=1e-4)


def test_image_segmentation_gives_the_numbers_printed_in_the_paper(shared):
    published = Published(shared, "kfrc__IS__crt__logsum__a5")
    fit = published.fit(n_init=1)
    printed = {
        "ARI": adjusted_rand_score(published.labels, fit.labels_),
        "AMI": adjusted_mutual_info_score(published.labels, fit.labels_),
        "FARI": fuzzy_adjusted_rand_score(published.labels, fit.memberships_),
        "U": fit.uniformity_,
    }
    assert {name: round(value, 3) for name, value in printed.items()} == {
        "ARI": 0.620,
        "AMI": 0.699,
        "FARI": 0.504,
        "U": 0.282,
    }
    assert fit.stable_
    assert fit.threshold_ == pytest.approx(published.config["tau"])


@pytest.mark.parametrize("name", SAME_PARTITION)
def test_exact_quadratic_step_gives_the_published_partition_with_crisper_memberships(shared, name):
    published = Published(shared, name)
    fit = published.fit()
    assert_allclose(fit.eigenvalues_, published.config["eigenvalues"], rtol=0, atol=1e-10)
    assert adjusted_rand_score(published.U.argmax(axis=1), fit.labels_) == 1.0
    published.assert_hard_indices(fit.labels_)
    assert fit.objective_ < published.objective(published.U)
    assert fit.uniformity_ < published.config["uniformity"] - 0.01


def test_vehicle_reaches_the_published_partition_from_the_published_memberships(shared):
    published = Published(shared, VEHICLE)
    fit = published.fit(init=published.U, n_init=1)
    assert_allclose(fit.eigenvalues_, published.config["eigenvalues"], rtol=0, atol=1e-10)
    assert adjusted_rand_score(published.U.argmax(axis=1), fit.labels_) == 1.0
    published.assert_hard_indices(fit.labels_)
    assert fit.objective_ < published.objective(published.U)


def test_random_starts_of_vehicle_end_in_three_minima_one_of_them_the_published_partition(shared):
    published = Published(shared, VEHICLE)
    fits = [published.fit(init="random", n_init=1, random_state=seed) for seed in (1, 5, 0)]
    assert_allclose([fit.objective_ for fit in fits], [148.804, 150.563, 164.226], rtol=0, atol=2e-3)
    agreement = [adjusted_rand_score(published.U.argmax(axis=1), fit.labels_) for fit in fits]
    assert agreement[1] == 1.0
    assert max(agreement[0], agreement[2]) < 0.7
    assert published.fit().objective_ == pytest.approx(148.804, abs=2e-3)

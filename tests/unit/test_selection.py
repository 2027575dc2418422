"""Automatic choice: what is compared, what is chosen, and what the estimator says of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from kfrc import KFRC
from kfrc.bandwidth import QuasiNewton
from kfrc.criteria import EigenvalueSum
from kfrc.exceptions import LargestNumberWarning, NoStructureWarning
from kfrc.fitting import resolve_settings
from kfrc.fuzzifiers import Power, Quadratic
from kfrc.judges import Judge, Opinion
from kfrc.kernels.gaussian import GaussianSum
from kfrc.metrics import adjusted_rand_score, frobenius_adjusted_rand_score
from kfrc.relational import Spectral
from kfrc.selection import (
    ANISOTROPIES,
    FUZZINESS,
    LEVELS,
    ClusterCount,
    Grid,
    SearchOptions,
    fuzziness_path,
    solve_candidates,
    tune_kernels,
    tuned_kernels,
)
from kfrc.selection.columns import ColumnOpinion
from kfrc.selection.count import SHALLOW_VALLEY
from kfrc.selection.tuned_kernels import KnownKernels
from kfrc.simulation import make_shape_dataset, make_study_dataset, study_designs


@pytest.fixture(scope="module")
def data():
    (design,) = [
        d
        for d in study_designs()
        if (d.n_clusters, d.average_overlap, d.spherical, d.balanced, d.n_noise) == (4, 0.01, True, True, 5)
    ][:1]
    return make_study_dataset(design, random_state=1)


@pytest.fixture(scope="module")
def fit(data):
    return KFRC(4, n_starts=2, random_state=0).fit(data.X)


def test_every_combination_is_listed_once_best_first(fit):
    table = fit.selection_
    settings = set(zip(table["max_anisotropy"], table["level"], table["m"], strict=True))
    assert len(settings) == len(table["score"]) <= len(ANISOTROPIES) * len(LEVELS) * len(FUZZINESS)
    assert (np.diff(table["score"]) <= 0).all()
    assert fit.selection_margin_ == pytest.approx(table["score"][0] - table["score"][1])


def test_the_first_of_the_table_is_what_was_fitted(fit, data):
    first = {name: values[0] for name, values in fit.selection_.items()}
    assert (first["m"], first["max_anisotropy"], first["level"]) == (
        fit.fuzzifier_.m,
        fit.max_anisotropy_,
        fit.search_.level,
    )
    assert first["lambda1"] == pytest.approx(fit.eigenvalues_[0], rel=1e-6)
    used = np.isfinite(fit.bandwidths_)
    assert_allclose(np.log(fit.bandwidths_), fit.log_bandwidths_ + np.log(data.X.std(axis=0, ddof=1)), atol=1e-9)
    assert np.ptp(fit.log_bandwidths_[used]) <= np.log(first["max_anisotropy"]) + 1e-9


def test_noise_columns_are_left_out_and_the_others_are_not(fit, data):
    assert_array_equal(np.flatnonzero(np.isfinite(fit.bandwidths_)), data.informative)
    assert_array_equal(fit.contributions_ > 0, np.isfinite(fit.bandwidths_))
    everything = KFRC(4, screen="none", n_starts=2, random_state=0).fit(data.X)
    assert adjusted_rand_score(everything.labels_, fit.labels_) > 0.8


def test_no_candidate_can_collapse(fit):
    assert (fit.selection_["m"] < fit.selection_["critical_m"]).all()
    assert fit.fuzzifier_.m < fit.critical_m_
    assert fit.status_ == "converged"


def test_memberships_are_a_solution_of_the_chosen_problem(fit, data):
    assert_allclose(fit.predict_proba(data.X), fit.memberships_, atol=1e-4)
    assert (np.diff(fit.objective_path_) <= 1e-9).all()
    score = frobenius_adjusted_rand_score(fit.opinion_.posterior, fit.memberships_)
    assert score == pytest.approx(fit.selection_["score"][0], abs=0.02)


@pytest.mark.slow
def test_the_choice_is_better_than_the_fixed_settings(fit, data):
    fixed = KFRC.paper(4, optimizer="lbfgs", random_state=0).fit(data.X)
    chosen = frobenius_adjusted_rand_score(data.posteriors, fit.memberships_)
    assert chosen > 0.8
    assert chosen > frobenius_adjusted_rand_score(data.posteriors, fixed.memberships_)


@pytest.mark.slow
def test_same_seed_same_choice_with_any_number_of_jobs(fit, data):
    again = KFRC(4, n_starts=2, random_state=0, n_jobs=2).fit(data.X)
    assert_array_equal(again.memberships_, fit.memberships_)
    assert_array_equal(again.selection_["score"], fit.selection_["score"])


@pytest.mark.slow
def test_units_do_not_matter(fit, data):
    other = KFRC(4, n_starts=2, random_state=0).fit(data.X * np.logspace(-3, 3, data.X.shape[1]) + 5.0)
    assert_allclose(other.memberships_, fit.memberships_, atol=1e-4)


def test_posterior_memberships_are_closer_to_the_truth(fit, data):
    posterior = KFRC(4, memberships="posterior", n_starts=2, random_state=0).fit(data.X)
    assert_allclose(posterior.memberships_, fit.posterior_memberships_, atol=1e-12)
    assert_allclose(posterior.predict_proba(data.X), posterior.memberships_, atol=1e-12)
    assert_array_equal(posterior.labels_, posterior.memberships_.argmax(axis=1))
    truth = data.posteriors
    assert frobenius_adjusted_rand_score(truth, posterior.memberships_) > frobenius_adjusted_rand_score(
        truth, fit.memberships_
    )
    assert adjusted_rand_score(fit.labels_, posterior.labels_) > 0.7  # clusters carry the same numbers
    assert (fit.labels_ == posterior.labels_).mean() > 0.8


def test_probabilities_need_a_judge(data):
    with pytest.raises(ValueError, match="needs an automatic choice"):
        KFRC.paper(4, memberships="posterior", optimizer="lbfgs", n_starts=1, random_state=0).fit(data.X)


@pytest.mark.parametrize(
    "given", [{"m": 1.3}, {"level": 1.0}, {"max_anisotropy": 5.0}, {"fuzzifier": "quadratic"}, {"kernel": "linear"}]
)
def test_what_is_given_is_kept_and_the_rest_chosen(data, given):
    fit = KFRC(4, n_starts=2, random_state=0, **given).fit(data.X)
    for name, value in given.items():
        assert set(fit.selection_[name].tolist()) == {value}
    assert len(fit.selection_["score"]) > 1


@pytest.mark.slow
def test_everything_can_be_chosen(data):
    fit = KFRC(4, kernel="auto", fuzzifier="auto", criterion="auto", n_starts=1, random_state=0).fit(data.X[:80])
    assert set(fit.selection_["kernel"]) == {"sum", "product"}
    assert set(fit.selection_["criterion"]) == {"sum", "gap"}
    assert set(fit.selection_["fuzzifier"]) == {"complementary_root", "quadratic"}
    assert fit.kernel_.name == fit.selection_["kernel"][0]


def test_where_nothing_can_be_chosen_auto_is_the_paper(data):
    K = data.X @ data.X.T
    assert KFRC(4, kernel="precomputed", random_state=0).fit(K).fuzzifier_.m == 2.0
    given = KFRC(4, bandwidths=np.full(data.X.shape[1], 3.0), random_state=0).fit(data.X)
    assert given.selection_ is None
    assert given.fuzzifier_.m == 2.0


def test_the_paper_is_one_word_away():
    assert KFRC.paper(5, n_starts=2).get_params() == {
        **KFRC(5).get_params(),
        "m": None,
        "level": None,
        "max_anisotropy": 5.0,
        "optimizer": "momentum",
        "outliers": "keep",
        "n_starts": 2,
    }


@pytest.mark.slow
def test_number_of_clusters_is_found_and_explained(data):
    fit = KFRC("auto", max_clusters=5, n_starts=1, random_state=0).fit(data.X)
    assert fit.n_clusters_ == 4 == fit.memberships_.shape[1]
    count = fit.cluster_count_
    assert count["n_clusters"].tolist() == [1, 2, 3, 4, 5]
    assert count["evidence"].argmax() == 3
    assert count["tolerated"][3]
    assert count["valley"][3] < SHALLOW_VALLEY


@pytest.mark.slow
@pytest.mark.parametrize("case", ["pieces without bridges", "clusters beside each other"])
def test_a_density_judge_counts_curved_clusters_once_and_clusters_that_stand_close_each(case):
    if case == "pieces without bridges":  # sparse rings: mixtures need eight components, and not all of them touch
        X, expected, seed = make_shape_dataset("rings", n_noise=1, random_state=38).X, 2, 38
    else:  # four round clusters in two pairs: a density tells the pairs apart best of all
        X, expected, seed = make_study_dataset(study_designs()[148], random_state=32).X, 4, 32
    assert KFRC("auto", max_clusters=8, random_state=seed).fit(X).n_clusters_ == expected


@pytest.mark.slow
def test_the_largest_number_that_was_tried_is_flagged_when_it_is_taken(data):
    with pytest.warns(LargestNumberWarning, match="2 clusters were found, the largest number tried"):
        KFRC("auto", max_clusters=2, n_starts=1, random_state=0).fit(data.X)


def test_noise_is_called_noise():
    X = np.random.default_rng(0).standard_normal((100, 2))
    with pytest.warns(NoStructureWarning, match="no sign of more than one group"):
        fit = KFRC("auto", max_clusters=2, n_starts=1, random_state=0).fit(X)
    assert fit.n_clusters_ == 1
    assert_array_equal(fit.memberships_, np.ones((100, 1)))
    assert_array_equal(fit.predict_proba(X), fit.memberships_)


@pytest.mark.slow
def test_many_rows_are_judged_by_some_of_them(data):
    X = np.vstack([data.X] * 4)
    fit = KFRC(4, selection_samples=200, n_starts=2, random_state=0).fit(X)
    assert fit.memberships_.shape == (len(X), 4)
    assert len(fit.opinion_.posterior) == 200
    assert fit.posterior_memberships_.shape == (len(X), 4)
    assert adjusted_rand_score(np.tile(data.labels, 4), fit.labels_) > 0.6


@pytest.mark.slow
def test_a_column_that_varies_in_few_rows_survives_the_subset(data):
    X = np.vstack([data.X] * 4)
    X = np.column_stack([X, np.zeros(len(X))])
    X[:2, -1] = 1.0  # one alone would be left out, with a warning
    assert KFRC(4, selection_samples=100, n_starts=1, random_state=0).fit(X).status_ in ("converged", "max_iter")


def test_a_judge_of_ones_own_decides(data):
    @dataclass(frozen=True)
    class Partial(Judge):
        """Believes the first proposal, whatever it is."""

        def examine(self, X, partitions):
            n = len(X)
            return [Opinion("first", 0.0, np.asarray(partitions[0]), np.zeros(n))]

    fit = KFRC(4, judge=Partial(), n_starts=1, random_state=0).fit(data.X)
    assert fit.opinion_.name == "first"
    assert fit.posterior_memberships_ is None
    with pytest.raises(ValueError, match="judge"):
        KFRC(4, judge=Partial(), memberships="posterior", n_starts=1, random_state=0).fit(data.X)


def test_given_starts_are_used(fit, data):
    # The same partition with its clusters numbered otherwise: a fit that ignored it would number them as before.
    order = [3, 0, 1, 2]
    again = clone(fit).set_params(init=fit.memberships_[:, order]).fit(data.X)
    assert_allclose(again.memberships_, fit.memberships_[:, order], atol=1e-3)
    assert again.n_iter_ <= 3


def test_fuzziness_runs_from_hard_to_the_default():
    assert_allclose([t.m for t in fuzziness_path(Quadratic())], [0.015, 0.05, 0.15, 0.3, 0.5])


def test_fuzzifiers_of_proposals_have_the_default_m_and_keep_their_other_fields(monkeypatch):
    @dataclass(frozen=True)
    class Extra(Power):
        """A user's fuzzifier with a second field."""

        m: float = 2.5
        shape: float = 1.0

    used = []
    monkeypatch.setattr(
        tuned_kernels, "fuzziness_path", lambda fuzzifier, shares: used.append(fuzzifier) or fuzziness_path(fuzzifier)
    )
    for fuzzifier in (Extra(m=3.0, shape=2.0), Quadratic(m=0.9), Power(m=1.1)):
        tuned_kernels.propose([], 3, fuzzifier, Spectral(), np.random.default_rng(0))
    assert used == [Extra(m=2.5, shape=2.0), Quadratic(), Power()]


@pytest.mark.filterwarnings("ignore:X has 3 different row:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("X", "n_clusters"),
    [
        (np.random.default_rng(0).standard_normal((40, 80)) + 2.0 * (np.arange(40)[:, None] < 20), 2),
        (np.random.default_rng(1).standard_normal((5, 2)), 4),
        (np.repeat(np.random.default_rng(2).standard_normal((3, 2)), 20, axis=0), 5),
        (np.random.default_rng(3).standard_normal((50, 1)), 3),
        (np.random.default_rng(4).integers(0, 2, (80, 6)).astype(float), 3),
        (np.random.default_rng(5).standard_normal((60, 3)) * 1e-150, 2),
    ],
    ids=["more columns than rows", "few rows", "duplicates", "one column", "binary", "tiny units"],
)
def test_awkward_tables_are_clustered(X, n_clusters):
    fit = KFRC(n_clusters, n_starts=1, random_state=0).fit(X)
    assert fit.memberships_.shape == (len(X), n_clusters)
    assert np.isfinite(fit.memberships_).all()
    assert_allclose(fit.memberships_.sum(axis=1), 1.0, atol=1e-12)


def test_a_number_of_clusters_needs_something_to_count(data):
    with pytest.raises(ValueError, match="max_clusters >= 2 and at least 3 different rows"):
        KFRC("auto").fit(data.X[:2])


def test_candidates_above_their_critical_m_are_left_out(iris):
    kernels = tune_kernels(
        iris / iris.std(axis=0),
        3,
        Grid((GaussianSum(),), (EigenvalueSum(),), (1.0,), (0.0, -2.0), (Power(),)),
        SearchOptions(n_starts=1),
        np.random.default_rng(0),
    )
    fuzzifiers = [Power(1.05), Power(1.5), Power(8.0)]
    start = np.eye(3)[np.repeat(np.arange(3), 50)]
    found = {(c.tuned.search.level, c.fuzzifier.m) for c in solve_candidates(kernels, fuzzifiers, 3, start)}
    expected = {
        (tuned.search.level, t.m)
        for tuned in kernels
        for t in fuzzifiers
        if t.m < t.critical_m(3, tuned.leading_eigenvalue)
    }
    assert found == expected
    assert 0 < len(found) < len(kernels) * len(fuzzifiers)


def test_the_smallest_number_of_clusters_within_one_standard_error_is_taken():
    def count(*row_means, valleys=(0.0, 0.1, 0.1, 0.1), existence=0.01):
        # Rows that differ from one number to the next with standard deviation √2: the standard error is 14.
        waves = np.sqrt(2.0) * np.cos(2.0 * np.pi * np.outer(np.arange(1, 5), np.arange(100)) / 100)
        rows = [mean + wave for mean, wave in zip(row_means, waves, strict=True)]
        columns = np.arange(2)
        found = [ColumnOpinion(columns, Opinion("", float(row.sum()), np.ones((100, 1)), row)) for row in rows]
        evidence = np.array([opinion.evidence for opinion in found])
        return ClusterCount(np.arange(1, 5), evidence, np.array(valleys), tuple(found), existence=existence)

    assert count(0.0, 1.0, 9.00, 9.05).best == 3, "4 has hardly more evidence"
    assert count(0.0, 1.0, 7.00, 9.00).best == 4
    assert count(9.0, 1.0, 0.00, 0.00).best == 1
    assert count(9.0, 9.05, 0.0, 0.0).best == 1, "one is within the standard error"
    assert count(0.0, 1.0, 7.00, 9.00, existence=0.2).best == 1, "tables of one group look the same"
    assert count(0.0, 1.0, 7.00, 9.00, valleys=(0.0, 0.1, 0.2, 0.9)).best == 3, "two of four are one cut in two"
    assert count(0.0, 1.0, 7.00, 9.00, valleys=(0.0, 0.7, 0.9, 0.9)).best == 2, "nothing is separated"


def test_an_optimizer_with_settings_keeps_them_along_the_levels():
    def path_optimizer(optimizer):
        return resolve_settings(KFRC(optimizer=optimizer).get_params(deep=False), 3).tuning.options.path_optimizer

    given = QuasiNewton(tol=1e-3, max_iter=7)
    assert path_optimizer(given) is given
    assert path_optimizer("lbfgs") == QuasiNewton(tol=1e-3, warm_up=5, max_iter=50)


@pytest.mark.slow
def test_a_number_of_clusters_is_found_for_a_matrix_too():
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 3
    X = 8.0 * np.eye(3)[labels][:, :2] + rng.standard_normal((60, 2))
    fit = KFRC("auto", kernel="precomputed", max_clusters=6, random_state=0).fit(X @ X.T)
    assert adjusted_rand_score(labels, fit.labels_) == 1.0
    assert fit.cluster_count_["n_clusters"].tolist() == [1, 2, 3, 4, 5, 6]
    noise = rng.standard_normal((60, 3))
    with pytest.warns(NoStructureWarning):
        assert KFRC("auto", kernel="precomputed", random_state=0).fit(noise @ noise.T).n_clusters_ == 1


def test_searches_for_several_numbers_of_clusters_share_kernels_and_go_on_where_the_last_ended(data):
    grid = resolve_settings(KFRC(4).get_params(deep=False), 4).tuning.grid.shortened()
    known, rng = KnownKernels(), np.random.default_rng(0)
    three = tune_kernels(data.X, 3, grid, SearchOptions(), rng, known=known)
    four = tune_kernels(data.X, 4, grid, SearchOptions(), rng, known=known)
    anew = tune_kernels(data.X, 4, grid, SearchOptions(), rng)
    assert [kernel.max_anisotropy for kernel in four] == [kernel.max_anisotropy for kernel in anew] == [1, 1, 5, 5]
    for before, kernel, alone in zip(three, four, anew, strict=True):
        assert (kernel is before) == (kernel.max_anisotropy == 1)
        if kernel is not before:
            assert kernel.search.criterion_value >= 0.99 * alone.search.criterion_value
            assert kernel.search.n_evaluations <= 2 * alone.search.n_evaluations

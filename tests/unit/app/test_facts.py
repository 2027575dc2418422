"""The facts of a fit: they are those of the model, each is one number everywhere, and words have one threshold."""

from __future__ import annotations

import io
import json
import re
import warnings
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from sklearn.datasets import load_iris

import kfrc
from kfrc import FANNY, FCM, FRC, KFRC, MSFCM, NERFCM, VFCM, UniformCollapseWarning
from kfrc.confidence import Confidence
from kfrc.fuzzifiers import Fuzzifier, Power
from kfrc.judges import Judge, Opinion
from kfrc.metrics import adjusted_mutual_info_score, adjusted_rand_score
from kfrc.stability import critical_fuzzifier, leading_eigenvalue, stability_threshold
from kfrc_app.cli.render import show_fit
from kfrc_app.displays import ImportanceDisplay, SpectrumDisplay
from kfrc_app.facts import comparison, summarize, summary_document, verdicts
from kfrc_app.facts.agreement import agreement, has_majority_label, is_known
from kfrc_app.facts.clusters import ambiguous_rows, largest_memberships
from kfrc_app.facts.comparison import compare_methods
from kfrc_app.facts.diagnosis import standardized
from kfrc_app.facts.importance import by_importance
from kfrc_app.facts.profiles import Profiles
from kfrc_app.facts.stability import fuzzifier_outlooks, model_stability, stability
from kfrc_app.facts.text import count, plain
from kfrc_app.report import render_html
from kfrc_app.report.sentences import choice_introduction, margin_sentence

EXPENSIVE = ("fuzzifier_path", "spectrum_of", "distribution", "reliability_facts", "fitted_gram")


@pytest.fixture(scope="module")
def iris():
    return load_iris(as_frame=True).data


@pytest.fixture(scope="module")
def model(iris):
    return KFRC(3, random_state=0).fit(iris)


@pytest.fixture(scope="module")
def blanked():
    """Species of iris, a third of them missing in every way that a label can be missing."""
    labels = np.array(["setosa", "versicolor", "virginica"], dtype=object)[load_iris().target]
    labels[::12], labels[3::12], labels[6::12], labels[9::12] = "", None, float("nan"), "  "
    return labels


@pytest.fixture(scope="module")
def facts(model, iris, blanked):
    return summarize(model, iris, labels=blanked, source="iris.csv", seed=0)


@dataclass(frozen=True)
class NearestCenter:
    """A model of one's own: the closer center, for certain."""

    centers: np.ndarray

    def posterior(self, X):
        squared = np.square(X[:, None] - self.centers).sum(axis=2)
        return np.eye(len(self.centers))[squared.argmin(axis=1)]


@dataclass(frozen=True)
class CenterJudge(Judge):
    """A judge of one's own with a model that is no mixture."""

    has_model: ClassVar[bool] = True

    def examine(self, X, partitions):
        opinions = []
        for U in partitions:
            model = NearestCenter(U.T @ X / U.sum(axis=0)[:, None])
            rows = -np.square(X - model.posterior(X) @ model.centers).sum(axis=1)
            opinions.append(Opinion("centers", float(rows.sum()), model.posterior(X), rows, model))
        return sorted(opinions, key=lambda opinion: -opinion.evidence)


def terminal(facts):
    """What the program prints."""
    screen = io.StringIO()
    show_fit(Console(file=screen, width=100, highlight=False, markup=False), facts)
    return screen.getvalue()


def test_missing_labels_are_unknown(blanked):
    known = is_known(blanked)
    assert known.sum() == 100
    assert not known[::3].any()
    assert is_known([0, False, "0", "nan", pd.NA, pd.NaT]).tolist() == [True, True, True, True, False, False]


@pytest.mark.slow
def test_agreement_is_that_of_the_known_rows_everywhere(facts, model, iris, blanked, monkeypatch):
    known = is_known(blanked)
    rand = adjusted_rand_score(blanked[known].astype(str), model.labels_[known])
    information = adjusted_mutual_info_score(blanked[known].astype(str), model.labels_[known])
    assert facts.agreement.adjusted_rand == pytest.approx(rand, abs=1e-12)
    assert facts.agreement.adjusted_mutual_info == pytest.approx(information, abs=1e-12)
    document = summary_document(facts)["agreement"]
    assert document == {
        "adjusted_rand": facts.agreement.adjusted_rand,
        "adjusted_mutual_info": facts.agreement.adjusted_mutual_info,
        "n_known": 100,
        "n_rows": 150,
    }
    printed, page = terminal(facts), render_html(facts)
    assert f"adjusted Rand index          {rand:.3f}" in printed
    assert f"adjusted mutual information  {information:.3f}" in printed
    assert f"<strong>{rand:.3g}</strong>" in page
    assert f"<strong>{information:.3g}</strong>" in page
    for text in (printed, page):
        assert "labels known for 100 of 150 rows" in text
    monkeypatch.setattr(comparison, "methods", lambda: (KFRC,))
    compared, *_ = compare_methods(iris, 3, labels=blanked)
    assert compared.adjusted_rand == pytest.approx(rand, abs=1e-12)


def test_missing_labels_are_in_no_table_and_no_share(facts, model, blanked):
    known = is_known(blanked)
    assert facts.agreement.classes == ("setosa", "versicolor", "virginica")
    for i, name in enumerate(facts.agreement.classes):
        expected = np.bincount(model.labels_[known & (blanked == name)], minlength=3)
        assert facts.agreement.table[i] == tuple(expected)
    right = has_majority_label(model.labels_, blanked)
    assert np.isnan(right[~known]).all()
    np.testing.assert_array_equal(right[known], has_majority_label(model.labels_[known], blanked[known]))
    assert facts.reliability.label_share == right[known].mean()
    surest = model.memberships_.max(axis=1)
    for found in facts.reliability.bins:
        inside = (surest >= found.low) & (surest <= found.high) & known
        assert found.label_share == pytest.approx(right[inside].mean())
    page = render_html(facts)
    assert "(blank)" not in page
    assert ">nan<" not in page


def test_bins_without_a_known_label_have_no_share(model, iris):
    surest = model.memberships_.max(axis=1)
    labels = [label if u > 0.9 else "" for label, u in zip(load_iris().target.astype(str), surest, strict=True)]
    facts = summarize(model, iris, labels=labels)
    shares = [found.label_share for found in facts.reliability.bins]
    assert shares[0] is None
    assert shares[-1] is not None
    assert render_html(facts).endswith("</html>")


@pytest.mark.parametrize("labels", [None, [""] * 150, [None] * 150])
def test_without_known_labels_there_is_no_agreement(model, iris, labels, monkeypatch):
    facts = summarize(model, iris, labels=labels)
    assert facts.agreement is None
    assert facts.reliability.label_share is None
    assert summary_document(facts)["agreement"] is None
    assert "adjusted Rand" not in terminal(facts)
    assert 'id="comparison"' not in render_html(facts)
    monkeypatch.setattr(comparison, "methods", lambda: (FCM,))
    compared, *_ = compare_methods(iris, 3, labels=labels)
    assert compared.adjusted_rand is None


def test_labels_of_any_type_are_classes():
    clusters = np.array([0, 0, 1, 1])
    assert agreement([1, 1, 2, 2], clusters, 2).classes == ("1", "2")
    assert agreement([1.0, np.nan, 2.0, 2.0], clusters, 2).table == ((1, 0), (0, 2))


def test_a_collapsed_fit_agrees_with_nothing(iris):
    bandwidths = [0.5, 1, 5, 0.5] * iris.std().to_numpy()
    collapsed = KFRC(3, fuzzifier="power", m=6.0, bandwidths=bandwidths, random_state=0)
    with pytest.warns(UniformCollapseWarning):
        collapsed.fit(iris)
    facts = summarize(collapsed, iris, labels=load_iris().target)
    assert facts.agreement is None
    assert facts.ambiguous == ()
    assert "It did" in terminal(facts)


def refitted(partition=0.9, existence=0.01, clusters=(0.9, 0.75, 0.5999), agreements=(1.0, 0.75, 0.7499), **others):
    """What refits might have found in iris."""
    agreements = np.array(agreements)
    given = {
        "rows": np.linspace(0.5, 1.0, 150),
        "n_clusters_found": np.full(len(agreements), 3),
        "n_rows": 100,
        **others,
    }
    return Confidence(
        partition, np.array(clusters), existence=existence, n_refits=len(agreements), agreements=agreements, **given
    )


def trusted(facts, **found):
    return replace(facts, confidence=refitted(**found))


@pytest.mark.parametrize(
    ("found", "verdict", "title"),
    [
        ({}, "stable", "3 groups in iris.csv"),
        ({"partition": 0.75, "existence": 0.05}, "stable", "3 groups in iris.csv"),
        ({"partition": 0.7499}, "doubtful", "Perhaps 3 groups in iris.csv"),
        ({"partition": 0.5999}, "dissolved", "More than one group in iris.csv, but hardly these 3"),
        ({"existence": 0.0501}, "no groups", "No sign of more than one group in iris.csv"),
        ({"existence": None}, "stable", "iris.csv, cut into 3 groups"),
    ],
)
def test_titles_claim_what_refits_and_the_test_support(facts, found, verdict, title):
    judged = trusted(facts, **found)
    assert judged.trust.verdict == summary_document(judged)["confidence"]["verdict"] == verdict
    page, printed = render_html(judged), " ".join(terminal(judged).split())
    assert f"<title>{title}</title>" in page
    assert f'<h1 id="headline">{title}</h1>' in page
    assert printed.startswith(title)
    for sentence in (*judged.opening.sentences, *judged.trust.sentences):
        assert sentence in printed
        assert sentence in page


def test_clusters_have_the_words_of_their_similarity_everywhere(facts):
    judged = trusted(facts)
    assert judged.trust.words == ("stable", "stable", "dissolved")
    assert verdicts.grade(0.7499, verdicts.AGAIN) == verdicts.grade(0.6, verdicts.AGAIN) == "doubtful"
    assert verdicts.grade(-0.1, verdicts.AGAIN) == "dissolved"
    printed = terminal(judged)
    for k, word in enumerate(judged.trust.words):
        assert re.search(rf"^  {k} +{judged.trust.clusters[k]:.2f}  {word}$", printed, flags=re.MULTILINE)
    document = summary_document(judged)["confidence"]
    assert document["clusters"] == [0.9, 0.75, 0.5999]
    assert [row["id"] for row in document["least_stable_rows"]] == [str(j) for j in range(10)]


def test_a_cut_of_one_group_that_is_found_again_is_still_a_cut(facts):
    told = trusted(facts, existence=0.5).trust.sentences[0]
    assert "not as groups that exist, although the same cut is found again" in told
    assert "although" not in trusted(facts, existence=0.5, partition=0.3).trust.sentences[0]


def test_failures_and_other_numbers_of_clusters_are_told(facts):
    told = trusted(facts, n_clusters_found=np.array([0, 2, 3])).trust.sentences
    assert "1 refit ended with an error and counts as 0." in told
    assert "Numbers of clusters that the refits found: 2 (1 time) and 3 (1 time)." in told
    assert len(trusted(facts).trust.sentences) == 2


def test_one_cluster_is_not_told_as_groups(facts):
    one = replace(trusted(facts).trust, n_clusters=1, clusters=(1.0,), existence=0.4)
    assert one.title("X") == "No sign of more than one group in X"
    assert "Treat" not in one.sentences[0]
    assert replace(one, existence=0.01).title("X") == "Signs of more than one group in X, taken as one"


def test_without_refits_nothing_is_known(facts):
    assert facts.trust.verdict == "untested"
    assert summary_document(facts)["confidence"] is None
    for text in (terminal(facts), render_html(facts)):
        assert "Nothing was refitted: whether groups exist" in text
        assert "iris.csv, cut into 3 groups" in text


def test_titles_have_the_name_of_the_file_without_its_folder(facts):
    for source in ("/some/where/iris.csv", "C:\\some\\iris.csv", "iris.csv"):
        assert replace(facts, source=source).source_name == "iris.csv"
    assert replace(facts, source="").trust.title("") == "Cut into 3 groups"


def test_a_tie_is_told_everywhere(facts):
    assert facts.choice.tie == ""
    judged = replace(facts)
    judged.__dict__["choice"] = replace(facts.choice, n_ties=1)
    sentence = "It was a tie: another partition describes the data just as well."
    assert judged.choice.tie == sentence
    for text in (render_html(judged), terminal(judged)):
        assert sentence in " ".join(text.split())


def test_a_model_that_is_no_mixture_is_not_called_one(facts, iris):
    assert facts.choice.is_mixture
    judged = summarize(KFRC(3, judge=CenterJudge(), n_starts=1, random_state=0).fit(iris), iris)
    assert judged.model.opinion_.model is not None
    assert not judged.choice.is_mixture
    assert "The judge is “centers”" in choice_introduction(judged.choice)
    assert "mixture" not in render_html(judged)


@pytest.mark.slow
def test_posterior_memberships_are_said_to_be_probabilities_everywhere(facts, iris):
    fitted = KFRC(3, memberships="posterior", n_starts=1, random_state=0).fit(iris)
    fitted.set_params(memberships="fuzzy")  # of the next fit, not of this one
    posterior = summarize(fitted, iris)
    assert summary_document(posterior)["memberships"] == "posterior"
    assert posterior.reliability.is_posterior
    assert posterior.reliability.mean_probability is None
    assert "memberships: the judge's probabilities" in terminal(posterior)
    page = render_html(posterior)
    assert "memberships: the judge’s probabilities; sum kernel" in page
    for text in (terminal(posterior), page):
        assert "0 iterations" not in text
    assert summary_document(facts)["memberships"] == "fuzzy"
    assert f"status: converged after {facts.fit.n_iter} iterations" in terminal(facts)
    assert "judge's probabilities" not in terminal(facts)


def test_a_small_lead_is_said_to_be_small(facts):
    assert "nearly as well" in margin_sentence(replace(facts.choice, margin=0.01))
    assert "nearly as well" not in margin_sentence(replace(facts.choice, margin=0.0101))


def test_largest_memberships_are_high_from_nine_tenths_and_low_below_six():
    largest = np.array([1.0, 0.9, 0.8999, 0.6, 0.5999, 0.5])
    found = largest_memberships(np.column_stack([largest, 1 - largest]))
    assert (found.n_high, found.n_middle, found.n_low) == (2, 2, 2)
    words = [verdicts.grade(u, verdicts.MEMBERSHIP) for u in largest]
    assert words == ["high", "high", "middle", "middle", "low", "low"]
    assert (verdicts.HIGH, verdicts.LOW) == (0.9, 0.6)


def test_terminal_report_and_document_count_the_same_rows(facts, model):
    largest = model.memberships_.max(axis=1)
    high, low = int((largest >= 0.9).sum()), int((largest < 0.6).sum())
    assert 0 < low < high
    printed, page, document = terminal(facts), render_html(facts), summary_document(facts)["largest_memberships"]
    middle = 150 - high - low
    assert (document["high"], document["middle"], document["low"]) == (high, middle, low)
    assert f"high    0.9 and more  {high} rows" in printed
    assert f"{high} / {middle} / {low}" in page


def test_ambiguous_rows_have_the_smallest_largest_memberships_below_high(model):
    surest = model.memberships_.max(axis=1)
    rows = ambiguous_rows(model)
    assert [row.position for row in rows] == np.argsort(surest, kind="stable")[: len(rows)].tolist()
    assert len(rows) == min(20, int((surest < 0.9).sum()))


@pytest.mark.parametrize(
    ("difference", "side"), [(0.5, "high"), (0.499, ""), (-0.5, "low"), (-0.499, ""), (3.0, "high"), (0.0, "")]
)
def test_a_cluster_is_high_or_low_from_half_a_deviation_on(difference, side):
    profiles = Profiles(("x",), *(np.zeros(1),) * 2, np.zeros((1, 1)), np.array([[difference]]))
    assert profiles.description(0) == (f"{side} x" if side else "close to the overall medians")


def test_a_cluster_is_described_by_its_largest_differences():
    differences = np.array([[0.6, -2.0, 0.1, 1.0, 0.9], [np.nan] * 5])
    profiles = Profiles(tuple("abcde"), np.zeros(5), np.ones(5), differences, differences)
    assert profiles.description(0) == "low b, high d, high e"
    assert profiles.description(1) == "close to the overall medians"


def test_columns_equal_to_three_digits_stay_in_order(facts, model, iris):
    assert by_importance(np.array([0.1, 0.30004, 0.29999, 0.3])).tolist() == [1, 2, 3, 0]
    order = by_importance(model.contributions_)
    names = [iris.columns[j] for j in order]
    assert [column.name for column in facts.importance.columns] == names
    assert [column["name"] for column in summary_document(facts)["columns"]] == names
    display = ImportanceDisplay.from_estimator(model, iris)
    assert display.order_.tolist() == order.tolist() == [column.position for column in facts.importance.columns]
    printed = terminal(facts)
    assert [printed.index(name) for name in names] == sorted(printed.index(name) for name in names)


@pytest.mark.parametrize(("largest", "alike"), [(1.05, True), (1.06, False)])
def test_columns_count_alike_up_to_a_twentieth(facts, largest, alike):
    first = facts.importance.columns[0]
    columns = [replace(first, contribution=share) for share in (largest, 1.0)]
    columns.append(replace(first, contribution=0.0, bandwidth=np.inf))
    assert replace(facts.importance, columns=tuple(columns)).alike == alike


def test_columns_stand_out_from_one_and_a_half_equal_shares_on(facts):
    first = facts.importance.columns[0]
    shares = (0.376, 0.374, 0.25, 0.0)
    columns = tuple(replace(first, contribution=share, name=str(share)) for share in shares)
    found = replace(facts.importance, columns=columns)
    assert [column.name for column in found.standing_out] == ["0.376"]
    assert found.summary == "1 of 4 columns stands out"
    unused = replace(first, contribution=0.0, bandwidth=np.inf)
    assert replace(facts.importance, columns=(*columns, unused)).equal_share == 0.25


def test_what_columns_contribute_is_the_same_everywhere(facts, model, iris):
    columns = facts.importance.columns
    assert [column.contribution for column in columns] == [model.contributions_[column.position] for column in columns]
    for column, told in zip(columns, summary_document(facts)["columns"], strict=True):
        assert told["contribution"] == column.contribution
        assert told["cluster_contributions"] == model.cluster_contributions_[:, column.position].tolist()
        assert told["importance"] == model.importance_weights_[column.position]
        assert told["stands_out"] == (column.contribution > 1.5 / 4)
        assert not told["left_out"]
    expected = f"{sum(model.contributions_ > 1.5 / 4)} of 4 columns stand out"
    assert expected in terminal(facts)
    assert expected in render_html(facts)
    assert ImportanceDisplay.from_estimator(model, iris).ax_.get_title("left") == expected


def test_clusters_stand_beside_the_columns_where_there_is_room(facts):
    screen = io.StringIO()
    show_fit(Console(file=screen, width=130, highlight=False, markup=False), facts)
    assert "in cluster 2" in screen.getvalue()
    assert "in cluster 2" not in terminal(facts)


def test_columns_that_are_left_out_are_named_with_the_reason():
    X = np.random.default_rng(1).normal(size=(150, 4))
    X[:75, 0] += 8
    X[:, 1], X[:, 2] = 3.0, np.where(np.arange(150) == 7, 1.0, 0.0)
    frame = pd.DataFrame(X, columns=["signal", "constant", "lone", "noise"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = KFRC(2, level=1.0, m=None, max_anisotropy=5.0, random_state=0).fit(frame)
    found = summarize(fitted, frame)
    assert [column.name for column in found.importance.left_out] == ["constant", "lone"]
    printed, page = terminal(found), render_html(found)
    assert "left out, they do not vary: “constant”" in printed
    assert "left out by the fit: “lone”" in printed
    assert "1 column does not vary and was left out." in page
    assert "1 column was left out, because it tells nothing apart: “lone”." in page
    assert [told["left_out"] for told in summary_document(found)["columns"]] == [False, False, True, True]


def test_a_collapsed_fit_has_no_columns_that_matter():
    X = np.random.default_rng(1).normal(size=(60, 5))
    with pytest.warns(UniformCollapseWarning):
        fitted = KFRC(3, fuzzifier="power", m=9.0, bandwidths=1.0, random_state=0).fit(X)
    found = summarize(fitted, X)
    assert "nothing is told apart" in terminal(found)
    assert "Nothing is told apart" in render_html(found)
    assert "stand out" not in terminal(found)


def test_fuzzier_and_crisper_have_one_threshold():
    assert verdicts.fuzziness(0.785, 0.80) == "about as fuzzy as"
    assert verdicts.fuzziness(0.775, 0.80) == "fuzzier than"
    assert verdicts.fuzziness(0.825, 0.80) == "crisper than"


def test_stability_is_that_of_the_model_and_the_same_everywhere(iris):
    for bandwidths, fuzzifier in (([1, 1, 1, 1], "complementary_root"), ([0.5, 1, 5, 0.5], "power")):
        model = KFRC(3, fuzzifier=fuzzifier, m=1.5, bandwidths=bandwidths, random_state=0).fit(iris)
        facts = summarize(model, iris)
        found = facts.stability
        assert found.leading_eigenvalue == model.eigenvalues_[0]
        assert found.stable == model.stable_
        assert found.critical_m == pytest.approx(model.critical_m_)
        assert found.threshold == stability_threshold(fuzzifier, 3)
        assert summary_document(facts)["stability"] == plain(vars(found))
        display = SpectrumDisplay.from_estimator(model, iris)
        assert (display.threshold, display.critical_m) == (found.threshold, found.critical_m)
        outlook = next(item for item in facts.fuzzifiers if item.name == fuzzifier)
        assert outlook.never_collapses == found.stable
        printed = terminal(facts)
        assert ("λ₁ ≥ τ: no" in printed) == model.stable_
        assert ("no fuzzifier value makes" in render_html(facts)) == model.stable_


def test_stability_has_one_rule_at_the_threshold():
    t = Power(2.0)
    tau = t.threshold(3)
    at, below = stability(t, 3, tau - 1e-7), stability(t, 3, tau - 1e-3)
    assert (at.stable, at.critical_m) == (True, np.inf)
    assert not below.stable
    assert below.critical_m == pytest.approx(t.critical_m(3, tau - 1e-3))
    assert stability(t, 1, 0.0).stable


def test_every_fuzzifier_has_an_outlook():
    for leading in (0.1, 0.45):
        for found in fuzzifier_outlooks(3, leading):
            t = Fuzzifier.from_name(found.name)
            assert found.threshold == t.threshold(3)
            assert found.critical_m == t.critical_m(3, leading)
            assert found.collapses == (t.m >= t.critical_m(3, leading))
            assert found.advised_m <= t.m
            if np.isfinite(found.critical_m):
                assert found.advised_m < found.critical_m
    assert [found.name for found in fuzzifier_outlooks(3, 0.1)] == list(Fuzzifier.registry)


@pytest.mark.parametrize("method", comparison.methods(), ids=lambda method: method.__name__)
def test_every_method_has_facts(method, iris, blanked):
    Z = standardized(iris)
    model = method(n_clusters=3)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    facts = summarize(model.fit(Z), Z, labels=blanked)
    assert facts.fit.method == method.__name__
    assert facts.fit.uniformity == model.uniformity_
    assert facts.fit.status == model.status_
    assert facts.agreement.n_known == 100
    assert sum(column.contribution for column in facts.importance.columns) == pytest.approx(1.0)
    assert facts.importance.has_bandwidths == (method is KFRC)
    document = summary_document(facts)
    assert document["memberships"] == "fuzzy"
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert f"{model.uniformity_:.3f}" in terminal(facts)


def test_stability_of_other_methods_is_that_of_their_distances(iris):
    X = iris.to_numpy()
    R = np.square(X[:, None] - X[None]).sum(axis=2)
    expected = leading_eigenvalue(R)
    for model in (FCM(3, random_state=0), FRC(3, random_state=0), NERFCM(3, random_state=0)):
        found = model_stability(model.fit(X), X)
        assert found.leading_eigenvalue == pytest.approx(expected, rel=1e-6)
        assert found.critical_m == pytest.approx(critical_fuzzifier("power", 3, lambda1=expected), rel=1e-4)
    relational = FRC(3, metric="precomputed", random_state=0).fit(R)
    assert model_stability(relational, R).leading_eigenvalue == pytest.approx(expected, rel=1e-6)
    fanny = FANNY(3).fit(X)
    assert model_stability(fanny, X).leading_eigenvalue == pytest.approx(leading_eigenvalue(np.sqrt(R)), rel=1e-6)
    for model in (MSFCM(3, random_state=0), VFCM(3, random_state=0)):
        assert model_stability(model.fit(X), X) is None


def test_stability_of_raised_dissimilarities_counts_what_was_added():
    R = np.full((12, 12), 10.0)  # two groups far apart, and a row in the first that is near to rows far from each other
    R[:6, :6] = R[6:, 6:] = 4.0
    R[0, :6] = R[:6, 0] = 0.5
    np.fill_diagonal(R, 0.0)
    model = NERFCM(2, metric="precomputed", random_state=0).fit(R)
    assert model.beta_ > 0
    found = model_stability(model, R).leading_eigenvalue
    assert found == pytest.approx(leading_eigenvalue(R + model.beta_ * (1 - np.eye(12))))
    assert found < 0.95 * leading_eigenvalue(R)


def test_dissimilarities_are_not_called_columns(iris):
    R = np.square(iris.to_numpy()[:, None] - iris.to_numpy()[None]).sum(axis=2)
    facts = summarize(FRC(3, metric="precomputed", random_state=0).fit(R), R, source="R.csv")
    assert facts.pairwise
    assert terminal(facts).startswith("R.csv, cut into 3 groups\n  R.csv: 150 rows, dissimilarities\n")


def test_the_terminal_and_the_document_compute_nothing_expensive(model, iris, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("only pictures need this")

    for name in EXPENSIVE:
        monkeypatch.setattr(f"kfrc_app.facts.collection.{name}", refuse)
    facts = summarize(model, iris, labels=load_iris().target)
    terminal(facts)
    summary_document(facts)
    for name in ("path", "distributions", "sphere", "eigenvalues", "reliability"):
        with pytest.raises(AssertionError, match="only pictures"):
            getattr(facts, name)


def test_sections_are_computed_once(facts):
    for name in ("importance", "path", "sphere", "agreement", "profiles"):
        assert getattr(facts, name) is getattr(facts, name)


def test_names_come_from_the_data_then_the_model_then_numbers(model, iris):
    assert summarize(model, iris).names == tuple(iris.columns)
    assert summarize(model, iris.to_numpy()).names == tuple(iris.columns)
    unnamed = KFRC(3, level=1.0, n_starts=1, random_state=0).fit(iris.to_numpy())
    assert summarize(unnamed, iris.to_numpy()).names == ("x0", "x1", "x2", "x3")


def test_document_holds_numbers_of_the_model(facts, model):
    document = summary_document(facts)
    assert document["version"] == kfrc.__version__
    assert (document["n_rows"], document["n_columns"], document["n_clusters"]) == (150, 4, 3)
    assert (document["method"], document["fuzzifier"], document["kernel"]) == ("KFRC", model.fuzzifier_.label, "sum")
    assert (document["m"], document["level"]) == (model.fuzzifier_.m, model.search_.level)
    assert document["objective"] == model.objective_
    assert document["effective_n_columns"] == model.effective_n_features_
    assert document["choice"]["score"] == model.selection_["score"][0]
    assert len(document["choice"]["candidates"]) == 10
    assert [cluster["n_rows"] for cluster in document["clusters"]] == np.bincount(model.labels_).tolist()
    for cluster in document["clusters"]:
        mine = model.labels_ == cluster["label"]
        assert cluster["mean_membership"] == model.memberships_.max(axis=1)[mine].mean()
        assert cluster["mass"] == pytest.approx(model.memberships_[:, cluster["label"]].sum())


def test_infinite_and_undefined_numbers_are_none_in_json():
    values = {"a": np.inf, "b": (np.float64("nan"), 1.5), 3: np.array([1, 2]), "c": np.bool_(True), "d": None}
    assert plain(values) == {"a": None, "b": [None, 1.5], "3": [1, 2], "c": True, "d": None}


def test_counts_have_their_noun():
    assert [count(n, "row") for n in (0, 1, 2, 12345)] == ["0 rows", "1 row", "2 rows", "12,345 rows"]

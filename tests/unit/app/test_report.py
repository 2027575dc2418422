"""The report: its facts agree with the model, and the page is one safe, self-contained file."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine

from kfrc import FRC, KFRC, TrivialPartitionWarning, UniformCollapseWarning
from kfrc.exceptions import NoStructureWarning
from kfrc.selection.count import Reason
from kfrc.spectrum import leading_spectrum
from kfrc_app.cli import render
from kfrc_app.facts.agreement import has_majority_label
from kfrc_app.facts.choice import CountCandidate, CountChoice
from kfrc_app.facts.geometry import sample_rows
from kfrc_app.facts.palette import blend_colors, cluster_colors
from kfrc_app.facts.path import count_distinct, fuzzifier_path, m_grid
from kfrc_app.facts.profiles import cluster_profiles, robust_scale, weighted_medians
from kfrc_app.facts.reliability import Reliability
from kfrc_app.facts.text import clean, isolate, number
from kfrc_app.report import render_html, summarize
from kfrc_app.report.charts import path_chart, reliability_chart
from kfrc_app.report.pictures import picture_data
from kfrc_app.report.sentences import (
    choice_introduction,
    collapse_outlook,
    count_sentences,
    margin_sentence,
    reliability_sentences,
)

HOSTILE = [
    "<script>alert(1)</script>",
    "\"double\" 'single'",
    "emoji \N{WINE GLASS}",
    "\u05e2\u05d1\u05e8\u05d9\u05ea",
    "</td></table><!--",
    "{{ 7 * 7 }} {% raw %}",
    "a" * 300,
    "x\u202egnp.exe",
    "nul\0",
    "&amp; &lt;",
    "line\nbreak",
    "",
    "$x_1$",
]


@pytest.fixture(scope="module")
def wine_frame():
    return load_wine(as_frame=True).data


@pytest.fixture(scope="module")
def model(wine_frame):
    """With the settings of the paper, none of them chosen."""
    return KFRC.paper(3, level=1.0, optimizer="lbfgs", random_state=0).fit(wine_frame.to_numpy())


@pytest.fixture(scope="module")
def chosen(wine_frame):
    """With settings that were chosen."""
    return KFRC(3, random_state=0).fit(wine_frame.to_numpy())


@pytest.fixture(scope="module")
def chosen_facts(chosen, wine_frame):
    return summarize(chosen, wine_frame, labels=load_wine().target)


@pytest.fixture(scope="module")
def facts(model, wine_frame):
    labels = load_wine().target
    return summarize(
        model, wine_frame, labels=labels, notes=["2 rows left out"], command="kfrc fit wine.csv -c 3", source="wine.csv"
    )


@pytest.fixture(scope="module")
def page(facts):
    return render_html(facts)


@pytest.fixture(scope="module")
def collapsing(wine_frame):
    """A fit that may collapse: equal bandwidths and the power fuzzifier."""
    model = KFRC(3, fuzzifier="power", m=1.3, bandwidths=2.7 * wine_frame.std().to_numpy(), random_state=0)
    return model.fit(wine_frame.to_numpy())


def test_headline_states_the_numbers_of_the_model(facts, model):
    expected = f"3 clusters; {(model.contributions_ > 1.5 / 13).sum()} of 13 columns stand out"
    assert collapse_outlook(facts).sentence == f"{expected}; no fuzzifier value collapses them"
    assert collapse_outlook(facts).verdict == "stable"
    assert f"{model.eigenvalues_[0]:.3f}" in collapse_outlook(facts).reason
    assert facts.opening.title == "wine.csv, cut into 3 groups"
    text = " ".join(facts.opening.points)
    assert f"{int((model.memberships_.max(axis=1) >= 0.9).sum())} of 178 rows" in text


def test_facts_equal_attributes(facts, model, wine_frame):
    importance = facts.importance
    by_name = {column.name: column for column in importance.columns}
    for j, name in enumerate(wine_frame.columns):
        assert by_name[name].contribution == model.contributions_[j]
        assert by_name[name].by_cluster == tuple(model.cluster_contributions_[:, j])
        assert by_name[name].weight == model.importance_weights_[j]
        assert by_name[name].bandwidth == model.bandwidths_[j]
    largest = importance.columns[0].contribution
    shares = [round(column.contribution / largest, 3) for column in importance.columns]
    assert shares == sorted(shares, reverse=True)
    assert importance.effective == model.effective_n_features_
    assert facts.eigenvalues[:3].tolist() == model.eigenvalues_.tolist()
    assert facts.stability.threshold == model.threshold_
    assert facts.stability.critical_m == np.inf
    assert [cluster.n_rows for cluster in facts.clusters] == np.bincount(model.labels_).tolist()
    starts = facts.search.starts
    assert [start.criterion_value for start in starts] == [c.criterion_value for c in model.search_.candidates]
    assert [start.won for start in starts].index(True) == model.search_.best
    least = facts.ambiguous[0]
    assert least.largest == model.memberships_.max(axis=1).min()
    assert least.position == model.memberships_.max(axis=1).argmin()
    assert facts.ids[least.position] == str(least.position)


def test_threshold_shown_is_tau_whatever_the_search_was_asked_for():
    iris = load_iris(as_frame=True).data
    model = KFRC.paper(3, fuzzifier="power", level=1.0, threshold=0.1, optimizer="lbfgs", random_state=0)
    model.fit(iris.to_numpy())
    facts = summarize(model, iris)
    assert (facts.stability.threshold, facts.search.threshold) == (0.5, 0.1)


def test_data_of_the_pictures_survive_json(facts, chosen_facts):
    for found in (facts, chosen_facts):
        data = picture_data(found)
        assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_same_input_gives_the_same_page(model, wine_frame):
    first, second = (render_html(summarize(model, wine_frame)) for _ in range(2))
    assert first == second


@pytest.mark.slow
def test_labels_are_compared_and_marked_as_unused(facts, page):
    assert np.sum(facts.agreement.table) == 178
    assert facts.agreement.adjusted_rand == pytest.approx(0.788, abs=1e-3)
    assert "not used for the clustering" in page
    assert "Compared with the labels" not in render_html(replace(facts, labels=None))


def test_points_lie_on_the_unit_sphere(facts, model, wine_frame):
    xyz = np.array(picture_data(facts)["points"]["xyz"])
    np.testing.assert_allclose(facts.sphere, xyz, atol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(xyz, axis=1), 1.0, atol=2e-3)
    Z = (wine_frame - wine_frame.mean()) / wine_frame.std()
    spectrum = leading_spectrum(Z.to_numpy(), np.exp(model.log_bandwidths_), n_eigenvalues=3)
    directions = spectrum.eigenvectors * np.sqrt(spectrum.eigenvalues)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    np.testing.assert_allclose(np.abs(xyz), np.abs(directions), atol=1e-3)


def test_weighted_medians_are_those_of_numpy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(31, 4)).round(1)
    U = rng.dirichlet(np.ones(3), size=31)
    medians = weighted_medians(X, U)
    for i in range(3):
        expected = np.quantile(X, 0.5, axis=0, weights=U[:, i], method="inverted_cdf")
        np.testing.assert_array_equal(medians[i], expected)


def test_profiles_measure_from_the_overall_median_in_robust_units():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [100.0]])
    U = np.array([[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 2)
    profiles = cluster_profiles(X, U, ["x"])
    assert profiles.medians.ravel().tolist() == [1.0, 51.5]
    assert profiles.overall.tolist() == [2.0]
    np.testing.assert_allclose(profiles.differences.ravel(), np.array([-1.0, 49.5]) / 1.4826)


def test_columns_with_ties_and_empty_clusters_have_profiles():
    X = np.column_stack([[0.0] * 9 + [5.0], [0.0] * 6 + [1.0] * 4, np.ones(10)])
    assert robust_scale(X)[0] == pytest.approx(1.5)
    assert robust_scale(X)[1] == pytest.approx(1 / 1.349)
    U = np.column_stack([np.ones(10), np.zeros(10)])
    profiles = cluster_profiles(X, U, list("abc"))
    assert np.isnan(profiles.medians[1]).all()
    assert profiles.differences[0, 2] == 0


@pytest.mark.parametrize("power", [-1000, 1000])
def test_scales_of_columns_follow_their_units(power):
    X = np.column_stack([np.r_[np.zeros(9), 1.0], np.r_[np.zeros(6), np.ones(4)], np.arange(10.0)])
    U = np.column_stack([np.ones(10), np.zeros(10)])
    np.testing.assert_array_equal(robust_scale(np.ldexp(X, power)), np.ldexp(robust_scale(X), power))
    plain, scaled = (cluster_profiles(Y, U, list("abc"), weights=np.arange(1.0, 11.0)) for Y in (X, np.ldexp(X, power)))
    np.testing.assert_array_equal(scaled.unit, np.ldexp(plain.unit, power))


def test_uniformity_rises_with_m(model, wine_frame):
    path = fuzzifier_path(model, wine_frame.to_numpy())
    assert (np.diff(path.uniformity) > 0).all()
    assert path.m[path.fitted] == model.fuzzifier_.m
    assert path.uniformity[path.fitted] == pytest.approx(model.uniformity_, abs=1e-3)
    assert set(path.n_distinct.tolist()) == {3}


def test_path_collapses_where_theory_says(collapsing, wine_frame):
    facts = summarize(collapsing, wine_frame)
    path = picture_data(facts)["path"]
    assert path["critical_m"] == pytest.approx(collapsing.critical_m_)
    below = [step for step in path["steps"] if step["m"] < path["critical_m"]]
    above = [step for step in path["steps"] if step["m"] > 1.5 * path["critical_m"]]
    assert {step["n_distinct"] for step in below} == {3}
    assert {step["n_distinct"] for step in above} == {1}
    assert collapse_outlook(facts).verdict == "limited"
    assert "no collapse below a fuzzifier of 3.07" in collapse_outlook(facts).sentence
    assert "All columns count alike" not in " ".join(facts.opening.points)  # equal bandwidths are no equal shares
    kinds = [mark["kind"] for mark in path_chart(facts.path, low=1.0, bounded=False)["marks"]]
    assert kinds == ["fit", "merge", "collapse"]
    assert "clusters have merged" in render_html(facts)


def test_a_collapsed_fit_is_called_so(wine_frame):
    model = KFRC(3, fuzzifier="power", m=6.0, bandwidths=2.7 * wine_frame.std().to_numpy(), random_state=0)
    with pytest.warns(UniformCollapseWarning):
        model.fit(wine_frame.to_numpy())
    facts = summarize(model, wine_frame)
    assert collapse_outlook(facts).sentence == "no clusters: all memberships are 1/3; the fit collapsed"
    assert facts.opening.title == "Nothing was found"
    assert (facts.path.n_distinct[0], facts.path.n_distinct[facts.path.fitted]) == (3, 1)
    assert "Nothing was found" in render_html(facts)


@pytest.mark.parametrize("name", ["power", "exponential", "quadratic", "complementary_root"])
def test_grid_of_m_is_inside_the_range_and_holds_the_fitted_value(name):
    from kfrc.fuzzifiers import Fuzzifier

    for m in (None, 1.0 if name == "quadratic" else 1.01, 0.3 if name == "quadratic" else 40.0):
        t = Fuzzifier.from_name(name, m=m)
        grid, fitted = m_grid(t, np.inf, 31)
        assert grid[fitted] == t.m
        assert (np.diff(grid) > 0).all()
        assert all(float(value) in t.m_range for value in grid)


def test_the_path_ends_where_memberships_would_weigh_nothing():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = FRC(35, fuzzifier="power", m=60.0, random_state=0).fit(X)
    path = fuzzifier_path(model, X)
    assert path.m[path.fitted] == 60.0
    assert 35.0 ** path.m[-1] < 1e140


@pytest.mark.parametrize("fuzzifier", ["exponential", "quadratic"])
def test_every_kind_of_fuzzifier_renders(fuzzifier):
    iris = load_iris(as_frame=True).data
    model = KFRC(3, fuzzifier=fuzzifier, level=1.0, threshold=0.1, random_state=0).fit(iris.to_numpy())
    assert "What the fuzzifier does" in render_html(summarize(model, iris))


def test_distinct_clusters_are_counted():
    U = np.array([[0.5, 0.5, 0.0], [0.2, 0.2, 0.6]])
    assert count_distinct(U) == 2


def test_page_is_complete(page, facts):
    assert page.startswith("<!DOCTYPE html>")
    assert page.rstrip().endswith("</html>")
    ids = set(re.findall(r'id="([a-z-]+)"', page))
    sections = {
        "first",
        "groups",
        "distributions",
        "bandwidths",
        "glossary",
        "trust",
        "sphere",
        "memberships",
        "ambiguous",
        "importance",
        "profiles",
        "fuzzifier",
        "spectrum",
    }
    assert sections | {"search", "comparison", "reproduce", "headline", "m-slider"} <= ids
    assert set(re.findall(r'href="#([a-z-]+)"', page)) <= ids
    for text in ("kfrc fit wine.csv -c 3", "wine.csv", "2 rows left out", f"numpy {np.__version__}"):
        assert text in page


def test_page_loads_nothing(page):
    assert not re.search(r"https?://", page)
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!#|data:)""", page)
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|WebSocket", page)
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page


def test_content_policy_admits_the_script_of_the_page(page):
    import base64
    import hashlib

    (script,) = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page


def test_hostile_names_are_text(wine_frame):
    frame = wine_frame.copy()
    frame.columns = HOSTILE
    model = KFRC(3, level=1.0, n_starts=1, random_state=0).fit(frame.to_numpy())
    ids = ["</script><script>alert(2)</script>", "sur\ud800"] + ["<!--<script>"] * 176
    labels = ["</script><b>"] * 100 + ["'\""] * 78
    page = render_html(
        summarize(model, frame, ids=ids, labels=labels, notes=["<img src=x>"], command="<&>", source="<s>")
    )
    page.encode("utf-8")
    assert page.count("<script") == 2
    assert page.count("</script") == 2
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.replace("<wbr>", "")
    assert "<img" not in page
    assert "{{ 7 * 7 }}" in page
    (island,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, flags=re.DOTALL)
    assert "<" not in island
    assert json.loads(island)["points"]["ids"][:2] == [ids[0], "sur\ufffd"]


@pytest.mark.slow
def test_ten_thousand_rows_stay_small_and_the_sampling_is_said():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 4, 10_000)
    X = rng.normal(size=(10_000, 6))
    X[:, :3] += 4 * rng.normal(size=(4, 3))[groups]
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(6)])
    model = KFRC(4, bandwidths=2.5 * frame.std().to_numpy(), n_init=1, random_state=0).fit(X)
    facts = summarize(model, frame)
    page = render_html(facts)
    assert len(page.encode()) < 8_000_000
    assert len(facts.shown) <= 3100
    assert "of 10,000 rows is shown" in page
    assert len(facts.path.rows) <= 1600


def test_sample_keeps_small_clusters_and_is_ascending():
    labels = np.repeat([0, 1, 2], [5000, 5000, 12])
    rows = sample_rows(labels, 500)
    assert (np.diff(rows) > 0).all()
    assert (labels[rows] == 2).sum() == 12
    assert len(rows) <= 520


def test_precomputed_kernel_has_no_columns_to_show():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(15, 2)), rng.normal(size=(15, 2)) + 6])
    frame = pd.DataFrame(X @ X.T)
    facts = summarize(KFRC(2, kernel="precomputed", random_state=0).fit(frame.to_numpy()), frame)
    assert facts.importance is None
    assert collapse_outlook(facts).sentence.startswith("2 clusters; ")
    assert 'id="importance"' not in render_html(facts)


def test_one_cluster_is_trivial():
    iris = load_iris(as_frame=True).data
    with pytest.warns(TrivialPartitionWarning):
        model = KFRC(1, random_state=0).fit(iris.to_numpy())
    facts = summarize(model, iris)
    assert collapse_outlook(facts).verdict == "trivial"
    assert facts.path is None
    assert "One cluster" in render_html(facts)


@pytest.mark.parametrize("n_rows", [2, 3, 5])
def test_tiny_data_can_be_shown(n_rows):
    frame = pd.DataFrame({"x": np.arange(n_rows, dtype=float) ** 2})
    model = KFRC(2, bandwidths=[3.0], random_state=0).fit(frame.to_numpy())
    assert render_html(summarize(model, frame)).endswith("</html>")


def test_many_columns_are_cut_and_said():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(20, 150)) + 3 * (np.arange(20) % 2)[:, None])
    model = KFRC(2, bandwidths=np.full(150, 5.0), random_state=0).fit(frame.to_numpy())
    page = render_html(summarize(model, frame))
    assert "The 30 most important of 150 columns are listed." in page
    assert "And 130 more columns, together" in page
    assert "The 12 columns that matter most of 150 are drawn." in page
    assert "The first 100 of 150 columns are listed." in page


def test_data_that_do_not_fit_the_model_are_refused(model, wine_frame):
    with pytest.raises(ValueError, match="data has 177 rows"):
        summarize(model, wine_frame.iloc[1:])
    with pytest.raises(ValueError, match="ids has 1 rows"):
        summarize(model, wine_frame, ids=["a"])
    with pytest.raises(ValueError, match="12 columns"):
        summarize(model, wine_frame.iloc[:, 1:])


def test_colors_are_distinct_and_blend():
    colors = cluster_colors(20)
    assert len(set(colors)) == 20
    assert all(re.fullmatch("#[0-9A-F]{6}", color) for color in colors)
    np.testing.assert_allclose(blend_colors(np.array([[1.0, 0.0]]))[0] * 255, [0, 0x72, 0xB2])


def test_text_is_clean():
    assert clean("a\ud800b\x07") == "a\ufffdb\ufffd"
    assert clean("  ") == "(blank)"
    assert isolate("a\u202eb") == "\u2068a\u202eb\u2069"
    assert isolate("plain") == "plain"
    assert number(float("nan")) == "–"
    assert number(1234567.8) == "1,234,568"


def text_of(page, section):
    """What a reader sees of a section, in one line."""
    (inside,) = re.findall(rf'<section id="{section}">(.*?)</section>', page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", inside).split())


def test_choice_equals_attributes(chosen, chosen_facts):
    selection = chosen_facts.choice
    assert selection.n_candidates == len(chosen.selection_["score"])
    assert selection.margin == chosen.selection_margin_
    assert selection.judge == chosen.opinion_.name
    assert selection.settings == ("level", "max_anisotropy", "m")
    for k, row in enumerate(selection.candidates):
        for name in ("score", "max_anisotropy", "level", "m"):
            assert row[name] == chosen.selection_[name][k]
    best = selection.candidates[0]
    assert best["m"] == chosen.fuzzifier_.m
    assert best["max_anisotropy"] == chosen.max_anisotropy_
    assert best["level"] == chosen.search_.level


def test_choice_is_told_in_words(chosen, chosen_facts):
    text = text_of(render_html(chosen_facts), "choice")
    n_candidates = len(chosen.selection_["score"])
    for words in (
        "No labels were used",
        "mixture model",
        f"chosen among {n_candidates} candidates",
        f"The best 10 of {n_candidates} are listed",
        "1 (chosen)",
    ):
        assert words in text


def test_bandwidths_of_a_choice_are_not_told_as_starts(chosen, chosen_facts, facts, page):
    assert chosen_facts.search.followed
    text = text_of(render_html(chosen_facts), "search")
    assert "stage 1" not in text
    assert f"{chosen.search_.eigenvalues[0]:.4f}" in text
    assert not facts.search.followed
    assert "stage 1" in text_of(page, "search")


def test_level_left_to_the_search_shows_its_starts():
    iris = load_iris(as_frame=True).data
    facts = summarize(KFRC(3, level=None, n_starts=2, random_state=0).fit(iris.to_numpy()), iris)
    assert facts.choice.settings == ("max_anisotropy", "m")
    assert not facts.search.followed
    assert len(facts.search.starts) == 2


def test_fixed_settings_have_no_choice_to_show(facts, page):
    assert (facts.choice, facts.cluster_count, facts.reliability) == (None, None, None)
    for section in ("choice", "reliability"):
        assert f'id="{section}"' not in page
        assert f'href="#{section}"' not in page


def test_judge_without_a_mixture_is_named(chosen_facts):
    choice = replace(chosen_facts.choice, is_mixture=False, judge="oracle", margin=None)
    assert "The judge is “oracle”" in choice_introduction(choice)
    assert margin_sentence(choice) == ""


@pytest.mark.slow
def test_number_of_clusters_shows_its_evidence():
    iris = load_iris(as_frame=True).data
    model = KFRC("auto", max_clusters=4, random_state=0).fit(iris.to_numpy())
    facts = summarize(model, iris)
    count, table = facts.cluster_count, model.cluster_count_
    assert [row.n_clusters for row in count.numbers] == [1, 2, 3, 4]
    np.testing.assert_allclose([row.behind for row in count.numbers], table["evidence"] - table["evidence"].max())
    assert [row.valley for row in count.numbers] == table["valley"].tolist()
    assert count.reason == model.cluster_count_reason_
    assert [row.n_clusters for row in count.numbers if row.chosen] == [model.n_clusters_]
    text = text_of(render_html(facts), "choice")
    assert "The number of clusters" in text
    assert f"{model.n_clusters_} (chosen)" in text


def test_data_without_clusters_say_so():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 2)))
    with pytest.warns(NoStructureWarning):
        model = KFRC("auto", max_clusters=3, random_state=0).fit(frame.to_numpy())
    facts = summarize(model, frame)
    assert (facts.cluster_count.chosen, facts.n_clusters) == (1, 1)
    assert "no sign of more than one group" in render_html(facts) or facts.cluster_count.reason == "most evidence"


def test_fewer_clusters_than_the_most_evidence_are_explained():
    numbers = tuple(CountCandidate(n, 0.0, 0.0, True, 0.1, n == 2) for n in (1, 2, 3, 4))
    sentences = count_sentences(CountChoice(numbers, chosen=2, most_evidence=4, reason="one standard error"))
    assert "The most evidence is for 4; 2 is the smallest within a standard error" in sentences[1]


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_for_a_number_has_words(reason):
    numbers = tuple(CountCandidate(n, 0.0, 0.0, True, 0.1, n == 2) for n in (1, 2))
    found = CountChoice(numbers, chosen=2, most_evidence=2, reason=str(reason))
    assert "{" not in count_sentences(found)[1]
    assert str(reason) in render._COUNT_REASONS


def test_reliability_compares_memberships_with_probabilities(chosen, chosen_facts):
    reliability = chosen_facts.reliability
    rows = np.arange(178)
    surest, believed = chosen.memberships_.max(axis=1), chosen.posterior_memberships_[rows, chosen.labels_]
    assert reliability.mean_membership == pytest.approx(surest.mean())
    assert reliability.mean_probability == pytest.approx(believed.mean())
    bins = reliability.bins
    assert sum(row.n_rows for row in bins) == 178
    for row in bins:
        assert row.low - 1e-12 <= row.membership <= row.high + 1e-12
    last = surest >= bins[-1].low
    assert bins[-1].n_rows == last.sum()
    assert bins[-1].probability == pytest.approx(believed[last].mean())
    right = has_majority_label(chosen.labels_, load_wine().target)
    assert bins[-1].label_share == pytest.approx(right[last].mean())


def test_reliability_curve_is_drawn_with_its_numbers(chosen_facts):
    page = render_html(chosen_facts)
    text = text_of(page, "reliability")
    assert "labels not used" in text
    assert "memberships=“posterior”" in text
    assert 'aria-label="Memberships against probabilities' in page
    chart = reliability_chart(chosen_facts.reliability)
    assert [series["kind"] for series in chart["series"]] == ["label_share", "probability"]
    for series in chart["series"]:
        assert len(series["dots"]) == len(chosen_facts.reliability.bins)
        assert all(0 <= dot["x"] <= 100 and 0 <= dot["y"] <= 100 for dot in series["dots"])


@pytest.mark.parametrize(
    ("membership", "words"), [(0.7, "fuzzier than"), (0.9, "crisper than"), (0.81, "about as fuzzy as")]
)
def test_fuzzier_or_crisper_is_said(membership, words):
    found = Reliability(False, 1 / 3, membership, 0.8, None, ())
    assert f"the memberships are {words} the judge’s probabilities" in reliability_sentences(found)[0]


@pytest.mark.slow
def test_posterior_memberships_need_no_curve(wine_frame):
    model = KFRC(3, memberships="posterior", random_state=0).fit(wine_frame.to_numpy())
    facts = summarize(model, wine_frame)
    assert facts.reliability.bins == ()
    page = render_html(facts)
    assert "are the judge’s probabilities" in text_of(page, "reliability")
    assert "Memberships against probabilities" not in page
    assert "minimize the fuzzy objective" in text_of(page, "fuzzifier")
    labeled = summarize(model, wine_frame, labels=load_wine().target).reliability
    assert [series["kind"] for series in reliability_chart(labeled)["series"]] == ["label_share"]


def test_limited_fit_below_its_critical_value_is_called_safe_there(collapsing, wine_frame):
    page = render_html(summarize(collapsing, wine_frame))
    assert "No collapse at this fuzzifier." in page
    assert "m = 1.3 lies below the critical m* = 3.07" in page

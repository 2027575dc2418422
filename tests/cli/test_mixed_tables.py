"""Tables with levels, dates, gaps and weights through every verb."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

LIGHT = ("--no-report", "--starts", "1")
GIVEN = (*LIGHT, "-m", "1.5", "--level", "1", "--max-anisotropy", "5")  # nothing is chosen, which takes longest
N = 90


@pytest.fixture(scope="module")
def mixed_frame():
    """Three groups that differ in a number, a color, a scale and a date, with gaps."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], N // 3)
    color = np.array(["red", "green", "blue"], dtype=object)[group]
    other = rng.random(N) < 0.1
    color[other] = rng.choice(["red", "green", "blue"], other.sum())
    color[rng.random(N) < 0.1] = None
    height = (10 + 5 * group + rng.normal(size=N)).round(2)
    height[rng.random(N) < 0.1] = np.nan
    return pd.DataFrame(
        {
            "height": height,
            "width": (3 - 2 * group + rng.normal(size=N)).round(2),
            "color": color,
            "grade": np.clip(group + rng.integers(0, 2, N), 0, 2),
            "day": pd.Series(
                pd.to_datetime("2020-01-01") + pd.to_timedelta(100 * group + rng.integers(0, 50, N), unit="D")
            ).dt.strftime("%Y-%m-%d"),
            "remark": [f"remark {k}" for k in range(N)],
            "kind": np.array(list("abc"))[group],
            "w": rng.integers(1, 4, N),
        }
    )


@pytest.fixture
def mixed_csv(mixed_frame, tmp_path):
    mixed_frame.drop(columns="w").to_csv(tmp_path / "mixed.csv", index=False)
    return tmp_path / "mixed.csv"


LABELED = ("--label-column", "kind")


@pytest.fixture
def fitted(run, mixed_csv, tmp_path):
    return run("fit", mixed_csv, "-c", 3, "-o", tmp_path / "fit", "--json", *LABELED, *GIVEN)


def test_a_fit_uses_every_column_and_every_row(fitted, mixed_frame, tmp_path):
    document = fitted.document
    types = {column["name"]: column["type"] for column in document["table"]["columns"]}
    assert types == {"height": "numeric", "width": "numeric", "color": "nominal", "grade": "ordinal", "day": "date"}
    assert (document["n_rows"], document["n_left_out"]) == (N, 0)
    assert document["agreement"]["adjusted_rand"] > 0.8
    assert document["table"]["n_incomplete_rows"] == mixed_frame[["height", "color"]].isna().any(axis=1).sum()
    missing = {column["name"]: column["missing"] for column in document["table"]["columns"]}
    assert missing["color"] == pytest.approx(mixed_frame["color"].isna().mean())
    assert {column["name"] for column in document["columns"]} == set(types)
    found = pd.read_csv(tmp_path / "fit" / "memberships.csv")
    np.testing.assert_allclose(found.filter(like="cluster_").sum(axis=1), 1, atol=1e-9)


def test_what_was_understood_and_what_is_missing_is_said(fitted):
    assert "'grade' read as ordered, 3 levels (0 < 1 < 2)" in fitted.err
    assert "'color' read as categories, 3 levels (blue, green, red)" in fitted.err
    assert "'day' read as dates (2020-01-" in fitted.err
    assert "left out 1 column of text: 'remark'" in fitted.err
    assert "rows have missing values (in 'height', 'color'): what is known of them is used" in fitted.err


def test_profiles_have_shares_of_levels_and_dates(fitted):
    profiles = {column["name"]: column for column in fitted.document["profiles"]}
    color = profiles["color"]
    np.testing.assert_allclose(np.sum(color["cluster_shares"], axis=1), 1)
    np.testing.assert_allclose(
        np.array(color["cluster_lift"]), np.array(color["cluster_shares"]) / np.array(color["shares"])
    )
    assert sorted(np.argmax(color["cluster_shares"], axis=1)) == [0, 1, 2]
    assert set(profiles["grade"]["cluster_medians"]) <= {"0", "1", "2"}
    assert all(day.startswith("2020-") for day in profiles["day"]["cluster_medians"])
    assert "median" not in color


@pytest.mark.slow
def test_the_terminal_tells_types_gaps_and_typical_values(run, mixed_csv, tmp_path):
    ended = run("fit", mixed_csv, "-c", 3, "-o", tmp_path / "out", *LABELED, *GIVEN)
    for text in ("What is missing", "nominal", "ordinal", "What is typical", "×", "2020-"):
        assert text in ended.out
    assert "column_types" not in ended.out + ended.err


def test_rows_of_the_fit_get_their_memberships_back(run, fitted, mixed_csv, tmp_path):
    expected = pd.read_csv(tmp_path / "fit" / "memberships.csv")
    found = pd.read_csv(io.StringIO(run("predict", tmp_path / "fit" / "model.skops", mixed_csv).out))
    pd.testing.assert_frame_equal(found, expected, atol=1e-5)


def test_new_levels_count_as_missing_and_are_named(run, fitted, mixed_frame, tmp_path):
    rows = mixed_frame.head(3).copy()
    rows.loc[0, "color"] = "mauve"
    rows.to_csv(tmp_path / "new.csv", index=False)
    model = tmp_path / "fit" / "model.skops"
    ended = run("predict", model, tmp_path / "new.csv", "--json")
    assert "mauve" in " ".join(ended.document["notes"])
    rows.loc[0, "color"] = None
    rows.to_csv(tmp_path / "blank.csv", index=False)
    blank = run("predict", model, tmp_path / "blank.csv", "--json").document
    np.testing.assert_allclose(ended.document["memberships"], blank["memberships"])
    assert None not in blank["labels"]


def test_text_where_the_model_has_numbers_is_refused(run, fitted, mixed_frame, tmp_path):
    mixed_frame.astype({"width": object}).replace({"width": {mixed_frame["width"][0]: "wide"}}).to_csv(
        tmp_path / "new.csv", index=False
    )
    ended = run("predict", tmp_path / "fit" / "model.skops", tmp_path / "new.csv", code=1)
    assert "'width'" in ended.err


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["partial", "level", "drop", "error"])
def test_every_treatment_of_gaps(run, mixed_csv, mixed_frame, tmp_path, missing):
    arguments = ("fit", mixed_csv, "-c", 3, "-o", tmp_path / "out", "--json", "--missing", missing, *LABELED, *GIVEN)
    if missing == "error":
        assert "have missing values (in 'height', 'color')" in run(*arguments, code=1).err
        return
    document = run(*arguments).document
    n_gaps = int(mixed_frame[["height", "color"]].isna().any(axis=1).sum())
    assert document["n_left_out"] == (n_gaps if missing == "drop" else 0)
    assert document["agreement"]["adjusted_rand"] > 0.8
    new = run("predict", tmp_path / "out" / "model.skops", mixed_csv, "--json").document
    assert new["n_left_out"] == document["n_left_out"]


@pytest.mark.slow
def test_a_weight_is_a_number_of_rows(run, mixed_frame, tmp_path):
    frame = mixed_frame.drop(columns="remark")
    frame.to_csv(tmp_path / "heavy.csv", index=False)
    many = frame.loc[np.repeat(frame.index, frame["w"])]
    many.drop(columns="w").to_csv(tmp_path / "many.csv", index=False)
    heavy = run(
        *("fit", tmp_path / "heavy.csv", "-c", 3, "-o", tmp_path / "heavy", "--weight-column", "w", "--json"),
        *(*LABELED, *GIVEN),
    ).document
    repeated = run("fit", tmp_path / "many.csv", "-c", 3, "-o", tmp_path / "many", "--json", *LABELED, *GIVEN).document
    assert heavy["table"]["total_weight"] == len(many)
    assert "w" not in {column["name"] for column in heavy["table"]["columns"]}
    assert heavy["agreement"]["adjusted_rand"] == pytest.approx(repeated["agreement"]["adjusted_rand"], abs=1e-6)
    assert sorted(cluster["weight"] for cluster in heavy["clusters"]) == sorted(
        cluster["n_rows"] for cluster in repeated["clusters"]
    )
    one, other = (json.loads((tmp_path / name / "summary.json").read_text()) for name in ("heavy", "many"))
    assert one["objective"] == pytest.approx(other["objective"], rel=1e-6)


@pytest.mark.parametrize(
    ("weights", "message"), [("-1", "is negative"), ("", "is missing"), ("x", "must be numbers"), ("0", "are zero")]
)
@pytest.mark.parametrize("verb", ["fit", "diagnose", "compare"])
def test_weights_that_are_none_are_refused_by_every_verb(run, mixed_frame, tmp_path, verb, weights, message):
    cells = mixed_frame["w"].astype(str)
    cells[:] = weights if message == "are zero" else cells
    cells[4] = weights
    mixed_frame.assign(w=cells).to_csv(tmp_path / "t.csv", index=False)
    out = ("-o", tmp_path / "out") if verb == "fit" else ()
    ended = run(verb, tmp_path / "t.csv", "-c", 3, "--weight-column", "w", *out, code=1)
    assert message in ended.err
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_user_can_say_what_a_column_is(run, mixed_csv, tmp_path):
    types = ("--types", "grade=numeric,remark=drop", "--types", "color=ordinal:red<green<blue")
    document = run("fit", mixed_csv, "-c", 3, "-o", tmp_path / "out", "--json", *types, *LABELED, *GIVEN).document
    found = {column["name"]: column for column in document["table"]["columns"]}
    assert (found["grade"]["type"], found["color"]["type"]) == ("numeric", "ordinal")
    assert found["color"]["levels"] == ["red", "green", "blue"]
    assert "--types" in document["command"]


def test_types_that_are_none_are_wrong_usage(run, mixed_csv):
    ended = run("diagnose", mixed_csv, "-c", 3, "--types", "color=hue", code=2)
    assert "numeric, ordinal, nominal, date, drop" in " ".join(ended.err.split())


def test_types_that_contradict_the_cells_name_the_cell(run, mixed_csv):
    ended = run("diagnose", mixed_csv, "-c", 3, "--types", "color=ordinal:red<green", code=1)
    assert "'blue' in row" in ended.err


@pytest.mark.slow
def test_diagnose_says_what_plain_distances_are_of(run, mixed_csv):
    ended = run("diagnose", mixed_csv, "-c", 3, *LABELED)
    assert "one column per level, means for blanks" in " ".join(ended.out.split())
    document = run("diagnose", mixed_csv, "-c", 3, "--json", *LABELED).document
    assert document["n_columns"] == 5
    assert document["chosen"]["collapsed"] is False
    assert 0 < document["plain"]["leading_eigenvalue"] < 1


@pytest.mark.slow
def test_compare_says_what_every_method_saw(run, mixed_csv):
    document = run("compare", mixed_csv, "-c", 3, "--json", *LABELED).document
    seen = {method["method"]: method["treatment"] for method in document["methods"]}
    assert seen["KFRC"] == "as it is"
    assert {seen[name] for name in ("FRC", "FANNY", "RFCM", "NERFCM")} == {"Gower dissimilarities"}
    assert seen["FCMMK"] == "standardized, one column per level, means for blanks"
    found = {method["method"]: method["status"] for method in document["methods"]}
    assert "failed" not in found.values(), found
    assert document["methods"][0]["adjusted_rand"] > 0.8


def test_levels_only(run, tmp_path):
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 40)
    frame = pd.DataFrame({f"q{k}": np.where(rng.random(80) < 0.1, 1 - group, group) for k in range(6)})
    frame.replace({0: "no", 1: "yes"}).to_csv(tmp_path / "votes.csv", index=False)
    document = run("fit", tmp_path / "votes.csv", "-c", 2, "-o", tmp_path / "out", "--starts", 1, "--json").document
    assert document["status"] == "converged"
    assert (tmp_path / "out" / "report.html").exists()
    assert {cluster["n_rows"] for cluster in document["clusters"]} <= set(range(36, 45))


@pytest.mark.slow
def test_a_row_of_which_nothing_is_known_belongs_everywhere(run, mixed_frame, tmp_path):
    frame = mixed_frame.drop(columns=["remark", "w"]).astype(object)
    frame.loc[5, ["height", "width", "color", "grade", "day"]] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    ended = run("fit", tmp_path / "t.csv", "-c", 3, "-o", tmp_path / "out", "--json", *LABELED, *GIVEN)
    assert sum("nothing is known of row" in line for line in ended.err.splitlines()) == 1
    assert "nothing is known of row '6'" in ended.err
    found = pd.read_csv(tmp_path / "out" / "memberships.csv").filter(like="cluster_")
    np.testing.assert_allclose(found.iloc[5], 1 / 3)


def test_a_kernel_that_needs_numbers_is_refused_before_any_work(run, mixed_csv, tmp_path):
    arguments = ("fit", mixed_csv, "-c", 3, "-o", tmp_path / "out", "--kernel", "path", *LABELED)
    assert "--kernel path takes complete numbers without weights only" in run(*arguments, code=1).err
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_blanks_of_numbers_are_no_level(run, mixed_csv, tmp_path):
    options = ("--missing", "level", *LABELED, *GIVEN)
    ended = run("fit", mixed_csv, "-c", 3, "-o", tmp_path / "out", *options)
    assert "a blank counts as a level where there are levels, of numbers what is known of them is used" in ended.err


@pytest.mark.slow
def test_a_parquet_file_gives_the_same_clusters(run, mixed_frame, mixed_csv, fitted, tmp_path):
    typed = mixed_frame.drop(columns=["w", "remark"]).assign(
        grade=pd.Categorical(mixed_frame["grade"].astype(str), ["0", "1", "2"], ordered=True),
        day=pd.to_datetime(mixed_frame["day"]),
    )
    typed.to_parquet(tmp_path / "mixed.parquet")
    run("fit", tmp_path / "mixed.parquet", "-c", 3, "-o", tmp_path / "other", *LABELED, *GIVEN)
    one, other = (pd.read_csv(tmp_path / name / "memberships.csv") for name in ("fit", "other"))
    pd.testing.assert_frame_equal(one, other, atol=1e-9)
    new = run("predict", tmp_path / "fit" / "model.skops", tmp_path / "mixed.parquet", "--json").document
    np.testing.assert_allclose(new["memberships"], one.filter(like="cluster_"), atol=1e-5)


def test_a_row_of_which_nothing_is_known_has_no_label(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 2)) + 6 * np.repeat([[0], [1]], 20, axis=0), columns=["a", "b"])
    frame.loc[3] = np.nan
    frame.to_csv(tmp_path / "table.csv", index=False)
    run("fit", tmp_path / "table.csv", "-c", 2, "-o", tmp_path / "out", *GIVEN)
    predicted = run("predict", tmp_path / "out" / "model.skops", tmp_path / "table.csv").out
    for found in (pd.read_csv(tmp_path / "out" / "memberships.csv"), pd.read_csv(io.StringIO(predicted))):
        assert len(found) == 40
        assert np.flatnonzero(found["label"].isna()).tolist() == [3]
        assert found["left_out"][3] == "nothing is known"
        np.testing.assert_allclose(found.loc[3, ["cluster_0", "cluster_1"]].astype(float), 0.5)
    document = run("predict", tmp_path / "out" / "model.skops", tmp_path / "table.csv", "--json").document
    assert document["labels"][3] is None
    assert document["left_out"][3] == "nothing is known"
    assert document["memberships"][3] == pytest.approx([0.5, 0.5])


@pytest.mark.slow
def test_a_checkbox_is_clustered_by_if_a_blank_is_a_level(run, mixed_frame, tmp_path):
    frame = mixed_frame[["width", "height"]].assign(box=np.where(mixed_frame["kind"] == "a", "x", ""))
    frame.to_csv(tmp_path / "table.csv", index=False)
    arguments = ("fit", tmp_path / "table.csv", "-c", 2, "-o", tmp_path / "out", "--missing", "level", "--json", *GIVEN)
    assert "box" in {column["name"] for column in run(*arguments).document["table"]["columns"]}
    new = run("predict", tmp_path / "out" / "model.skops", tmp_path / "table.csv", "--json").document
    assert new["n_left_out"] == 0


def test_one_column_that_is_used_is_said_to_be_the_only_one(run, tmp_path):
    rng = np.random.default_rng(0)
    pd.DataFrame({"a": rng.normal(size=40), "b": 1.5}).to_csv(tmp_path / "table.csv", index=False)
    shown = run("fit", tmp_path / "table.csv", "-c", 2, "-o", tmp_path / "out", *GIVEN).out
    assert "only one column is used" in shown
    assert "stands out" not in shown

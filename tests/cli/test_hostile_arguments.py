"""Arguments that mean nothing, or too much: each ends in one line that says what is wrong, before any work."""

from __future__ import annotations

import pytest

from kfrc_app.cli import options

QUICK = ("-m", "2", "--level", "1", "--max-anisotropy", "1", "--starts", "1", "--no-report", "--no-excel")
ENDLESS = str(10**9)
HUGE = "9" * 50


def refused(run, *arguments, code=2):
    """The last line of a run that is refused."""
    ended = run(*arguments, code=code)
    assert ended.out == ""
    assert "Traceback" not in ended.err
    return ended.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--level", "nan", "'nan' is neither a number nor 'auto' nor 'search'"),
        ("-m", "nan", "'nan' is neither a number nor 'auto' nor 'default'"),
        ("-m", "1", "m = 1 is outside"),
        ("-m", "inf", "m = inf is outside"),
        ("--max-anisotropy", "nan", "'nan' is neither a number nor 'auto'"),
        ("--max-anisotropy", "0", "0 is too small, at least 1"),
        ("-c", "0", "0 is too few"),
        ("-c", "-1", "-1 is too few"),
        ("-c", "²", "'²' is not a whole number"),
        ("--max-clusters", "1", "'--max-clusters'"),
        ("--max-clusters", "100000", "less than or equal to 100"),
        ("--starts", "0", "'--starts'"),
        ("--starts", ENDLESS, "less than or equal to 10000"),
        ("--starts", HUGE, "less than or equal to 10000"),
        ("--refits", "-1", "'--refits'"),
        ("--refits", ENDLESS, "less than or equal to 10000"),
        ("--seed", "-1", "'--seed'"),
        ("--memory", "nanGB", "at least 10 MB"),
        ("--memory", "9" * 400, "at least 10 MB"),
    ],
)
def test_a_number_that_means_nothing_is_refused_by_its_option(run, iris_csv, tmp_path, option, value, words):
    given = {"-c": "2", option: value}
    spelled = [word for pair in given.items() for word in pair]
    assert words in refused(run, "fit", iris_csv, "-o", tmp_path / "out", *spelled)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("value", ["-800", "800", "inf", "-inf", "1e308"])
def test_a_level_that_no_number_can_hold_is_refused(run, iris_csv, tmp_path, value):
    words = ("fit", iris_csv, "-c", 2, "-o", tmp_path / "out", "-m", "2", "--max-anisotropy", "1", "--level", value)
    assert refused(run, *words, code=1).startswith("kfrc: level ")


@pytest.mark.parametrize("value", [ENDLESS, HUGE])
def test_more_clusters_than_rows_are_refused(run, iris_csv, tmp_path, value):
    words = ("fit", iris_csv, "-c", value, "-o", tmp_path / "out", *QUICK)
    assert refused(run, *words, code=1) == f"kfrc: 150 rows are too few for {value} clusters"


def test_seeds_of_any_size_are_taken(run, iris_csv, tmp_path):
    run("fit", iris_csv, "-c", 2, "-o", tmp_path / "out", *QUICK, "--seed", HUGE)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (f"5-{HUGE}", "at most 100 clusters"),
        ("2-2000000000", "at most 100 clusters"),
        ("5-2", "2 is less than 5"),
        ("2-3,9-8", "8 is less than 9"),
        ("0-3", "at least 2 clusters"),
        ("2,,3", "neither like 2-8 nor like 2,3,5"),
        ("", "neither like 2-8 nor like 2,3,5"),
    ],
)
def test_a_range_is_judged_before_its_numbers_are_listed(run, iris_csv, value, words):
    assert words in refused(run, "indices", iris_csv, "-c", value)


def test_ranges_that_mean_something_are_listed_once():
    assert options.parse_cluster_range("4, 2-3,3,100") == [2, 3, 4, 100]


@pytest.mark.parametrize(
    ("value", "words"),
    [("", "the name is empty"), ("a\0b", "is no name of a file"), ("~nobody-here/x", "~nobody-here")],
)
def test_a_name_that_can_be_none_is_refused(run, iris_csv, value, words):
    assert words in refused(run, "fit", iris_csv, "-c", 2, "-o", value, "--force")
    assert words in refused(run, "predict", value, iris_csv)
    assert words in refused(run, "demo", "-o", value, "--force")


@pytest.mark.parametrize("verb", ["fit", "diagnose", "indices", "compare"])
def test_a_table_without_a_name_is_refused(run, tmp_path, verb):
    out = ["-o", tmp_path / "out"] if verb == "fit" else []
    assert "the name is empty" in refused(run, verb, "", "-c", 2, *out)


@pytest.mark.parametrize("value", ["", "a\0b", "\udcff", "a" * 300])
def test_a_page_listens_at_an_address_only(run, value):
    assert "is no address" in refused(run, "app", "--no-browser", "--host", value)


@pytest.mark.parametrize(
    ("option", "value"),
    [("--n-jobs", HUGE), ("--n-jobs", "-100"), ("--seeds", "1-99999999999"), ("--seeds", "²"), ("--seeds", "9" * 5000)],
)
def test_a_study_of_too_much_is_refused(run, tmp_path, option, value):
    assert option in refused(run, "study", "run", "synthetic", "--out", tmp_path / "out", option, value)
    assert not (tmp_path / "out").exists()

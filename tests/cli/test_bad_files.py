"""Bad files end every verb with one line, status 1, no traceback and nothing left behind."""

from __future__ import annotations

import errno
import os

import numpy as np
import pandas as pd
import pytest

from kfrc_app import output

ROWS = "".join(f"{j},{j * j % 7},{j % 3}\n" for j in range(12))
BAD = {
    "empty": (b"", "empty"),
    "blank": (b"\n \n\n", "empty"),
    "header only": (b"a,b,c\n", "no rows"),
    "comments only": (b"# a,b\n# made today\n", "nothing but comments"),
    "separator only": (b"sep=;\n", "empty"),
    "ragged": (b"a,b,c\n1,2,3\n4,5\n6,7,8\n", "row 2 has 2 fields"),
    "ragged short": (b"a,b\n1,2\n3\n4,5\n", "row 2 has 1 field where 2 are expected"),
    "ragged longer": (b"a,b\n" + b"1,2\n" * 9 + b"1,2,3\n", "row 10 has 3 fields"),
    "binary": (bytes(range(256)) * 20, "binary"),
    "spreadsheet": (b"PK\x03\x04\x00\x00" * 50, "spreadsheet"),
    "two rows": (b"a,b\n1,2\n3,4\n", "2 usable row(s)"),
    "all constant": (b"a,b\n" + b"1,2\n" * 12, "constant"),
    "all text": (b"a,b\n" + b"".join(b"x%d,y%d\n" % (j, j) for j in range(12)), "no column holds numbers"),
    "infinite": (f"a,b,c\n{ROWS}1,inf,2\n".encode(), "'b' holds infinite values"),
    "two tables": (f"a,b,c\n{ROWS},,\nd,e,\n1,2,\n3,4,\n".encode(), "two tables below each other"),
    "damaged parquet": (b"PAR1 this is not one PAR1", "Parquet"),
    "open quote": (f'a,b,c\n{ROWS}1,"2,3\n4,5,6\n'.encode(), "row 13"),
}
VERBS = {
    "fit": lambda source, out: ("fit", source, "-c", 2, "-o", out),
    "diagnose": lambda source, out: ("diagnose", source, "-c", 2),
    "compare": lambda source, out: ("compare", source, "-c", 2),
}


def assert_one_line(ended):
    assert ended.out == ""
    problems = [line for line in ended.err.splitlines() if not line.startswith("note: ")]
    assert len(problems) == 1, ended.err
    assert problems[0].startswith("kfrc: ")
    return problems[0]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", BAD)
def test_bad_content(run, tmp_path, left_behind, verb, kind):
    content, words = BAD[kind]
    source = tmp_path / "bad.csv"
    source.write_bytes(content)
    names = left_behind()
    ended = run(*VERBS[verb](source, tmp_path / "out"), code=1)
    assert words in assert_one_line(ended)
    assert names() == set()


@pytest.mark.parametrize("verb", VERBS)
def test_too_many_columns(run, tmp_path, left_behind, verb, monkeypatch):
    monkeypatch.setattr("kfrc_app.tables.columns.MAX_COLUMNS", 599)  # a file of more than there can be is large
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(12, 600)).round(3)).add_prefix("x").to_csv(tmp_path / "wide.csv", index=False)
    names = left_behind()
    ended = run(*VERBS[verb](tmp_path / "wide.csv", tmp_path / "out"), code=1)
    assert "600 columns" in assert_one_line(ended)
    assert names() == set()


@pytest.mark.parametrize("verb", VERBS)
def test_paths_that_cannot_be_read(run, tmp_path, left_behind, verb, monkeypatch):
    names = left_behind()
    assert "no file" in assert_one_line(run(*VERBS[verb](tmp_path / "absent.csv", tmp_path / "out"), code=1))
    assert "is a folder" in assert_one_line(run(*VERBS[verb](tmp_path, tmp_path / "out"), code=1))

    def refuse(path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    ended = run(*VERBS[verb](tmp_path / "locked.csv", tmp_path / "out"), code=1)
    assert "Permission denied" in assert_one_line(ended)
    assert names() == set()


@pytest.mark.slow
@pytest.mark.parametrize("force", [False, True])
def test_a_full_disk_leaves_nothing_behind(run, iris_csv, tmp_path, left_behind, monkeypatch, force):
    out = tmp_path / "new" / "out"
    if force:
        out.mkdir(parents=True)
        (out / "memberships.csv").write_text("of an earlier run")
    names = left_behind()
    write = output._write
    written = []

    def fill_up(path, content):
        if written:
            path.write_bytes(b"half")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written.append(path)
        write(path, content)

    monkeypatch.setattr(output, "_write", fill_up)
    arguments = ("fit", iris_csv, "-c", 3, "-o", out, "--no-report", "--starts", 1)
    ended = run(*arguments, *(["--force"] if force else []), code=1)
    assert "No space left on device" in assert_one_line(ended)
    assert written
    assert names() == set()
    if force:
        assert [path.name for path in out.iterdir()] == ["memberships.csv"]
        assert (out / "memberships.csv").read_text() == "of an earlier run"
        assert [path.name for path in out.parent.iterdir()] == ["out"]


@pytest.mark.slow
def test_a_full_disk_while_predicting(run, iris_csv, tmp_path, left_behind, monkeypatch):
    run("fit", iris_csv, "-c", 3, "-o", tmp_path / "out", "--no-report", "--starts", 1)
    names = left_behind()

    def fill_up(path, content):
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(output, "_write", fill_up)
    ended = run("predict", tmp_path / "out" / "model.skops", iris_csv, "-o", tmp_path / "found.csv", code=1)
    assert "No space left" in ended.err
    assert names() == set()


def test_output_in_the_place_of_a_file(run, iris_csv, tmp_path):
    (tmp_path / "out").write_text("mine")
    for extra in ((), ("--force",)):
        ended = run("fit", iris_csv, "-c", 3, "-o", tmp_path / "out", *extra, code=1)
        assert "is a file, not a folder" in assert_one_line(ended)
    assert "is not a folder" in assert_one_line(run("fit", iris_csv, "-c", 3, "-o", tmp_path / "out" / "in", code=1))
    assert (tmp_path / "out").read_text() == "mine"


def test_more_clusters_than_rows(run, tmp_path):
    (tmp_path / "few.csv").write_text(f"a,b,c\n{ROWS}")
    assert "too few for 12 clusters" in run("diagnose", tmp_path / "few.csv", "-c", 12, code=1).err


def test_another_encoding_is_read_with_a_note(run, tmp_path):
    (tmp_path / "latin.csv").write_bytes(f"a,höhe,c\n{ROWS}".encode("latin-1"))
    ended = run("fit", tmp_path / "latin.csv", "-c", 2, "-o", tmp_path / "out", "--no-report", "--json")
    assert "read as Latin-1" in ended.err
    assert "höhe" in {column["name"] for column in ended.document["columns"]}


def test_as_a_program(run_program, tmp_path, left_behind):
    (tmp_path / "bad.csv").write_bytes(b"a,b\n1,2\n3\n")
    names = left_behind()
    assert_one_line(run_program("fit", tmp_path / "bad.csv", "-c", 2, "-o", tmp_path / "out", code=1))
    assert names() == set()


@pytest.mark.parametrize("verb", ["diagnose", "compare"])
def test_verbs_that_search_every_column_say_that_fit_takes_more(run, tmp_path, verb):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(12, 501)).round(3)).add_prefix("x").to_csv(tmp_path / "wide.csv", index=False)
    problem = assert_one_line(run(*VERBS[verb](tmp_path / "wide.csv", tmp_path / "out"), code=1))
    assert "501 columns and at most 500" in problem
    assert "kfrc fit takes all" in problem

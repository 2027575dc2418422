"""Output is one whole run or another, whatever ends the process that writes it."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from kfrc_app import _swap
from kfrc_app.figures import gallery
from kfrc_app.output import OutputError, check_output, write_file, write_folder

HERE = Path(__file__).parent
OLD = dict.fromkeys(("memberships.csv", "model.skops", "summary.json", "report.html"), "old")
NEW = dict.fromkeys(("memberships.csv", "model.skops", "summary.json"), "new")
THIRD = dict.fromkeys(NEW, "third")
MINE = {"mine.txt": "mine", "sub/deep.txt": "mine"}

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be forked")


@pytest.fixture(scope="module")
def deaths(tmp_path_factory):
    """For every scene: what a death before each step leaves; the last entry is the end of an undisturbed run."""
    path = os.pathsep.join([str(HERE.parents[1] / "study"), os.environ.get("PYTHONPATH", "")])
    ended = subprocess.run(
        [sys.executable, str(HERE / "killed.py"), str(tmp_path_factory.mktemp("killed"))],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    scenes = json.loads(ended.stdout)
    for left in scenes.values():
        assert len(left) > 6
        assert [entry["status"] for entry in left] == [9] * (len(left) - 1) + [0], ended.stderr
    return scenes


def ours(found):
    """The files of a run among what a folder holds, None if there is no folder."""
    return None if found is None else {name: text for name, text in found.items() if name in OLD}


@pytest.mark.slow
@needs_fork
@pytest.mark.parametrize("scene", ["folder", "linked"])
def test_a_killed_replacement_leaves_one_whole_run_and_the_next_command_mends_the_rest(deaths, scene):
    left = deaths[scene]
    for entry in left:
        # None: killed between the two renames. The folder has another name then, and the next command gives it back.
        assert ours(entry["seen"]) in (OLD, NEW, None)
        assert ours(entry["after_look"]) in (OLD, NEW)
        assert MINE.items() <= entry["after_look"].items()
        assert entry["after_again"] == THIRD | MINE
        assert entry["beside"] == (["real"] if scene == "linked" else ["out"])
        assert entry["link"] == (scene == "linked")
    assert sum(entry["seen"] is None for entry in left) <= 1
    assert ours(left[0]["seen"]) == OLD
    assert left[-1]["seen"] == NEW | MINE


@needs_fork
def test_a_killed_replacement_in_the_working_directory_never_shows_files_of_two_runs(deaths):
    for entry in deaths["here"]:
        seen = ours(entry["seen"]).items()
        assert seen <= OLD.items() or seen <= NEW.items()
        assert MINE.items() <= entry["seen"].items()
        assert ours(entry["after_look"]) in (OLD, NEW)
        assert entry["after_again"] == THIRD | MINE
        assert entry["beside"] == ["out"]


@needs_fork
def test_killed_study_tables_are_all_of_one_state(deaths):
    def tables(found):
        return None if found is None else {name: text for name, text in found.items() if name[:4] in ("bits", "mean")}

    left = deaths["tables"]
    before, after = tables(left[0]["seen"]), tables(left[-1]["seen"])
    assert before != after
    assert before.keys() == after.keys()
    for entry in left:
        assert tables(entry["seen"]) in (before, after, None)
        assert entry["after_again"] == after | {"mine.txt": "mine"}
        assert [name for name in entry["beside"] if name.startswith(".")] == []
    assert sum(entry["seen"] is None for entry in left) <= 1


def killed_between_the_renames(out):
    """The state of a run that was killed when the old folder had stepped aside, and the new one not yet come."""
    aside = out.parent / f".{out.name}.0123abcd.old"
    out.rename(aside)
    staged = out.parent / f".{out.name}.0123abcd.partial"
    staged.mkdir()
    (staged / "model.skops").write_text("new")
    return aside


def filled(folder, files):
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_that_stepped_aside_is_there_again_for_whoever_asks(tmp_path):
    out = filled(tmp_path / "out", OLD)
    killed_between_the_renames(out)
    with pytest.raises(OutputError, match="exists already"):
        check_output(out, force=False, folder=True)
    assert names_in(out) == sorted(OLD)
    assert names_in(tmp_path) == ["out"]


def test_what_a_living_run_is_writing_is_not_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(_swap, "_LOCK_WAIT", 0.05)
    ours = _swap.beside(tmp_path / "out")
    with _swap.alone_in(tmp_path) as alone:
        assert alone
        ours.mkdir()
        write_folder(tmp_path / "out", NEW)
        assert ours.exists()
    write_folder(tmp_path / "out", NEW, force=True)
    assert names_in(tmp_path) == ["out"]


def test_leftovers_are_known_by_their_names(tmp_path):
    alike = [".out.partial", ".out.0123abcd.partial.txt", ".outer.0123abcd.partial", "out.0123abcd.partial"]
    for name in (*alike, ".out.0123abcd.partial", ".found.csv.89abcdef.partial"):
        (tmp_path / name).write_text("")
    write_folder(tmp_path / "out", NEW)
    write_file(tmp_path / "found.csv", "")
    assert names_in(tmp_path) == sorted([*alike, "out", "found.csv"])


def test_nothing_of_the_user_is_lost_to_a_folder_that_came_back_meanwhile(tmp_path):
    out = filled(tmp_path / "out", {"mine.txt": "first"})
    aside = killed_between_the_renames(out)
    filled(out, {"mine.txt": "second"})
    check_output(out, force=True, folder=True)
    assert (out / "mine.txt").read_text() == "second"
    assert (aside / "mine.txt").read_text() == "first"


def test_a_folder_in_the_place_of_a_file_is_not_replaced(tmp_path):
    out = filled(tmp_path / "out", OLD)
    (out / "model.skops").unlink()
    filled(out / "model.skops", {"mine.txt": "mine"})
    with pytest.raises(OutputError, match="is a folder"):
        write_folder(out, NEW, force=True)
    assert (out / "model.skops" / "mine.txt").read_text() == "mine"
    assert (out / "summary.json").read_text() == "old"


@pytest.mark.parametrize("obstacle", ["is_movable", "rename"])
def test_a_folder_that_cannot_be_moved_is_filled_where_it_is(tmp_path, monkeypatch, obstacle):
    out = filled(tmp_path / "out", OLD | {"mine.txt": "mine"})
    before = out.stat().st_ino
    if obstacle == "is_movable":
        monkeypatch.setattr(_swap, "is_movable", lambda folder: False)
    else:  # a mount point that does not look like one
        rename = os.rename

        def refuse(source, target):
            if Path(source) == out:
                raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
            rename(source, target)

        monkeypatch.setattr(os, "rename", refuse)
    write_folder(out, NEW, force=True, obsolete=tuple(OLD))
    assert out.stat().st_ino == before
    assert names_in(out) == sorted({*NEW, "mine.txt"})
    assert {(out / name).read_text() for name in NEW} == {"new"}
    assert names_in(tmp_path) == ["out"]


def test_links_stay_and_what_they_lead_to_is_replaced(tmp_path):
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real.csv")
    write_file(tmp_path / "link.csv", "new", force=True)
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "new"
    (tmp_path / "dangling").symlink_to("made")
    write_folder(tmp_path / "dangling", NEW)
    assert names_in(tmp_path / "made") == sorted(NEW)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OutputError, match="leads to itself"):
        write_folder(tmp_path / "loop", NEW)


def test_the_rights_of_a_folder_stay(tmp_path):
    out = filled(tmp_path / "out", OLD)
    out.chmod(0o750)
    write_folder(out, NEW, force=True)
    assert stat.S_IMODE(out.stat().st_mode) == 0o750


def test_an_end_between_the_renames_gives_the_old_folder_back(tmp_path, monkeypatch):
    out = filled(tmp_path / "out", OLD)
    rename = os.rename

    def end(source, target):
        if Path(target) == out and Path(source).name.endswith(".partial"):
            raise SystemExit
        rename(source, target)

    monkeypatch.setattr(os, "rename", end)
    with pytest.raises(SystemExit):
        write_folder(out, NEW, force=True)
    assert names_in(tmp_path) == ["out"]
    assert names_in(out) == sorted(OLD)


def test_figures_are_replaced_together(tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    out = filled(tmp_path / "figures", {"figure_2.png": "old", "figure_2.pdf": "old"})

    def fail(self, target, **options):
        if options.get("format") == "pdf" or str(target).endswith("pdf"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return savefig(self, target, **options)

    savefig = Figure.savefig
    monkeypatch.setattr(gallery.oracle_choices, "draw", lambda records: Figure())
    with monkeypatch.context() as failing:
        failing.setattr(Figure, "savefig", fail)
        with pytest.raises(OSError, match="No space"):
            gallery.draw_figures(None, "synthetic", out)
    assert {path.read_text() for path in out.iterdir()} == {"old"}
    assert gallery.draw_figures(None, "synthetic", out) == [out / "figure_2.png", out / "figure_2.pdf"]
    assert (out / "figure_2.png").read_bytes().startswith(b"\x89PNG")

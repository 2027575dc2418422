"""Kills a process before every single step it takes on the disk, and writes down what each of these deaths leaves.

As a script: ``killed.py FOLDER`` prints JSON, for every scene a list with an entry per death. The work is done in
children, which share what this process has imported; a death is ``os._exit``, so that nothing is cleaned up.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

DEATH = 9
STEPS = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate"}
OURS = ("memberships.csv", "model.skops", "summary.json", "report.html")


def die_before(step):
    """End this process as if by SIGKILL when it is about to change the disk for the ``step``-th time."""
    taken = 0

    def watch(event, arguments):
        nonlocal taken
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_CREAT | os.O_TRUNC)
        if event in STEPS or writes:
            taken += 1
            if taken == step:
                os._exit(DEATH)

    sys.addaudithook(watch)


def contents(folder):
    """Text of every file below a folder by its path; None if there is no folder."""
    if not folder.exists():
        return None
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class Folder:
    """``write_folder`` over an earlier run, in a folder that also holds files of the user."""

    def __init__(self, base):
        self.base, self.out = base, base / "out"

    def prepare(self):
        (self.out / "sub").mkdir(parents=True)
        for name in OURS:
            (self.out / name).write_text("old")
        (self.out / "mine.txt").write_text("mine")
        (self.out / "sub" / "deep.txt").write_text("mine")

    def work(self, text="new"):
        from kfrc_app.output import write_folder

        write_folder(self.out, dict.fromkeys(OURS[:3], text), force=True, obsolete=OURS)

    def look(self):
        """What a command that comes next does first."""
        from kfrc_app.output import check_output

        check_output(self.out, force=True, folder=True)

    def again(self):
        self.work("third")


class Linked(Folder):
    """The same behind a symbolic link."""

    def prepare(self):
        self.out = self.base / "elsewhere" / "real"
        super().prepare()
        self.out = self.base / "out"
        self.out.symlink_to(self.base / "elsewhere" / "real", target_is_directory=True)


class Here(Folder):
    """The same in the working directory, which cannot be swapped under the feet of a shell."""

    def prepare(self):
        super().prepare()
        os.chdir(self.out)
        self.out = Path()


class Tables(Folder):
    """``kfrc study tables`` over the tables of an earlier state."""

    def __init__(self, base):
        super().__init__(base)
        self.out = base / "study" / "tables"

    def prepare(self):
        import fake_study

        study, first = self.base / "study", self.base.parent / "001" / "study"
        if study != first:
            shutil.copytree(first.parent / "untouched", study)
            return
        fake_study.install()
        self._call("run", "synthetic", "--out", study)
        self._call("tables", study)
        (study / "tables" / "mine.txt").write_text("mine")
        for shard in (study / "shards").glob("synthetic-00*"):
            shard.unlink()
        shutil.copytree(study, first.parent / "untouched")

    def work(self):
        self._call("tables", self.base / "study")

    def look(self):
        self._call("status", self.base / "study")

    def again(self):
        self.work()

    def _call(self, *arguments):
        from typer.testing import CliRunner

        from kfrc_app.cli.study import app

        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == 0, result.output


SCENES = {"folder": Folder, "linked": Linked, "here": Here, "tables": Tables}


def run_child(work):
    """Exit status of a child of this process that does some work."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        work()
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0)


def die_everywhere(scene_class, base):
    """Every death of a scene, and at the end the life without one."""
    left, step, status = [], 0, DEATH
    while status == DEATH:
        step += 1
        place = base / f"{step:03d}"
        place.mkdir(parents=True)
        scene = scene_class(place)
        scene.prepare()

        def work(step=step, scene=scene):
            die_before(step)
            scene.work()

        status = run_child(work)
        out = scene.out.resolve()
        entry = {"status": status, "seen": contents(out)}
        scene.look()
        entry["after_look"] = contents(out)
        scene.again()
        entry["after_again"] = contents(out)
        entry["beside"] = sorted(path.name for path in out.parent.iterdir())
        entry["link"] = scene.out.is_symlink()
        left.append(entry)
    return left


def main(base):
    """Every death of every scene."""
    import kfrc_app.cli.study
    import kfrc_app.output  # noqa: F401

    print(json.dumps({name: die_everywhere(scene, base / name) for name, scene in SCENES.items()}))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main(Path(sys.argv[1]).resolve())

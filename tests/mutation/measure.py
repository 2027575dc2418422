"""How many small changes of the core its tests notice; prints the tables of docs/decisions/mutation.md.

.venv/bin/python tests/mutation/measure.py --sample 50 --seed 1
.venv/bin/python tests/mutation/measure.py --groups gram --sample 0 --out gram.json

Nothing here is changed: a copy of the library and its tests is. The tests run once to learn which of them reach
which line. Then each mutant runs the tests that reach its line, the quickest first, until one fails: with few examples
of each law, then with as many as ``make test`` has. One process that has imported everything but the library is forked
for each.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from mutants import Mutant, mutants_of

REPOSITORY = Path(__file__).parents[2]
GROUPS = {
    "fuzzifiers": ("kfrc/fuzzifiers.py",),
    "relational": ("kfrc/relational/*.py",),
    "spectrum": ("kfrc/spectrum.py",),
    "stability": ("kfrc/stability.py",),
    "gram": ("kfrc/gram/*.py",),
    "metrics": ("kfrc/metrics/*.py",),
}
TESTS = (
    "laws", "golden", "unit/bandwidth/test_linear_limit.py", "unit/gram", "unit/metrics",
    "unit/clusterers/test_sample_weights.py", "unit/test_acceleration.py", "unit/test_columns.py",
    "unit/test_descent.py", "unit/test_far_values_of_many_rows.py", "unit/test_gower.py", "unit/test_race.py",
    "unit/test_small_parts.py",
)  # fmt: skip
FAR_FROM_THE_CORE = {
    "test_contribution_laws.py", "test_judge_laws.py", "test_optimizer_laws.py", "test_screen_laws.py",
    "test_simulation_laws.py", "test_golden_indices.py", "test_golden_search.py",
}  # fmt: skip
NEVER_CHANGES = (
    "coverage", "hypothesis.extra.numpy", "pandas", "pytest", "scipy.linalg", "scipy.optimize", "scipy.sparse.linalg",
    "scipy.special", "scipy.stats", "sklearn.cluster", "sklearn.datasets", "sklearn.metrics", "sklearn.mixture",
    "sklearn.utils.estimator_checks",
)  # fmt: skip
ROUNDS = (("quick", 2.0, 3), ("quick", 6.0, 100), ("stable", 30.0, 100))
"""Examples of each law, seconds of computing by tests, as they took when nothing was changed, and files of tests."""
MEMORY = 6 << 30
LOADED = 30  # a machine may be as busy as to give a process this share of its time

SURVIVED, KILLED, TOO_LONG, UNREACHED = "survived", "killed", "too long", "no test reaches it"


@dataclass(frozen=True)
class Reach:
    """Which tests reach which line, and how long each takes."""

    seconds: dict[str, float]
    tests: dict[str, dict[int, list[str]]]

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Tests that reach the line of a mutant, quickest first; a line of a module's own counts as reached by all."""
        lines = self.tests[mutant.path]
        here = lines.get(mutant.line, [])
        if not here and mutant.line in self.tests.get(f"{mutant.path} at import", {}):
            here = list({test for tests in lines.values() for test in tests})
        return sorted(here, key=lambda test: (self.seconds[test], test))


def main() -> None:
    """Measure and print."""
    options = _options()
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    with tempfile.TemporaryDirectory() as folder:
        trees = [Path(folder, str(k)) for k in range(options.jobs)]
        _copy(options.tree, trees[0])
        for tree in trees[1:]:
            shutil.copytree(trees[0], tree)
        _import_what_never_changes()
        where = options.reach or Path(folder, "reach.json")
        if not where.exists():
            tests = _test_files(trees[0])
            parts = _at_once(trees, lambda k: _learned(trees[k], tests[k :: options.jobs]))
            where.write_text(json.dumps(_together(parts)))
        reach = _read_reach(where)
        chosen = [case for group in options.groups for case in _sampled(trees[0], group, options.sample, options.seed)]
        if options.again:
            known = {
                r["mutant"] for r in json.loads(options.again.read_text()) if r["outcome"] in (SURVIVED, UNREACHED)
            }
            chosen = [(group, mutant, source) for group, mutant, source in chosen if mutant.shown(source) in known]
        parts = _at_once(trees, lambda k: [_tried(trees[k], *case, reach) for case in chosen[k :: options.jobs]])
    results = [result for part in parts for result in part]
    results.sort(key=lambda result: (list(GROUPS).index(result["group"]), result["mutant"]))
    if options.out:
        options.out.write_text(json.dumps(results, indent=1, ensure_ascii=False))
    _print_tables(results)


def _at_once(trees: list[Path], work: Callable[[int], Any]) -> list[Any]:
    """What ``work`` returns for each tree, in a process for each."""
    children = []
    for k, tree in enumerate(trees):
        child = os.fork()
        if not child:
            code = 1
            try:
                (tree / "part.json").write_text(json.dumps(work(k)))
                code = 0
            except BaseException:
                traceback.print_exc()
            sys.stdout.flush()
            os._exit(code)
        children.append(child)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    if any(statuses):
        sys.exit("a process failed")
    return [json.loads((tree / "part.json").read_text()) for tree in trees]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--sample", type=int, default=50, help="mutants of each group; 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--tree", type=Path, default=REPOSITORY, help="folder with src, tests and pyproject.toml")
    parser.add_argument("--reach", type=Path, help="file that keeps which test reaches which line; made if missing")
    parser.add_argument("--again", type=Path, help="records of an earlier run: only what was not noticed there")
    parser.add_argument("--out", type=Path, help="file for one record per mutant")
    return parser.parse_args()


def _copy(tree: Path, to: Path) -> None:
    for name in ("src", "tests"):
        shutil.copytree(tree / name, to / name, ignore=shutil.ignore_patterns("__pycache__", "corpus"))
    shutil.copy(tree / "pyproject.toml", to)
    compileall.compile_dir(to / "src", quiet=1)
    compileall.compile_dir(to / "tests", quiet=1)


def _import_what_never_changes() -> None:
    """All that tests import but the library, once."""
    for name in NEVER_CHANGES:
        import_module(name)
    assert not any(name.split(".")[0] == "kfrc" for name in sys.modules)


def _sampled(tree: Path, group: str, size: int, seed: int) -> list[tuple[str, Mutant, bytes]]:
    src = tree / "src"
    files = [file for pattern in GROUPS[group] for file in sorted(src.glob(pattern))]
    everything = [
        (group, mutant, source)
        for file in files
        for source in [file.read_bytes()]
        for mutant in mutants_of(str(file.relative_to(src)), source)
    ]
    if not size or size >= len(everything):
        return everything
    return random.Random(f"{group} {seed}").sample(everything, size)


def _in_fork(tree: Path, work: Callable[[], int], limit: float | None) -> int | None:
    """What ``work`` returns in a process of its own, whose library is the copy; None if it computed too long."""
    import resource  # where processes fork, it exists

    child = os.fork()
    if not child:
        try:
            os.setsid()
            os.chdir(tree)
            sys.dont_write_bytecode = True
            sys.path.insert(0, str(tree / "src"))
            os.environ["PYTHONPATH"] = str(tree / "src")
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
            log = os.open(tree / "last.log", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
            os.dup2(log, 1)
            os.dup2(log, 2)
            os._exit(int(work()))
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(70)
    began = time.monotonic()
    while limit is None or time.monotonic() - began < LOADED * limit:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return None if code in (-signal.SIGXCPU, -signal.SIGKILL) else code
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _pytest(arguments: list[str], plugin: object) -> int:
    import pytest

    without = [option for name in ("cacheprovider", "xdist", "cov") for option in ("-p", f"no:{name}")]
    usual = ["-q", "-x", "--assert=plain", "-m", "not slow and not long and not release", *without]
    return pytest.main([*usual, *arguments], plugins=[plugin])


class _Learning:
    """Notes which test reaches which line, and how long it computes."""

    def __init__(self, coverage: Any) -> None:
        self.coverage, self.failed = coverage, set()
        self.seconds: dict[str, float] = {}
        self.began = 0.0

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.coverage.switch_context(nodeid)
        self.began = time.process_time()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.seconds[nodeid] = time.process_time() - self.began
        self.coverage.switch_context("between tests")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if not report.passed:
            self.failed.add(report.nodeid)


def _core(tree: Path) -> list[Path]:
    return [
        file for patterns in GROUPS.values() for pattern in patterns for file in sorted((tree / "src").glob(pattern))
    ]


def _test_files(tree: Path) -> list[str]:
    """Files of tests, and of the core for the examples in it, relative to the tree."""
    folders = [tree / "tests" / name for name in TESTS]
    files = [file for path in folders for file in (sorted(path.glob("test_*.py")) if path.is_dir() else [path])]
    near = [file for file in files if file.name not in FAR_FROM_THE_CORE]
    return [str(file.relative_to(tree)) for file in [*near, *_core(tree)]]


def _learned(tree: Path, tests: list[str]) -> dict[str, Any]:
    if _in_fork(tree, lambda: _learn_reach(tree, tests), limit=None):
        raise RuntimeError((tree / "last.log").read_text())
    return json.loads((tree / "reach.json").read_text())


def _learn_reach(tree: Path, tests: list[str]) -> int:
    import coverage

    files = _core(tree)
    watch = coverage.Coverage(data_file=None, include=[str(file) for file in files], config_file=False)
    plugin = _Learning(watch)
    watch.start()
    _pytest(["--maxfail=1000000", "--hypothesis-profile", "quick", *tests], plugin)
    watch.stop()
    data = watch.get_data()
    reached: dict[str, dict[int, list[str]]] = {}
    for file in files:
        path = str(file.relative_to(tree / "src"))
        contexts = data.contexts_by_lineno(str(file))
        reached[path] = {k: sorted(set(at) - plugin.failed - {"", "between tests"}) for k, at in contexts.items()}
        reached[f"{path} at import"] = {k: [] for k, at in contexts.items() if {"", "between tests"} & set(at)}
    learned = {"seconds": plugin.seconds, "tests": reached, "failed": sorted(plugin.failed)}
    (tree / "reach.json").write_text(json.dumps(learned))
    return 0


def _together(parts: list[dict[str, Any]]) -> dict[str, Any]:
    tests: dict[str, dict[str, list[str]]] = {}
    for part in parts:
        for path, lines in part["tests"].items():
            for line, names in lines.items():
                tests.setdefault(path, {}).setdefault(line, []).extend(names)
    seconds = {name: value for part in parts for name, value in part["seconds"].items()}
    return {"seconds": seconds, "tests": tests, "failed": [name for part in parts for name in part["failed"]]}


def _read_reach(where: Path) -> Reach:
    stored = json.loads(where.read_text())
    if stored["failed"]:
        print(f"{len(stored['failed'])} tests fail or are skipped where nothing is changed, and are left out")
    tests = {path: {int(k): names for k, names in lines.items()} for path, lines in stored["tests"].items()}
    return Reach(stored["seconds"], tests)


class _Chosen:
    """Keeps the chosen tests of the files, quickest first, and those that only exist since the change."""

    def __init__(self, reach: Reach, names: list[str]) -> None:
        self.reach, self.names = reach, set(names)

    def pytest_collection_modifyitems(self, items) -> None:
        known = self.reach.seconds
        items[:] = [item for item in items if item.nodeid in self.names or item.nodeid not in known]
        items.sort(key=lambda item: known.get(item.nodeid, 0.0))


def _within(seconds: float, n_files: int, tests: list[str], reach: Reach) -> list[str]:
    """The quickest tests that take so long together, and one at least, of the files with most of them."""
    files = [name for name, _ in Counter(test.split("::")[0] for test in tests).most_common(n_files)]
    total, kept = 0.0, []
    for test in tests:
        if test.split("::")[0] not in files:
            continue
        total += reach.seconds[test]
        if kept and total > seconds:
            break
        kept.append(test)
    return kept


def _tried(tree: Path, group: str, mutant: Mutant, source: bytes, reach: Reach) -> dict[str, Any]:
    tests = reach.tests_of(mutant)
    file = tree / "src" / mutant.path
    outcome, by, began = SURVIVED if tests else UNREACHED, "", time.monotonic()
    file.write_bytes(mutant.applied(source))
    try:
        for profile, seconds, n_files in ROUNDS if tests else ():
            chosen = _within(seconds, n_files, tests, reach)
            files = sorted({str(tree / test.split("::")[0]) for test in chosen})
            arguments = ["--hypothesis-profile", profile, *files]
            limit = 30 + 10 * sum(reach.seconds[test] for test in chosen)
            code = _in_fork(tree, lambda a=arguments, c=chosen: _pytest(a, _Chosen(reach, c)), limit)
            if code is None or code not in (0, 5):
                outcome, by = (TOO_LONG, profile) if code is None else (KILLED, _first_failure(tree))
                break
    finally:
        file.write_bytes(source)
    result = {
        "group": group,
        "outcome": outcome,
        "mutant": mutant.shown(source),
        "by": by,
        "tests": len(tests),
        "seconds": round(time.monotonic() - began, 1),
    }
    print(_line(result), flush=True)
    return result


def _first_failure(tree: Path) -> str:
    lines = (tree / "last.log").read_text(errors="replace").splitlines()
    return next((line for line in lines if line.startswith(("FAILED", "ERROR"))), lines[-1] if lines else "")[:200]


def _line(result: dict[str, Any]) -> str:
    return f"{result['outcome']:>9} {result['seconds']:6.1f} s  {result['mutant']}   {result['by']}"


def _print_tables(results: list[dict[str, Any]]) -> None:
    print("\n| group | mutants | killed | survived |\n|---|---|---|---|")
    for group in [*dict.fromkeys(result["group"] for result in results), "together"]:
        of_group = [result for result in results if group in (result["group"], "together")]
        killed = sum(result["outcome"] in (KILLED, TOO_LONG) for result in of_group)
        rest = len(of_group) - killed
        print(f"| {group} | {len(of_group)} | {killed} ({killed / len(of_group):.0%}) | {rest} |")
    print("\nNot noticed:\n")
    for result in results:
        if result["outcome"] in (SURVIVED, UNREACHED):
            print(f"- {result['mutant']}" + (" (no test reaches it)" if result["outcome"] == UNREACHED else ""))


if __name__ == "__main__":
    main()

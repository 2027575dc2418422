"""The documents and examples: their code runs, prints what they say, and the map names things that exist."""

import ast
import html
import importlib
import importlib.util
import inspect
import re

import numpy as np
import pytest

import kfrc
import kfrc.metrics
from documents import ROOT, assert_same_text, run_python

ALL_DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
HAS_CALLBACKS = importlib.util.find_spec("sklearn.callback") is not None  # from scikit-learn 1.9 on


def can_run(text):
    """Whether a document has code, and this scikit-learn has what it is about."""
    return "```python" in text and (HAS_CALLBACKS or "sklearn.callback" not in text)


DOCUMENTS = [path for path in ALL_DOCUMENTS if can_run(path.read_text(encoding="utf-8"))]
PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\s*^```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
SEPARATOR = "=== next block ==="
NEXT_DOCUMENT = "=== next document ==="

# One interpreter for all: importing the libraries would take longer than running most of the code.
RUN_ALL = f"""
import os, runpy, sys
for script in sys.argv[1:]:
    print("{NEXT_DOCUMENT}", end="")
    os.chdir(os.path.dirname(script))
    runpy.run_path(script, run_name="__main__")
"""


def write_people(path):
    """The file that documents read when they speak of a file of yours."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 30)
    age, income = rng.normal(np.array([25, 45, 70])[group], 5), rng.normal(np.array([20, 60, 30])[group], 6)
    rows = [f"{a:.0f},{i:.1f},{'yes' if g else 'no'}" for a, i, g in zip(age, income, group, strict=True)]
    path.write_text("\n".join(["age,income,member", *rows]), encoding="utf-8")


@pytest.mark.slow
def test_code_blocks_run_and_print_what_the_documents_say(tmp_path):
    # From the last to the first: the classes that CONTRIBUTING.md registers are known to what runs after it.
    scripts = [written_blocks(document, tmp_path / f"{k}") for k, document in enumerate(reversed(DOCUMENTS))]
    printed = run_python(["-c", RUN_ALL, *map(str, scripts)], tmp_path).split(NEXT_DOCUMENT)[1:]
    for document, text in zip(reversed(DOCUMENTS), printed, strict=True):
        blocks = PYTHON_BLOCK.findall(document.read_text(encoding="utf-8"))
        for output, (_, written) in zip(text.split(SEPARATOR), blocks, strict=True):
            if written:
                assert_same_text(output, written)


def written_blocks(document, folder):
    """A script of all code of a document, in a folder that has the files that documents read."""
    folder.mkdir()
    write_people(folder / "people.csv")
    code = [code for code, _ in PYTHON_BLOCK.findall(document.read_text(encoding="utf-8"))]
    script = folder / f"{document.stem}.py"
    script.write_text(f'\nprint("{SEPARATOR}")\n'.join(code), encoding="utf-8")
    return script


@pytest.mark.slow
def test_the_collapse_example_drops_where_it_predicts(tmp_path):
    figure = tmp_path / "figures" / "collapse.png"
    printed = run_python([str(ROOT / "examples" / "collapse_iris.py"), "--points", "6", "--out", str(figure)], tmp_path)
    assert figure.stat().st_size > 10_000
    assert "never collapses" in printed
    predicted = float(re.search(r"= ([\d.]+) on$", printed, re.MULTILINE).group(1))
    drops = re.findall(r"structure up to m = ([\d.]+) \(.*?none from m = ([\d.]+)$", printed, re.MULTILINE)
    (last, first), (last_followed, _) = [(float(a), float(b)) for a, b in drops]
    assert predicted == pytest.approx(3.8362, abs=1e-4)
    assert 0.99 * predicted <= last < predicted < first <= 1.01 * predicted
    assert last_followed > predicted, "a fit that already has structure keeps it beyond m*"


@pytest.mark.slow
def test_every_test_named_in_the_map_exists():
    text = (ROOT / "docs" / "theory" / "map.md").read_text(encoding="utf-8")
    mentioned = set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text))
    assert mentioned
    missing = [f"{path}::{name}" for path, name in sorted(mentioned) if name not in functions_in(ROOT / path)]
    assert not missing


def test_every_function_named_in_the_documents_exists():
    names = {
        name
        for document in [*(ROOT / "docs" / "theory").glob("*.md"), ROOT / "docs" / "coming-from.md", ROOT / "README.md"]
        for name in re.findall(r"`(kfrc(?:\.\w+)+)", document.read_text(encoding="utf-8"))
    }
    assert names
    assert not [name for name in sorted(names) if not exists(name)]


@pytest.mark.parametrize("document", ALL_DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_between_documents_lead_somewhere(document):
    targets = LINK.findall(document.read_text(encoding="utf-8"))
    local = [target for target in targets if "://" not in target]
    assert not [target for target in local if not (document.parent / target).exists()]


def test_calls_in_the_tables_of_translations_have_parameters_that_exist():
    text = (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8")
    calls = [
        (name, keyword)
        for name, inside in re.findall(r"`(?:model\.)?([A-Za-z_.]+)\(([^`]*)\)", text)
        if hasattr(kfrc, name) or hasattr(kfrc.metrics, name)
        for keyword in re.findall(r"(\w+)=", inside)
    ]
    assert len(calls) > 15
    unknown = []
    for name, keyword in calls:
        found = getattr(kfrc, name, None) or getattr(kfrc.metrics, name)
        if keyword not in inspect.signature(found).parameters:
            unknown.append((name, keyword))
    assert not unknown


def test_every_decision_is_in_the_index():
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text(encoding="utf-8")
    pages = {path.name for path in folder.glob("*.md")} - {"README.md"}
    assert pages == set(LINK.findall(index)) & pages


def functions_in(path):
    if not path.exists():
        return set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def exists(name):
    """Whether a dotted name can be imported, attribute by attribute."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[end:]:
            if attribute not in getattr(found, "__dataclass_fields__", {}) and not hasattr(found, attribute):
                return False
            found = getattr(found, attribute, None)
        return True
    return False


# One interpreter for a folder of scripts: importing the libraries would take longer than running them.
RUNNER = """
import runpy, sys
for script, figure in list(zip(sys.argv[1::2], sys.argv[2::2], strict=True)):
    sys.argv[:] = [script, "--out", figure]
    print("=== next block ===", script)
    runpy.run_path(script, run_name="__main__")
"""
PRINTED = re.compile(r'<div class="sphx-glr-script-out [^>]*><div class="highlight"><pre>(.*?)</pre>', re.DOTALL)


@pytest.fixture
def site_is_current(monkeypatch):
    """Whether ``make docs`` ran the scripts with this interpreter and this code, so that its pages show the rest."""
    monkeypatch.syspath_prepend(ROOT / "docs" / "_ext")
    return importlib.import_module("scripts_ran").are_current(ROOT / "docs")


def results_of(folder, tmp_path, site_is_current):
    """What each script of a folder prints, by its name; each must draw a picture. None runs that a build just ran."""
    scripts = sorted((ROOT / "examples" / folder).glob("*.py"))
    assert scripts
    if site_is_current:
        site = ROOT / "docs" / "_build" / "html"
        pages = site / ("tutorials/run" if folder == "tutorials" else folder)
        figures = {script: site / "_images" / f"sphx_glr_{script.stem}_001.png" for script in scripts}
        texts = [(pages / f"{script.stem}.html").read_text(encoding="utf-8") for script in scripts]
        printed = [html.unescape(re.sub("<[^>]*>", "", "\n".join(PRINTED.findall(text)))) for text in texts]
    else:
        figures = {script: tmp_path / f"{script.stem}.png" for script in scripts}
        arguments = [str(path) for pair in figures.items() for path in pair]
        printed = run_python(["-c", RUNNER, *arguments], tmp_path).split(SEPARATOR)[1:]
    assert not [script.stem for script, figure in figures.items() if figure.stat().st_size < 10_000]
    return dict(zip([script.stem for script in scripts], printed, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["gallery/tasks", "gallery/pictures", "gallery/methods"])
def test_scripts_of_the_gallery_run_and_draw_a_picture(folder, tmp_path, site_is_current):
    results_of(folder, tmp_path, site_is_current)


@pytest.mark.slow
def test_tutorials_find_what_was_put_into_their_data(tmp_path, site_is_current):
    printed = results_of("tutorials", tmp_path, site_is_current)

    def number_after(text, where):
        return float(re.search(re.escape(text) + r" ([\d.]+)", where).group(1))

    assert number_after("adjusted Rand index with the truth:", printed["survey"]) > 0.8
    assert number_after("p-value of 'there is only one group':", printed["survey"]) < 0.05
    assert number_after("k-means: agreement with the truth", printed["genes"]) < 0.3
    assert number_after("KFRC: agreement with the truth", printed["genes"]) > 0.9
    hybrids = re.findall(r"\[+ ?([\d.]+ +[\d.]+ +[\d.]+) *\]", printed["sequences"])[:2]
    shares = np.array([[float(share) for share in row.split()] for row in hybrids])
    assert (np.sort(shares, axis=1)[:, 1] > 0.3).all(), "a hybrid belongs to two families"
    assert (shares.min(axis=1) == 0).all(), "and not at all to the third"

"""Files as programs and people make them: every value is the one that is meant, or the file leads to a question."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from kfrc_app.tables import DataError, Marks, parse_wishes
from kfrc_app.tables.table import load
from kfrc_app.tables.understanding import understand

FILES = Path(__file__).parents[2] / "corpus" / "files"
TRUTH = ".truth.json"
LARGEST = 15_000  # bytes
MIN_FILES = 60
NAMES = sorted(path.name.removesuffix(TRUTH) for path in FILES.glob(f"*{TRUTH}"))


def read(name, options):
    """What the reader makes of a file: its columns, their understanding, and all notes."""
    marks = Marks(options.get("decimal"), options.get("thousands"))
    columns = load(str(FILES / name), marks, options.get("sheet"))
    wishes = parse_wishes([options["types"]] if "types" in options else [])
    names = [column for column in columns.names if column not in columns.row_names]
    found = understand(columns, names, wishes, aside=columns.row_names)
    return columns, found, [*columns.noticed, *found.notes]


def assert_values(columns, found, name, truth):
    """Compare one column, cell by cell."""
    if isinstance(truth, dict):
        expected = np.array([np.datetime64("NaT" if day is None else day, "us") for day in truth["dates"]])
        np.testing.assert_array_equal(found.series[name].to_numpy(dtype="datetime64[us]"), expected)
        return
    known = [value for value in truth if value is not None]
    if all(isinstance(value, bool) for value in known):
        written = [
            None if not there else text.lower()
            for text, there in zip(columns.text(name), columns.known(name), strict=True)
        ]
        assert written == [None if value is None else str(value).lower() for value in truth]
        kept = [str(value).lower() for value in found.series[name].dropna()]
        assert kept in ([str(value).lower() for value in known], [str(float(value)) for value in known])
    elif all(isinstance(value, str) for value in known):
        written = [text if there else None for text, there in zip(columns.text(name), columns.known(name), strict=True)]
        assert written == truth
        if name in found.series:
            kept = found.series[name].astype(object)
            assert [None if value is None or value != value else value for value in kept] == truth
    else:
        values = found.series[name]
        assert values.dtype == np.float64, f"{name} is not read as numbers"
        np.testing.assert_array_equal(values.to_numpy(), [math.nan if value is None else value for value in truth])


@pytest.mark.parametrize("name", NAMES)
def test_every_value_of_a_file_is_the_one_that_is_meant(name):
    truth = json.loads((FILES / f"{name}{TRUTH}").read_text(encoding="utf-8"))
    options = truth.get("options", {})
    if "asks" in truth:
        with pytest.raises(DataError) as problem:
            read(name, options)
        assert "\n" not in str(problem.value)
        for part in truth["asks"]:
            assert part in str(problem.value)
        return
    columns, found, notes = read(name, options)
    left_out = truth.get("left_out", {})
    assert set(columns.names) == {*truth["columns"], *left_out}
    assert [column for column in columns.names if column not in left_out] == list(truth["columns"])
    for column, values in truth["columns"].items():
        assert_values(columns, found, column, values)
    for column, cells in left_out.items():
        assert columns.text(column).tolist() == cells
        assert column not in found.series
        assert any(f"'{column}'" in note for note in notes)
    for part in truth.get("notes", ()):
        assert any(part in note for note in notes), (part, notes)


def test_every_file_is_used_and_small_and_there_are_enough_of_them():
    files = {path.name for path in FILES.iterdir() if not path.name.endswith(TRUTH)}
    assert files == {*NAMES}
    assert len(files) >= MIN_FILES
    assert max((FILES / name).stat().st_size for name in files) < LARGEST

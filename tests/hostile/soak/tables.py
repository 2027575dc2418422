"""Tables that are dropped on the page: good ones with the memberships that must come out, and hostile ones."""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kfrc import KFRC

QUICK = {"clusters": 2, "refits": 0}


@dataclass(frozen=True)
class Good:
    """A table, and what a direct fit of it finds."""

    name: str
    content: bytes
    choices: dict
    memberships: np.ndarray

    @property
    def n_rows(self):
        return len(self.memberships)


def two_groups(n_rows, n_columns, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_rows, n_columns)) + 6.0 * (np.arange(n_rows) % 2)[:, None]
    return pd.DataFrame(values.round(3), columns=[f"x{j}" for j in range(n_columns)])


def _written(frame, how):
    file = io.BytesIO()
    how(file, index=False)
    return file.getvalue()


def good_tables():
    """Small tables as files of several kinds, each with the memberships of a fit in this process."""
    small, middle, mixed = two_groups(40, 3), two_groups(150, 4, seed=1), two_groups(60, 2, seed=2)
    mixed["color"] = np.array(["red", "blue"])[np.arange(60) % 2]
    mixed.insert(0, "who", [f"<b>P{k}</b>" for k in range(60)])
    named = {**QUICK, "columns": {"who": {"use": "names"}}}
    refitted = {**QUICK, "refits": 4}
    fits = {id(frame): _direct(frame) for frame in (small, middle, mixed)}
    files = [
        ("small.csv", _written(small, small.to_csv), QUICK, small),
        ("Größe 表 \N{WINE GLASS}.xlsx", _written(small, small.to_excel), QUICK, small),
        ("../../etc/middle.parquet", _written(middle, middle.to_parquet), QUICK, middle),
        ("middle.csv.gz", gzip.compress(_written(middle, middle.to_csv)), QUICK, middle),
        ('"; rm -rf x; <script>.csv', _written(mixed, mixed.to_csv), named, mixed),
        ("checked.csv", _written(small, small.to_csv), refitted, small),
    ]
    return [Good(name, content, choices, fits[id(frame)]) for name, content, choices, frame in files]


def large_table():
    """A table that is worked on for long, and checked in processes of their own."""
    frame = two_groups(1500, 12)
    return Good("large.csv", _written(frame, frame.to_csv), {"clusters": 2, "refits": 6}, _direct(frame))


def _direct(frame):
    return KFRC(2, random_state=0).fit(frame.drop(columns="who", errors="ignore")).memberships_


def hostile_tables(rng):
    """Names and contents of files from which no table comes."""
    frame = two_groups(40, 3)
    parquet, sheet = _written(frame, frame.to_parquet), _written(frame, frame.to_excel)
    text = _written(frame, frame.to_csv)
    return [
        ("empty.csv", b""),
        ("cut.parquet", parquet[: len(parquet) // 2]),
        ("cut.xlsx", sheet[: len(sheet) // 2]),
        ("cut.csv.gz", gzip.compress(text)[:60]),
        ("noise.bin", rng.randbytes(5000)),
        ("zeros.csv", b"\0" * 3000),
        ("one line.csv", b"a,b,c\n"),
        ("words.csv", b"a,b\n" + b"only,words\n" * 3),
        ("\u202ecsv.exe", b"MZ" + rng.randbytes(500)),
        ("broken.parquet", parquet[:60] + rng.randbytes(len(parquet) - 120) + parquet[-60:]),
    ]

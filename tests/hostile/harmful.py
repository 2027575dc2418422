"""Files that nobody writes by accident: each is made to break, fill or fool a reader."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from hostile.damage import BOMB, members, packed, zipped
from hostile.program import GROUPS
from hostile.sheets import excel_file, open_document_file

_PLAIN = GROUPS.encode()


def _noise(rng: np.random.Generator) -> bytes:
    beginnings = (
        b"",
        b"PAR1",
        b"PK\x03\x04",
        b"\x1f\x8b\x08",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        b"[{",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
    )
    return beginnings[rng.integers(len(beginnings))] + rng.bytes(int(rng.integers(0, 5000)))


def _letters(rng: np.random.Generator) -> bytes:
    """Text of those characters that mean something to some reader."""
    pool = list("0123456789.,;\t|\n\n\" 'eE+-%$€()#=/:\r\\NA{}[]xyz\u2212\u00a0\x00\x0b\x85\u2028")
    chosen = rng.choice(pool, size=int(rng.integers(0, 400)), p=_biased(pool, rng))
    return "".join(chosen).encode(str(rng.choice(["utf-8", "utf-16"])))


def _biased(pool: list[str], rng: np.random.Generator) -> np.ndarray:
    weights = rng.random(len(pool)) ** 4
    return weights / weights.sum()


def _small(rng: np.random.Generator) -> bytes:
    texts = (
        "",
        "\n",
        "a",
        "1",
        "a\n1",
        "a,b\n",
        "a,b\n1,2",
        "a\n\n\n",
        ",,,\n,,,\n,,,",
        "a,a\n1,2\n3,4\n5,6",
        '"',
        "'",
        "\ufeff",
        "a,b\n" * 9,
    )
    return texts[rng.integers(len(texts))].encode()


def _ragged(rng: np.random.Generator) -> bytes:
    return "\n".join(",".join(["1.5"] * int(width)) for width in rng.integers(0, 6, size=20)).encode()


def _long_cell(rng: np.random.Generator) -> bytes:
    cell = str(rng.choice(["x", "1", '"', "-", "1,", "(", " ", "é"])) * int(rng.choice([1000, 140_000, 1_000_000]))
    return f"a,b\n{cell},2\n3,4\n5,6\n7,8\n".encode()


def _many_columns(rng: np.random.Generator) -> bytes:
    width = int(rng.choice([300, 3000]))
    names = ",".join(f"x{j}" for j in range(width))
    return "\n".join([names, *(",".join(["1.5"] * width) for _ in range(4))]).encode()


def _numbers_beyond(rng: np.random.Generator) -> bytes:
    cells = (
        "1e999",
        "-1e999",
        "inf",
        "nan",
        "9" * 400,
        "1e-999",
        "0x10",
        "1_000",
        "١٢٣",
        "½",
        "1e",
        "--1",
        "+-1",
        "1..2",
        "NaN(1)",
    )
    rows = [f"{cells[rng.integers(len(cells))]},{k},{k % 3}" for k in range(12)]
    return "\n".join(["a,b,c", *rows]).encode()


def _deep_json(rng: np.random.Generator) -> bytes:
    depth = int(rng.choice([10, 1000, 100_000]))
    return (b'[{"a":' * depth + b"1" + b"}]" * depth, b"[" * depth, b'{"a":' * depth)[rng.integers(3)]


def _odd_json(rng: np.random.Generator) -> bytes:
    cells = (
        1,
        -1.5,
        "x",
        None,
        True,
        [1],
        {"b": 2},
        {},
        [],
        "\ud83d",
        10**400,
        float("nan"),
        float("inf"),
        "1,5",
        {"": 1},
        [[{}]],
    )
    names = ("a", "b", "a.b", "", "\u0000", "é", "__proto__", "columns", "data", "0")
    rows = [
        {
            names[j]: cells[k]
            for j, k in zip(rng.integers(len(names), size=3), rng.integers(len(cells), size=3), strict=True)
        }
        for _ in range(int(rng.integers(0, 8)))
    ]
    document = (rows, {"data": rows}, {"columns": ["a", "b"], "data": [[1, 2]] * 4}, {"a": [1, 2, 3, 4]}, [*rows, 3])
    return json.dumps(document[rng.integers(len(document))]).encode()


def _bomb(rng: np.random.Generator) -> bytes:
    kind = rng.integers(4)
    if kind == 0:
        return gzip.compress(bytes(BOMB), mtime=0)
    if kind == 1:
        return zipped({"table.csv": b"a,b\n" + b"1,2\n" * (BOMB // 4)})
    if kind == 2:
        return zipped({"xl/workbook.xml": bytes(BOMB), "[Content_Types].xml": b"<a/>"})
    entities = "".join(f'<!ENTITY a{k} "{f"&a{k - 1};" * 10 if k else "ha"}">' for k in range(12))
    sheet = f'<?xml version="1.0"?><!DOCTYPE a [{entities}]><a>&a11;</a>'.encode()
    return zipped({"xl/workbook.xml": sheet, "[Content_Types].xml": sheet, "xl/_rels/workbook.xml.rels": sheet})


def _packed(rng: np.random.Generator) -> bytes:
    return packed(_PLAIN, "table.csv", rng)


def _foreign(rng: np.random.Generator) -> bytes:
    kind = rng.integers(5)
    if kind == 0:
        target = io.BytesIO()
        feather.write_feather(pa.table({"a": [1.0, 2.0, 3.0]}), target)
        return target.getvalue()
    if kind == 1:
        target = io.BytesIO()
        np.save(target, np.eye(4))
        return target.getvalue()
    if kind == 2:
        base = sqlite3.connect(":memory:")
        base.execute("create table t (a, b)")
        found = base.serialize()
        base.close()
        return found
    pages = (
        b"%PDF-1.7\n1 0 obj\n",
        b"<!doctype html><table><tr><td>1</td></tr></table>",
        b"\x89PNG\r\n\x1a\n",
        b"<?xml version='1.0'?><a/>",
    )
    return pages[rng.integers(len(pages))] + rng.bytes(50)


def _odd_parquet(rng: np.random.Generator) -> bytes:
    target = io.BytesIO()
    kind = rng.integers(6)
    if kind == 0:
        table = pa.table({"a": pa.array([], pa.float64())})
    elif kind == 1:
        table = pa.table([pa.array([1.0, 2.0, 3.0])] * 2, names=["a", "a"])
    elif kind == 2:
        table = pa.table({"a": [1.0, 2.0, 3.0]}).replace_schema_metadata(
            {b"pandas": rng.choice([b"{}", b"no json", b'{"columns": 3}', b'{"index_columns": ["zz"], "columns": []}'])}
        )
    elif kind == 3:
        table = pa.table({"": [1.0, 2.0, 3.0], "\n": [1.0, 2.0, 4.0], "x" * 10_000: ["a", "b", "a"]})
    elif kind == 4:
        table = pa.table({"a": [float("inf"), float("nan"), None, 1e308], "b": [2**63 - 1, -(2**63), None, 0]})
    else:
        table = pa.table({"a": pa.nulls(5), "b": pa.array([None] * 5, pa.string())})
    pq.write_table(table, target)
    return target.getvalue()


def _odd_sheet(rng: np.random.Generator) -> bytes:
    """A workbook with cells far away, merged, wrong or without end."""
    rows = [row.split(",") for row in GROUPS.splitlines()]
    sheet = excel_file({"table": rows})
    kind = rng.integers(8)
    if kind == 0:
        return _edited(sheet, b"</sheetData>", b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>')
    if kind == 1:
        return excel_file({"table": rows}, '<mergeCells count="1"><mergeCell ref="A2:C20"/></mergeCells>')
    if kind == 2:
        return _edited(
            sheet, b"</sheetData>", b'<row r="99"><c r="B99" t="e"><f>1/0</f><v>#DIV/0!</v></c></row></sheetData>'
        )
    if kind == 3:
        return excel_file({"'; drop": rows, "../../x": rows, "": rows})
    if kind == 4:
        return excel_file({"table": [*rows, ["x" * 40_000, "1", "r"]]})
    if kind == 5:
        return _edited(sheet, b'r="A5"', rng.choice([b'r="A-5"', b'r="ZZZZ5"', b'r="A99999999999"', b'r=""', b'r="5"']))
    if kind == 6:
        repeated = b'<table:table-cell table:number-columns-repeated="99999999" '
        return _edited(open_document_file({"table": rows}), b"<table:table-cell ", repeated)
    return _edited(
        sheet, b"worksheets/sheet1.xml", rng.choice([b"worksheets/no.xml", b"../../../etc/passwd", b"workbook.xml"])
    )


def _edited(content: bytes, before: bytes, after: bytes) -> bytes:
    """A packed file in which some text is another one."""
    return zipped({name: member.replace(before, after) for name, member in members(content).items()})


HARMFUL: tuple[Callable[[np.random.Generator], bytes], ...] = (
    *(_noise, _letters, _letters, _letters, _small, _ragged, _long_cell, _many_columns, _numbers_beyond, _deep_json),
    *(_odd_json, _bomb, _packed, _foreign, _odd_parquet, _odd_sheet),
)

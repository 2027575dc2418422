"""Columns of pandas, polars and Arrow tables are read as what they are, blanks included."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from kfrc.columns import Schema, library_of, raw_columns, titles_of

DAY = datetime.date(2020, 1, 1)


def pandas_table():
    return pd.DataFrame(
        {
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "real": [1.5, np.nan, 2.0],
            "truth": pd.array([True, None, False], dtype="boolean"),
            "text": pd.array(["a", None, "b"], dtype="string"),
            "moment": pd.to_datetime(["2020-01-01", None, "2020-01-02"]).tz_localize("UTC"),
            "category": pd.Categorical(["u", None, "v"]),
            "scale": pd.Categorical(["low", None, "high"], categories=["low", "high"], ordered=True),
            "objects": [1, "x", None],
            "days": [DAY, None, DAY + datetime.timedelta(1)],
            "span": pd.to_timedelta([1, None, 3], unit="D"),
        }
    )


def polars_table():
    return pl.DataFrame(
        {
            "whole": [1, None, 3],
            "real": [1.5, None, 2.0],
            "truth": [True, None, False],
            "text": ["a", None, "b"],
            "moment": [datetime.datetime(2020, 1, 1), None, datetime.datetime(2020, 1, 2)],
            "category": pl.Series(["u", None, "v"], dtype=pl.Categorical),
            "scale": pl.Series(["low", None, "high"], dtype=pl.Enum(["low", "high"])),
            "exact": [decimal.Decimal("1.5"), None, decimal.Decimal("2")],
            "days": [DAY, None, DAY + datetime.timedelta(1)],
        }
    )


KINDS = {
    "whole": "numeric",
    "real": "numeric",
    "truth": "nominal",
    "text": "nominal",
    "moment": "date",
    "category": "nominal",
    "scale": "ordinal",
    "objects": "nominal",
    "days": "date",
    "span": "numeric",
    "exact": "numeric",
}


def tables():
    return [pandas_table(), polars_table(), polars_table().drop("category", "scale").to_arrow()]


@pytest.mark.parametrize("table", tables(), ids=["pandas", "polars", "pyarrow"])
def test_every_dtype_is_read_as_what_it_is(table):
    columns = {column.title: column for column in raw_columns(table)}
    assert list(columns) == titles_of(table)
    for title, column in columns.items():
        assert column.kind == KINDS[title], title
    schema = Schema.learn(table, None, "partial")
    codes = schema.encode(table)
    for position, title in enumerate(schema.titles):
        blank = 2 if title == "objects" else 1
        assert np.flatnonzero(np.isnan(codes[:, position])).tolist() == [blank], title


def test_ordered_levels_keep_their_order():
    for table in (pandas_table(), polars_table()):
        schema = Schema.learn(table, None, "partial")
        (scale,) = [column for column in schema.columns if column.title == "scale"]
        assert scale.levels == ("low", "high")


def test_what_is_no_table_has_no_library():
    assert [library_of(X) for X in tables()] == ["pandas", "polars", "pyarrow"]
    assert library_of(np.eye(2)) is None
    assert library_of([[1, 2]]) is None
    assert library_of(pd.Series([1, 2])) is None


def test_values_of_any_width_are_the_same_level():
    narrow = pd.DataFrame({"x": pd.Categorical(np.array([1, 2, 1], dtype=np.int8))})
    wide = pd.DataFrame({"x": np.array([2, 1, 1], dtype=object)})
    schema = Schema.learn(narrow, None, "partial")
    assert schema.encode(wide)[:, 0].tolist() == [1.0, 0.0, 0.0]

"""KFRC on tables as people have them: any dtype, any library, blanks, weights, and what can be wrong with them."""

import datetime
import decimal
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from kfrc import FCM, KFRC
from kfrc.confidence import assess
from kfrc.exceptions import (
    ConstantFeatureWarning,
    IgnoredParameterWarning,
    LeftOutColumnWarning,
    LevelOrderWarning,
    MissingRowWarning,
    OutlierWarning,
    UnseenCategoryWarning,
)
from kfrc.metrics import adjusted_rand_score

FIXED = {"m": 1.3, "level": 1.0, "max_anisotropy": 2.0, "threshold": 0.0, "n_starts": 1, "random_state": 0}
GIVEN = {"bandwidths": 1.0, "m": 1.3, "random_state": 0}


def people(n_rows=90, missing=0.0, seed=0):
    """Three groups of people, told apart by numbers and by answers."""
    rng = np.random.default_rng(seed)
    group = np.repeat([0, 1, 2], n_rows // 3)
    frame = pd.DataFrame(
        {
            "age": rng.normal([30, 45, 60], 4, (len(group), 3))[np.arange(len(group)), group],
            "income": rng.normal([20, 60, 30], 5, (len(group), 3))[np.arange(len(group)), group],
            "city": pd.Categorical(np.array(["Rome", "Oslo", "Lima"])[(group + (rng.random(len(group)) < 0.1)) % 3]),
            "rating": pd.Categorical(
                np.array(["bad", "fair", "good"])[np.clip(group + rng.integers(-1, 2, len(group)), 0, 2)],
                categories=["bad", "fair", "good"],
                ordered=True,
            ),
            "member": rng.random(len(group)) < np.array([0.1, 0.9, 0.5])[group],
            "joined": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, len(group)), unit="D"),
        }
    )
    return frame.mask(rng.random(frame.shape) < missing) if missing else frame, group


@pytest.mark.slow
def test_types_follow_from_dtypes_and_the_groups_are_found():
    frame, group = people(missing=0.05)
    model = KFRC(3, random_state=0).fit(frame)
    expected = ["numeric", "numeric", "nominal", "ordinal", "nominal", "date"]
    assert model.column_types_ == dict(zip(frame.columns, expected, strict=True))
    assert adjusted_rand_score(group, model.labels_) > 0.9
    assert_allclose(model.memberships_.sum(axis=1), 1.0)
    assert_allclose(model.predict_proba(frame), model.memberships_, atol=1e-6)
    assert model.contributions_.shape == (6,)
    assert_allclose(model.contributions_.sum(), 1.0)
    assert model.bandwidths_.shape == (6,)
    assert_array_equal(model.feature_names_in_, frame.columns)


def test_polars_and_arrow_tables_give_the_same():
    frame, _ = people(missing=0.05)
    expected = KFRC(3, **FIXED).fit(frame)
    order = {"rating": ("ordinal", ["bad", "fair", "good"])}
    arrow = pa.Table.from_pandas(frame)
    for table in (pl.from_pandas(frame), arrow, frame.convert_dtypes(dtype_backend="pyarrow")):
        model = KFRC(3, column_types=order, **FIXED).fit(table)
        assert model.column_types_ == expected.column_types_
        assert_allclose(model.memberships_, expected.memberships_, atol=1e-10)
        assert_allclose(model.predict_proba(table), model.memberships_, atol=1e-6)
        assert list(model.feature_names_in_) == list(frame.columns)


def test_a_pipeline_passes_tables_in_and_out():
    frame, group = people()
    steps = [("same", FunctionTransformer()), ("kfrc", KFRC(3, **FIXED))]
    pipeline = Pipeline(steps).set_output(transform="pandas").fit(frame)
    distances = pipeline.transform(frame)
    assert isinstance(distances, pd.DataFrame)
    assert list(distances.columns) == ["kfrc0", "kfrc1", "kfrc2"]
    assert adjusted_rand_score(group, pipeline.predict(frame)) > 0.8


@pytest.mark.parametrize("kernel", ["sum", "product", "linear"])
def test_every_kernel_of_columns_takes_such_tables(kernel):
    frame, group = people(missing=0.1)
    model = KFRC(3, kernel=kernel, **FIXED).fit(frame)
    assert adjusted_rand_score(group, model.labels_) > 0.5
    assert_allclose(model.predict_proba(frame), model.memberships_, atol=1e-6)


def test_the_paper_s_method_takes_such_tables():
    frame, group = people(missing=0.1)
    model = KFRC.paper(3, optimizer="lbfgs", n_starts=2, random_state=0).fit(frame)
    assert model.stable_
    assert adjusted_rand_score(group, model.labels_) > 0.5


def test_an_array_with_nan_is_a_table_of_numbers_with_blanks():
    X = load_iris().data.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    model = KFRC(3, **FIXED).fit(X)
    assert model.column_types_ == dict.fromkeys(range(4), "numeric")
    frame = pd.DataFrame(X, columns=list("abcd"))
    assert_array_equal(KFRC(3, **FIXED).fit(frame).memberships_, model.memberships_)
    assert_array_equal(KFRC(3, **FIXED).fit(np.ma.masked_invalid(X)).memberships_, model.memberships_)
    assert_allclose(model.predict_proba(X), model.memberships_, atol=1e-6)


def test_a_model_of_complete_rows_places_rows_with_blanks():
    X = load_iris().data
    holes = X[:5].copy()
    holes[0, 0] = np.nan
    for parameters in ({"kernel": "sum"}, {"kernel": "linear"}):
        model = KFRC(3, **parameters, **FIXED).fit(X)
        assert_array_equal(model.predict(holes), model.predict(X[:5]))
        assert_allclose(model.predict_proba(holes)[1:], model.predict_proba(X[1:5]), atol=1e-7)
    with pytest.raises(ValueError, match="sums over columns"):
        KFRC(3, kernel="product", **FIXED).fit(X).predict(holes)
    with pytest.raises(ValueError, match="NaN"):
        KFRC(3, missing="error", **FIXED).fit(X).predict(holes)


def test_types_can_be_told():
    frame, _ = people()
    model = KFRC(3, column_types={"joined": ("date", "month"), "city": "drop", "member": "nominal"}, **FIXED).fit(frame)
    assert model.column_types_["joined"] == "cyclic"
    assert model.column_types_["city"] == "drop"
    assert np.isinf(model.bandwidths_[2])
    assert model.contributions_[2] == 0.0
    by_position = KFRC(2, column_types={1: "nominal"}, **GIVEN).fit(
        np.column_stack([np.arange(20.0), np.arange(20) % 3])
    )
    assert by_position.column_types_ == {0: "numeric", 1: "nominal"}


@pytest.mark.slow
def test_weights_are_copies_whatever_the_types():
    frame, _ = people(missing=0.1)
    weights = np.random.default_rng(1).integers(0, 4, len(frame))
    copies = frame.iloc[np.repeat(np.arange(len(frame)), weights)]
    for parameters in (FIXED, {"random_state": 0}):
        one = KFRC(3, **parameters).fit(frame, sample_weight=weights)
        many = KFRC(3, **parameters).fit(copies)
        assert_allclose(one.eigenvalues_, many.eigenvalues_, rtol=0, atol=1e-10)
        assert_allclose(one.objective_, many.objective_, rtol=1e-10)
        assert_allclose(one.memberships_[np.repeat(np.arange(len(frame)), weights)], many.memberships_, atol=1e-10)
        assert_allclose(one.memberships_[weights == 0], many.predict_proba(frame[weights == 0]), atol=1e-10)


@pytest.mark.slow
def test_the_number_of_clusters_can_be_found():
    frame, group = people(120)
    model = KFRC("auto", max_clusters=5, random_state=0).fit(frame)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(group, model.labels_) > 0.9


@pytest.mark.slow
def test_posterior_memberships_and_confidence():
    frame, group = people(missing=0.05)
    model = KFRC(3, memberships="posterior", random_state=0).fit(frame)
    assert adjusted_rand_score(group, model.labels_) > 0.9
    assert_allclose(model.predict_proba(frame), model.memberships_, atol=1e-9)
    weights = np.tile([1.0, 2.0], 45)
    found = assess(KFRC(3, **FIXED), frame, n_refits=3, random_state=0, sample_weight=weights)
    assert found.partition > 0.8
    assert found.existence < 0.05


def test_an_unseen_level_counts_as_missing_and_is_named():
    frame, _ = people()
    model = KFRC(3, **FIXED).fit(frame)
    new = frame.head(2).astype({"city": object})
    blank = new.copy()
    new.loc[0, "city"] = "Atlantis"
    blank.loc[0, "city"] = None
    with pytest.warns(UnseenCategoryWarning, match="'city': 'Atlantis'"):
        found = model.predict_proba(new)
    assert_array_equal(found, model.predict_proba(blank))


def test_names_and_remarks_are_left_out_and_named():
    frame, _ = people()
    frame.insert(0, "name", [f"person {k}" for k in range(len(frame))])
    with pytest.warns(
        LeftOutColumnWarning, match=r"'name' \(90 different values in 90 rows, as names or remarks have\)"
    ):
        model = KFRC(3, **FIXED).fit(frame)
    assert model.column_types_["name"] == "drop"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KFRC(3, column_types={"name": "drop"}, **FIXED).fit(frame)


def test_a_column_without_any_value_is_left_out_and_named():
    frame, _ = people()
    frame["empty"] = np.nan
    frame["blank"] = pd.Series([None] * len(frame), dtype=object)
    with pytest.warns(LeftOutColumnWarning, match=r"'empty' \(no value at all\); 'blank' \(no value at all\)"):
        KFRC(3, **FIXED).fit(frame)
    X = load_iris().data.copy()
    X[:, 1] = np.nan
    with pytest.warns(LeftOutColumnWarning, match="no value at all"):
        assert KFRC(3, **FIXED).fit(X).column_types_[1] == "drop"


def test_a_row_without_any_value_belongs_to_all_clusters_and_is_named():
    frame = people()[0].astype({"member": object})
    frame.loc[7, :] = None
    with pytest.warns(MissingRowWarning, match=r"nothing is known of 1 row\(s\).*row 7"):
        model = KFRC(3, **FIXED).fit(frame)
    assert_allclose(model.memberships_[7], 1 / 3)


def test_one_level_only_carries_nothing():
    frame, _ = people()
    frame["country"] = pd.Categorical(["IT"] * len(frame))
    with pytest.warns(ConstantFeatureWarning, match="country"):
        KFRC(3, **FIXED).fit(frame)
    with pytest.raises(ValueError, match="are constant over its 90 rows"):
        KFRC(3, **FIXED).fit(frame[["country"]])


def test_too_many_levels_are_refused_or_left_out():
    codes = np.tile([f"code {k}" for k in range(10_000)], 2)
    frame = pd.DataFrame({"x": np.random.default_rng(0).normal(size=20_000), "code": codes})
    with pytest.warns(LeftOutColumnWarning, match=r"'code' \(10000 levels, more than the 500"):
        KFRC(2, **GIVEN).fit(frame)
    with pytest.raises(ValueError, match="column 'code' has 10000 levels, and at most 500 can be told apart"):
        KFRC(2, column_types={"code": "nominal"}, **GIVEN).fit(frame)


def test_level_names_may_be_anything():
    names = ['"quoted"', "it's", "🚀", "", 7, 7.5, ("a", 1), True]
    rng = np.random.default_rng(0)
    values = np.empty(160, dtype=object)
    values[:] = [names[k] for k in np.tile(np.arange(8), 20)]
    frame = pd.DataFrame({"x": rng.normal(size=160), "odd": values})
    model = KFRC(2, **GIVEN).fit(frame)
    assert model.column_types_["odd"] == "nominal"
    assert_allclose(model.predict_proba(frame), model.memberships_, atol=1e-6)


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ({"city": "numeric"}, "column 'city' is to be numeric, but holds 'Lima'"),
        ({"city": "date"}, "column 'city' is to hold dates, but holds 'Lima'"),
        ({"rating": ("ordinal", ["bad", "good"])}, "column 'rating' holds 'fair', which the levels"),
        ({"height": "numeric"}, "column_types names 'height', which X does not have"),
        ({"city": "colour"}, "unknown type 'colour' of column 'city'"),
        ({"city": ("nominal",)}, "give the name of a type, or a pair"),
        ({"joined": ("date", "century")}, "no part 'century' of a date is known"),
        ({"rating": ("ordinal", ["bad", "fair", "fair", "good"])}, "name one twice"),
        ({"age": ("numeric", ["a"])}, "column 'age' is numeric, so that it cannot have levels"),
        (dict.fromkeys(people()[0].columns, "drop"), "no column of X is left"),
    ],
)
def test_types_that_contradict_the_data_are_named(types, message):
    with pytest.raises(ValueError, match=message):
        KFRC(3, column_types=types, **FIXED).fit(people()[0].sort_values("city").reset_index(drop=True))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-1.0, "negative"),
        (np.nan, "NaN"),
        (0.0, "all weights are zero"),
        (1e-6, "multiply them"),
    ],
)
def test_weights_that_cannot_count_rows_are_refused(weights, message):
    frame, _ = people()
    given = np.full(len(frame), abs(weights)) if weights != -1.0 else np.r_[-1.0, np.ones(len(frame) - 1)]
    with pytest.raises(ValueError, match=message):
        KFRC(3, **FIXED).fit(frame, sample_weight=given)


def test_far_values_are_named_by_their_rows_also_after_merging():
    frame, _ = people()
    frame.loc[11, "income"] = 1e6
    with pytest.warns(OutlierWarning, match=r"'income' \(1e\+06 in row 11"):
        KFRC(3, **FIXED).fit(frame, sample_weight=np.tile([1, 2], 45))


def test_what_needs_complete_numbers_is_refused_by_name():
    frame, _ = people(missing=0.1)
    with pytest.raises(ValueError, match='kernel="path" needs complete numbers'):
        KFRC(3, kernel="path").fit(frame)
    with pytest.raises(ValueError, match="density judge needs complete numbers"):
        KFRC(3, judge="density").fit(frame)
    with pytest.raises(ValueError, match="nystrom"):
        KFRC(3, approximation="nystrom", **FIXED).fit(frame)
    with pytest.warns(IgnoredParameterWarning, match="standardize has no effect: tables with levels"):
        KFRC(3, standardize=False, **FIXED).fit(frame)
    with pytest.raises(ValueError, match="missing must be"):
        KFRC(3, missing="ignore").fit(frame)
    with pytest.raises(TypeError, match="column_types must map"):
        KFRC(3, column_types=["numeric"]).fit(frame)


def test_columns_of_new_rows_are_checked():
    frame, _ = people()
    model = KFRC(3, **FIXED).fit(frame)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"city": "town"}))
    arrow = pa.Table.from_pandas(frame)
    model = KFRC(3, **FIXED).fit(arrow)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(arrow.select(["age"]))


@pytest.mark.slow
def test_complete_numbers_are_fitted_as_ever():
    X = load_iris().data[::2]
    plain = KFRC(3, random_state=0).fit(X)
    framed = KFRC(3, random_state=0).fit(pd.DataFrame(X, columns=list("abcd")))
    assert_array_equal(framed.memberships_, plain.memberships_)
    assert plain.column_types_ == dict.fromkeys(range(4), "numeric")
    arrow = KFRC(3, random_state=0).fit(pa.table(dict(zip("abcd", X.T, strict=True))))
    assert_array_equal(arrow.memberships_, plain.memberships_)
    assert list(arrow.feature_names_in_) == list("abcd")


@pytest.mark.parametrize("asked", ["ordinal", ("ordinal", [1.0, 2.0, np.inf])])
def test_infinity_has_no_place_in_an_order(asked):
    frame = pd.DataFrame({"grade": [1.0, 2.0, np.inf, 1.0, 2.0], "x": [1.0, 2.0, 3.0, 4.0, 5.0]})
    with pytest.raises(ValueError, match="column 'grade' contains infinity, which has no place among levels"):
        KFRC(2, bandwidths=1.0, m=1.5, column_types={"grade": asked}).fit(frame)


def test_text_called_ordinal_without_an_order_is_told():
    frame = people()[0].astype({"rating": object})
    with pytest.warns(LevelOrderWarning, match="the alphabet was taken, 'bad' < 'fair' < 'good'"):
        KFRC(3, column_types={"rating": "ordinal"}, **FIXED).fit(frame)
    frame["rating"] = [str(k % 11) for k in range(90)]
    model = KFRC(3, column_types={"rating": "ordinal"}, **FIXED).fit(frame)
    assert model.schema_.columns[3].levels[-2:] == ("9", "10"), "numbers have an order"


def test_blanks_of_new_rows_are_treated_as_those_of_the_fit():
    frame, _ = people()
    holes = frame.head(3).astype({"city": object})
    holes.loc[0, "city"] = None
    with pytest.raises(ValueError, match=r"1 value\(s\) are missing.*made with missing=\"error\""):
        KFRC(3, missing="error", **FIXED).fit(frame).predict(holes)
    model = KFRC(3, **FIXED).fit(frame)
    nothing = frame.head(1).map(lambda value: None)
    with pytest.warns(MissingRowWarning, match="row 0"):
        assert_allclose(model.predict_proba(nothing), 1 / 3)


def test_tables_that_cannot_be_read_are_refused_by_name():
    frame, _ = people()
    with pytest.raises(ValueError, match="'age' appears more than once"):
        KFRC(3).fit(pd.concat([frame, frame], axis=1))
    with pytest.raises(TypeError, match="collect"):
        KFRC(3).fit(pl.from_pandas(frame).lazy())
    lists = pd.DataFrame({"a": np.arange(20.0), "tags": [[k] for k in range(20)]})
    with pytest.raises(ValueError, match=r"column 'tags' holds \[0\]"):
        KFRC(2).fit(lists)
    with pytest.raises(ValueError, match="column 'z' holds complex numbers"):
        KFRC(2).fit(pd.DataFrame({"a": np.arange(20.0), "z": np.arange(20) * 1j}))
    with pytest.raises(ValueError, match="KFRC takes tables"):
        FCM(3).fit(frame[["age", "city"]])


def test_durations_times_and_decimals_are_numbers():
    frame, _ = people()
    table = pd.DataFrame(
        {
            "age": frame.age,
            "since": frame.joined - frame.joined.min(),
            "hour": [datetime.time(k % 24, 30) for k in range(90)],
            "price": [decimal.Decimal(k) / 4 for k in range(90)],
            "month": frame.joined.dt.to_period("M"),
        }
    )
    model = KFRC(3, **FIXED).fit(table)
    assert list(model.column_types_.values()) == ["numeric"] * 4 + ["date"]
    assert_allclose(model.predict_proba(table), model.memberships_, atol=1e-6)
    plain = table.drop(columns="month")
    batch = pa.RecordBatch.from_pandas(plain)
    assert_allclose(KFRC(3, **FIXED).fit(batch).memberships_, KFRC(3, **FIXED).fit(plain).memberships_, atol=1e-8)

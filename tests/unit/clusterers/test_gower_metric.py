"""Tables with columns of any type, compared by Gower's dissimilarity."""

from __future__ import annotations

import datetime
import pickle
import warnings

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal

from kfrc import FANNY, FRC, NERFCM, RFCM
from kfrc.dissimilarity import gower_dissimilarities
from kfrc.exceptions import (
    ConstantFeatureWarning,
    LeftOutColumnWarning,
    MissingRowWarning,
    UnseenCategoryWarning,
)

pd = pytest.importorskip("pandas")

METHODS = [FRC(2, m=1.3), FANNY(2, m=1.3), RFCM(2, m=1.3), NERFCM(2, m=1.3)]
each = pytest.mark.parametrize(
    "estimator", [e.set_params(metric="gower", random_state=0) for e in METHODS], ids=lambda e: type(e).__name__
)


@pytest.fixture
def table():
    """Two groups in a number, a scale, a color, an answer and a date."""
    rng = np.random.default_rng(3)
    group = np.arange(40) % 2
    sizes = ["small", "medium", "large"]
    return pd.DataFrame(
        {
            "height": 160.0 + 20.0 * group + 4.0 * rng.standard_normal(40),
            "size": pd.Categorical(
                [sizes[min(2, g + int(rng.random() < 0.4))] for g in group], categories=sizes, ordered=True
            ),
            "color": rng.permuted(np.where(group, "red", "blue").astype(object)),
            "owns": np.where(rng.random(40) < 0.9, group, 1 - group).astype(bool),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(100 * group + rng.integers(0, 20, 40), unit="D"),
        }
    )


@pytest.fixture
def incomplete(table):
    rng = np.random.default_rng(4)
    blank = rng.random(table.shape) < 0.2
    blank[np.arange(40), rng.integers(5, size=40)] = False
    return table.astype({"owns": "boolean"}).mask(blank)


def by_definition(a, b, ranges):
    """Gower's dissimilarity of two rows, written down."""
    ranks = {"small": 0, "medium": 1, "large": 2}
    parts = []
    for name in a.index:
        x, y = a[name], b[name]
        if pd.isna(x) or pd.isna(y):
            continue
        if name == "height":
            parts.append(abs(x - y) / ranges["height"])
        elif name == "when":
            parts.append(abs(x - y) / ranges["when"])
        elif name == "size":
            parts.append(abs(ranks[x] - ranks[y]) / 2)
        else:
            parts.append(float(x != y))
    return float(np.mean(parts)) if parts else 0.5


@pytest.mark.parametrize("which", ["table", "incomplete"])
def test_dissimilarities_are_those_of_the_definition(which, request):
    X = request.getfixturevalue(which)
    ranges = {name: X[name].max() - X[name].min() for name in ("height", "when")}
    expected = [[by_definition(X.iloc[j], X.iloc[k], ranges) for k in range(40)] for j in range(40)]
    np.fill_diagonal(expected := np.array(expected), 0.0)
    assert_allclose(gower_dissimilarities(X), expected, rtol=0, atol=1e-12)


def test_without_blanks_the_square_roots_are_distances_of_points(table):
    R = gower_dissimilarities(table)
    H = np.eye(40) - 1 / 40
    assert np.linalg.eigvalsh(-H @ R @ H).min() > -1e-12


def test_other_rows_are_compared_by_the_types_and_ranges_of_the_first(table):
    new = table.iloc[:3].copy()
    new["height"] = [0.0, 170.0, 1e6]
    R = gower_dissimilarities(table, new)
    assert R.shape == (40, 3)
    assert R.max() <= 1.0
    assert_allclose(gower_dissimilarities(table, table), gower_dissimilarities(table))


def test_arrays_and_parts_of_dates_can_be_compared():
    days = [datetime.date(2024, 1, day) for day in (1, 7, 8)]  # a Monday, the Sunday after, and a Monday
    rows = np.array([[1.0, "a", days[0]], [3.0, "b", days[1]], [5.0, None, days[2]]], dtype=object)
    R = gower_dissimilarities(rows, column_types={2: ("date", "weekday")})
    near = 1 / 3.5
    assert_allclose(
        R, [[0, (0.5 + 1 + near) / 3, 0.5], [(1.5 + near) / 3, 0, (0.5 + near) / 2], [0.5, (0.5 + near) / 2, 0]]
    )
    masked = np.ma.array([[0.0, 9.0], [1.0, 1.0], [2.0, 2.0]], mask=[[False, True], [False, False], [False, False]])
    assert_allclose(gower_dissimilarities(masked)[0], [0, 0.5, 1.0])
    with pytest.raises(ValueError, match="2 dimensions"):
        gower_dissimilarities([1.0, 2.0])


# --- estimators ---


@each
def test_tables_are_clustered_as_their_dissimilarities_are(estimator, table):
    fit = sklearn.clone(estimator).fit(table)
    given = sklearn.clone(estimator).set_params(metric="precomputed").fit(gower_dissimilarities(table))
    assert_allclose(fit.memberships_, given.memberships_, rtol=0, atol=1e-12)
    assert np.mean(fit.labels_ == np.arange(40) % 2) > 0.95
    assert fit.n_features_in_ == 5
    assert list(fit.feature_names_in_) == list(table.columns)
    assert not hasattr(fit, "cluster_centers_")


@each
def test_new_rows_get_what_the_fitted_ones_have(estimator, table):
    fit = sklearn.clone(estimator).set_params(tol=1e-12).fit(table)
    assert_allclose(fit.predict_proba(table), fit.memberships_, rtol=0, atol=1e-6)
    assert_array_equal(fit.predict(table.iloc[5:9]), fit.labels_[5:9])
    again = pickle.loads(pickle.dumps(fit))
    assert_array_equal(again.predict_proba(table), fit.predict_proba(table))


@each
def test_libraries_of_tables_agree(estimator, table):
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    expected = sklearn.clone(estimator).fit(table)
    sizes = pl.Enum(["small", "medium", "large"])
    frame = pl.DataFrame(
        {
            "height": table["height"].to_numpy(),
            "size": pl.Series(table["size"].astype(str).to_list(), dtype=sizes),
            "color": table["color"].to_list(),
            "owns": table["owns"].to_list(),
            "when": table["when"].dt.date.to_list(),
        }
    )
    for other in (frame, pa.Table.from_pandas(table)):
        fit = sklearn.clone(estimator).fit(other)
        assert_allclose(fit.memberships_, expected.memberships_, rtol=0, atol=1e-12)
        assert_allclose(fit.predict_proba(other), expected.predict_proba(table), rtol=0, atol=1e-12)
        assert list(fit.feature_names_in_) == list(table.columns)


@each
@pytest.mark.filterwarnings("ignore::kfrc.NonEuclideanWarning")
def test_blanks_are_left_out_of_the_means(estimator, incomplete):
    fit = sklearn.clone(estimator).fit(incomplete)
    given = sklearn.clone(estimator).set_params(metric="precomputed").fit(gower_dissimilarities(incomplete))
    assert_allclose(fit.memberships_, given.memberships_, rtol=0, atol=1e-12)


@each
def test_levels_that_are_new_count_as_missing(estimator, table):
    fit = sklearn.clone(estimator).fit(table)
    new = table.iloc[:2].copy()
    new["color"] = ["green", "red"]
    with pytest.warns(UnseenCategoryWarning, match="'color': 'green'"):
        found = fit.predict_proba(new)
    new["color"] = [None, "red"]
    assert_array_equal(fit.predict_proba(new), found)


@each
def test_rows_of_which_nothing_is_known_belong_to_all_clusters_alike(estimator, table):
    blank = table.astype({"owns": "boolean"})
    blank.iloc[[3, 8]] = None
    with pytest.warns(MissingRowWarning, match="row 3, 8"):
        fit = sklearn.clone(estimator).fit(blank)
    assert_allclose(fit.memberships_[[3, 8]], 0.5)
    others = np.setdiff1d(np.arange(40), [3, 8])
    assert_allclose(
        fit.memberships_[others], sklearn.clone(estimator).fit(table.iloc[others]).memberships_, rtol=0, atol=1e-12
    )
    with pytest.warns(MissingRowWarning, match="row 0"):
        assert_allclose(fit.predict_proba(blank.iloc[[3, 0]])[0], 0.5)


@each
def test_weights_count_rows_of_tables(estimator, table):
    w = np.random.default_rng(0).integers(0, 4, size=40)
    weighted = sklearn.clone(estimator).fit(table, sample_weight=w)
    repeated = sklearn.clone(estimator).fit(table.loc[table.index.repeat(w)])
    assert_array_equal(weighted.predict_proba(table), repeated.predict_proba(table))
    assert_array_equal(weighted.memberships_[w == 0], weighted.predict_proba(table[w == 0]))


@each
def test_types_can_be_given(estimator, table):
    codes = pd.DataFrame({"zip": np.arange(40) % 4, "height": table["height"], "note": np.arange(40)})
    types = {"zip": "nominal", "note": "drop"}
    fit = sklearn.clone(estimator).set_params(column_types=types).fit(codes)
    R = gower_dissimilarities(codes, column_types=types)
    given = sklearn.clone(estimator).set_params(metric="precomputed").fit(R)
    assert_allclose(fit.memberships_, given.memberships_, rtol=0, atol=1e-12)
    assert_allclose(fit.predict_proba(codes.iloc[:4]), given.predict_proba(R[:4]), rtol=0, atol=1e-12)


@each
def test_arrays_of_numbers_and_of_objects_are_tables_too(estimator, table):
    numbers = table[["height"]].assign(other=np.arange(40.0) // 20).to_numpy()
    plain = sklearn.clone(estimator).fit(numbers)
    as_objects = sklearn.clone(estimator).fit(numbers.astype(object))
    assert_array_equal(plain.memberships_, as_objects.memberships_)
    assert_array_equal(plain.predict_proba(numbers.tolist()), plain.predict_proba(numbers))
    mixed = sklearn.clone(estimator).fit(table.astype({"size": object}).to_numpy(dtype=object))
    assert mixed.n_features_in_ == 5


@each
def test_what_cannot_be_is_refused_by_name(estimator, table):
    with pytest.raises(ValueError, match="column_types names 'colour'"):
        sklearn.clone(estimator).set_params(column_types={"colour": "nominal"}).fit(table)
    with pytest.raises(TypeError, match="column_types must map"):
        sklearn.clone(estimator).set_params(column_types="nominal").fit(table)
    with pytest.raises(ValueError, match='column_types is for metric="gower"'):
        sklearn.clone(estimator).set_params(metric="sqeuclidean", column_types={"a": "nominal"}).fit(np.eye(3))
    with pytest.raises(ValueError, match="no metric_params"):
        sklearn.clone(estimator).set_params(metric_params={"p": 1}).fit(table)
    with pytest.raises(ValueError, match="at least 2"):
        sklearn.clone(estimator).fit(table.iloc[:1])
    with pytest.raises(ValueError, match="infinity"):
        sklearn.clone(estimator).fit(table.assign(height=np.inf))
    with pytest.raises(ValueError, match="names"):
        sklearn.clone(estimator).fit(table).predict(table.rename(columns={"height": "weight"}))
    with pytest.raises(ValueError, match="expecting 5"):
        sklearn.clone(estimator).fit(table.to_numpy(dtype=object)).predict(table.to_numpy(dtype=object)[:, :4])


@each
def test_columns_that_say_nothing_are_named(estimator, table):
    with pytest.warns(ConstantFeatureWarning, match="planet"):
        sklearn.clone(estimator).fit(table.assign(planet="earth"))
    with pytest.warns(LeftOutColumnWarning, match="name"):
        fit = sklearn.clone(estimator).fit(table.assign(name=[f"person {k}" for k in range(40)]))
    assert_allclose(fit.memberships_, sklearn.clone(estimator).fit(table).memberships_, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="nothing to cluster"):
        sklearn.clone(estimator).fit(pd.DataFrame({"planet": ["earth"] * 5}))


def test_blanks_of_tables_are_refused_on_demand(incomplete):
    with pytest.raises(ValueError, match=r'missing, the first in row.*missing="partial"'):
        FRC(2, metric="gower", missing="error").fit(incomplete)


@each
def test_pipelines_name_what_comes_out(estimator, table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = sklearn.clone(estimator).set_output(transform="pandas").fit(table).transform(table)
    assert list(out.columns) == [f"{type(estimator).__name__.lower()}{k}" for k in range(2)]

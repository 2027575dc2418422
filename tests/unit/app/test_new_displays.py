"""Silhouettes, biplots, pairs, parallel coordinates and triangles show what is there, and nothing covers another."""

from dataclasses import replace

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris, make_blobs

from kfrc import FCM, FRC, KFRC, KFRCError, UniformCollapseWarning
from kfrc_app import displays
from kfrc_app.displays import (
    BiplotDisplay,
    PairsDisplay,
    ParallelDisplay,
    SilhouetteDisplay,
    SphereDisplay,
    TriangleDisplay,
)
from kfrc_app.displays.clusters import MARKERS
from kfrc_app.displays.labels import _apart

NEW = [BiplotDisplay, PairsDisplay, ParallelDisplay, SilhouetteDisplay, TriangleDisplay]
IRIS = load_iris(as_frame=True).data


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def iris_model():
    return FCM(3, random_state=0).fit(IRIS)


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 20)
    frame = pd.DataFrame(
        {
            "price in $": 4.0 * group + rng.normal(size=60),
            "region": pd.Categorical(np.array(["north", "south", "a long name of a region"])[group]),
            "grade": pd.Categorical(
                np.array(["low", "middle", "high"])[group], ["low", "middle", "high"], ordered=True
            ),
            "day": pd.to_datetime("2024-01-01") + pd.to_timedelta(100 * group + rng.integers(0, 50, 60), unit="D"),
        }
    )
    frame.loc[::7, "region"] = None
    frame.loc[1::9, "price in $"] = np.nan
    return KFRC(3, level=1.0, m=1.5, n_starts=1, random_state=0).fit(frame), frame


@pytest.fixture(scope="module")
def ten():
    X, _ = make_blobs(400, 3, centers=10, random_state=3)
    return FCM(10, m=1.3, n_init=1, random_state=0).fit(X), X


@pytest.mark.parametrize("display", NEW)
def test_draws_in_given_axes_and_again(display, iris_model):
    figure, axes = plt.subplots(1, 2)
    drawn = display.from_estimator(iris_model, IRIS, ax=axes[0])
    assert drawn.ax_ is axes[0]
    assert drawn.figure_ is figure
    assert drawn.plot() is drawn
    assert drawn.figure_ is not figure


@pytest.mark.parametrize("display", NEW)
def test_levels_dates_and_gaps_are_drawn(display, mixed):
    display.from_estimator(*mixed).figure_.canvas.draw()


@pytest.mark.parametrize("display", [*NEW[:-1], SphereDisplay])
def test_a_sample_is_said(display, ten):
    drawn = display.from_estimator(*ten, max_rows=260)
    legends = [ax.get_legend() for ax in drawn.figure_.axes if ax.get_legend() is not None]
    written = [legend.get_title().get_text() for legend in legends] + [drawn.ax_.get_xlabel()]
    assert any("sample of " in text and "of 400 rows" in text for text in written)


def test_ten_clusters_have_ten_shapes_and_all_stand_in_the_legend(ten):
    assert len(set(MARKERS)) == 10
    for display in (BiplotDisplay, PairsDisplay, ParallelDisplay):
        figure = display.from_estimator(*ten).figure_
        (legend,) = [ax.get_legend() for ax in figure.axes if ax.get_legend() is not None]
        assert len(legend.get_texts()) == 10
        assert len({handle.get_marker() for handle in legend.get_lines()}) == 10


@pytest.mark.parametrize("display", [BiplotDisplay, ParallelDisplay])
def test_the_legend_covers_no_data(display, ten):
    drawn = display.from_estimator(*ten)
    drawn.figure_.canvas.draw()
    legend = drawn.ax_.get_legend().get_window_extent()
    assert not legend.overlaps(drawn.ax_.get_window_extent())
    assert drawn.figure_.bbox.x1 >= legend.x1


def test_labels_of_a_biplot_do_not_cover_each_other(mixed):
    for model, X in (mixed, (FCM(3, random_state=0).fit(IRIS), IRIS)):
        drawn = BiplotDisplay.from_estimator(model, X)
        drawn.figure_.canvas.draw()
        boxes = [text.get_window_extent() for text in drawn.ax_.texts if text.get_text()]
        assert len(boxes) >= 4 + model.n_clusters
        overlapping = [
            (a, b) for k, a in enumerate(boxes) for b in boxes[:k] if a.padded(-1.5).overlaps(b.padded(-1.5))
        ]
        assert not overlapping


def test_boxes_at_one_place_are_moved_apart_within_the_frame():
    boxes = np.tile([10.0, 10.0, 40.0, 20.0], (3, 1))
    moved = boxes[:, 1] + _apart(boxes, np.array([0.0, 0.0, 100.0, 100.0]))[:, 1]
    assert (np.diff(np.sort(moved)) >= 10.0).all()
    assert (moved >= 0).all()


def test_boxes_that_are_fixed_stay_and_are_not_covered():
    boxes = np.array([[10.0, 10.0, 40.0, 20.0], [12.0, 8.0, 30.0, 18.0]])
    moves = _apart(boxes, np.array([0.0, 0.0, 100.0, 100.0]), 1)
    assert not moves[1].any()
    assert boxes[0, 1] + moves[0, 1] >= 18.0


def test_a_triangle_shows_three_clusters_only(ten, iris_model):
    with pytest.raises(KFRCError, match=r"three clusters, this model has 10: MembershipDisplay"):
        TriangleDisplay.from_estimator(*ten)
    places = TriangleDisplay(np.eye(3)).places_
    np.testing.assert_allclose(np.linalg.norm(places - np.roll(places, 1, axis=0), axis=1), 1.0)


def test_columns_can_be_chosen_and_unknown_ones_are_named(iris_model):
    chosen = ["sepal width (cm)", "petal width (cm)"]
    for display in (BiplotDisplay, PairsDisplay, ParallelDisplay):
        drawn = display.from_estimator(iris_model, IRIS, columns=chosen)
        assert [column.name for column in drawn.columns] == chosen
        with pytest.raises(KFRCError, match="there is no column “width”"):
            display.from_estimator(iris_model, IRIS, columns=["width"])


def test_lines_of_clusters_pass_through_their_medians(iris_model):
    drawn = ParallelDisplay.from_estimator(iris_model, IRIS)
    assert np.nanmin(drawn.heights_) == 0.0
    assert np.nanmax(drawn.heights_) == 1.0
    first = IRIS["petal length (cm)"][iris_model.labels_ == iris_model.labels_[0]].median()
    low, high = IRIS["petal length (cm)"].min(), IRIS["petal length (cm)"].max()
    assert drawn.typical_[iris_model.labels_[0], 0] == pytest.approx((first - low) / (high - low), abs=0.02)


def test_a_collapsed_fit_has_no_silhouettes():
    noise = np.random.default_rng(0).normal(size=(40, 6))
    with pytest.warns(UniformCollapseWarning):
        model = FCM(3, m=5.0, random_state=0).fit(noise)
    with pytest.raises(KFRCError, match="FuzzifierPathDisplay"):
        SilhouetteDisplay.from_estimator(model, noise)


@pytest.mark.parametrize("name", displays.__all__)
def test_hostile_names_are_drawn_as_they_are(name):
    frame = IRIS.iloc[::5].set_axis(["$a_", "b$ {", "x" * 300, "line\nbreak"], axis=1)
    model = FCM(3, random_state=0).fit(frame)
    getattr(displays, name).from_estimator(model, frame).figure_.canvas.draw()


def tables_of_other_kinds():
    group = np.repeat([0, 1, 2], 12)
    values = 4.0 * group[:, None] + np.random.default_rng(0).normal(size=(36, 2))
    frame = pd.DataFrame(values, columns=["a", "b"])
    answers = frame.assign(flag=group > 0)
    letters = np.array(list("xyz"), dtype=object)[group]
    return {
        "yes or no": answers,
        "categories that are numbers": frame.assign(k=pd.Categorical(group)),
        "polars": pl.from_pandas(answers),
        "arrow": pa.Table.from_pandas(answers),
        "array of objects": np.column_stack([values.astype(object), letters]),
    }


@pytest.mark.parametrize("name", list(tables_of_other_kinds()))
def test_levels_are_seen_as_the_model_saw_them(name):
    table = tables_of_other_kinds()[name]
    model = FRC(3, m=1.4, metric="gower", random_state=0).fit(table)
    shares = displays.ImportanceDisplay.from_estimator(model, table).contributions
    assert shares[2] > 0.2
    assert SilhouetteDisplay.from_estimator(model, table).crisp_ > 0.5


def test_rows_of_one_column_lie_on_a_line():
    X = IRIS[["petal length (cm)"]]
    drawn = BiplotDisplay.from_estimator(FCM(3, random_state=0).fit(X), X)
    assert not drawn.coordinates[:, 1].any()
    assert drawn.explained.tolist() == pytest.approx([1.0, 0.0])


def test_pairs_need_axes_that_can_be_divided(iris_model):
    figure = plt.figure()
    with pytest.raises(ValueError, match="axes of a grid"):
        PairsDisplay.from_estimator(iris_model, IRIS, ax=figure.add_axes((0, 0, 1, 1)))


@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1e150, 1e300])
def test_densities_do_not_depend_on_the_unit_of_a_column(unit):
    rng = np.random.default_rng(0)
    x = rng.normal(size=40) + 6 * np.repeat([0, 1], 20)
    frame = pd.DataFrame({"a": x, "b": x + rng.normal(size=40)})
    model = FCM(2, random_state=0).fit(frame)
    curves = []
    for factor in (1.0, unit):
        display = PairsDisplay.from_estimator(model, frame, columns=["a"])
        display.columns = [replace(display.columns[0], values=factor * frame["a"].to_numpy())]
        display.plot()
        curves.append([line.get_ydata() for line in display.axes_[0, 0].lines])
    assert len(curves[0]) == 2
    np.testing.assert_allclose(curves[1], curves[0], rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("powers", [(-1000, 0), (1000, 0), (0, -600), (0, 600)])
def test_arrows_do_not_depend_on_the_units_of_columns_and_coordinates(iris_model, powers):
    display = BiplotDisplay.from_estimator(iris_model, IRIS)
    of_column, of_coordinates = powers
    columns = [replace(column, values=np.ldexp(column.values, of_column)) for column in display.columns]
    again = BiplotDisplay(
        np.ldexp(display.coordinates, of_coordinates), display.explained, display.memberships, columns
    )
    assert len(display.correlations_) == 4
    for name, found in display.correlations_.items():
        np.testing.assert_allclose(again.correlations_[name], found, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("n_clusters", "n_columns"), [(13, 1), (24, 2), (49, 3), (49, 4)])
def test_pairs_of_many_clusters_have_room_for_their_legend(n_clusters, n_columns):
    rng = np.random.default_rng(0)
    memberships = np.eye(n_clusters)[np.arange(60) % n_clusters]
    of_iris = BiplotDisplay.from_estimator(FCM(2, random_state=0).fit(IRIS), IRIS).columns
    columns = [replace(column, values=rng.normal(size=60)) for column in of_iris[:n_columns]]
    display = PairsDisplay(columns, memberships).plot()
    display.figure_.draw_without_rendering()
    legend = display.axes_[0, 0].get_legend().get_window_extent()
    assert legend.x1 <= display.figure_.bbox.x1
    assert all(panel.bbox.width > 40 for panel in display.axes_[np.tril_indices(n_columns)])

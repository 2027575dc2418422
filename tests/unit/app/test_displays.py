"""The displays draw what the model says on the axes they are given."""

import sys

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from kfrc import KFRC, KFRCError
from kfrc_app.displays import (
    FuzzifierPathDisplay,
    ImportanceDisplay,
    MembershipDisplay,
    SpectrumDisplay,
    SphereDisplay,
)
from kfrc_app.facts import summarize

DISPLAYS = [MembershipDisplay, SphereDisplay, ImportanceDisplay, SpectrumDisplay, FuzzifierPathDisplay]


@pytest.fixture(scope="module")
def iris_frame():
    return load_iris(as_frame=True).data


@pytest.fixture(scope="module")
def model(iris_frame):
    return KFRC(3, level=1.0, random_state=0).fit(iris_frame)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def axes_for(display):
    projection = {"projection": "3d"} if display is SphereDisplay else None
    return plt.subplots(subplot_kw=projection)


@pytest.mark.parametrize("display", DISPLAYS)
def test_draws_on_given_axes(display, model, iris_frame):
    figure, ax = axes_for(display)
    drawn = display.from_estimator(model, iris_frame, ax=ax)
    assert drawn.ax_ is ax
    assert drawn.figure_ is figure
    assert ax.has_data()
    figure.canvas.draw()


@pytest.mark.parametrize("display", DISPLAYS)
def test_makes_axes_and_draws_again(display, model, iris_frame):
    drawn = display.from_estimator(model, iris_frame.to_numpy())
    first = drawn.ax_
    assert first.figure is drawn.figure_
    assert drawn.plot() is drawn
    assert drawn.ax_ is not first


@pytest.mark.parametrize("display", DISPLAYS)
def test_wrong_data_and_unfitted_models_are_refused(display, model, iris_frame):
    with pytest.raises(ValueError, match="fitted on data of shape"):
        display.from_estimator(model, iris_frame.iloc[:10])
    with pytest.raises(NotFittedError):
        display.from_estimator(KFRC(3), iris_frame)


def test_memberships_are_sorted_by_cluster(model, iris_frame):
    display = MembershipDisplay.from_estimator(model, iris_frame)
    drawn = display.image_.get_array()
    np.testing.assert_array_equal(np.sort(drawn[:, 0]), np.sort(model.memberships_[:, 0]))
    assert (np.diff(drawn.argmax(axis=1)) >= 0).all()


def test_large_data_are_sampled_and_said(model, iris_frame):
    display = MembershipDisplay.from_estimator(model, iris_frame, max_rows=90)
    assert "sample of 90 of 150 rows" in display.ax_.get_ylabel()


def test_bars_are_the_contributions(model, iris_frame):
    display = ImportanceDisplay.from_estimator(model, iris_frame)
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(widths, model.contributions_[display.order_])
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels[0] == iris_frame.columns[display.order_[0]]
    assert display.ax_.get_title("left") == f"{(model.contributions_ > 1.5 / 4).sum()} of 4 columns stand out"


def test_bars_say_of_how_many_columns_they_are_the_largest(model, iris_frame):
    every = ImportanceDisplay.from_estimator(model, iris_frame)
    assert "largest" not in every.ax_.get_xlabel()
    some = ImportanceDisplay.from_estimator(model, iris_frame, max_columns=2)
    assert "the 2 largest of 4 columns" in some.ax_.get_xlabel()


def test_dollar_signs_in_names_are_not_mathematics(model, iris_frame):
    frame = iris_frame.set_axis(["$a_", "b$", "$\\frac{", "d"], axis=1)
    ImportanceDisplay.from_estimator(
        KFRC(3, level=1.0, n_starts=1, random_state=0).fit(frame), frame
    ).figure_.canvas.draw()


def test_spectrum_begins_with_the_eigenvalues_of_the_model(model, iris_frame):
    display = SpectrumDisplay.from_estimator(model, iris_frame, n_eigenvalues=6)
    heights = [bar.get_height() for bar in display.bars_]
    np.testing.assert_allclose(heights[:3], model.eigenvalues_)
    assert len(heights) == 6
    assert (np.diff(heights) <= 0).all()


def test_path_shows_the_marks_of_the_theory(iris_frame):
    unsafe = KFRC(3, fuzzifier="power", bandwidths=[0.5, 1, 5, 0.5], random_state=0).fit(iris_frame)
    display = FuzzifierPathDisplay.from_estimator(unsafe, iris_frame, n_steps=9)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert any(label.startswith("$m^*$") for label in labels)
    assert (np.diff(display.line_.get_ydata()) >= -1e-6).all()


def test_sphere_needs_three_dimensions(model, iris_frame):
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match="3-D axes"):
        SphereDisplay.from_estimator(model, iris_frame, ax=ax)


def test_precomputed_kernels_have_no_importance():
    X = load_iris().data[::5]
    K = X @ X.T
    model = KFRC(2, kernel="precomputed", random_state=0).fit(K)
    with pytest.raises(KFRCError, match="precomputed"):
        ImportanceDisplay.from_estimator(model, K)
    SphereDisplay.from_estimator(model, K)


def test_without_matplotlib_the_message_says_what_to_install(model, iris_frame, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(
        ImportError, match=r"the package matplotlib is needed for this: type pip install \. in the folder of kfrc$"
    ):
        MembershipDisplay.from_estimator(model, iris_frame)


def test_displays_show_the_facts(model, iris_frame):
    facts = summarize(model, iris_frame, n_eigenvalues=10)
    sphere = SphereDisplay.from_estimator(model, iris_frame)
    np.testing.assert_allclose(sphere.coordinates, facts.sphere, atol=1e-8)
    spectrum = SpectrumDisplay.from_estimator(model, iris_frame)
    np.testing.assert_allclose(spectrum.eigenvalues, facts.eigenvalues)
    importance = ImportanceDisplay.from_estimator(model, iris_frame)
    assert importance.order_.tolist() == [column.position for column in facts.importance.columns]
    path = FuzzifierPathDisplay.from_estimator(model, iris_frame).path
    np.testing.assert_array_equal(path.uniformity, facts.path.uniformity)


def test_every_display_draws_a_table_with_levels_and_gaps():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 30)
    color = np.array(["red", "blue"], dtype=object)[group]
    color[::7] = None
    frame = pd.DataFrame({"x": 4.0 * group + rng.normal(size=60), "color": pd.Categorical(color)})
    model = KFRC(2, n_starts=1, random_state=0).fit(frame)
    for display in DISPLAYS:
        assert display.from_estimator(model, frame).figure_ is not None

"""Fitted models show what they found in notebooks, above the diagram of scikit-learn; others show the diagram only."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kfrc import FCM, KFRC, UniformCollapseWarning
from kfrc.clusterers._notebook import column_shares, glance
from strategies import CLUSTERERS

X = load_iris().data[::5]
HOSTILE = ['<script>alert("x")</script>', '"><img src=x onerror=alert(1)>', "a\u202eb & c", "</style><b>" + "x" * 500]


class Outline(HTMLParser):
    """Tags, attributes and text of a page, and whether all tags are closed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.attributes, self.words = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@pytest.mark.parametrize("method", CLUSTERERS)
def test_every_method_tells_its_groups_above_the_diagram(method):
    model = method(n_clusters=3).set_params(**({"m": 1.5} if "m" in method().get_params() else {})).fit(X)
    bundle = model._repr_mimebundle_()
    page = bundle["text/html"]
    assert glance(model) in model._repr_html_()
    assert page.index("kfrc-glance") < page.index("sk-top-container")
    assert bundle["text/plain"] == repr(model)
    told = Outline(glance(model))
    assert told.open == []
    assert "3 groups in 30 rows" in told.text
    assert "script" not in told.tags
    for size in np.bincount(model.labels_, minlength=3):
        assert f" {size} " in told.text
    assert 'model.report(X, "report.html")' in told.text


def test_models_that_are_not_fitted_show_the_diagram_only():
    assert "kfrc-glance" not in FCM()._repr_html_()
    assert "kfrc-glance" not in clone(FCM(3, random_state=0).fit(X))._repr_html_()
    assert "kfrc-glance" not in make_pipeline(StandardScaler(), FCM()).fit(X)._repr_html_()


def test_text_displays_stay_text():
    model = FCM(3, random_state=0).fit(X)
    with config_context(display="text"):
        assert list(model._repr_mimebundle_()) == ["text/plain"]
        assert not hasattr(model, "_repr_html_")


def test_names_of_columns_are_text():
    frame = pd.DataFrame(X, columns=HOSTILE)
    told = Outline(glance(FCM(3, random_state=0).fit(frame)))
    assert told.open == []
    assert not {"script", "img", "b"} & set(told.tags)
    assert '<script>alert("x")</script>' in told.text
    assert not any(name.startswith("on") or name == "src" for name, _ in told.attributes)
    assert max(len(word) for word in told.words if word.startswith("</style>")) < 60
    assert "\u202e" not in told.text


def test_nothing_is_loaded_from_elsewhere():
    page = glance(FCM(3, random_state=0).fit(X))
    assert not re.search(r"https?:|url\(|@import|src=|href=", page)


def test_columns_stand_in_the_order_of_their_shares():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = FCM(3, random_state=0).fit(frame)
    shares = column_shares(model)
    space = model._row_space(frame)
    exact = space.cluster_contributions(model.memberships_, model.fuzzifier_).sum(axis=0)
    np.testing.assert_allclose(shares, exact, atol=1e-6)
    words = Outline(glance(model)).text.partition("tell the groups apart")[2]
    places = [words.index(f" {frame.columns[j]} ") for j in np.argsort(-shares)]
    assert places == sorted(places)


def test_kernels_tell_their_own_shares():
    model = KFRC(3, level=1.0, m=1.5, n_starts=1, random_state=0).fit(X)
    np.testing.assert_array_equal(column_shares(model), model.contributions_)


def test_a_collapsed_fit_does_not_speak_of_groups():
    noise = np.random.default_rng(0).normal(size=(40, 6))
    with pytest.warns(UniformCollapseWarning):
        model = FCM(3, m=5.0, random_state=0).fit(noise)
    told = Outline(glance(model)).text
    assert "No groups found in 40 rows" in told
    assert "group 0" not in told


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_that_was_stopped_says_so():
    told = Outline(glance(FCM(3, max_iter=1, n_init=1, init="random", random_state=0).fit(X))).text
    assert "was stopped after 1 step, before it came to rest" in told


def test_many_groups_are_cut():
    told = Outline(glance(FCM(15, m=1.2, n_init=1, random_state=0).fit(load_iris().data))).text
    assert "and 3 more" in told
    assert "group 12" not in told

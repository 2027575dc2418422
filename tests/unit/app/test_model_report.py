"""``model.report(X, path)`` writes the page, or returns one that notebooks show; without the application it says so."""

import html
import re

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances

from kfrc import FCM, FRC, KFRC, KFRCError
from kfrc.clusterers import _presentation
from kfrc_app.facts import summarize
from kfrc_app.report import Report
from strategies import CLUSTERERS

IRIS = load_iris(as_frame=True).data.iloc[::3]


@pytest.fixture(scope="module")
def model():
    return KFRC(3, level=1.0, m=1.5, n_starts=1, random_state=0).fit(IRIS)


def test_the_page_is_written_and_its_place_returned(model, tmp_path):
    written = model.report(IRIS, tmp_path / "page.html", title="Flowers of three kinds", n_refits=0)
    assert written == tmp_path / "page.html"
    page = written.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "Flowers of three kinds" in page
    assert model.report(IRIS, str(tmp_path), n_refits=0) == tmp_path / "report.html"


@pytest.mark.parametrize("method", CLUSTERERS)
def test_every_method_has_a_report(method):
    fitted = method(n_clusters=3).set_params(**({"m": 1.5} if "m" in method().get_params() else {})).fit(IRIS)
    assert "petal length" in fitted.report(IRIS, n_refits=0).html


@pytest.mark.filterwarnings("ignore::kfrc.UnequalScalesWarning")
@pytest.mark.parametrize("unit", [1e-300, 1e-160])
def test_a_column_that_is_nothing_beside_others_has_no_share(unit):
    X = IRIS.iloc[:, :3].assign(tiny=unit * IRIS.iloc[:, 3])
    found = {}
    for table in (X, X.drop(columns="tiny")):
        facts = summarize(FCM(2, random_state=0).fit(table), table)
        found[table.shape[1]] = {column.name: column.contribution for column in facts.importance.columns}
    assert found[4].pop("tiny") == 0
    assert found[4] == pytest.approx(found[3])


def test_dissimilarities_have_a_report():
    R = pairwise_distances(IRIS, metric="sqeuclidean")
    assert FRC(3, metric="precomputed", random_state=0).fit(R).report(R, n_refits=0).html.startswith("<!DOCTYPE html>")


@pytest.mark.slow
def test_refits_tell_whether_to_trust_it(model, tmp_path):
    page = model.report(IRIS, n_refits=2).html
    assert re.search(r"\b2 of 2\b|\b1 of 2\b|\b0 of 2\b|again 2 times", page)


def test_notebooks_show_the_page_in_a_frame_of_its_own(model):
    page = model.report(IRIS, n_refits=0)
    frame = page._repr_html_()
    inner = re.fullmatch(r'<iframe srcdoc="([^"]*)" sandbox="([^"]*)" [^>]*></iframe>', frame)
    assert html.unescape(inner[1]) == page.html
    assert "allow-same-origin" not in inner[2]
    assert "characters" in repr(page)


def test_ids_and_labels_reach_the_page(model):
    ids = [f"flower-{k}" for k in range(len(IRIS))]
    page = model.report(IRIS, ids=ids, labels=np.repeat(["one", "two", "three"], [17, 17, 16]), n_refits=0).html
    assert "flower-" in page
    assert "three" in page


def test_what_cannot_be_is_refused_before_work(model, tmp_path):
    with pytest.raises(NotFittedError):
        KFRC(3).report(IRIS)
    with pytest.raises(ValueError, match="fitted on data of shape"):
        model.report(IRIS.iloc[:5])
    with pytest.raises(ValueError, match="n_refits"):
        model.report(IRIS, n_refits=-1)
    with pytest.raises(KFRCError, match="there is no folder"):
        Report("x").save(tmp_path / "missing" / "page.html")


def test_without_the_application_the_message_says_what_to_install(model, monkeypatch):
    monkeypatch.setattr(_presentation, "entry_points", lambda **_: ())
    with pytest.raises(ImportError, match=r"is not installed: type pip install \. in its folder"):
        model.report(IRIS)


def test_a_missing_package_is_named(monkeypatch):
    class Broken:
        def load(self):
            raise ModuleNotFoundError("No module named 'jinja2'", name="jinja2.environment")

    monkeypatch.setattr(_presentation, "entry_points", lambda **_: (Broken(),))
    with pytest.raises(
        ImportError, match=r"the package jinja2 is needed for a report: type pip install \. in its folder"
    ):
        FCM(3, random_state=0).fit(IRIS).report(IRIS)

"""The report of every method, of tables and of precomputed relations: the same page, without what has no meaning."""

from __future__ import annotations

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from report_pages import first_page, visible

import kfrc
from kfrc import KFRC
from kfrc_app.facts import summarize, summary_document
from kfrc_app.facts.comparison import methods
from kfrc_app.facts.glossary import is_plain
from kfrc_app.report import render_html

N_GROUPS = 3
NEEDS_COLUMNS = ("importance", "distributions", "profiles")
TAKES_RELATIONS = [kfrc.FANNY, kfrc.FRC, kfrc.NERFCM, kfrc.RFCM]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(45, 3)) + 4.0 * np.eye(3)[np.repeat([0, 1, 2], 15)]
    return pd.DataFrame(X, columns=["height", "weight", "age"])


def made(method, **settings):
    model = method(N_GROUPS, **settings)
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


def page_of(facts):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the path over m may collapse on its way
        return render_html(facts)


@pytest.mark.parametrize("method", methods(), ids=lambda method: method.__name__)
def test_every_method_has_a_report_of_a_table(method, table):
    facts = summarize(made(method).fit(table), table, source="table.csv", labels=np.repeat(list("xyz"), 15))
    page = page_of(facts)
    first = visible(first_page(page))
    assert first.count("table.csv, cut into 3 groups") == 1
    assert is_plain(first)
    for group in facts.groups:
        assert group.name in first
        assert len(group.rows) == 3
    for place in (*NEEDS_COLUMNS, "comparison", "memberships", "glossary"):
        assert f'id="{place}"' in page
    assert ('id="bandwidths"' in page) == (method is KFRC)
    assert ('id="choice"' in page) == (method is KFRC)
    (island,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, flags=re.DOTALL)
    assert len(json.loads(island)["points"]["memberships"]) == 45


@pytest.mark.parametrize("method", TAKES_RELATIONS, ids=lambda method: method.__name__)
def test_dissimilarities_have_a_report_without_columns(method, table):
    X = table.to_numpy()
    R = np.square(X[:, None] - X).sum(axis=2)
    ids = [f"person {k}" for k in range(45)]
    facts = summarize(made(method, metric="precomputed").fit(R), R, ids=ids, source="distances.csv")
    check_relation(facts, page_of(facts))


def test_a_kernel_matrix_has_a_report_without_columns(table):
    X = table.to_numpy() - table.to_numpy().mean(axis=0)
    K = X @ X.T
    facts = summarize(made(KFRC, kernel="precomputed").fit(K), K, ids=[f"person {k}" for k in range(45)])
    check_relation(facts, page_of(facts))


def check_relation(facts, page):
    first = visible(first_page(page))
    assert is_plain(first)
    assert [group.name for group in facts.groups] == ["Group A", "Group B", "Group C"]
    for group in facts.groups:
        assert f"Typical rows: {', '.join(row.id for row in group.rows)}" in first
    assert '<figure class="map"><svg' in page
    for place in NEEDS_COLUMNS:
        assert f'id="{place}"' not in page
        assert f'href="#{place}"' not in page
    for row in facts.borderline:
        assert row.values == ()


def test_typical_rows_of_dissimilarities_are_those_of_the_rows_themselves(table):
    X = table.to_numpy()
    R = np.square(X[:, None] - X).sum(axis=2)
    model = made(kfrc.FRC, metric="precomputed").fit(R)
    hard = np.eye(3)[model.labels_]
    facts = summarize(model, R)
    for group in facts.groups:
        weights = model.memberships_[:, group.label]
        center = weights @ X / weights.sum()
        members = np.flatnonzero(hard[:, group.label])
        nearest = members[np.square(X[members] - center).sum(axis=1).argmin()]
        assert group.rows[0].position == nearest


def test_the_document_gains_names_and_typical_rows(table):
    facts = summarize(made(kfrc.FCM).fit(table), table, source="table.csv")
    document = summary_document(facts)
    assert document["title"] == "table.csv, cut into 3 groups"
    for cluster, group in zip(document["clusters"], facts.groups, strict=True):
        assert {"label", "n_rows", "mass", "mean_membership", "weight"} <= set(cluster)
        assert (cluster["letter"], cluster["name"]) == (group.letter, group.name)
        assert cluster["typical_rows"] == [row.id for row in group.rows]

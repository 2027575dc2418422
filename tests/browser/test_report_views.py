"""The report by day, by night, on a phone and on paper: nothing is cut, blank or asked of a network."""

import base64
import json
import re
import warnings
import zlib

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from kfrc import FRC, KFRC
from kfrc_app.report import render_html, summarize

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LONG = "a column with a name that goes on and on, longer than anybody would like to read on a phone"
PAPER = {"a4": {"paperWidth": 8.27, "paperHeight": 11.69}, "letter": {"paperWidth": 8.5, "paperHeight": 11.0}}
BLANK_PAGE = 400
"""Bytes of drawing commands that a page with nothing on it may have."""


def many_groups():
    rng = np.random.default_rng(0)
    X = np.vstack([6 * center + rng.normal(size=(15, 5)) for center in rng.normal(size=(10, 5))])
    return pd.DataFrame(X, columns=[LONG, *"bcde"])


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """A table of numbers with labels, a mixed one, ten groups, and distances."""
    wine = load_wine(as_frame=True)
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 40)
    mixed = pd.DataFrame(
        {
            LONG: 3.0 * group + rng.normal(size=80),
            "color": pd.Categorical(np.array(["red", "blue"])[np.where(rng.random(80) < 0.1, 1 - group, group)]),
            "day": pd.to_datetime("2020-01-01") + pd.to_timedelta(60 * group + rng.integers(0, 40, 80), unit="D"),
        }
    )
    X = wine.data.to_numpy()[::3] / wine.data.std().to_numpy()
    R = np.square(X[:, None] - X).sum(axis=2)
    quick = {"m": 1.5, "level": 1.0, "n_starts": 1, "random_state": 0}
    aside = pd.DataFrame({"region": np.array(["north", "south", "west"])[wine.target], "price": wine.data["hue"]})
    fits = {
        "numbers": summarize(
            KFRC(3, **quick).fit(wine.data), wine.data, labels=wine.target, aside=aside, source="wine.csv"
        ),
        "mixed": summarize(KFRC(2, **quick).fit(mixed), mixed, source="mixed.csv"),
        "many": summarize(KFRC(10, **quick).fit(many_groups()), many_groups(), source="many.csv"),
        "distances": summarize(FRC(3, metric="precomputed", m=1.3, random_state=0).fit(R), R, source="distances.csv"),
    }
    folder = tmp_path_factory.mktemp("reports")
    for name, facts in fits.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (folder / f"{name}.html").write_text(render_html(facts), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in fits}


KINDS = ["numbers", "mixed", "many", "distances"]


@pytest.fixture(scope="module")
def phone(start_browser):
    return start_browser(375, 740)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_opens_quietly_by_day_and_by_night(browser, reports, kind, scheme):
    browser.get_log("browser")
    browser.get_log("performance")
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    try:
        browser.get(reports[kind].as_uri())
        assert browser.get_log("browser") == []
        messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
        urls = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        assert [url for url in urls if not url.startswith("data:")] == [reports[kind].as_uri()]
        paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert paper == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 27)")
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("kind", KINDS)
def test_a_phone_scrolls_down_only_and_wide_tables_say_that_they_go_on(phone, reports, kind):
    phone.get(reports[kind].as_uri())
    assert phone.execute_script("return document.documentElement.scrollWidth") <= 375
    outside = phone.execute_script(
        "return [...document.querySelectorAll('h1, h2, h3, p, li, figure, svg, .card, .card td, .sizes, dd')]"
        ".filter((e) => !e.closest('.scroll, nav') && e.getBoundingClientRect().right > 376).map((e) => e.outerHTML)"
    )
    assert outside == []
    phone.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    hints = phone.execute_script(
        "return [...document.querySelectorAll('.scroll')].map((e) => [e.scrollWidth > e.clientWidth + 1,"
        " getComputedStyle(e, '::before').content.includes('Scroll'), getComputedStyle(e).backgroundImage !== 'none'])"
    )
    assert all(hint == wider and shadow for wider, hint, shadow in hints)
    assert any(wider for wider, _, _ in hints) or kind == "distances"


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_not_torn_apart(browser, reports, kind):
    browser.get(reports[kind].as_uri())
    torn = browser.execute_script(
        """
        const lines = (e) => {
          const range = document.createRange();
          range.selectNodeContents(e.firstChild);
          return new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size;
        };
        return [...document.querySelectorAll(".typical td, td.num")]
          .filter((e) => /^[-\\d.,]+$/.test(e.firstChild.textContent.trim()) && lines(e) > 1).map((e) => e.innerText);
        """
    )
    assert torn == []


def pages_of(pdf):
    """Drawing commands of every printed page, unpacked."""
    streams = {
        int(number): zlib.decompressobj().decompress(packed)
        for number, packed in re.findall(
            rb"(\d+) 0 obj\s*<<[^>]*?/Filter /FlateDecode[^>]*?>>\s*stream\r?\n(.*?)\r?\nendstream",
            pdf,
            flags=re.DOTALL,
        )
    }
    pages = re.findall(rb"/Type /Page\b.*?/Contents (\d+) 0 R", pdf, flags=re.DOTALL)
    return [streams[int(number)] for number in pages]


@pytest.mark.parametrize("paper", PAPER)
@pytest.mark.parametrize("kind", KINDS)
def test_a_printed_report_has_several_pages_and_none_is_blank(browser, reports, kind, paper):
    browser.get(reports[kind].as_uri())
    printed = browser.execute_cdp_cmd("Page.printToPDF", PAPER[paper])
    pages = pages_of(base64.b64decode(printed["data"]))
    assert len(pages) > 1
    assert [len(commands) for commands in pages if len(commands) < BLANK_PAGE] == []


def test_paper_is_white_and_has_no_controls_even_at_night(browser, reports):
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": features})
    try:
        browser.get(reports["numbers"].as_uri())
        assert browser.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        for name in ("nav", ".slider", ".skip"):
            assert not browser.find_element("css selector", name).is_displayed()
        assert browser.find_element("id", "glossary").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def test_the_first_page_is_whole_without_a_script(start_browser, reports):
    page = start_browser()
    page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    page.get(reports["numbers"].as_uri())
    first = page.find_element("id", "first")
    assert "wine.csv, cut into 3 groups" in first.text
    assert len(first.find_elements("css selector", ".card")) == 3
    assert first.find_element("css selector", ".map svg").size["height"] > 100

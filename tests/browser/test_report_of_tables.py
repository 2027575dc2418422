"""The report of a table with levels in a real browser: names of any length and any script stay in their place."""

import numpy as np
import pandas as pd
import pytest

from kfrc import KFRC
from kfrc_app.report import render_html, summarize

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LEVELS = [
    "<script>window.hacked = 1</script>",
    "Donaudampfschifffahrtsgesellschaftskapitän" * 8,
    "a name of many words " * 12,
    "\u05e2\u05d1\u05e8\u05d9\u05ea",
    "\N{PENGUIN}",
]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Two groups in levels with names of every kind, gaps and weights."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 60)
    color = np.array(LEVELS, dtype=object)[np.where(group == 0, rng.integers(0, 2, 120), rng.integers(2, 5, 120))]
    color[::9] = None
    frame = pd.DataFrame(
        {
            "x": 3.0 * group + rng.normal(size=120),
            "a column with a very long name, with spaces and commas in it, that goes on and on": pd.Categorical(color),
            "day": pd.to_datetime("2020-01-01") + pd.to_timedelta(60 * group + rng.integers(0, 40, 120), unit="D"),
        }
    )
    weights = rng.integers(1, 4, 120).astype(float)
    model = KFRC(2, n_starts=1, random_state=0).fit(frame, sample_weight=weights)
    path = tmp_path_factory.mktemp("tables") / "report.html"
    path.write_text(render_html(summarize(model, frame, weights=weights, source="levels.csv")), encoding="utf-8")
    return path


def test_the_page_is_quiet_and_runs_no_name(browser, report):
    browser.get_log("browser")
    browser.get(report.as_uri())
    assert browser.get_log("browser") == []
    assert browser.execute_script("return window.hacked === undefined")
    assert browser.find_element("id", "levels").is_displayed()


@pytest.mark.parametrize("width", [390, 1200])
def test_long_names_need_no_sideways_scrolling(start_browser, report, width):
    page = start_browser(width, 844)
    page.get(report.as_uri())
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    outside = page.execute_script(
        "return [...document.querySelectorAll('h1, h2, h3, p, dd, li, .card, .notes')]"
        ".filter((e) => !e.closest('.scroll, nav') && e.getBoundingClientRect().right > innerWidth + 1)"
        ".map((e) => e.outerHTML)"
    )
    assert outside == []


def test_nothing_sticks_out_of_its_cell(browser, report):
    browser.get(report.as_uri())
    broken = browser.execute_script(
        "return [...document.querySelectorAll('#levels td, #levels th, #profiles td, #importance th')]"
        ".filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.outerHTML)"
    )
    assert broken == []

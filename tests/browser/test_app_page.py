"""The page of `kfrc app` in a real browser: every step by mouse and keyboard, quiet, offline, kind to mistakes.

The way from a table to its groups is in test_walk.py."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from browser.page import Page
from kfrc_app.server import security
from kfrc_app.server.door import leading_to
from waiting import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HOSTILE = [
    "<img src=x onerror=window.hacked=1>",
    '"><script>window.hacked = 1</script>',
    "{{ 7 * 7 }} ${window.hacked = 1} '; alert(1) //",
    "\u05e2\u05d1\u05e8\u05d9\u05ea \u202e desrever",
    "\N{WINE GLASS}\N{FAMILY} e\u0301",
    "very long " + "long" * 60,
    "x=drop,when",
]
HOSTILE_SHEET = "<img src=x onerror=hacked()>"  # as long as names of sheets may be


@pytest.fixture(scope="module")
def long_table(folder):
    """A table that takes many seconds."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(1500, 12)) + 5.0 * (np.arange(1500) % 3)[:, None]
    path = folder / "long.csv"
    pd.DataFrame(values, columns=[f"x{j}" for j in range(12)]).to_csv(path, index=False)
    return path


def test_nothing_on_the_way_in_is_refused_however_long_a_browser_stays_there(browser, address, folder, monkeypatch):
    monkeypatch.setattr(security, "_ENTRY", security._ENTRY.replace('content="0;', 'content="1;'))
    page = Page(browser, address.text).come_anew()
    with leading_to(address.text, folder) as path:
        browser.get(path.as_uri())
        page.until(lambda: browser.title.startswith("Find groups"))
    assert page.complaints == []


def test_a_run_is_cancelled_and_another_one_started(page, long_table, browser):
    page.give_and_wait(long_table)
    page.click("go")
    page.until(lambda: page.text("work-text").startswith("Looking for groups"))
    steps = page["work-steps"].find_elements("tag name", "li")
    assert [step.get_attribute("class") for step in steps] == ["past", "now", "", ""]
    assert not page["columns-body"].is_displayed()
    assert re.search(r" s so far\. A table of this size usually takes .*\.$", page.text("work-time"))
    with page.on_a_phone():
        assert page.overflow <= 0
        assert page.too_small == []
    page.click("cancel")
    page.until(lambda: not page["result"].is_displayed())
    assert browser.switch_to.active_element.get_attribute("id") == "groups-title"
    assert page["columns-body"].is_displayed()
    page.quick()
    page.click("go")
    page.until_shown("work")
    page.click("cancel")
    page.until(lambda: not page["result"].is_displayed())
    assert page.complaints == []


def test_a_wrong_file_is_told_beside_the_place_where_it_was_given(page, folder, browser, table):
    picture = folder / "picture.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9)
    page.give(picture)
    page.until_shown("file-problem")
    problem = page.text("file-problem")
    assert problem.endswith(".")
    assert "Traceback" not in problem
    assert not page["columns"].is_displayed()
    assert browser.switch_to.active_element.get_attribute("id") == "chosen"
    empty = folder / "empty.csv"
    empty.write_text("")
    page.give(empty)
    page.until(lambda: "empty" in page.text("file-problem"))
    browser.execute_script("document.getElementById('chosen').dataset.most = 10")
    page.give(table)
    page.until(lambda: "megabytes" in page.text("file-problem"))
    assert "0 at most" not in page.text("file-problem")
    browser.execute_script("document.getElementById('chosen').dataset.most = 1e9")
    page.give_and_wait(table)
    assert not page["file-problem"].is_displayed()


def test_a_type_that_does_not_fit_and_a_wrong_number_are_told_beside_them(page, table, browser):
    page.give_and_wait(table)
    page.choose(4, "weight")
    beside = page["use-4"].find_element("xpath", "..").text
    assert "Weights must be numbers" in beside
    page.click("go")
    assert "marked above" in page.text("groups-problem")
    page.choose(4, "drop")
    page.quick(n_groups=999)
    page.click("go")
    page.until(lambda: "from 2 to 50" in page.text("groups-problem"))
    assert not page["result"].is_displayed()
    assert browser.switch_to.active_element.get_attribute("id") == "n-groups"
    page.quick(n_groups=29)
    page.choose(1, "drop")
    page.choose(2, "drop")
    page.choose(3, "drop")
    assert "nothing to" in page.text("columns-problem").lower()


def test_a_question_of_the_file_has_to_be_answered_and_can_be_answered_anew(page, folder):
    path = folder / "marks.csv"
    path.write_text("a;b\n" + "".join(f"{k % 7 + 1},{100 + 7 * k};{k % 5}\n" for k in range(20)))
    page.give_and_wait(path)
    page.click("go")
    assert "Answer the question" in page.text("groups-problem")
    assert not page["result"].is_displayed()
    page.click("answer-0-1")
    page.settle()
    assert page["answer-0-1"].is_selected()
    assert "1100 to" in page["column-rows"].text
    page.click("answer-0-0")
    page.settle()
    assert "1.1 to" in page["column-rows"].text


def test_a_sheet_is_chosen(page, folder):
    path = folder / "two.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"a": range(9), "b": range(9)}).to_excel(book, sheet_name="First", index=False)
        pd.DataFrame({"c": range(7), "d": range(7), "e": range(7)}).to_excel(
            book, sheet_name=HOSTILE_SHEET, index=False
        )
    page.give_and_wait(path)
    assert page.text("kept-size") == "9 rows, 2 columns"
    from selenium.webdriver.support.ui import Select

    Select(page["sheet"]).select_by_visible_text(HOSTILE_SHEET)
    page.until(lambda: page.text("kept-size") == "7 rows, 3 columns")
    assert page["sheet"].find_elements("tag name", "img") == []


def test_hostile_names_are_text_everywhere(page, folder, browser, address):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(24, len(HOSTILE))) + 6.0 * (np.arange(24) % 2)[:, None], columns=HOSTILE)
    frame["level <b>x</b>"] = np.array(HOSTILE[:2])[np.arange(24) % 2]
    frame["id"] = [f"<svg onload=window.hacked=1> {k}" for k in range(24)]
    path = folder / ("<img src=x onerror=window.hacked=1> \u202e" + "n" * 100 + ".csv")
    frame.to_csv(path, index=False)
    page.give_and_wait(path)
    assert page.text("kept-name").startswith("<img src=x onerror")
    names = [cell.text for cell in page["column-rows"].find_elements("css selector", "th")]
    assert names[:3] == HOSTILE[:3]
    assert page.overflow <= 0
    page.quick()
    page.click("go")
    page.until_shown("done")
    with page.on_a_phone():
        assert page.overflow <= 0
        assert page.too_small == []
    assert page.read_report(lambda b: "<img src=x" in b.find_element("tag name", "body").text)
    browser.switch_to.frame(page["report"])
    assert browser.execute_script("return window.hacked") is None
    browser.switch_to.default_content()
    assert browser.execute_script("return window.hacked") is None
    assert (
        browser.execute_script("return document.querySelectorAll('#column-rows img, #column-rows script').length") == 0
    )
    assert page.complaints == []
    assert page.hosts == {f"127.0.0.1:{address.port}"}


def test_two_tabs_work_independently_and_loading_again_loses_nothing(page, browser, table, long_table):
    page.give_and_wait(table)
    page.choose(3, "drop")
    first, home = browser.current_window_handle, browser.current_url
    browser.switch_to.new_window("tab")
    try:
        browser.get(home)
        page.give_and_wait(long_table)
        page.click("go")
        page.until_shown("work")
        second = browser.current_window_handle
        browser.switch_to.window(first)
        page.quick()
        page.click("go")
        page.until_shown("work")
        browser.switch_to.window(second)
        browser.refresh()
        page.until_shown("work")
        assert page.text("kept-name") == "long.csv"
        page.click("cancel")
        page.until(lambda: not page["result"].is_displayed())
        browser.close()
    finally:
        browser.switch_to.window(first)
    page.until_shown("done")
    assert "people.csv" in page.text("done-text")
    browser.refresh()
    page.until_shown("done")
    assert page.text("columns-short-text").startswith("2 columns")


def test_a_server_that_is_killed_in_mid_run_is_told_with_what_to_do(browser, long_table, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "kfrc_app", "app", "--no-browser"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    try:
        found = Page(browser, re.search(r"http\S+", process.stdout.readline())[0]).open()
        found.give_and_wait(long_table)
        found.click("go")
        found.until(lambda: found.text("work-text").startswith("Looking"))
        process.kill()
        found.until_shown("lost")
        assert "kfrc app" in found.text("lost")
        assert found.text("result-heading") == "Not finished"
        assert found.browser.switch_to.active_element.get_attribute("id") == "lost"
    finally:
        process.kill()
        process.communicate()
    wait_until(lambda: not list(tmp_path.glob("kfrc-app-*")))


def test_everything_can_be_done_with_the_keyboard(page, browser, table):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    def press(*keys):
        ActionChains(browser).send_keys(*keys).perform()

    def focused():
        return browser.switch_to.active_element

    def tab_to(name):
        for _ in range(60):
            if focused().get_attribute("id") == name:
                return
            press(Keys.TAB)
        raise AssertionError(f"{name} cannot be reached")

    tab_to("chosen")
    assert (
        browser.execute_script("return getComputedStyle(document.querySelector('label[for=chosen]')).outlineStyle")
        != "none"
    )
    page.give_and_wait(table)  # the window in which a file is chosen belongs to the browser
    page.until(lambda: focused().get_attribute("id") == "columns-title")
    tab_to("use-3")
    press("L")  # as in "Leave out"
    page.settle()
    assert page.use(3) == "drop"
    assert focused().get_attribute("id") == "use-3"
    tab_to("find-out")
    press(Keys.ARROW_DOWN)
    assert page["given"].is_selected()
    tab_to("n-groups")
    press(Keys.BACKSPACE, "2")
    browser.execute_script("document.querySelector('input[name=refits][value=\"0\"]').checked = true")
    press(Keys.ENTER)
    page.until_shown("done")
    assert focused().get_attribute("id") == "result-title"
    assert "2 groups" in page.text("done-text")
    assert page.text("work-said") == "The report is ready."


def test_a_phone_shows_the_columns_without_scrolling_sideways(page, table, folder):
    wide = pd.read_csv(table)
    wide["x" * 90] = range(len(wide))
    path = folder / ("y" * 90 + ".csv")
    wide.to_csv(path, index=False)
    with page.on_a_phone():
        assert page.overflow <= 0
        page.give_and_wait(path)
        assert page.overflow <= 0
        page.choose(2, "ordinal")
        assert page.overflow <= 0
        assert page.too_small == []


CONTRAST = """
const luminance = (color) => {
  const [r, g, b] = color.match(/[0-9.]+/g).map(Number).map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const back = (e) => {
  for (; e; e = e.parentElement) {
    const color = getComputedStyle(e).backgroundColor;
    if (color !== "rgba(0, 0, 0, 0)") return color;
  }
  return "rgb(255, 255, 255)";
};
return [...document.querySelectorAll("h1, h2, p, li, th, td, label, button, .button, select, legend, small")]
  .filter((e) => e.offsetParent && e.innerText.trim() && !e.closest("[disabled], .unseen"))
  .map((e) => {
    const [a, b] = [luminance(getComputedStyle(e).color), luminance(back(e))].sort((x, y) => y - x);
    return [(a + 0.05) / (b + 0.05), e.outerHTML.slice(0, 90)];
  })
  .filter(([ratio]) => ratio < 4.5);
"""


def test_text_can_be_read_in_light_and_in_dark(page, browser, table):
    def in_both():
        return {scheme: page.in_scheme(scheme, CONTRAST) for scheme in ("light", "dark")}

    background = "return getComputedStyle(document.body).backgroundColor"
    assert page.in_scheme("light", background) == "rgb(255, 255, 255)" != page.in_scheme("dark", background)
    assert in_both() == {"light": [], "dark": []}
    page.give_and_wait(table)
    assert in_both() == {"light": [], "dark": []}


def test_who_has_no_table_can_try_one(page):
    page.click("try")
    page.until_shown("columns-body")
    assert page.text("kept-name") == "wines.csv"
    assert page.text("kept-size") == "178 rows, 15 columns"
    assert page.use(0) == "names"


def test_many_columns_are_shown_in_pages_and_can_be_searched(page, folder):
    rng = np.random.default_rng(3)
    path = folder / "many.csv"
    pd.DataFrame(rng.normal(size=(12, 130)), columns=[f"question {j}" for j in range(130)]).to_csv(path, index=False)
    page.give_and_wait(path)
    assert len(page["column-rows"].find_elements("tag name", "tr")) == 50
    page.click("later")
    page.click("later")
    assert page.text("page-shown") == "101 to 130 of 130 columns"
    page["filter"].send_keys("question 77")
    assert [cell.text for cell in page["column-rows"].find_elements("css selector", "th")] == ["question 77"]


def test_the_page_uses_no_term_of_the_trade(page, browser, table):
    page.give_and_wait(table)
    browser.execute_script("document.querySelector('details').open = true")
    words = (browser.find_element("tag name", "body").text + page.browser.title).lower()
    for term in (
        "cluster",
        "fuzz",
        "membership",
        "eigen",
        "kernel",
        "bandwidth",
        "nominal",
        "ordinal",
        "numeric",
        "null",
    ):
        assert term not in words, term

"""The page of `kfrc app` in a real browser: every step by mouse and keyboard, quiet, offline, kind to mistakes."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pytest

from kfrc_app.server.door import leading_to
from kfrc_app.server.serve import serving

pytestmark = pytest.mark.browser

PATIENCE = 90  # seconds, on a busy machine
HOSTILE = [
    "<img src=x onerror=window.hacked=1>",
    '"><script>window.hacked = 1</script>',
    "{{ 7 * 7 }} ${window.hacked = 1} '; alert(1) //",
    "\u05e2\u05d1\u05e8\u05d9\u05ea \u202e desrever",
    "\N{WINE GLASS}\N{FAMILY} e\u0301",
    "very long " + "long" * 60,
    "x=drop,when",
]
STILL = {"name": "prefers-reduced-motion", "value": "reduce"}  # nothing is clicked while it moves
HOSTILE_SHEET = "<img src=x onerror=hacked()>"  # as long as names of sheets may be
QUICK = {"refits": "0", "how-many": "number"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def table(folder):
    """A small table with all kinds of columns, as a CSV file."""
    rng = np.random.default_rng(0)
    group = np.arange(30) % 2
    frame = pd.DataFrame(
        {
            "person": [f"P{k}" for k in range(30)],
            "height": (170 + 15 * group + rng.normal(size=30)).round(1),
            "answer": np.array(["low", "medium", "high"])[np.clip(2 * group + rng.integers(-1, 1, 30), 0, 2)],
            "color": np.array(["red", "blue"])[group],
            "remark": [f"said {rng.integers(1e9)}" for _ in range(30)],
        }
    )
    path = folder / "people.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def long_table(folder):
    """A table that takes many seconds."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(1500, 12)) + 5.0 * (np.arange(1500) % 3)[:, None]
    path = folder / "long.csv"
    pd.DataFrame(values, columns=[f"x{j}" for j in range(12)]).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with serving(parent=tmp_path_factory.mktemp("app")) as found:
        yield found


class Page:
    """What a person does with the page."""

    def __init__(self, browser, address):
        self.browser, self.address = browser, address

    def open(self):
        self.browser.get_log("browser")
        self.browser.get_log("performance")
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [STILL]})
        self.browser.get(self.address)
        self.until(lambda: "token" not in self.browser.current_url)
        self.browser.execute_script("sessionStorage.clear()")
        self.browser.refresh()
        return self

    def __getitem__(self, name):
        return self.browser.find_element("id", name)

    def text(self, name):
        return self[name].text

    def until(self, condition, seconds=PATIENCE):
        from selenium.common.exceptions import StaleElementReferenceException
        from selenium.webdriver.support.ui import WebDriverWait

        waiting = WebDriverWait(self.browser, seconds, ignored_exceptions=[StaleElementReferenceException])
        return waiting.until(lambda _: condition())

    def until_shown(self, name):
        self.until(lambda: self[name].is_displayed())

    def click(self, name):
        element = self[name]
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        element.click()

    def give(self, path):
        self["chosen"].send_keys(str(path))

    def give_and_wait(self, path):
        self.give(path)
        self.until_shown("columns-body")

    def choose(self, place, use):
        """Say what a column is, and wait until that is understood."""
        from selenium.webdriver.support.ui import Select

        Select(self[f"use-{place}"]).select_by_value(use)
        self.settle()

    def settle(self):
        self.until(
            lambda: self.browser.execute_script("return document.getElementById('columns-status').textContent") == ""
        )

    def use(self, place):
        return self[f"use-{place}"].get_attribute("value")

    def quick(self, n_groups=2):
        """Ask for a number of groups, without checking them."""
        for name, value in QUICK.items():
            script = f'document.querySelector(\'input[name="{name}"][value="{value}"]\').click()'
            self.browser.execute_script(script)
        self.browser.execute_script("document.getElementById('n-groups').value = arguments[0]", str(n_groups))

    def read_report(self, found):
        """What a function finds in the report."""
        self.browser.switch_to.frame(self["report"])
        try:
            return self.until(lambda: found(self.browser))
        finally:
            self.browser.switch_to.default_content()

    @property
    def complaints(self):
        return [entry["message"] for entry in self.browser.get_log("browser")]

    @property
    def hosts(self):
        """Where requests went."""
        messages = [json.loads(entry["message"])["message"] for entry in self.browser.get_log("performance")]
        sent = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        return {
            urlsplit(url).netloc
            for url in sent
            if urlsplit(url).scheme not in ("data", "blob", "about", "chrome", "file")
        }

    @contextmanager
    def on_a_phone(self):
        """For the time of a block."""
        size = {"width": 375, "height": 740, "deviceScaleFactor": 1, "mobile": False}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        yield
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**size, "width": 1200, "height": 900})

    def in_scheme(self, scheme, script):
        """What a script finds in light or in dark."""
        features = [{"name": "prefers-color-scheme", "value": scheme}, STILL]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        return self.browser.execute_script(script)

    @property
    def too_small(self):
        """What a finger cannot press."""
        return self.browser.execute_script(
            "return [...document.querySelectorAll('button, .button, select, input:not([type=radio]):not([type=file])')]"
            ".filter((e) => e.offsetParent && e.offsetHeight < 32).map((e) => e.outerHTML)"
        )

    @property
    def overflow(self):
        """How far the page is wider than its window."""
        return self.browser.execute_script("return document.documentElement.scrollWidth - window.innerWidth")

    def fetched(self, path):
        """A file as the page can download it."""
        script = (
            "const [path, done] = arguments; fetch(path).then((r) => r.arrayBuffer())"
            ".then((b) => done(Array.from(new Uint8Array(b))))"
        )
        return bytes(self.browser.execute_async_script(script, path))


@pytest.fixture
def page(browser, address):
    return Page(browser, address.text).open()


def test_a_table_is_given_understood_changed_clustered_and_downloaded(page, address, table, folder, browser):
    browser.delete_all_cookies()
    with leading_to(address.text, folder) as path:  # as a browser is started
        browser.get(path.as_uri())
        page.until(lambda: browser.title.startswith("Find groups"))
    assert "token" not in browser.current_url
    assert browser.execute_script("return document.cookie") == ""
    browser.refresh()
    page.give_and_wait(table)
    assert page.text("kept-name") == "people.csv"
    assert page.text("kept-size") == "30 rows, 5 columns"
    assert [page.use(k) for k in range(5)] == ["names", "numeric", "ordinal", "nominal", "drop"]
    assert "remarks" in page["why-4"].text

    known = page["column-rows"].find_element("css selector", "details.order summary")
    assert known.text == "From “low” to “high”"
    known.click()
    order = page["column-rows"].find_elements("css selector", ".order li span")
    assert [item.text for item in order] == ["low", "medium", "high"]
    page.click("up-2-2")
    page.settle()
    assert [item.text for item in page["column-rows"].find_elements("css selector", ".order li span")][1] == "high"
    page.choose(2, "nominal")
    assert not page["column-rows"].find_elements("css selector", ".order")
    page.choose(2, "ordinal")
    assert page.use(2) == "ordinal"
    assert browser.switch_to.active_element.get_attribute("id") == "use-2"
    page.click("up-2-2")
    page.settle()
    page.click("down-2-1")
    page.settle()
    page.choose(3, "drop")
    assert page.text("columns-summary").startswith("2 columns will be used")

    page.quick()
    page.click("go")
    page.until_shown("work")
    assert browser.switch_to.active_element.get_attribute("id") == "result-title"
    page.until_shown("done")
    assert page.text("done-text").startswith("people.csv, cut into 2 groups.")
    assert page.read_report(lambda b: "people.csv" in b.find_element("tag name", "body").text)

    links = {link.text.partition("\n")[0]: link for link in page["downloads"].find_elements("tag name", "a")}
    run = re.search(r"/runs/(\w+)/report", page["report"].get_attribute("src"))[1]
    summary = json.loads(page.fetched(f"runs/{run}/files/summary.json"))
    assert "--types 'answer=ordinal:low<medium<high'" in json.dumps(summary)

    first = browser.current_window_handle
    page["downloads"].find_element("css selector", "a[target=_blank]").click()
    page.until(lambda: len(browser.window_handles) == 2)
    browser.switch_to.window(next(handle for handle in browser.window_handles if handle != first))
    page.until(lambda: "people.csv" in browser.find_element("tag name", "body").text)
    browser.close()
    browser.switch_to.window(first)

    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})
    name = "people with groups.csv"
    browser.execute_script("arguments[0].click()", links["Download CSV"])
    page.until(lambda: (folder / name).exists())
    content = page.fetched(f"runs/{run}/files/clustered.csv")
    page.until(lambda: (folder / name).read_bytes() == content)
    rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
    assert len(rows) == 31
    assert rows[1][0] == "P0"

    assert page.complaints == []
    assert page.hosts == {f"127.0.0.1:{address.port}"}


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
    end = time.monotonic() + 20
    while list(tmp_path.glob("kfrc-app-*")) and time.monotonic() < end:
        time.sleep(0.1)
    assert list(Path(tmp_path).glob("kfrc-app-*")) == []


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

"""The documentation site in a browser: no errors, no requests elsewhere, pictures, search, dark mode, a phone."""

import functools
import http.server
import json
import threading
from pathlib import Path

import pytest

from waiting import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SITE = Path(__file__).resolve().parents[2] / "docs" / "_build" / "html"
PAGES = [
    "index.html",
    "reference/api/kfrc.KFRC.html",
    "reference/api/kfrc.metrics.html",
    "gallery/index.html",
    "gallery/pictures/biplot.html",
    "tutorials/run/survey.html",
]
PHONE = 390


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files without a log."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    if not (SITE / "index.html").exists():
        pytest.skip("needs the built site: make docs")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=SITE))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def requested(browser):
    """Addresses that the browser asked for since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [message for message in messages if message["method"] == "Network.requestWillBeSent"]
    return [message["params"]["request"]["url"] for message in sent]


def wait_for(browser, script):
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, PATIENCE).until(lambda driver: driver.execute_script(script))


@pytest.mark.parametrize("page", PAGES)
def test_pages_have_no_errors_ask_nobody_else_and_show_their_pictures(browser, address, page):
    requested(browser)
    browser.get_log("browser")
    browser.get(f"{address}/{page}")
    wait_for(browser, "return document.readyState === 'complete'")
    assert not [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    asked = requested(browser)
    assert asked
    assert not [url for url in asked if not url.startswith((address, "data:", "blob:"))]
    broken = "return [...document.images].filter(i => i.loading !== 'lazy' && !i.naturalWidth).map(i => i.src)"
    assert browser.execute_script(broken) == []


def test_search_works_in_pages_that_are_opened_as_files(browser, address):
    browser.get_log("browser")
    browser.get(f"{(SITE / 'search.html').as_uri()}?q=collapse")
    assert wait_for(browser, "return document.querySelectorAll('#search-results li').length > 3")  # one after the other
    assert not [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def test_the_site_is_dark_where_the_reader_wants_it_dark(browser, address):
    def ground(scheme):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        browser.get(f"{address}/index.html")
        color = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in color[color.index("(") + 1 : -1].split(",")[:3])

    try:
        assert ground("dark") < 150 < 600 < ground("light")
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_no_page_is_wider_than_a_phone(start_browser, address):
    phone = start_browser(PHONE, 844)
    wide = []
    for page in [*PAGES, "decisions/README.html", "reproduction.html", "coming-from.html"]:
        phone.get(f"{address}/{page}")
        if phone.execute_script("return document.documentElement.scrollWidth") > PHONE:
            wide.append(page)
    assert wide == []

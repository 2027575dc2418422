"""A headless Chromium, or a skip that says what is missing; the page of `kfrc app` in it, and a table to give it."""

import shutil

import numpy as np
import pandas as pd
import pytest

from browser.page import Page
from kfrc_app.server.serve import serving
from waiting import PATIENCE

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def start_browser(tmp_path_factory):
    """Start a browser of a given window size; all are closed at the end."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium: pip install selenium")
    binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        missing = "chromium" if binary is None else "chromedriver"
        pytest.skip(f"needs {missing} on the path, for instance: apt-get install chromium chromium-driver")
    started = []

    def start(width=1200, height=900):
        options = webdriver.ChromeOptions()
        options.binary_location = binary
        profile = tmp_path_factory.mktemp("profile")
        for flag in [*FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        started.append(browser)
        browser.set_page_load_timeout(PATIENCE)
        browser.set_script_timeout(PATIENCE)
        # The window of a headless browser has a least width; the viewport has none.
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        return browser

    yield start
    for browser in started:
        browser.quit()


@pytest.fixture(scope="session")
def browser(start_browser):
    return start_browser()


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    with serving(parent=tmp_path_factory.mktemp("app")) as found:
        yield found


@pytest.fixture
def page(browser, address):
    return Page(browser, address.text).open()

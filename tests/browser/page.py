"""What a person does with the page of `kfrc app`."""

from __future__ import annotations

import json
from contextlib import contextmanager
from urllib.parse import urlsplit

from waiting import PATIENCE

STILL = {"name": "prefers-reduced-motion", "value": "reduce"}  # nothing is clicked while it moves
QUICK = {"refits": "0", "how-many": "number"}


class Page:
    """What a person does with the page."""

    def __init__(self, browser, address):
        self.browser, self.address = browser, address

    def come_anew(self):
        """Without a cookie, from nowhere: a page that is still open asks for its icon last, and would be refused it."""
        self.browser.get("about:blank")
        self.browser.execute_cdp_cmd("Network.clearBrowserCookies", {})
        self.browser.get_log("browser")
        self.browser.get_log("performance")
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [STILL]})
        return self

    def open(self):
        self.come_anew()
        self.browser.get(self.address)
        self.until(lambda: "token" not in self.browser.current_url)
        self.browser.execute_script("sessionStorage.clear()")
        self.browser.refresh()
        return self

    def __getitem__(self, name):
        return self.browser.find_element("id", name)

    def text(self, name):
        return self[name].text

    def until(self, condition):
        from selenium.common.exceptions import StaleElementReferenceException
        from selenium.webdriver.support.ui import WebDriverWait

        waiting = WebDriverWait(self.browser, PATIENCE, ignored_exceptions=[StaleElementReferenceException])
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

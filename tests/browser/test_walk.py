"""The page of `kfrc app` in a real browser, from a table to its groups."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

from browser.page import Page
from kfrc_app.server.door import leading_to

pytestmark = pytest.mark.browser


def test_a_table_is_given_understood_changed_clustered_and_downloaded(address, table, folder, browser):
    page = Page(browser, address.text).come_anew()
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

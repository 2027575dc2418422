"""The report in a real browser: quiet, offline, alive under pointer and keyboard, readable on a phone."""

import json

import pytest
from sklearn.datasets import load_wine

from kfrc import KFRC
from kfrc_app.report import render_html, summarize
from kfrc_app.report.pictures import picture_data

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HOSTILE = [
    "<script>window.hacked = 1</script>",
    "\"two\" 'one'",
    "emoji \N{WINE GLASS}",
    "\u05e2\u05d1\u05e8\u05d9\u05ea",
]
PIXELS = "return document.getElementById(arguments[0]).toDataURL()"
TWO_FRAMES = "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report with hostile column names and row names, as a file."""
    wine = load_wine(as_frame=True).data
    wine.columns = HOSTILE + list(wine.columns[len(HOSTILE) :])
    model = KFRC(3, level=1.0, n_starts=2, random_state=0).fit(wine.to_numpy())
    ids = [f"<b>wine</b> {k}" for k in range(len(wine))]
    facts = summarize(model, wine, ids=ids, labels=load_wine().target, source="wine.csv", command="kfrc fit wine.csv")
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render_html(facts), encoding="utf-8")
    return path, facts


@pytest.fixture
def page(browser, report):
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(report[0].as_uri())
    return browser


def by_id(page, name):
    element = page.find_element("id", name)
    page.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
    # The scroll event, which hides the tooltip, comes with the next frame.
    page.execute_async_script(TWO_FRAMES)
    return element


def point_at(page, element, x=0, y=0):
    """The tooltip that appears at an offset from the middle of an element; a busy browser may take its time."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.support.ui import WebDriverWait

    tooltip = page.find_element("id", "tooltip")

    def shown(_):
        ActionChains(page).move_to_element_with_offset(element, x, y).perform()
        return tooltip.is_displayed()

    WebDriverWait(page, 20).until(shown)
    return tooltip


def press(page, element, key):
    from selenium.webdriver.common.action_chains import ActionChains

    page.execute_script("arguments[0].focus({preventScroll: true})", element)
    ActionChains(page).send_keys(key).perform()


def requests(page):
    messages = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


def test_opens_without_errors_and_without_requests(page, report):
    by_id(page, "m-slider")
    urls = requests(page)
    assert [url for url in urls if not url.startswith("data:")] == [report[0].as_uri()]
    assert page.get_log("browser") == []
    assert page.find_element("id", "headline").text == report[1].opening.title


def test_slider_changes_picture_and_numbers(page, report):
    from selenium.webdriver.common.keys import Keys

    path = picture_data(report[1])["path"]
    slider = by_id(page, "m-slider")
    shown = {name: page.execute_script(PIXELS, name) for name in ("band-canvas", "path-sphere")}
    assert float(page.find_element("id", "m-value").text) == pytest.approx(path["steps"][path["fitted"]]["m"], rel=0.01)
    press(page, slider, Keys.END)
    last = path["steps"][-1]
    assert float(page.find_element("id", "m-value").text) == pytest.approx(last["m"], rel=0.01)
    assert page.find_element("id", "m-uniformity").text == f"{last['uniformity']:.2f}"
    assert "Fuzzier than the fit" in page.find_element("id", "m-message").text
    assert "fuzziness" in slider.get_attribute("aria-valuetext")
    assert float(page.find_element("id", "m-cursor").get_attribute("x1")) == pytest.approx(100)
    for name, before in shown.items():
        assert page.execute_script(PIXELS, name) != before
    page.find_element("id", "m-reset").click()
    assert page.execute_script(PIXELS, "band-canvas") == shown["band-canvas"]


def test_pointing_at_the_sphere_shows_a_row(page, report):
    canvas = by_id(page, "sphere-canvas")
    assert not page.find_element("id", "tooltip").is_displayed()
    # The front-most row, as the page itself projects it; offsets count from the middle of the canvas.
    x, y = page.execute_script(
        """
        const canvas = arguments[0], xyz = JSON.parse(document.getElementById("data").textContent).points.xyz;
        const r = canvas.dataset.rotation.split(" ").map(Number), radius = 0.45 * canvas.clientWidth;
        const dot = (k, p) => r[k] * p[0] + r[k + 1] * p[1] + r[k + 2] * p[2];
        const p = xyz.reduce((a, b) => (dot(6, b) > dot(6, a) ? b : a));
        return [Math.round(radius * dot(0, p)), Math.round(-radius * dot(3, p))];
        """,
        canvas,
    )
    tooltip = point_at(page, canvas, x, y)
    assert "row <b>wine</b> " in tooltip.text
    assert f"A · {report[1].groups[0].name}"[:30] in tooltip.text
    assert "label (not used)" in tooltip.text
    assert tooltip.find_elements("tag name", "b") == []


def test_arrow_keys_and_dragging_rotate_the_sphere(page):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    canvas = by_id(page, "sphere-canvas")
    pictures = [page.execute_script(PIXELS, "sphere-canvas")]
    for key in (Keys.ARROW_LEFT, Keys.ARROW_UP):
        press(page, canvas, key)
        pictures.append(page.execute_script(PIXELS, "sphere-canvas"))
    ActionChains(page).drag_and_drop_by_offset(canvas, 60, 20).perform()
    pictures.append(page.execute_script(PIXELS, "sphere-canvas"))
    assert len(set(pictures)) == 4
    press(page, canvas, Keys.HOME)
    ActionChains(page).move_to_element(page.find_element("id", "headline")).perform()
    assert page.execute_script(PIXELS, "sphere-canvas") == pictures[0]


def test_heat_map_shows_a_row(page):
    assert "row <b>wine</b> " in point_at(page, by_id(page, "heat-canvas")).text


def test_hostile_names_appear_as_text(page):
    names = [name.text for name in page.find_elements("css selector", "#importance tbody th")]
    assert set(HOSTILE) <= set(names)
    assert page.execute_script("return window.hacked") is None


def test_everything_in_the_pictures_can_be_reached_by_keyboard(page):
    reachable = page.execute_script(
        "return [...document.querySelectorAll('a[href], button, input, [tabindex=\"0\"]')].map((e) => e.id)"
    )
    assert {"sphere-canvas", "path-sphere", "m-slider", "m-reset"} <= set(reachable)
    unnamed = page.execute_script(
        "return [...document.querySelectorAll('canvas, [role=img], [role=region]')]"
        ".filter((e) => !e.getAttribute('aria-label')).map((e) => e.id)"
    )
    assert unnamed == []


def test_reliability_curve_and_choice_are_drawn_inside_their_boxes(page):
    plot = by_id(page, "reliability").find_element("css selector", ".plot")
    inside = page.execute_script(
        """
        const box = arguments[0].getBoundingClientRect();
        return [...arguments[0].querySelectorAll(".series path")].map((dot) => dot.getBoundingClientRect())
            .every((r) => r.left >= box.left - 12 && r.right <= box.right + 12 && r.top >= box.top - 12);
        """,
        plot,
    )
    assert inside
    assert "(chosen)" in by_id(page, "choice").text


def test_dark_mode_repaints_the_pictures(page):
    before = page.execute_script(PIXELS, "heat-canvas")
    feature = {"name": "prefers-color-scheme", "value": "dark"}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    try:
        page.execute_async_script(TWO_FRAMES)
        paper = page.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert paper == "rgb(20, 23, 27)"
        assert page.execute_script(PIXELS, "heat-canvas") != before
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_phone_needs_no_sideways_scrolling(start_browser, report):
    phone = start_browser(390, 844)
    phone.get(report[0].as_uri())
    width = phone.execute_script("return document.documentElement.scrollWidth")
    assert phone.execute_script("return window.innerWidth") == 390
    assert width <= 390
    broken = phone.execute_script(
        "return [...document.querySelectorAll('#choice td, #choice tbody th')]"
        ".filter((e) => e.clientHeight > 45).length"
    )
    assert broken == 0
    outside = phone.execute_script(
        "return [...document.querySelectorAll('h1, h2, p, canvas, dd, li, .card, .chart')]"
        ".filter((e) => !e.closest('.scroll, nav') && e.getBoundingClientRect().right > 391).map((e) => e.outerHTML)"
    )
    assert outside == []

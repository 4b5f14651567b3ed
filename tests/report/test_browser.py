"""The pages in a browser: they sort, search, fit a phone and a sheet, and all can read them."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from axe_core_python.selenium import Axe
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from kernelwise.app.inspection import check_model
from kernelwise.app.report import write_report
from kernelwise.svm import AdaptiveKernelSVC, RelevanceSVC

from ..loop import loop
from .evaluations import NASTY, evaluation, number_evaluation, stability

pytestmark = pytest.mark.slow

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
N_MANY = 5000


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("no browser: chromium and chromedriver must be on the PATH for these tests")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=driver)
    browser = webdriver.Chrome(options=options, service=service)
    yield browser
    browser.quit()


def checks():
    """Return all checks of a model, of words, numbers and gaps."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=[f"column {k}" for k in (1, 2, 3)])
    X["column 4"] = rng.choice(["north", "south"], 120)
    X.loc[::6, "column 3"] = np.nan
    y = np.where(X["column 1"] + (X["column 4"] == "north") > 0.5, "yes", "no")
    return check_model(RelevanceSVC().fit(X, y), X, y, n_resamples=2)


def checked_evaluation():
    """Return an evaluation with probabilities."""
    made = evaluation()
    yes = 0.5 + 0.2 * made.held_out.decision
    return replace(made, held_out=replace(made.held_out, proba=np.column_stack([1 - yes, yes])))


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return the address of each page: of a small and of a large report."""
    import matplotlib.pyplot as plt
    from sklearn.datasets import load_iris

    plt.switch_backend("Agg")
    folder = tmp_path_factory.mktemp("pages")
    model = AdaptiveKernelSVC().fit(*load_iris(return_X_y=True))
    made, many = evaluation(), evaluation(N_MANY)
    write_report(
        made, folder / "report.html", model=model, stability=stability(made), model_file="m.kw"
    )
    write_report(checked_evaluation(), folder / "checked.html", checks=checks(), data_name="a.csv")
    write_report(replace(many, columns=many.columns[:5]), folder / "many.html")
    write_report(number_evaluation(), folder / "numbers.html")
    return {path.stem: path.as_uri() for path in folder.glob("*.html")}


def show(browser, address, *, width=1100, scheme="light", media="screen"):
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [feature]})
    set_width(browser, width)
    browser.get(address)


def set_width(browser, width):
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def names(browser):
    """Return the columns of the table of weights that can be seen, in their order."""
    return browser.execute_script(
        "return [...document.querySelectorAll('#weights-table tbody tr')]"
        ".filter(row => !row.hidden).map(row => row.querySelector('.name').textContent)"
    )


def button(browser, text):
    heads = browser.find_elements(By.CSS_SELECTOR, "#weights-table thead th")
    return next(head for head in heads if head.text.startswith(text))


@loop("page", ["report", "checked", "numbers"])
@loop("scheme, width", [("light", 1100), ("dark", 1100), ("light", 340)])
def test_everybody_can_read_it(browser, pages, page, scheme, width):
    show(browser, pages[page], width=width, scheme=scheme)
    browser.execute_script("document.querySelectorAll('details').forEach(e => { e.open = true; })")
    found = Axe().run(browser)
    assert [
        (each["id"], each["help"], [node["html"][:200] for node in each["nodes"]])
        for each in found["violations"]
    ] == []
    assert len(found["passes"]) > 15
    background = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    light = sum(map(int, background.removeprefix("rgb(").removesuffix(")").split(","))) > 3 * 128
    assert light == (scheme == "light")


@loop("page", ["report", "checked", "many", "numbers"])
def test_page_does_not_scroll_sideways(browser, pages, page):
    show(browser, pages[page])
    for width in (320, 390, 1100):
        set_width(browser, width)
        wide, room = browser.execute_script(
            "const page = document.documentElement; return [page.scrollWidth, page.clientWidth]"
        )
        assert wide <= room <= width


@loop("page", ["report", "checked", "numbers"])
def test_tables_fit_a_sheet(browser, pages, page):
    show(browser, pages[page], media="print", width=718)  # A4 within Chromium's margins
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    assert wide <= 718


@loop("page", ["report", "numbers"])
def test_no_errors_and_no_requests(browser, pages, page):
    show(browser, "about:blank")
    for kind in ("browser", "performance"):
        browser.get_log(kind)  # what was said before
    show(browser, pages[page])
    assert browser.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        each["params"]["request"]["url"]
        for each in messages
        if each["method"] == "Network.requestWillBeSent"
    ]
    assert asked == [pages[page]]


def test_buttons_sort_both_ways(browser, pages):
    show(browser, pages["report"])
    first = names(browser)
    assert first[0] == NASTY
    head = button(browser, "column")
    head.find_element(By.TAG_NAME, "button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert names(browser)[1:4] == ["column 1", "column 2", "column 3"]  # 10 comes later
    head.find_element(By.TAG_NAME, "button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert names(browser)[0] == "column 29"
    share = button(browser, "share")
    share.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)  # by keyboard as well
    assert (share.get_attribute("aria-sort"), head.get_attribute("aria-sort")) == (
        "descending",
        "none",
    )
    assert names(browser) == first


def test_every_button_sorts_its_table(browser, pages):
    show(browser, pages["report"])
    browser.get_log("browser")
    browser.execute_script("document.querySelectorAll('details').forEach(e => { e.open = true; })")
    buttons = browser.find_elements(By.CSS_SELECTOR, "thead button")
    assert len(buttons) > 20
    for each in buttons:
        browser.execute_script("arguments[0].click()", each)
        assert each.find_element(By.XPATH, "..").get_attribute("aria-sort") != "none"
    assert browser.get_log("browser") == []
    column = (
        "return [...document.querySelectorAll('#scores-table tbody .name')]"
        ".map(name => name.textContent)"
    )
    heads = browser.find_elements(By.CSS_SELECTOR, "#scores-table thead button")
    assert heads[1].text == "accuracy, %"
    browser.execute_script("arguments[0].click()", heads[1])
    assert browser.execute_script(column) == [
        "RelevanceSVC", "SVC()", "shares of the classes", "grid <i>search</i>",
    ]  # fmt: skip


def test_search_leaves_what_matches(browser, pages):
    show(browser, pages["report"])
    field = browser.find_element(By.ID, "weights-table-search")
    field.send_keys("Column 2")
    assert set(names(browser)) == {"column 2", *(f"column {k}" for k in range(20, 30))}
    assert browser.find_element(By.ID, "weights-table-count").text == "11 of 30 rows"
    field.clear()
    field.send_keys("<script>")
    assert names(browser) == [NASTY]
    field.clear()
    field.send_keys(" ")
    assert len(names(browser)) == 30


def test_thousands_of_columns_stay_usable(browser, pages):
    show(browser, pages["many"])
    sort = button(browser, "column").find_element(By.TAG_NAME, "button")
    seconds = browser.execute_script(
        "const begin = performance.now(); arguments[0].click(); document.body.offsetHeight;"
        "return (performance.now() - begin) / 1000",
        sort,
    )
    assert seconds < 5
    assert len(names(browser)) == N_MANY
    browser.find_element(By.ID, "weights-table-search").send_keys("column 4999")
    assert names(browser) == ["column 4999"]
    height = browser.execute_script("return document.documentElement.scrollHeight")
    assert height < 10_000  # the table scrolls in its own box


def test_paper_has_no_controls_and_not_thousands_of_rows(browser, pages):
    show(browser, pages["many"], media="print", scheme="dark")
    shown = "return [...document.querySelectorAll(arguments[0])].filter(e => e.offsetHeight).length"
    assert browser.execute_script(shown, "nav, .search") == 0
    assert browser.execute_script(shown, "#weights-table tbody tr") == 50
    said = [each.text for each in browser.find_elements(By.CLASS_NAME, "paper")]
    assert said == ["The first 50 of 5000 rows are printed."]
    colours = browser.execute_script(
        "const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]"
    )
    assert colours == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]


def test_keyboard_reaches_the_content_first(browser, pages):
    show(browser, pages["report"])
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    focused = browser.switch_to.active_element
    assert focused.text == "To the content"
    assert focused.is_displayed()

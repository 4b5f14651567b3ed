"""Pages of models in a browser: they predict as Python does, and everybody can use them."""

import io
import json
import shutil

import numpy as np
import pandas as pd
import pytest
from axe_core_python.selenium import Axe
from numpy.testing import assert_allclose
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from kernelwise import RelevanceSVC
from kernelwise.app.page import write_model_page
from kernelwise.app.tabular import check_new_rows, read_table
from kernelwise.app.tabular.column_values import as_days, as_numbers
from kernelwise.app.tabular.column_values import as_text as as_text_of
from kernelwise.values.dates import DATE_FORMATS

from ..loop import loop
from ..report.test_browser import FLAGS, show
from .models import MODELS, TARGET, as_read, as_text, fitted, new_table, visits

pytestmark = pytest.mark.slow

TOLERANCE = 1e-9
PREDICT = """
const { rows } = fieldsOfTable(MODEL, readTable(arguments[0]));
return rows.map((values) => {
  const answer = answerOf(values);
  if (IS_NUMBER) return answer.numbers.map(({ value, low, high }) => [value, low, high]);
  return [answer.scores, answer.probabilities, answer.predicted];
});
"""
CHECK = """
const { checks } = fieldsOfTable(MODEL, readTable(arguments[0]));
return checks.map(({ name, notes, unusable, selected }) => [name, notes, unusable, selected]);
"""


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
    browser = webdriver.Chrome(
        options=options, service=webdriver.ChromeService(executable_path=driver)
    )
    yield browser
    browser.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return the addresses of a page of classes, with nearest rows, and of one of numbers."""
    folder = tmp_path_factory.mktemp("pages")
    rows, signal = visits(260)
    rows[TARGET] = signal.round(2)
    paths = {}
    for name, own in (("three classes", as_read(rows)), ("numbers", None)):
        path = folder / f"{len(paths)}.html"
        paths[name] = write_model_page(fitted(name), path, target=TARGET, rows=own).as_uri()
    return paths


def agreement(browser, model, folder):
    """Return the largest differences between a page and Python on new rows."""
    browser.get(write_model_page(model, folder / "model.html", target=TARGET).as_uri())
    table = new_table(model)
    rows = as_read(table)
    if not hasattr(model, "columns_"):
        found = browser.execute_script(PREDICT, as_text(table))
    else:
        columns = list(model.columns_.names)
        found = browser.execute_script(PREDICT, as_text(table[columns]))
        if not hasattr(model, "feature_names_in_"):
            rows = rows.to_numpy()
        else:
            rows = rows[list(model.feature_names_in_)]
    assert len(found) == len(rows) == 1000
    if not hasattr(model, "classes_"):
        return number_agreement(model, rows, np.array(found))
    probabilities, decisions = model.predict_proba(rows), model.decision_function(rows)
    assert_allclose([each[1] for each in found], probabilities, rtol=0, atol=TOLERANCE)
    scores = np.reshape([each[0] for each in found], decisions.shape)
    assert_allclose(scores, decisions, rtol=TOLERANCE, atol=TOLERANCE)
    assert (model.classes_[[each[2] for each in found]] == model.predict(rows)).all()
    return probabilities


def number_agreement(model, rows, found):
    final = model if hasattr(model, "columns_") else model[-1]
    encoded = rows if final is model else model[0].transform(rows)
    value = final.predict(encoded)
    low, high = final.predict_interval(encoded)
    known = np.stack([each.reshape(len(rows), -1) for each in (value, low, high)], axis=2)
    assert_allclose(found, known, rtol=TOLERANCE, atol=TOLERANCE * np.abs(known).max())
    return value


@loop("name", MODELS)
def test_page_predicts_as_python_does(browser, tmp_path_factory, name):
    """On 1,000 rows with gaps, unseen levels, odd numbers and odd dates."""
    found = agreement(browser, fitted(name), tmp_path_factory.mktemp("agreement"))
    assert np.std(found, axis=0).max() > 0.05


def odd_tables():
    """Return tables that are unusual each in another way."""
    plain = visits(80, 2)[0]
    out = {"plain": plain, "one row": plain[:1], "odd cells": visits(200, 3, new=True)[0]}
    for name, column, cells in (
        ("all missing", "age", ""),
        ("a gap too many", "dose", ["", "1"]),
        ("words for numbers", "dose", ["much", "little", "3"]),
        ("far numbers", "age", "4e6"),
        ("a little outside", "age", "120"),
        ("numbers for dates", "admitted", "20220301"),
        ("days below 13", "admitted", ["01.02.2022", "03.04.2022"]),
        ("old dates", "seen", "1960-01-01 10:00"),
        ("new words", "ward", ["Nord", "Süd", "it's", "Ost"]),
        ("truth in small letters", "paid", ["true", "false"]),
        ("another pair", "smoker", ["ja", "nein"]),
    ):
        cells = [cells] if isinstance(cells, str) else cells
        out[name] = plain.assign(**{column: (cells * 80)[:80]})
    return out


def test_tables_are_checked_as_predict_does(browser, pages):
    """With the same notes, and the same columns called unusable, for the columns of the form."""
    model = fitted("three classes")
    browser.get(pages["three classes"])
    kept = browser.execute_script("return MODEL.fields.map((field) => field.name)")
    assert len(kept) > 4
    n_notes = 0
    for name, table in odd_tables().items():
        known = [
            [check.name, list(check.notes), check.unusable, check.selected]
            for check in check_new_rows(model, as_read(table))
            if check.notes and check.name in kept
        ]
        found = browser.execute_script(CHECK, as_text(table))
        assert sorted(found) == sorted(known), name
        n_notes += len(known)
    assert n_notes > 15


@loop(
    ("text", "message"),
    [
        ("", "the table is empty."),
        ("age,dose\n", "the table has column names, but no rows."),
        ("age,dose\n1,2\n", "the table lacks columns that the model needs"),
        ("1,2\n1,2\n", "the first line has only numbers"),
        ("age,age\n1,2\n", "two columns are called 'age'"),
        ("age,dose\n1\n", "row 1 has 1 fields, but the first line names 2 columns."),
        ('age,dose\n"1,2\n', "a closing quotation mark is missing."),
    ],
)
def test_tables_that_cannot_be_read(browser, pages, text, message):
    browser.get(pages["three classes"])
    browser.execute_script("element('text').value = arguments[0]", text)
    browser.find_element(By.ID, "predict").click()
    said = browser.find_element(By.ID, "problem").text
    assert said.lower().startswith(message.lower())
    assert not browser.find_element(By.ID, "predictions").is_displayed()


@loop(("separator", "decimal"), [(",", "."), (";", ","), ("\t", "."), ("|", ",")])
def test_separators_and_decimal_signs_are_detected(browser, pages, separator, decimal):
    """Numbers with commas, quoted cells with separators and line breaks, empty lines."""
    browser.get(pages["three classes"])
    table = visits(60, 4)[0]
    table["age"] = table["age"].str.replace(".", decimal)
    table["dose"] = table["dose"].str.replace(".", decimal)
    table["cost"] = "12.5" if decimal == "." else "12,5"
    table["town"] = 'a "quoted"' + separator + "\ncell"
    text = table.to_csv(index=False, sep=separator, lineterminator="\r\n") + "\r\n"
    known = fitted("three classes").predict_proba(read(text))
    found = browser.execute_script(PREDICT, text)
    assert_allclose([each[1] for each in found], known, rtol=0, atol=TOLERANCE)


CELLS = (
    ("1", "2", "-3", "+5", "1e5", ".5", "5.", "1.5e-3", "007", "123456789012345"),
    ("1.5", "2.25", "-0.125", "1e300", "1e-7", "123456789.123", "1e22"),
    ("TRUE", "true", "False", "FALSE"),
    ("1,234", "1,234.5", "$3", "€ 4.5", "(12)", "5 %", "-$7", "$-7", "1'000", "1 000", "- 5"),
    ("a", "b c", "ünï", "it's", "A", "1a", " lead", "trail ", 'a "q"', "a,b;c"),
    ("1_000", "0x10", "inf", "-Infinity", "nan", "1e400", "1d5", "1e", "--", "..", "unknown"),
    ("2020-01-05", "2020-1-5", "2020-01-05 10:00", "2020-01-05T10:00:30.25Z", "2020-02-30"),
    ("20200105", "2020-01-05 10:00:00+0130", "5 Mar 2020", "5 March 2020", "Mar 5, 2020"),
    (
        "31.12.2020",
        "1.2.2020",
        "01.13.2020",
        "1.2.20",
        "03/04/2020 7:05",
        "2020/03/04",
        "5-may-2020",
    ),
    ("1,5", "2,75", "-3,125", "1.234,5", "12.345"),
)
GAPS = ("", "NA", "?", "-", ".", "n/a", "NULL", "None")
READ = """
const table = readTable(arguments[0]), known = (value) => (Number.isFinite(value) ? value : null);
return table.names.map((name) => {
  const column = table.columns.get(name), read = (field) => fieldValues(field, column).map(known);
  const dates = arguments[1].map((format) => read({ kind: "date", format }));
  return [column.words, read({ kind: "number", decimal: ".", unit: 1 }), ...dates];
});
"""


def random_table(rng):
    """Return a table of odd cells as text."""
    rows = int(rng.integers(1, 9))
    columns = {}
    for name in ("a", "b", "c"):
        kinds = rng.choice(len(CELLS), rng.choice([1, 1, 2]), replace=False)
        cells = [cell for kind in kinds for cell in CELLS[kind]]
        columns[name] = [rng.choice(GAPS if rng.random() < 0.2 else cells) for _ in range(rows)]
    separator, quoting = str(rng.choice([",", ";", "\t", "|"])), int(rng.choice([0, 1]))
    return pd.DataFrame(columns).to_csv(index=False, sep=separator, quoting=quoting)


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")  # numbers as dates
def test_odd_cells_are_read_as_python_reads_them(browser, pages):
    """Words, numbers and dates of every format in 300 tables of odd cells."""
    browser.get(pages["three classes"])
    rng = np.random.default_rng(0)
    for _ in range(300):
        text = random_table(rng)
        frame = read(text)
        found = browser.execute_script(READ, text, list(DATE_FORMATS))
        for name, (words, *values) in zip(frame.columns, found, strict=True):
            assert words == as_text_of(frame[name]).tolist(), text
            known = [as_numbers(frame[name]), *(as_days(frame[name], f) for f in DATE_FORMATS)]
            assert_allclose(np.array(values, dtype=float), known, rtol=1e-15, err_msg=text)


def test_table_becomes_predictions_and_a_row_returns_to_the_form(browser, pages):
    browser.get(pages["numbers"])
    table = visits(120, 5)[0].assign(**{"other, column": "x"})
    browser.execute_script("element('text').value = arguments[0]", as_text(table))
    browser.find_element(By.ID, "predict").click()
    said = browser.find_element(By.ID, "summary").text
    assert said == "120 rows predicted. The first 100 are shown."
    rows = browser.find_elements(By.CSS_SELECTOR, "#predicted tbody tr")
    assert len(rows) == 100
    notes = browser.find_element(By.ID, "notes").text
    assert "columns that the model does not know are left out: 'other, column'" in notes
    model = fitted("numbers")
    first = f"{model.predict(as_read(visits(120, 5)[0]))[7]:.9g}"
    assert rows[7].find_element(By.TAG_NAME, "td").text == first
    browser.execute_script("arguments[0].click()", rows[7].find_element(By.CSS_SELECTOR, "button"))
    value = browser.execute_script("return answerOf(state.values).numbers[0].value")
    assert f"{value:.9g}" == first


def test_files_are_read_in_their_encoding(browser, pages, tmp_path):
    """And what is no text is refused by name; a control character is a space."""
    open_form(browser, pages["numbers"])
    text = as_text(visits(30, 6)[0].assign(town="Zürich\x07 Süd"))
    known = fitted("numbers").predict(read(text.replace("\x07", " ")))
    for k, content in enumerate((text.encode(), text.encode("utf-16"), text.encode("cp1252"))):
        path = tmp_path / f"{k}.csv"
        path.write_bytes(content)
        browser.find_element(By.ID, "file").send_keys(str(path))
        wait_for(browser, "last !== null")
        found = browser.execute_script("return last.answers.map((each) => each.numbers[0].value)")
        assert_allclose(found, known, rtol=TOLERANCE)
        town = browser.execute_script("return last.table.columns.get('town').words[0]")
        assert town == "Zürich  Süd"
        browser.execute_script("last = null")
    for k, (content, message) in enumerate(((b"PK\x03\x04", "spreadsheet"), (b"a\0b", "not text"))):
        path = tmp_path / f"bad {k}.csv"
        path.write_bytes(content)
        browser.find_element(By.ID, "file").send_keys(str(path))
        wait_for(browser, "!element('problem').hidden")
        assert message in browser.find_element(By.ID, "problem").text


# --- The form -------------------------------------------------------------------------------------

AGE = "MODEL.fields.findIndex((field) => field.name === 'age')"


def open_form(browser, address):
    """Open a page, and wait for its curves."""
    show(browser, address, width=1200)
    wait_for_curves(browser)


def wait_for_curves(browser):
    wait_for(browser, "element('fields').dataset.ready === String(state.turn)")


def wait_for(browser, condition):
    browser.execute_async_script(
        "const done = arguments[0];"
        f"const look = () => ({condition}) ? done() : setTimeout(look, 10); look();"
    )


def form_row(browser, n=1):
    """Return the row of the form as a table for Python; columns that are not read are anyhow."""
    browser.find_element(By.ID, "example").click()
    own = read(browser.execute_script("return element('text').value"))
    rows = as_read(visits(260)[0]).iloc[[0] * n].reset_index(drop=True)
    return rows.assign(**{name: [own[name][0]] * n for name in own})


def read(text):
    return read_table(io.StringIO(text))


def control(browser, name, tag="input"):
    box = browser.find_element(By.CSS_SELECTOR, f'.field[aria-label="{name}"]')
    return box.find_element(By.CSS_SELECTOR, tag)


def test_curves_and_contributions_are_those_of_the_model(browser, pages):
    """A curve is what the model predicts along a column; a contribution is less its mean."""
    open_form(browser, pages["numbers"])
    model = fitted("numbers")
    grid, weights, curve, whole, amount = browser.execute_script(
        f"const f = {AGE}, field = MODEL.fields[f], whole = outputOf(answerOf(state.values), 0);"
        "const curve = curveOf(state.values, f, 0);"
        "return [field.grid, field.weights, curve, whole, contributionOf(field, curve, whole)]"
    )
    rows = form_row(browser, len(grid)).assign(age=np.array(grid, dtype=float))
    assert_allclose(curve, model.predict(rows), rtol=TOLERANCE)
    assert_allclose(whole, model.predict(form_row(browser))[0], rtol=TOLERANCE)
    assert_allclose(sum(weights), 1, atol=1e-6)
    assert_allclose(amount, whole - np.dot(weights, curve) / sum(weights), rtol=1e-6)
    assert np.ptp(curve) > 0.1 * whole


def test_prediction_follows_every_control(browser, pages):
    """Of a slider, a number, a level, a gap, a date, by keyboard; and back again."""
    open_form(browser, pages["numbers"])
    model, headline = fitted("numbers"), browser.find_element(By.ID, "value")
    start = headline.text
    seen = [start]
    for name, tag, keys in (
        ("age", "input[type=range]", Keys.ARROW_RIGHT * 9),
        ("age", "input[type=text]", Keys.CONTROL + "a" + Keys.NULL + "31.5"),
        ("ward", "select", "south"),
        ("plan", "input[type=checkbox]", Keys.SPACE),
    ):
        control(browser, name, tag).send_keys(keys)
        value = model.predict(form_row(browser))[0]
        assert float(headline.text.replace(",", "")) == float(f"{value:.5g}"), name
        seen.append(headline.text)
    assert len(set(seen)) == 5, seen
    text = control(browser, "age", "input[type=text]")
    text.send_keys(Keys.CONTROL + "a" + Keys.NULL + "900")
    assert "outside the training range" in control(browser, "age", ".hint").text
    text.send_keys(Keys.CONTROL + "a" + Keys.NULL + "many")
    assert "not a number" in control(browser, "age", ".hint").text
    browser.find_element(By.ID, "reset").click()
    assert headline.text == start
    assert control(browser, "age", ".hint").text == ""


def test_interval_has_the_level_that_is_chosen(browser, pages):
    open_form(browser, pages["numbers"])
    model = fitted("numbers")
    row = model[0].transform(form_row(browser))
    for text, level in (("50 %", 0.5), ("95 %", 0.95)):
        Select(browser.find_element(By.ID, "level")).select_by_visible_text(text)
        low, high = model[-1].predict_interval(row, level)
        shown = browser.find_element(By.ID, "range").text.replace(",", "").split(" ")
        assert [float(shown[0]), float(shown[2])] == [float(f"{x[0]:.5g}") for x in (low, high)]


def test_nearest_rows_are_those_of_the_model(browser, pages):
    """By the weights of its prior; the row itself is the first, with its target."""
    open_form(browser, pages["three classes"])
    table, signal = visits(260)
    browser.execute_script("element('text').value = arguments[0]", as_text(table[40:41]))
    browser.find_element(By.ID, "predict").click()
    row = browser.find_element(By.CSS_SELECTOR, "#predicted tbody button")
    browser.execute_script("arguments[0].click()", row)
    cells = browser.find_elements(By.CSS_SELECTOR, "#near-rows tbody tr:first-child td")
    assert [cell.text for cell in cells[:2]] == ["> 99.9 %", str(signal.round(2)[40])]
    model, rows = fitted("three classes"), as_read(table)
    (member,) = model[-1]._models_
    weighed = zip(member.mixture.weights, member.parts, strict=True)
    joints = [(weight, part.model) for weight, part in weighed if part.name == "joint"]
    joint = max(joints, key=lambda each: each[0])[1]
    E = model[-1]._encoded(model[0].transform(rows))
    own = member.columns.rows(E[:, member.encoded])
    distances = own.part([40]).distances(own, joint.prior.w)[0]
    known = np.argsort(distances, kind="stable")[:5].tolist()
    found = browser.execute_script("return nearestRows(answerOf(state.values).E).map(({ i }) => i)")
    assert found == known


# --- Everybody ------------------------------------------------------------------------------------


@loop("page", ["three classes", "numbers"])
@loop("scheme, width", [("light", 1200), ("dark", 1200), ("light", 340), ("dark", 700)])
def test_everybody_can_read_it(browser, pages, page, scheme, width):
    show(browser, pages[page], width=width, scheme=scheme)
    wait_for_curves(browser)
    browser.find_element(By.ID, "example").click()
    found = Axe().run(browser)
    assert [
        (each["id"], each["help"], [node["html"][:200] for node in each["nodes"]])
        for each in found["violations"]
    ] == []
    assert len(found["passes"]) > 20
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    assert wide <= width


def test_no_errors_and_no_requests(browser, pages):
    for address in pages.values():
        browser.get("about:blank")
        for kind in ("browser", "performance"):
            browser.get_log(kind)  # what was said before
        open_form(browser, address)
        browser.find_element(By.ID, "example").click()
        browser.find_element(By.ID, "download").click()
        assert browser.get_log("browser") == []
        entries = browser.get_log("performance")
        messages = [json.loads(entry["message"])["message"] for entry in entries]
        asked = [
            each["params"]["request"]["url"]
            for each in messages
            if each["method"] == "Network.requestWillBeSent"
        ]
        assert [url for url in asked if not url.startswith(("blob:", "data:"))] == [address]


def test_names_of_columns_and_levels_are_text(browser, tmp_path):
    """They cannot put markup or scripts into the page."""
    nasty = "</script><script>document.title = 'bad'</script><b>&amp;"
    rng = np.random.default_rng(0)
    X = pd.DataFrame({nasty: rng.normal(size=80), "words": rng.choice(["a", "b", nasty], 80)})
    y = np.where(X[nasty] + (X["words"] == "a") > 0, nasty, "other")
    model = RelevanceSVC().fit(X, y)
    open_form(browser, write_model_page(model, tmp_path / "nasty.html", target=nasty).as_uri())
    assert browser.title == f"Predict {nasty} - kernelwise"
    assert browser.find_elements(By.CSS_SELECTOR, "main b, main script") == []
    labels = [each.text for each in browser.find_elements(By.CSS_SELECTOR, ".field header label")]
    assert sorted(labels) == sorted(map(str, X.columns))

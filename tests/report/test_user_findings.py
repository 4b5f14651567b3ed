"""What users found wrong with the report; each test names its finding."""

import re
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from kernelwise import SVC, RelevanceSVC, __version__
from kernelwise.app.cli.app import app
from kernelwise.app.inspection import (
    ColumnImportance,
    ColumnVerdicts,
    ModelChecks,
    check_model,
)
from kernelwise.app.report import write_report
from kernelwise.app.report.findings import findings, importance_text

from .evaluations import evaluation
from .test_write_report import Reader


def visits(n=240):
    """Return a table with one strong number, a category, a copy of a column, and noise."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 6)).round(3), columns=[f"lab {k}" for k in range(6)])
    frame["ward"] = rng.choice(["north", "south", "intensive"], n)
    log_odds = 3 * frame["lab 0"] + 2.0 * (frame["ward"] == "intensive")
    frame["outcome"] = np.where(rng.random(n) < 1 / (1 + np.exp(-log_odds)), "sick", "fine")
    return frame


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Return the page of ``kernelwise fit --report``."""
    folder = tmp_path_factory.mktemp("reported")
    visits().to_csv(folder / "visits.csv", index=False)
    fit = ["fit", folder / "visits.csv", "-t", "outcome", "--cv", 2, "--stability", 2,
           "--positive", "sick", "--report", folder / "visits.html"]  # fmt: skip
    result = CliRunner().invoke(app, [str(each) for each in fit])
    assert result.exit_code == 0, result.stderr
    return Reader((folder / "visits.html").read_text(encoding="utf-8"))


def section(page, name):
    """Return the text of the page from a heading on."""
    return page.words[page.words.index(name) :].replace("\u00a0", " ")


def test_13_what_leaving_a_column_out_costs_leads(page):
    said = section(page, "What was learned")
    assert re.search(
        r"Shuffling the values of \d of 7 columns raises the log loss .* lab 0 \(", said
    )
    rows = section(page, "The columns, those that cost most first")
    costs = re.findall(r"(-?[\d.]+) \((-?[\d.]+) to (-?[\d.]+)\)", rows)[:7]
    numbers = np.array(costs, dtype=float)
    assert (np.diff(numbers[:, 0]) <= 0).all()
    assert (numbers[:, 1] <= numbers[:, 0]).all()
    assert (numbers[:, 0] <= numbers[:, 2]).all()
    assert "-0.0 " not in rows


def test_13_few_columns_that_cost_something_are_named():
    loss = np.array([0.3, 0.01, np.nan, 0.2])
    found = ColumnImportance(
        ("a", "b", "c", "d"), loss, loss - 0.05, loss + 0.05, None, "log loss", 0.4, 90
    )
    told = importance_text(found)
    assert told.startswith("Shuffling the values of 2 of 3 columns raises the log loss")
    assert "a (0.3, 0.25 to 0.35) and d (0.2, 0.15 to 0.25)" in told
    nothing = ColumnImportance(("a",), loss[1:2], loss[1:2] - 1, loss[1:2] + 1, None, "x", 1, 9)
    assert importance_text(nothing).startswith("No column costs more than chance")


def test_13_the_test_stands_beside_it():
    nothing = ColumnVerdicts({"a": 0.3, "b": 0.07}, {"a": 0.3, "b": 0.14}, 100)
    told = findings(evaluation(), None, ModelChecks(verdicts=nothing))
    assert any(each.startswith("No column passes the test") for each in told)
    assert any(each.endswith("1 may matter.") for each in told)
    one = ColumnVerdicts({"a": 0.001, "b": 0.07}, {"a": 0.002, "b": 0.14}, 100)
    told = " ".join(findings(evaluation(), None, ModelChecks(verdicts=one))).replace("\u00a0", " ")
    assert "1 of 2 columns matters (false discovery rate at most 10 %): a. 1 more may." in told


def test_14_flat_columns_are_counted_and_categories_are_named(page):
    assert re.search(
        r"The probability of sick rises with lab 0; is highest for intensive", page.words
    )
    effects = section(page, "The effects in words and numbers")
    assert re.search(r"lab 0 sick rises [\d.]+ [\d.]+", effects)
    assert re.search(r"ward sick highest for intensive, lowest for (north|south)", effects)
    assert "hardly any change" not in effects
    X = np.random.default_rng(4).normal(size=(200, 4))
    model = RelevanceSVC().fit(X, X[:, 0] > 0)
    checks = check_model(model, X, X[:, 0] > 0, n_resamples=0)
    shown = checks.effects.without_flat()
    assert shown.effects[0].name == "x0"
    kept = {each.name for each in shown}
    left = [each.direction() for each in checks.effects if each.name not in kept]
    assert set(left) <= {"hardly any change"}


def test_17_the_page_says_in_plain_words_which_rows_each_step_used(page):
    used = section(page, "Rows used for each step")
    for words in (
        "2-fold cross-validation, 240 rows; none predicts its own training rows",
        "held-out importance 240 of 240, held out from clones of the model",
        "test of the columns 240 of 240",
        "resamples half of 240, 2 times",
        "effects mean over 100 of 240",
    ):
        assert words in used, words
    for inner in ("joint part", "evidence", "machines, by", "problems solved", "leave-one-out"):
        assert inner not in page.words, inner


def test_the_page_names_file_date_and_version_and_has_curves(page):
    today = datetime.now(tz=UTC).date().isoformat()
    assert f"visits.csv · {today} · kernelwise {__version__}" in page.words
    labels = [value for key, value in page.attributes if key == "aria-label"]
    assert any(label.startswith("ROC and precision-recall curves of sick") for label in labels)
    assert any(label.startswith("Effects of the columns lab 0") for label in labels)
    for words in ("area under the ROC curve", "average precision", "Brier score", "log loss",
                  "recall, %", "precision, %", "predicted probability"):  # fmt: skip
        assert words in page.words, words


def test_the_table_of_columns_is_whole(tmp_path):
    page = write_report(evaluation(80), tmp_path / "page.html").read_text(encoding="utf-8")
    start = page.index('aria-labelledby="weights-table-caption"')
    assert 'class="box whole"' in page[start - 60 : start]
    table = page[start : page.index("</table>", start)]
    assert table.count("<tr>") == 81
    assert 'class="long"' not in table
    assert ".box.whole { max-height: none; }" in page


def test_13_costs_are_shown_of_a_model_without_weights(tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(90, 3)), columns=["a", "b", "c"])
    y = np.where(X["b"] > 0, "yes", "no")
    model = SVC().fit(X, y)
    made, checks = evaluation(weights=()), check_model(model, X, y)
    path = write_report(made, tmp_path / "page.html", model=model, checks=checks)
    page = Reader(path.read_text(encoding="utf-8"))
    rows = section(page, "The columns, those that cost most first")
    assert re.search(r"1 b 0\.\d+ \(", rows)
    assert "share, %" not in rows.partition("Direction of effects")[0]
    assert "RelevanceSVC does not weight the columns." in page.words

"""What users found wrong with the report and with explanations; each test names its finding."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from kernelwise import RelevanceSVC, __version__
from kernelwise.app.cli.app import app
from kernelwise.app.inspection import ColumnVerdicts, ModelChecks, PermutationCheck, check_model
from kernelwise.app.report import write_report
from kernelwise.app.report.findings import findings, importance_text

from .evaluations import evaluation
from .test_write_report import Reader


def run(*arguments):
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exit_code == 0, result.stderr
    return result


def visits(n=240):
    """Return a table with one strong number, a category, a copy of a column, and noise."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 12)).round(3), columns=[f"lab {k}" for k in range(12)])
    frame["ward"] = rng.choice(["north", "south", "intensive"], n)
    log_odds = 3 * frame["lab 0"] + 2.0 * (frame["ward"] == "intensive")
    frame["outcome"] = np.where(rng.random(n) < 1 / (1 + np.exp(-log_odds)), "sick", "fine")
    return frame


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """Return the page of ``kernelwise fit --report``, the model file and the table."""
    folder = tmp_path_factory.mktemp("reported")
    table, model, page = folder / "visits.csv", folder / "visits.kw", folder / "visits.html"
    visits().to_csv(table, index=False)
    run("fit", table, "-t", "outcome", "--cv", 2, "--stability", 2, "--positive", "sick",
        "--out", model, "--report", page)  # fmt: skip
    return Reader(page.read_text(encoding="utf-8")), model, table


def section(page, name):
    """Return the text of the page from a heading on."""
    return page.words[page.words.index(name) :]


def test_10_held_out_importance_stands_beside_the_share(reported):
    page, _, _ = reported
    assert "loss on held-out rows" in page.words
    assert re.search(
        r"weights (agree with|and) what columns are worth on held-out rows", page.words
    )
    losses = re.findall(r"-?\d\.\d{3} ± \d\.\d{3}", section(page, "Weights, the largest first"))
    assert len(losses) >= 13


def test_10_a_loss_stays_in_one_line_and_is_no_negative_zero(reported):
    page, _, _ = reported
    losses = [text for text in page.text if re.fullmatch(r"\s*-?\d\.\d{3}.±.\d\.\d{3}\s*", text)]
    assert len(losses) >= 13
    assert all("\u00a0±\u00a0" in loss and "-0.000" not in loss for loss in losses)


def test_10_a_sentence_names_the_columns_on_which_the_two_disagree():
    names = ("a", "b", "c", "d")
    losses = np.array([[0.3, 0.31], [0.0, 0.0], [0.0, 0.001], [0.2, 0.21]])
    check = PermutationCheck(names, np.array([0.5, 0.4, 0.05, 0.05]), losses, np.empty((0, 4)))
    told = importance_text(check)
    assert "disagree (rank correlation" in told
    assert "The column b has at least an equal share of the weight, but can be shuffled" in told
    assert "The column d has less than an equal share, but shuffling has a cost." in told
    agreeing = replace(check, shares=np.array([0.5, 0.04, 0.01, 0.45]))
    assert importance_text(agreeing).startswith("The weights agree with")
    unknown = replace(check, importances=np.where(np.arange(4)[:, None] == 1, np.nan, losses))
    assert "column b" not in importance_text(unknown)


def test_13_the_report_says_which_rows_each_step_used(reported):
    page, _, _ = reported
    used = section(page, "Rows used for each step")
    for words in ("fit: weights 240 of 240", "held-out importance 72 held out, a model of the other"
                  " 168", "test of the columns 240 of 240", "resamples half of 240, 2 times",
                  "effects mean over 100 of 240", "2-fold cross-validation"):  # fmt: skip
        assert words in used


def test_13_samples_of_larger_tables_are_reported(tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 3))
    model = RelevanceSVC(weight_rows=50, path_rows=100).fit(X, X[:, 0] > 0)
    page = write_report(evaluation(), tmp_path / "page.html", model=model)
    words = Reader(page.read_text(encoding="utf-8")).words
    used = {step: count for step, count in model.rows_used_.items() if count < 300}
    assert used
    for step, count in used.items():
        assert f"fit: {step} {count} of" in words


def test_14_convergence_of_the_machines_is_not_called_the_optimum(reported):
    page, _, _ = reported
    assert "Is the optimum reached" not in page.words
    assert "Did the machines converge? Yes" in page.words
    text = section(page, "Did the machines converge?")
    assert re.search(
        r"The weights took \d+ evaluations .* the last quarter .* of the whole gain", text
    )


def test_15_explain_has_one_score_and_no_leave_one_out_error(reported):
    _, model, _ = reported
    text = run("explain", model).stdout
    assert text.count("on held-out rows") == 1
    assert "loo_error" not in text
    assert not re.search(r"\bscore\b", text)
    found = json.loads(run("explain", model, "--json").stdout)
    assert "loo_error" not in found["machine"]
    assert not {"score", "loo_error"} & set(found["path"][0])
    assert "criterion" in found["path"][0]


def test_15_the_report_shows_no_leave_one_out_error(reported):
    page, _, _ = reported
    assert "leave-one-out error" not in page.words
    assert "it is not a score" in page.words


def test_27_the_page_names_file_date_and_version(reported):
    page, _, _ = reported
    today = datetime.now(tz=UTC).date().isoformat()
    assert f"visits.csv · {today} · kernelwise {__version__}" in page.words


def test_27_the_page_has_curves_and_the_direction_of_effects(reported):
    page, _, _ = reported
    labels = [value for key, value in page.attributes if key == "aria-label"]
    assert any(label.startswith("ROC and precision-recall curves of sick") for label in labels)
    assert any(label.startswith("Effects of the columns lab 0") for label in labels)
    for words in ("area under the ROC curve", "average precision", "Brier score", "log loss",
                  "recall, %", "precision, %", "predicted probability"):  # fmt: skip
        assert words in page.words
    assert "The probability of sick rises with lab 0" in page.words
    effects = section(page, "The effects in words and numbers")
    assert re.search(r"lab 0 sick rises \d\.\d{3} \d\.\d{3}", effects)
    assert re.search(r"ward sick highest for intensive", effects)


def test_27_the_table_of_weights_is_whole(tmp_path):
    page = write_report(evaluation(80), tmp_path / "page.html").read_text(encoding="utf-8")
    start = page.index('aria-labelledby="weights-table-caption"')
    assert 'class="box whole"' in page[start - 60 : start]
    table = page[start : page.index("</table>", start)]
    assert table.count("<tr>") == 81
    assert 'class="long"' not in table
    assert ".box.whole { max-height: none; }" in page


def test_selection_with_an_error_rate_is_shown(reported):
    page, _, _ = reported
    assert "By a test on held-out rows," in page.words
    rows = section(page, "Weights, the largest first")
    assert re.search(r"1 lab 0 .{10,60} selected < 0.001", rows)
    assert re.search(r"lab \d+ .{10,60} not \d\.\d{3}", rows)


def test_a_table_without_relevant_columns_is_called_that():
    nothing = ColumnVerdicts({"a": 0.3, "b": 0.07}, {"a": 0.3, "b": 0.14}, 100)
    told = findings(evaluation(), None, ModelChecks(verdicts=nothing))[-1]
    assert told.startswith("No column passes the test on held-out rows")
    assert told.endswith("1 may matter.")
    one = ColumnVerdicts({"a": 0.001, "b": 0.07}, {"a": 0.002, "b": 0.14}, 100)
    told = findings(evaluation(), None, ModelChecks(verdicts=one))[-1].replace("\u00a0", " ")
    assert "1 of 2 columns matters (false discovery rate at most 10 %): a. 1 more may." in told


def test_effects_of_noise_are_called_flat():
    X = np.random.default_rng(4).normal(size=(200, 4))
    y = np.arange(200) % 2
    effects = check_model(RelevanceSVC().fit(X, y), X, y, n_resamples=0).effects
    small = [each for each in effects if each.range.max() < 0.02]
    assert all(each.direction() == "hardly any change" for each in small)
    assert small


def test_direction_and_reasons_are_there_for_a_model_file(reported):
    _, model, table = reported
    effects = json.loads(run("explain", model, "--json").stdout)["effects"]
    assert {each["column"]: each["direction"] for each in effects}["lab 0"] == "rises"
    found = json.loads(run("predict", model, table, "--explain", "--json").stdout)
    first = found["predictions"][0]["reasons"]
    assert {"lab 0", "ward"} <= {each["column"] for each in first}

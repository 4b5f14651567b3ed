"""``kernelwise fit`` and ``compare``: what they show, save and write."""

import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from kernelwise.app.evaluation import methods
from kernelwise.app.io import describe, load

from ..evaluation.tables import prices
from ..loop import loop
from ..tabular.tables import patients, rare


def write(frame, tmp_path):
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return path


def test_fit_shows_columns_scores_and_weights(run, table, tmp_path):
    out = tmp_path / "model.kw"
    result = run("fit", table, "-t", "outcome", "--out", out, "--test-size", 0.3)
    assert result.exit_code == 0, result.stderr
    for text in (
        "120 rows, 9 columns",
        "dropped: looks like an id",
        "add --keep patient to use a column that looks like an id",
        "-> year, month, day of week",
        "target outcome: ",
        f"model: {out}",
        "RelevanceSVC on held-out rows: log loss",
        f"kernelwise predict {out} NEW",
    ):
        assert text in result.stderr, text
    for text in ("36 of 120 rows held out", "relevance", "guessing", "forest", "svc", "age"):
        assert text in result.stdout, text
    assert "log loss that shuffling a column costs, on 36 held-out rows" in result.stdout
    assert load(out).predict(patients(120).drop(columns="outcome")).shape == (120,)


def test_a_number_is_fitted_with_its_intervals(run, price_table, tmp_path):
    page = tmp_path / "page.html"
    fit = ("fit", price_table, "-t", "price", "--cv", 2, "--report", page, "--stability", 0)
    result = run(*fit, "--json")
    assert result.exit_code == 0, result.stderr
    assert "target price: 120 numbers from " in result.stderr
    assert "RelevanceSVR on held-out rows: RMSE" in result.stderr
    numbers = json.loads(result.stdout)
    assert (numbers["task"], numbers["metric"], numbers["missing"]) == ("regression", "rmse", [])
    first, *others = numbers["scores"]
    assert first["rmse"]["mean"] < 50 < others[0]["rmse"]["mean"]
    assert {each["method"] for each in others} == {"guessing", "ridge", "forest"}
    assert {"pinball", "coverage", "width"} < set(first)
    text = page.read_text(encoding="utf-8")
    for part in ("the number price", "Do the intervals hold?", "observed against predicted price"):
        assert part in text, part


def test_the_task_is_named_where_numbers_may_be_classes(run, tmp_path):
    frame = prices(90).assign(stars=np.arange(90) % 5)
    path = write(frame, tmp_path)
    fit = ("fit", path, "-t", "stars", "--cv", 2, "--json")
    chosen = run(*fit, "--method", "svc")
    assert "stars has 5 different whole numbers, which are taken for classes" in chosen.stderr
    assert json.loads(chosen.stdout)["task"] == "classification"
    asked = run(*fit, "--task", "regression")
    assert json.loads(asked.stdout)["task"] == "regression"
    assert "--task" not in asked.stderr
    assert "'svc' is not known for regression" in run(*fit, "--method", "svc", "--task",
                                                      "regression").stderr  # fmt: skip


@pytest.mark.slow
def test_every_method_can_be_saved_and_used(run, table, tmp_path):
    names = [name for name, method in methods().items() if method.learns]
    assert len(names) == 8
    for name in names:
        out = tmp_path / f"{name}.kw"
        fit = ["fit", table, "-t", "outcome", "--method", name, "--test-size", 0.5, "-q"]
        done = run(*fit, "--out", out)
        assert (done.exit_code, done.stdout, done.stderr) == (0, "", ""), name
        predictions = run("predict", out, table).stdout.split()
        assert set(predictions) == {"prediction", "ill", "well"}, name
        assert run("explain", out).exit_code == 0, name


def test_the_report_has_the_resamples_that_were_asked_for(run, table, tmp_path):
    page = tmp_path / "report.html"
    fit = ["fit", table, "-t", "outcome", "--method", "dual-objective", "--cv", 2]
    assert run(*fit, "--report", page, "--stability", 1).exit_code == 2
    assert not page.exists()
    result = run(*fit, "--report", page, "--stability", 3)
    assert result.exit_code == 0, result.stderr
    assert f"report: {page}" in result.stderr
    assert "3 resamples" in page.read_text(encoding="utf-8")
    assert run(*fit, "--report", page, "--stability", 0, "--force").exit_code == 0
    assert "resamples" not in page.read_text(encoding="utf-8").partition("<main")[2]


def test_fit_as_json_is_json_alone(run, table):
    result = run("fit", table, "-t", "outcome", "--method", "svc", "--cv", 2, "--json")
    numbers = json.loads(result.stdout)
    assert numbers["metric"] == "log_loss"
    assert [score["method"] for score in numbers["scores"]] == ["svc", "guessing", "forest"]
    assert (numbers["weights"], numbers["model"], numbers["report"]) == ([], None, None)
    kinds = {column["name"]: column["kind"] for column in numbers["columns"]}
    assert kinds["admitted"] == "date"


def test_a_metric_is_chosen(run, table):
    fit = ("fit", table, "-t", "outcome", "--method", "svc", "--cv", 2)
    numbers = json.loads(run(*fit, "--metric", "accuracy", "--json").stdout)
    assert numbers["metric"] == "accuracy"
    assert "accuracy ± " not in run(*fit).stdout
    wrong = run(*fit, "--metric", "rmse")
    assert "metric='rmse' is not measured for this target" in wrong.stderr
    assert run(*fit, "--metric", "speed").exit_code == 2


def test_balanced_finds_the_rare_class(run, tmp_path):
    frame, out = rare(), tmp_path / "model.kw"
    path, n_rare = write(frame, tmp_path), frame["rare"].sum()
    fit = ["fit", path, "-t", "rare", "--method", "svc", "--cv", 2, "--json"]
    plain, balanced = run(*fit), run(*fit, "--balanced", "--out", out)
    assert f"target rare: {300 - n_rare} rows of 0, {n_rare} rows of 1" in plain.stderr
    assert "use --balanced, which lets all classes count alike" in plain.stderr
    assert "--balanced" not in balanced.stderr
    first, second = (json.loads(each.stdout)["scores"][0] for each in (plain, balanced))
    assert second["balanced_accuracy"]["mean"] > first["balanced_accuracy"]["mean"] + 0.1
    assert describe(out)["summary"]["balanced"]
    found = pd.read_csv(io_of(run("predict", out, path, "--proba")))
    assert found["prediction"].sum() > n_rare
    assert found["probability 1"].mean() == pytest.approx(n_rare / 300, abs=0.02)


def io_of(result):
    assert result.exit_code == 0, result.stderr
    return io.StringIO(result.stdout)


def test_integer_codes_can_be_declared_categories(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"code": rng.integers(1, 8, 120), "size": rng.normal(size=120).round(3)})
    frame["kind"] = np.where(frame["code"].isin([2, 5, 7]), "a", "b")
    path, model = write(frame, tmp_path), tmp_path / "codes.kw"
    options = ("-t", "kind", "--category", "code", "--test-size", "0.3", "--out", model, "--json")
    result = json.loads(run("fit", path, *options).stdout)
    kinds = {column["name"]: column["kind"] for column in result["columns"]}
    assert kinds == {"code": "category", "size": "number"}
    assert result["weights"][0]["column"] == "code"
    predicted = pd.read_csv(io_of(run("predict", model, path)))["prediction"]
    assert (predicted == frame["kind"]).mean() > 0.95


def test_notes_on_the_table_come_before_the_work_and_once(run, table, tmp_path):
    frame = pd.read_csv(table)
    frame["discharge"] = np.where(frame["outcome"] == "ill", "ward 3", frame["ward"])
    frame.loc[frame.index[frame["outcome"] == "well"][:10], "outcome"] = None
    frame.loc[frame.index[frame["outcome"] == "well"][:2], "outcome"] = "Well"
    result = run("fit", write(frame, tmp_path), "-t", "outcome", "--method", "svc", "--cv", 2)
    text = result.stderr
    n_well = (frame["outcome"] == "well").sum()
    for note in (
        "the model will not be saved; add --out model.kw to save it",
        "10 rows without a class are left out",
        f"the labels 'Well' (2 rows) and 'well' ({n_well} rows) differ only by case or spaces",
        "1 class of fewer than 5 rows is set aside: Well (2); --min-class 1 keeps all classes",
        "discharge predicts the target by itself (cross-validated AUC",
    ):
        assert text.count(note) == 1, note
        assert text.index(note) < text.index("on held-out rows"), note
    assert "--drop 'discharge'" in text
    fit = ("fit", tmp_path / "table.csv", "-t", "outcome", "--method", "svc", "--cv", 2)
    assert "by itself" not in run(*fit, "--drop", "discharge").stderr


def test_a_model_that_guesses_is_called_so(run, table, price_table, tmp_path):
    for path, target, loss in (
        (table, "outcome", "log loss"),
        (price_table, "price", "mean squared error"),
    ):
        frame = pd.read_csv(path)
        frame[target] = frame[target].sample(frac=1, random_state=0).to_numpy()
        result = run("fit", write(frame, tmp_path), "-t", target, "--cv", 3, "--json")
        assert f"the model is no better than guessing: its {loss}" in result.stderr, target
        assert json.loads(result.stdout)["better_than_guessing"] is False


def test_compare_has_all_methods(run, table, price_table):
    result = run("compare", table, "-t", "outcome", "--cv", 2, "--repeats", 1, "--json")
    assert result.exit_code == 0, result.stderr
    numbers = json.loads(result.stdout)
    assert {score["method"] for score in numbers["scores"]} == set(methods())
    assert all(0 <= each["p_value"] <= 1 for each in numbers["differences"])
    shown = run("compare", price_table, "-t", "price", "--cv", 2, "--repeats", 1).stdout
    for name in methods("regression"):
        assert f"\n{name} " in shown, name


@loop("columns", [60, 80])
@loop("command", ["", "fit", "predict", "score", "explain", "compare"])
def test_help_fits_and_is_plain(run, columns, command):
    shown = run(*command.split(), "--help", terminal_width=columns).stdout
    assert max(map(len, shown.splitlines())) <= columns
    assert "..." not in shown.replace("[ARGS]...", "").replace("[NAME]...", "")
    usage = shown.split("\n\n")[0]
    assert "{" not in usage
    assert not command or usage.split("[OPTIONS] ")[1].isupper()
    if command == "fit":
        assert all(name in shown for name, method in methods().items() if method.learns)


def test_the_program_itself(table):
    """One run as a process of its own: the entry point, the streams, the exit code."""
    program = [sys.executable, "-c", "from kernelwise.app.cli import main; main()"]
    done = subprocess.run([*program, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("kernelwise ")
    done = subprocess.run(
        [*program, "fit", table, "--target", "outcom"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "kernelwise: target: the table has no column 'outcom'; did you mean 'outcome'?\n"
    )


def test_missing_toolkit_is_reported_with_the_remedy():
    code = "import sys\nsys.modules['typer'] = None\nfrom kernelwise.app.cli import main\nmain()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith('pip install "kernelwise[cli]"\n')
    assert "Traceback" not in done.stderr

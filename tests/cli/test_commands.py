"""From a table to a model, an explanation and predictions, on the command line."""

import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from kernelwise.datasets import list_datasets

from kernelwise.app.evaluation import methods
from kernelwise.app.io import load

from ..tabular.tables import patients, rare


def test_fit_shows_columns_scores_and_weights(run, table, tmp_path):
    out = tmp_path / "model.kw"
    result = run("fit", table, "-t", "outcome", "--out", out, "--test-size", 0.3)
    assert result.exit_code == 0, result.stderr
    assert "dropped: looks like an id" in result.stderr
    assert "add --keep patient to use a column that looks like an id" in result.stderr
    assert f"model: {out}" in result.stderr
    for text in ("36 of 120 rows held out", "relevance", "majority", "forest", "age"):
        assert text in result.stdout
    assert "█" in result.stdout or "#" in result.stdout
    assert load(out).predict(patients(120).drop(columns="outcome")).shape == (120,)


def test_every_method_can_be_saved_and_used(run, table, tmp_path):
    names = [name for name, method in methods().items() if method.learns]
    assert len(names) == 8
    for name in names:
        out = tmp_path / f"{name}.kw"
        fit = ["fit", table, "-t", "outcome", "--method", name, "--test-size", 0.5, "-q"]
        assert run(*fit, "--out", out).stderr == ""
        predictions = run("predict", out, table).stdout.split()
        assert set(predictions) == {"prediction", "ill", "well"}
        assert run("explain", out).exit_code == 0


def test_report(run, table, tmp_path):
    page = tmp_path / "report.html"
    fit = ["fit", table, "-t", "outcome", "--method", "margin-radius", "--cv", 2]
    result = run(*fit, "--report", page)
    assert result.exit_code == 0, result.stderr
    assert f"report: {page}" in result.stderr
    text = page.read_text(encoding="utf-8")
    assert text.lstrip().lower().startswith("<!doctype html>")
    assert "outcome" in text
    assert "10 resamples" in text


def test_report_without_resamples(run, table, tmp_path):
    page = tmp_path / "report.html"
    fit = ["fit", table, "-t", "outcome", "--method", "margin-radius", "--cv", 2, "-q"]
    assert run(*fit, "--report", page, "--stability", 1).exit_code == 2
    assert not page.exists()
    assert run(*fit, "--report", page, "--stability", 0).exit_code == 0
    assert "10 resamples" not in page.read_text(encoding="utf-8")


def test_fit_as_json_is_json_alone(run, table):
    result = run("fit", table, "-t", "outcome", "--method", "svc", "--cv", 2, "--json")
    numbers = json.loads(result.stdout)
    assert numbers["metric"] == "balanced_accuracy"
    assert [score["method"] for score in numbers["scores"]] == ["svc", "majority", "forest"]
    assert numbers["weights"] == []
    assert numbers["model"] is None
    kinds = {column["name"]: column["kind"] for column in numbers["columns"]}
    assert kinds["admitted"] == "date"


def test_quiet_is_silent(run, table, tmp_path):
    result = run(
        "fit",
        table,
        "-t",
        "outcome",
        "--method",
        "svc",
        "--cv",
        2,
        "-q",
        "--out",
        tmp_path / "m.kw",
    )
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_cost_of_many_rows_is_estimated(run, tmp_path):
    path = tmp_path / "many.csv"
    patients(1100).to_csv(path, index=False)
    result = run("fit", path, "-t", "outcome", "--method", "svc", "--test-size", 0.5)
    assert result.exit_code == 0, result.stderr
    assert "4 fits, about" in result.stderr
    assert "GB of memory" in result.stderr


def test_balanced_finds_the_rare_class(run, tmp_path):
    path, out = tmp_path / "rare.csv", tmp_path / "model.kw"
    frame = rare()
    frame.to_csv(path, index=False)
    n_rare = frame["rare"].sum()
    fit = ["fit", path, "-t", "rare", "--method", "svc", "--cv", 2]
    result = run(*fit, "--json")
    assert f"target rare: {300 - n_rare} rows of 0, {n_rare} rows of 1" in result.stderr
    assert "use --balanced, which lets all classes count alike" in result.stderr
    balanced = run(*fit, "--json", "--balanced", "--proba", "--out", out)
    assert balanced.exit_code == 0, balanced.stderr
    assert "--balanced" not in balanced.stderr
    first, second = (json.loads(each.stdout)["scores"][0] for each in (result, balanced))
    assert second["balanced_accuracy"]["mean"] > first["balanced_accuracy"]["mean"] + 0.1
    assert json.loads(run("explain", out, "--json").stdout)["header"]["summary"]["balanced"]
    found = pd.read_csv(io.StringIO(run("predict", out, path, "--proba").stdout))
    assert found["prediction"].sum() > n_rare
    assert found["probability 1"].mean() == pytest.approx(n_rare / 300, abs=0.02)


def test_rows_without_a_class_are_reported_once(run, table, tmp_path):
    path = tmp_path / "gaps.csv"
    frame = patients(120)
    frame.loc[:9, "outcome"] = None
    frame.to_csv(path, index=False)
    result = run("fit", path, "-t", "outcome", "--method", "svc", "--cv", 2)
    assert result.stderr.count("10 rows without a class are left out") == 1


def test_predict_and_explain(run, table, model):
    result = run("predict", model, table, "--proba", "--keep", "patient")
    assert result.exit_code == 0, result.stderr
    found = pd.read_csv(io.StringIO(result.stdout))
    assert list(found.columns) == [
        "patient",
        "prediction",
        "probability ill",
        "probability well",
    ]
    assert len(found) == 120
    np.testing.assert_allclose(found.filter(like="probability").sum(axis=1), 1, atol=2e-6)
    assert (found["prediction"] == patients(120)["outcome"]).mean() > 0.8
    result = run("explain", model)
    assert result.exit_code == 0, result.stderr
    for text in ("outcome", "balanced accuracy on held-out rows", "RelevanceSVC", "bound", "age"):
        assert text in result.stdout
    numbers = json.loads(run("explain", model, "--json").stdout)
    assert numbers["header"]["summary"]["target"] == "outcome"
    assert numbers["header"]["summary"]["rows"] == 120
    assert sum(weight["share"] for weight in numbers["weights"]) == pytest.approx(1)
    assert numbers["path"][0]["criterion"] <= numbers["path"][1]["criterion"]


def test_explain_shows_the_direction_of_effects(run, table, model):
    result = run("explain", model)
    assert "mean probability of ill, over 100 rows" in result.stdout
    effects = json.loads(run("explain", model, "--json").stdout)["effects"]
    assert {each["class"] for each in effects} == {"ill"}
    for each in effects:
        assert len(each["values"]) == len(each["mean"])
        assert each["direction"]
    given = json.loads(run("explain", model, "--data", table, "--json").stdout)["effects"]
    assert {each["column"] for each in given} & {each["column"] for each in effects}


def test_long_names_take_three_lines_among_the_effects(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a very long name " * 12, "b"])
    frame["kind"] = np.where(frame.iloc[:, 0] > 0, "p", "q")
    path, model = tmp_path / "long.csv", tmp_path / "long.kw"
    frame.to_csv(path, index=False)
    assert run("fit", path, "-t", "kind", "--cv", 2, "--out", model).exit_code == 0
    effects = run("explain", model).stdout.partition("mean probability")[2].splitlines()
    assert 2 <= sum(line.startswith((" a ", " long", " name", " very")) for line in effects) <= 5


def test_nearest_rows_are_counted_in_the_training_table(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(90, 2)), columns=["a", "b"])
    frame["kind"] = np.where(frame["a"] > 0, "p", "q")
    frame.loc[[0, 1, 30, 50, 89], "kind"] = None
    path, model, new = tmp_path / "gaps.csv", tmp_path / "gaps.kw", tmp_path / "new.csv"
    frame.to_csv(path, index=False)
    assert run("fit", path, "-t", "kind", "--cv", 2, "--out", model).exit_code == 0
    from_file = frame.iloc[[2, 29, 31, 88]]
    from_file.to_csv(new, index=False)
    found = json.loads(run("predict", model, new, "--explain", "--json").stdout)["predictions"]
    for kind, number, each in zip(from_file["kind"], [3, 30, 32, 89], found, strict=True):
        first = each["nearest"][kind][0]
        assert first["row"] == number or first["distance"] > 0  # a model keeps some rows only
        for label, rows in each["nearest"].items():
            assert {frame["kind"][near["row"] - 1] for near in rows} == {label}
    assert any(each["nearest"][kind][0]["distance"] == 0 for kind, each in
               zip(from_file["kind"], found, strict=True))  # fmt: skip
    assert "rows without a class 5 " in " ".join(run("explain", model).stdout.split())


def test_models_without_training_rows_need_a_table_for_effects(run, table, tmp_path):
    out = tmp_path / "svc.kw"
    fitted = run("fit", table, "-t", "outcome", "--method", "svc", "--cv", 2, "--out", out)
    assert fitted.exit_code == 0, fitted.stderr
    result = run("explain", out)
    assert result.exit_code == 0, result.stderr
    assert "add --data TABLE for effects" in result.stderr
    assert "decision value of well" in run("explain", out, "--data", table).stdout
    explained = run("predict", out, table, "--explain")
    assert "reasons are against the mean of this table" in explained.stderr
    found = pd.read_csv(io.StringIO(explained.stdout))
    assert list(found.columns) == ["prediction", "reasons"]


def test_predict_gives_reasons(run, table, model):
    result = run("predict", model, table, "--explain")
    assert result.exit_code == 0, result.stderr
    found = pd.read_csv(io.StringIO(result.stdout))
    assert list(found.columns) == ["prediction", "reasons", "nearest ill", "nearest well"]
    assert found["reasons"].str.count(r" = .*? \([+-]\d+\.\d\d\)").between(1, 3).all()
    classes = patients(120)["outcome"]
    for name in ("ill", "well"):
        rows = found[f"nearest {name}"].str.split().explode().astype(int) - 1
        assert (classes[rows] == name).all()
    records = json.loads(run("predict", model, table, "--explain", "--json").stdout)["predictions"]
    sizes = [abs(each["contribution"]) for each in records[0]["reasons"]]
    assert sizes == sorted(sizes, reverse=True)
    assert [each["row"] for each in records[0]["nearest"]["ill"]] == [
        int(row) for row in found["nearest ill"][0].split()
    ]


def test_predict_takes_the_standard_input_and_writes_files(run, model, tmp_path):
    frame = patients(30, seed=1).drop(columns=["outcome", "patient", "hospital"])
    new = frame.assign(ward="new", more="x").to_csv(index=False, sep=";", decimal=",")
    out = tmp_path / "out.csv"
    result = run("predict", model, "-", "--out", out, input=new)
    assert result.exit_code == 0, result.stderr
    assert "left out: 'more'" in result.stderr
    assert "30 predictions" in result.stderr
    assert set(pd.read_csv(out)["prediction"]) == {"ill", "well"}
    assert "ward: 100 % of the rows have values not seen in training: 'new'" in result.stderr
    found = json.loads(run("predict", model, "-", "--json", input=new).stdout)
    assert len(found["predictions"]) == 30
    ward = next(check for check in found["checks"] if check["name"] == "ward")
    assert (ward["unseen"], ward["selected"]) == (1.0, False)
    assert list(tmp_path.iterdir()) == [out]


def test_fit_from_the_standard_input(run, table):
    text = table.read_text(encoding="utf-8")
    result = run("fit", "-", "-t", "outcome", "--method", "svc", "--cv", 2, input=text)
    assert result.exit_code == 0, result.stderr
    assert "not be saved; add --out" in result.stderr


def test_compare_has_all_methods(run, table):
    result = run("compare", table, "-t", "outcome", "--cv", 2, "--repeats", 1, "--json")
    assert result.exit_code == 0, result.stderr
    numbers = json.loads(result.stdout)
    names = {score["method"] for score in numbers["scores"]}
    assert {"relevance", "svc", "grid-search", "forest", "boosting", "margin-radius"} <= names
    assert all(0 <= each["p_value"] <= 1 for each in numbers["differences"])


def test_data(run, tmp_path, monkeypatch):
    assert "wine" in run("data", "list").stdout
    names = [one["name"] for one in json.loads(run("data", "list", "--json").stdout)]
    assert "digits" in names
    assert json.loads(run("data", "show", "wine", "--json").stdout)["rows"] == 178
    out = tmp_path / "wine.csv"
    assert run("data", "fetch", "wine", "--out", out).exit_code == 0
    assert pd.read_csv(out).shape == (178, 14)
    assert run("data", "fetch", "wine").stdout == out.read_text(encoding="utf-8")
    result = run("data", "show", "vine")
    assert (result.exit_code, result.stderr) == (
        1,
        "kernelwise: name='vine' is not a data set; did you mean 'wine' or 'voting'?\n",
    )
    assert "kernelwise data list show all names" in run("data", "fetch", "zzz").stderr
    monkeypatch.setenv("KERNELWISE_DATA", str(tmp_path))
    told = run("data", "fetch", "musk1").stderr
    assert "set the environment variable KERNELWISE_DATA" in told
    assert "data_dir" not in told


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_names_of_data_sets_are_never_cut(run, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = run("data", "list").stdout.splitlines()
    assert [line.split()[0] for line in lines[2:]] == [one.name for one in list_datasets()]
    assert max(map(len, lines)) <= max(columns, 80)
    assert any(line.rstrip().endswith("folder, scikit-learn, OpenML") for line in lines)


def test_a_data_set_is_shown_in_words(run):
    shown = run("data", "show", "echocardiogram").stdout
    for text in ("One malformed row", "0 (88 rows), 1 (43 rows)", "survival, which is the months"):
        assert text in " ".join(shown.split())
    facts = json.loads(run("data", "show", "echocardiogram", "--json").stdout)
    assert facts["leaks"] == ["survival", "alive_at_1"]
    assert "licence" in facts
    assert "none: a regression" in run("data", "show", "housing").stdout


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("command", [[], ["fit"], ["reproduce"], ["data"]], ids=" ".join)
def test_help_fits_and_breaks_no_name(run, columns, command):
    shown = run(*command, "--help", terminal_width=columns).stdout
    assert max(map(len, shown.splitlines())) <= columns
    assert "..." not in shown.replace("[ARGS]...", "").replace("[NAME]...", "")
    if command == ["fit"]:
        for name, method in methods().items():
            assert name in shown or not method.learns


def test_list_of_experiments_as_json_has_the_facts_of_the_table(run):
    found = json.loads(run("reproduce", "dual-objective", "--list", "--json").stdout)
    table1 = next(each for each in found if each["name"] == "dual-objective-table1")
    assert table1["tasks"]["full"] == 4200
    assert table1["cpu_seconds"]["full"] > table1["cpu_seconds"]["quick"] > 0


def test_the_program_itself(table):
    """One run as a process of its own: the entry point, the streams, the exit code."""
    program = [sys.executable, "-c", "from kernelwise.app.cli import main; main()"]
    done = subprocess.run([*program, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("kernelwise ")
    done = subprocess.run(
        [*program, "fit", table, "--target", "outcom"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        "kernelwise: target: the table has no column 'outcom'; did you mean 'outcome'?\n"
    )


def test_missing_toolkit_is_reported_with_the_remedy():
    code = "import sys\nsys.modules['typer'] = None\nfrom kernelwise.app.cli import main\nmain()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith('pip install "kernelwise[cli]"\n')
    assert "Traceback" not in done.stderr

"""The command that scores a saved model on new rows."""

import json

import pandas as pd
import pytest

from ..tabular.tables import patients


@pytest.fixture(scope="module")
def holdout(tmp_path_factory):
    path = tmp_path_factory.mktemp("holdout") / "later.csv"
    frame = patients(90, seed=4)
    frame.assign(dose=frame["dose"] + 5).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_score_shows_metrics_calibration_and_drift(run, model, holdout, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    result = run("score", model, holdout)
    assert result.exit_code == 0, result.stderr
    assert "at fit: balanced accuracy" in result.stderr
    for text in ("average precision", "95 % interval", "guessing", "calibration", "observed"):
        assert text in result.stdout
    assert "drift against training: 1 of 6 columns" in result.stdout
    row = next(line for line in result.stdout.splitlines() if line.startswith("dose"))
    assert "Kolmogorov-Smirnov" in row
    assert max(map(len, result.stdout.splitlines())) <= max(columns, 80)


def test_score_as_json(run, model, holdout):
    found = json.loads(run("score", model, holdout, "--json").stdout)
    assert set(found["metrics"]) == {
        "accuracy",
        "balanced_accuracy",
        "auc",
        "average_precision",
        "log_loss",
        "brier",
    }
    assert found["positive"] == "ill"
    assert found["drift"][0]["column"] == "dose"
    assert sum(bin["rows"] for bin in found["calibration"]) == found["n_rows"] == 90
    assert {check["name"] for check in found["checks"]} >= {"age", "dose"}


def test_score_refuses_what_it_cannot_use(run, model, holdout):
    frame = pd.read_csv(holdout)
    renamed = frame.rename(columns={"outcome": "result"}).to_csv(index=False)
    assert "no column 'outcome'" in run("score", model, "-", input=renamed).stderr
    assert run("score", model, "-", "-t", "result", input=renamed).exit_code == 0
    garbage = frame.assign(age="old").to_csv(index=False)
    assert "relies on the column 'age'" in run("score", model, "-", input=garbage).stderr
    assert run("score", model, "-", "--allow", input=garbage).exit_code == 0

"""The command that scores a saved model on later rows, of classes and of numbers."""

import json

import pandas as pd
import pytest

from ..evaluation.tables import prices
from ..tabular.tables import patients


@pytest.fixture(scope="module")
def later(folder):
    """Return the later rows of both tables; one column has drifted in each."""
    people, flats = patients(90, seed=4), prices(90, seed=4)
    files = folder / "later patients.csv", folder / "later prices.csv"
    people.assign(dose=people["dose"] + 5).to_csv(files[0], index=False)
    flats.assign(noise=flats["noise"] + 2).to_csv(files[1], index=False)
    return files


def test_metrics_calibration_and_drift_are_shown(run, model, price_model, later, monkeypatch):
    cases = (
        (model, later[0], "dose", "log loss", ("average precision", "probability")),
        (price_model, later[1], "noise", "RMSE", ("coverage of 90 % intervals", "intervals")),
    )
    for columns in (60, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        for fitted, path, drifting, metric, words in cases:
            result = run("score", fitted, path)
            assert result.exit_code == 0, result.stderr
            assert f"at fit: {metric}" in result.stderr
            for text in (*words, "95 % interval", "guessing", "observed"):
                assert text in result.stdout, text
            assert "drift against training: 1 of " in result.stdout
            row = next(line for line in result.stdout.splitlines() if line.startswith(drifting))
            assert "Kolmogorov-Smirnov" in row
            assert max(map(len, result.stdout.splitlines())) <= max(columns, 80)


def test_score_as_json(run, model, price_model, later):
    found = json.loads(run("score", model, later[0], "--json").stdout)
    assert set(found["metrics"]) == {
        "accuracy", "balanced_accuracy", "auc", "average_precision", "log_loss", "brier",
    }  # fmt: skip
    assert found["positive"] == "ill"
    assert found["drift"][0]["column"] == "dose"
    assert sum(bin["rows"] for bin in found["calibration"]) == found["n_rows"] == 90
    assert {check["name"] for check in found["checks"]} >= {"age", "dose"}
    numbers = json.loads(run("score", price_model, later[1], "--json").stdout)
    assert set(numbers["metrics"]) == {"rmse", "r2", "mae", "pinball", "coverage", "width"}
    assert [bin["expected"] for bin in numbers["calibration"]] == [0.5, 0.8, 0.9, 0.95]


def test_score_refuses_what_it_cannot_use(run, model, later):
    frame = pd.read_csv(later[0])
    renamed = frame.rename(columns={"outcome": "result"}).to_csv(index=False)
    assert "no column 'outcome'" in run("score", model, "-", input=renamed).stderr
    assert run("score", model, "-", "-t", "result", input=renamed).exit_code == 0
    garbage = frame.assign(age="old").to_csv(index=False)
    assert "relies on the column 'age'" in run("score", model, "-", input=garbage).stderr
    assert run("score", model, "-", "--allow", input=garbage).exit_code == 0


def test_rows_of_classes_that_were_set_aside_are_left_out(run, table, tmp_path):
    frame = pd.read_csv(table)
    frame.loc[:2, "outcome"] = "unknown"
    path, fitted = tmp_path / "rare.csv", tmp_path / "rare.kw"
    frame.to_csv(path, index=False)
    fit = ("fit", path, "-t", "outcome", "--method", "svc", "--cv", 2, "--out", fitted)
    assert run(*fit).exit_code == 0
    result = run("score", fitted, path, "--json")
    assert result.exit_code == 0, result.stderr
    assert "3 rows of classes that the fit set aside are left out" in result.stderr
    assert json.loads(result.stdout)["n_rows"] == 117

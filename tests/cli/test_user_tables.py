"""Tables of the kinds that users bring, end to end: fit with a report, predict, score, explain."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from ..loop import loop
from .user_tables import TABLES

pytestmark = pytest.mark.slow

# Options of the fit, and the least AUC or R² on later rows; the noise must stay near 0.5.
OPTIONS = {"credit": ["--balanced"], "codes": ["--category", "region"], "genomics": ["--cv", 3]}
LEAST = {
    "medical": 0.95,
    "genomics": 0.6,
    "credit": 0.8,
    "dates": 0.75,
    "categories": 0.8,
    "gaps": 0.8,
    "identifiers": 0.95,
    "classes": 0.98,
    "codes": 0.8,
    "leak": 0.99,
    "duplicates": 0.8,
    "rent": 0.7,
    "yields": 0.9,
}
# What the messages of the fit must say.
SAID = {
    "genomics": "400 columns",
    "credit": "is read as",
    "dates": "-> year, month, day of week",
    "categories": "one column with one weight",
    "identifiers": "dropped: looks like an id",
    "leak": "discharged_to predicts the target by itself",
    "duplicates": "rows are copies of other rows",
    "noise": "the model is no better than guessing",
    "yields": "--task classification takes them for classes",
}


@loop("name", list(TABLES))
def test_a_table_end_to_end(run, tmp_path, name):
    frame = TABLES[name](np.random.default_rng(7))
    target = frame.columns[-1]
    is_number = frame[target].dtype.kind in "if" and frame[target].nunique() > 2
    is_later = np.arange(len(frame)) % 10 >= 7
    train, later = tmp_path / f"{name}.csv", tmp_path / f"{name} later.csv"
    frame[~is_later].to_csv(train, index=False)
    frame[is_later].to_csv(later, index=False)
    model, page = tmp_path / f"{name}.kw", tmp_path / f"{name}.html"
    fit = ["fit", train, "-t", target, "--out", model, "--report", page]
    options = OPTIONS.get(name, [])
    fit += ["--stability", 2, *options] + ["--test-size", 0.3] * ("--cv" not in options)
    fitted = run(*fit)
    assert fitted.exit_code == 0, fitted.stderr
    assert SAID.get(name, "rows") in " ".join(fitted.stderr.split())
    assert ("no better than guessing" in fitted.stderr) == (name == "noise")
    assert target in page.read_text(encoding="utf-8")
    predicted = run("predict", model, later, "--interval" if is_number else "--proba")
    assert predicted.exit_code == 0, predicted.stderr
    table = pd.read_csv(io.StringIO(predicted.stdout))
    scored = run("score", model, later, "--json")
    assert scored.exit_code == 0, scored.stderr
    found = json.loads(scored.stdout)
    actual = frame[target][is_later].to_numpy()
    if is_number:
        assert (table["low"] <= table["high"]).all()
        error = np.sqrt(np.mean((table["prediction"] - actual) ** 2))
        assert found["metrics"]["rmse"]["value"] == pytest.approx(error)
        assert found["metrics"]["r2"]["value"] > LEAST[name]
        assert found["metrics"]["coverage"]["high"] > 0.85
    else:
        np.testing.assert_allclose(table.filter(like="probability").sum(axis=1), 1, atol=1e-5)
        right = np.mean(table["prediction"].astype(str) == actual.astype(str))
        assert found["metrics"]["accuracy"]["value"] == pytest.approx(right)
        area = found["metrics"]["auc"]
        assert area["low"] < 0.5 < area["high"] if name == "noise" else area["value"] > LEAST[name]
    assert not [each for each in found["drift"] if (each["adjusted"] or 1) < 0.01]
    assert run("explain", model).exit_code == 0
    few = frame[is_later][:3].to_csv(index=False)
    reasons = run("predict", model, "-", "--explain", train, input=few)
    assert reasons.exit_code == 0, reasons.stderr

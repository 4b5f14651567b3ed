"""Tables of the kinds that users bring, end to end: fit with a report, predict, score, explain."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from .twelve_tables import TABLES

# Options of the fit, and the least AUC on later rows; the noise must stay near 0.5.
OPTIONS = {"credit": ["--balanced"], "codes": ["--category", "region"], "leak": []}
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
}


@pytest.mark.parametrize("name", list(TABLES))
def test_a_table_end_to_end(run, tmp_path, name):
    frame = TABLES[name](np.random.default_rng(7))
    target = frame.columns[-1]
    is_later = np.arange(len(frame)) % 10 >= 7
    train, later = tmp_path / "train.csv", tmp_path / "later.csv"
    frame[~is_later].to_csv(train, index=False)
    frame[is_later].to_csv(later, index=False)
    model, page = tmp_path / "model.kw", tmp_path / "page.html"
    fit = ["fit", train, "-t", target, "--out", model, "--report", page]
    fit += ["--stability", 2, "--test-size", 0.3, *OPTIONS.get(name, [])]
    fitted = run(*fit)
    assert fitted.exit_code == 0, fitted.stderr
    assert SAID.get(name, "rows") in " ".join(fitted.stderr.split())
    assert ("no better than guessing" in fitted.stderr) == (name == "noise")
    assert target in page.read_text(encoding="utf-8")
    predicted = run("predict", model, later, "--proba")
    assert predicted.exit_code == 0, predicted.stderr
    table = pd.read_csv(io.StringIO(predicted.stdout))
    np.testing.assert_allclose(table.filter(like="probability").sum(axis=1), 1, atol=1e-5)
    scored = run("score", model, later, "--json")
    assert scored.exit_code == 0, scored.stderr
    found = json.loads(scored.stdout)
    area = found["metrics"]["auc"]
    if name == "noise":
        assert area["low"] < 0.5 < area["high"]
    else:
        assert area["value"] > LEAST[name]
    right = np.mean(
        table["prediction"].astype(str) == frame[target][is_later].astype(str).to_numpy()
    )
    assert found["metrics"]["accuracy"]["value"] == pytest.approx(right)
    assert not [each for each in found["drift"] if (each["adjusted"] or 1) < 0.01]
    explained = run("explain", model)
    assert explained.exit_code == 0, explained.stderr
    reasons = run("predict", model, "-", "--explain", input=frame[is_later][:3].to_csv(index=False))
    assert reasons.exit_code == 0, reasons.stderr

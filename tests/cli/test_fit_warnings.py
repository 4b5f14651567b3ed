"""What fit warns of, which users had missed: leaks, spellings of labels, and guessing."""

import json

import numpy as np
import pandas as pd


def write(frame, tmp_path):
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return path


def test_missed_a_leaking_column_is_named_before_the_work(run, table, tmp_path):
    frame = pd.read_csv(table)
    frame["discharge"] = np.where(frame["outcome"] == "ill", "ward 3", frame["ward"])
    path = write(frame, tmp_path)
    result = run("fit", path, "-t", "outcome", "--method", "svc", "--cv", 2, "--json")
    note = "discharge predicts the target by itself (cross-validated AUC "
    assert result.stderr.count(note) == 1
    assert "--drop 'discharge'" in result.stderr
    assert any(each.startswith(note) for each in json.loads(result.stdout)["notes"])
    fit = ("fit", path, "-t", "outcome", "--method", "svc", "--cv", 2, "--drop", "discharge")
    assert "by itself" not in run(*fit).stderr


def test_missed_labels_that_differ_by_case_or_spaces_are_named(run, table, tmp_path):
    frame = pd.read_csv(table)
    frame.loc[frame.index[frame["outcome"] == "ill"][:3], "outcome"] = "Ill"
    text = run("fit", write(frame, tmp_path), "-t", "outcome", "--method", "svc", "--cv", 2).stderr
    n = int((frame["outcome"] == "ill").sum())
    assert f"the labels 'Ill' (3 rows) and 'ill' ({n} rows) differ only by case or spaces" in text
    frame.loc[frame["outcome"] == "Ill", "outcome"] = ["I ll", "ill", "ill"]
    text = run("fit", write(frame, tmp_path), "-t", "outcome").stderr
    assert "classes of a single row: 'I ll'; the labels 'I ll' (1 rows) and" in text


def test_missed_a_model_that_guesses_is_called_so(run, table, tmp_path):
    frame = pd.read_csv(table)
    frame["outcome"] = frame["outcome"].sample(frac=1, random_state=0).to_numpy()
    result = run("fit", write(frame, tmp_path), "-t", "outcome", "--cv", 3, "--json")
    assert "the model is no better than guessing: its log loss" in result.stderr
    assert json.loads(result.stdout)["better_than_guessing"] is False

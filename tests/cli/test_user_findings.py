"""What users met on real tables, one test per finding; each name starts with its number."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import kernelwise.app.inspection.model_checks
import kernelwise.app.report.page
from kernelwise.app.io import load

from ..evaluation.tables import prices
from ..loop import loop
from ..svm.relevance.tables import sales
from ..tabular.tables import patients


def write(frame, tmp_path, name="table.csv"):
    path = tmp_path / name
    frame.to_csv(path, index=False)
    return path


def fail(*args, **options):
    raise RuntimeError("test needs at least two different rows of each class.")


@loop("lacking", ["relevance_test", "effects_svg", "measured_effects"])
def test_02_a_report_lacks_the_part_that_failed_and_nothing_else(
    run, table, tmp_path, monkeypatch, lacking
):
    module = {
        "relevance_test": kernelwise.app.inspection.model_checks,
        "effects_svg": kernelwise.app.report.page,
        "measured_effects": kernelwise.app.cli.explain,
    }[lacking]
    out, page = tmp_path / f"{lacking}.kw", tmp_path / f"{lacking}.html"
    fit = ["fit", table, "-t", "outcome", "--cv", 2, "--out", out, "--report", page]
    with monkeypatch.context() as patch:
        patch.setattr(module, lacking, fail)
        result = run(*fit, "--stability", 0, "--json")
    assert load(out).predict(patients(9).drop(columns="outcome")).shape == (9,)
    text = page.read_text(encoding="utf-8")
    sentence = "this part could not be made (RuntimeError: test needs at least two different rows"
    numbers = json.loads(result.stdout)
    if lacking == "measured_effects":  # a part of the model file alone
        assert (result.exit_code, numbers["missing"]) == (0, [])
        assert f"note: effects of the columns: {sentence}" in result.stderr
        return
    part = {"relevance_test": "test", "effects_svg": "effects"}[lacking]
    assert result.exit_code == 3
    assert result.stderr.splitlines()[-1].startswith(
        f"kernelwise: the report lacks a part: {part}: {sentence}"
    )
    assert result.stderr.index(f"model: {out}") < result.stderr.index(f"report: {page}")
    assert numbers["missing"] == [f"{part}: this part could not be made (RuntimeError: test needs "
                                  "at least two different rows of each class.)"]  # fmt: skip
    assert sentence in text
    for heading in ("What the columns are worth", "Errors on held-out rows", "Use the model"):
        assert heading in text


def test_02_a_class_of_equal_rows_takes_nothing_away(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    frame["kind"] = np.where(frame["a"] > 0, "p", "q")
    same = pd.DataFrame({"a": [9.0] * 6, "b": [9.0] * 6, "kind": ["r"] * 6})
    path, page = write(pd.concat([frame, same]), tmp_path), tmp_path / "page.html"
    result = run("fit", path, "-t", "kind", "--cv", 2, "--report", page, "--stability", 2)
    assert result.exit_code == 0, result.stderr
    assert page.exists()


def test_03_rare_classes_are_set_aside_and_cost_no_folds(run, table, tmp_path):
    frame = pd.read_csv(table)
    frame.loc[:0, "outcome"], frame.loc[1:3, "outcome"] = "lost", "moved"
    path, model = write(frame, tmp_path), tmp_path / "model.kw"
    fit = ("fit", path, "-t", "outcome", "--method", "svc")
    result = run(*fit, "--json", "--out", model)
    assert result.exit_code == 0, result.stderr
    assert "2 classes of fewer than 5 rows are set aside: lost (1), moved (3)" in result.stderr
    numbers = json.loads(result.stdout)
    assert (numbers["protocol"], numbers["metric"]) == (
        "5-fold cross-validation, 116 rows", "log_loss",
    )  # fmt: skip
    assert "lost, moved" in run("explain", model).stdout
    kept = run(*fit, "--min-class", 1, "--json")
    assert kept.exit_code == 0, kept.stderr
    assert len(json.loads(kept.stdout)["classes"]) == 4


def test_03_methods_are_ordered_by_log_loss_and_the_table_says_so(run, table):
    shown = run("fit", table, "-t", "outcome", "--method", "svc", "--cv", 2).stdout
    heading, unit = shown.splitlines()[4:6]
    assert "log" in heading.split()[0]
    assert "loss" in unit.split()[0]


def test_07_text_is_read_and_named_and_new_texts_are_no_surprise(run, tmp_path):
    frame, bought = sales(240)
    frame["bought"] = bought
    path, later, model = write(frame[:160], tmp_path), tmp_path / "later.csv", tmp_path / "m.kw"
    frame[160:].to_csv(later, index=False)
    fit = ("fit", path, "-t", "bought", "--cv", 2, "--out", model)
    result = run(*fit, "--json")
    columns = {each["name"]: each for each in json.loads(result.stdout)["columns"]}
    kinds = {name: each["kind"] for name, each in columns.items()}
    assert kinds == {"caseid": "id", "offer": "text", "sold": "date", "price": "number",
                     "share": "number", "shop": "category"}  # fmt: skip
    assert "text, as 30 numbers with one weight" in columns["offer"]["why"]
    assert "offer" in run("explain", model).stdout
    assert "offer" not in run("predict", model, later).stderr
    drift = run("score", model, later)
    assert drift.exit_code == 0, drift.stderr
    drifting = [line for line in drift.stdout.splitlines() if line.startswith("  offer ")]
    assert not any("< 0.001" in line for line in drifting)
    assert run("fit", path, "-t", "bought", "--method", "svc", "--cv", 2).exit_code == 0


def test_08_a_binary_file_is_refused_with_a_remedy(run, tmp_path):
    path = tmp_path / "binary.csv"
    path.write_bytes(b"a,b\n1,2\n\x00\x01\x02\n")
    assert "Export the table as CSV in UTF-8" in run("fit", path, "-t", "b").stderr


def test_08_one_odd_byte_is_read_with_a_note(run, table, tmp_path):
    path = tmp_path / "odd.csv"
    path.write_bytes(table.read_bytes().replace(b"town 7", b"town\x197", 1))
    result = run("fit", path, "-t", "outcome", "--method", "svc", "--cv", 2)
    assert result.exit_code == 0, result.stderr
    assert "control character" in result.stderr


def test_09_row_numbers_of_a_part_of_the_rows_are_dropped(run, tmp_path):
    frame = prices(200).assign(rownames=np.arange(1, 201)).sample(140, random_state=0)
    result = run("fit", write(frame, tmp_path), "-t", "price", "--method", "ridge", "--cv", 2)
    assert "'ridge' is not known; choose one of" in result.stderr  # a peer is no method to fit
    result = run("fit", write(frame, tmp_path), "-t", "price", "--cv", 2, "--json")
    columns = {each["name"]: each for each in json.loads(result.stdout)["columns"]}
    assert not columns["rownames"]["used"]
    assert columns["rownames"]["kind"] == "id"


def test_13_fit_explain_and_report_tell_the_same_costs(run, table, tmp_path):
    out, page = tmp_path / "m.kw", tmp_path / "m.html"
    fit = ("fit", table, "-t", "outcome", "--cv", 3, "--out", out, "--report", page)
    numbers = json.loads(run(*fit, "--stability", 0, "--json").stdout)["costs"]
    assert numbers["metric"] == "log loss"
    costs = [row["cost"] for row in numbers["columns"]]
    assert costs == sorted(costs, reverse=True)
    assert all(row["low"] <= row["cost"] <= row["high"] for row in numbers["columns"])
    assert numbers["columns"][0]["low"] > 0
    assert json.loads(run("explain", out, "--json").stdout)["costs"] == numbers
    shown = run("explain", out).stdout
    lines = shown[shown.index("log loss that shuffling a column costs") :].splitlines()
    ruler = next(k for k, line in enumerate(lines) if "──" in line)
    assert lines[ruler + 1].split()[0] == numbers["columns"][0]["column"]
    first = numbers["columns"][0]
    text = page.read_text(encoding="utf-8")
    assert f"{first['cost']:.2g}" in text[text.index("What the columns are worth") :]


def test_15_explain_has_the_lowest_and_the_highest_value_of_each_effect(run, model):
    shown = run("explain", model).stdout
    effects = json.loads(run("explain", model, "--json").stdout)["effects"]
    assert "lowest" in shown
    row = next(
        line for line in shown.splitlines() if line.startswith(" dose   ") and "rises" in line
    )
    mean = next(each["mean"] for each in effects if each["column"] == "dose")
    assert float(row.split()[2]) == pytest.approx(min(mean), rel=0.01)
    assert float(row.split()[3]) == pytest.approx(max(mean), rel=0.01)


def test_16_a_log_file_has_no_progress(run, table):
    text = run("fit", table, "-t", "outcome", "--cv", 2).stderr
    assert " s: " not in text
    assert "\r" not in text


def test_17_no_words_of_the_inside(run, table, model):
    shown = run("fit", table, "-t", "outcome", "--cv", 2)
    explained = run("explain", model)
    for word in ("joint part", "averaged machines", "evidence", "problems solved", "cells"):
        assert word not in shown.stdout + shown.stderr + explained.stdout, word


def test_18_a_column_of_huge_values_is_named(run, price_table, tmp_path):
    frame = pd.read_csv(price_table).assign(mass=np.linspace(1, 2, 120) * 1e300)
    result = run("fit", write(frame, tmp_path), "-t", "price", "--cv", 2)
    assert result.exit_code == 0, result.stderr
    assert "RuntimeWarning" not in result.stderr
    assert "mass" in result.stderr
    assert "huge: divided by 1.5e+300, its median size" in " ".join(result.stderr.split())


def test_19_fit_ends_with_how_good_it_is_and_what_comes_next(run, table, tmp_path):
    out = tmp_path / "a model.kw"
    fit = ("fit", table, "-t", "outcome", "--method", "svc", "--cv", 2, "--out", out)
    last = run(*fit).stderr.splitlines()[-4:]
    assert last[0].startswith("SVC() on held-out rows: log loss ")
    assert "(guessing: " in last[0]
    assert [line.split()[1] for line in last[1:]] == ["explain", "predict", "score"]
    assert all(f"'{out}'" in line for line in last[1:])


def test_21_a_number_is_a_target(run, price_table):
    assert run("fit", price_table, "-t", "price", "--cv", 2, "-q").exit_code == 0


def test_22_copies_have_a_note_with_what_they_change_and_a_switch(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 20)).round(3)).add_prefix("x")
    frame["kind"] = rng.choice(["p", "q"], 60)  # only copies know the class
    path = write(pd.concat([frame] * 3), tmp_path)
    fit = ("fit", path, "-t", "kind", "--method", "svc", "--cv", 3, "--metric", "accuracy")
    together = " ".join(run(*fit).stderr.split())
    found = re.search(
        r"held apart, the accuracy of SVC\(\) would be (\S+) instead of (\S+)", together
    )
    assert float(found[1]) > float(found[2]) + 0.1
    apart = run(*fit, "--copies", "apart", "--json")
    assert "held apart, the" not in " ".join(apart.stderr.split())
    assert "a copy among the training rows gives a held-out row away" in apart.stderr
    assert json.loads(apart.stdout)["protocol"] == "3-fold cross-validation, 180 rows"
    assert "choose one of together, apart" in run(*fit, "--copies", "maybe").stderr


def test_25_small_things(run, table, model):
    swapped = run("predict", table, model)
    assert "the model comes first and the table second" in swapped.stderr
    rare = run("fit", table, "-t", "town", "--method", "svc", "--cv", 2)
    assert "1 more classes" not in rare.stderr

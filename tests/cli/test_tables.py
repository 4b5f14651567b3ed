"""Tables fit a terminal of 80 columns, and names stay apart."""

from dataclasses import replace

import numpy as np
from rich.console import Console

from kernelwise.app.cli.tables import columns_table, scores_table, weights_table
from kernelwise.app.evaluation import evaluate
from kernelwise.app.tabular import Weight, describe_columns

from ..loop import loop
from ..tabular.tables import patients


def lines(table, width=80):
    console = Console(width=width, highlight=False, markup=False, force_terminal=False)
    with console.capture() as capture:
        console.print(table)
    return [line.rstrip() for line in capture.get().splitlines()]


@loop("several", [1, 2])
def test_weights_of_long_names(several, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    weights = [
        Weight(f"a very long name of a column of measurements, number {k}", 0.05, features)
        for k in range(20)
        for features in [{f"{part}": 0.05 for part in range(several)}]
    ]
    shown = lines(weights_table(weights))
    assert max(map(len, shown)) <= 80
    assert sum("number 1" in line for line in shown) == 11
    assert "…" not in "".join(shown)
    assert ("features" in "".join(shown)) == (several == 2)


def test_long_names_stay_apart_where_only_their_middles_differ(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"measurement of the {k}th kind in micrometres squared" for k in range(10, 14)]
    weights = [Weight(name, 0.25, {name: 0.25}) for name in names]
    text = " ".join(" ".join(line.split("█")[0].split()) for line in lines(weights_table(weights)))
    for k in range(10, 14):
        assert f"{k}th kind" in text


@loop("width", [60, 80])
def test_columns_keep_their_names(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    frame = patients(40).assign(a_name_of_twenty_eight_chars=range(40), hospital="one " * 9)
    frame["a_name_without_any_space_that_is_longer_than_its_room"] = ["x", "y"] * 20
    shown = lines(columns_table(describe_columns(frame, "outcome")), width)
    assert max(map(len, shown)) <= width
    assert any(line.split()[:1] == ["a_name_of_twenty_eight_chars"] for line in shown)
    assert "…" not in "".join(shown)


def test_scores_are_in_order_though_one_failed(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    frame = patients(8).assign(outcome=["yes", "no"] * 4)  # too few rows for a grid search
    found = evaluate(frame, "outcome", "svc", against=("grid-search", "guessing"), cv=4)
    assert [score.method for score in found.scores if score.failure] == ["grid-search"]
    assert found.scores[0].mean("accuracy") < found.scores[-1].mean("accuracy")
    named = {score.method for score in found.scores}
    rows = [line.split() for line in lines(scores_table(found))]
    order = [row[0] for row in rows if row and row[0] in named]
    assert order == ["guessing", "svc", "grid-search"]


def test_a_p_value_that_is_not_defined_is_a_dash(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    found = evaluate(patients(40), "outcome", "svc", against=("guessing",), cv=2)
    leads = [replace(each, p_value=float("nan")) for each in found.differences]
    shown = lines(scores_table(replace(found, differences=tuple(leads))))
    row = next(line.split() for line in shown if line.startswith("guessing"))
    assert row[-2] == "-"


def test_scores_fit_with_the_longest_name(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    frame = patients(60).assign(outcome=["yes", "no"] * 30)  # the accuracy comes first
    long_one = "feature-discrimination"
    found = evaluate(frame, "outcome", "svc", against=(long_one, "guessing"), cv=2)
    shown = lines(scores_table(found))
    assert max(map(len, shown)) <= 80
    for score in found.scores:
        row = next(line for line in shown if line.startswith(score.method + " "))
        assert row.endswith(f"{np.mean(score.seconds):.2f}")


def test_a_table_that_is_too_wide_leaves_out_metrics_and_names_them(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    frame = patients(60).assign(outcome=["yes", "no"] * 30)
    methods = ("feature-discrimination", "guessing")
    found = evaluate(frame, "outcome", "relevance", against=methods, cv=2)
    leads = tuple(replace(each, p_value=1e-5) for each in found.differences)
    found = replace(found, differences=leads)
    shown = lines(scores_table(found))
    assert max(map(len, shown)) <= 80
    assert any(line.startswith("only with --json: ") and "Brier score" in line for line in shown)
    for score in found.scores:
        row = next(line for line in shown if line.startswith(score.method + " "))
        assert row.endswith(f" {np.mean(score.seconds):.2f}")
    monkeypatch.setenv("COLUMNS", "120")
    assert "only with --json" not in " ".join(lines(scores_table(found), 120))

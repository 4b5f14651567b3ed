"""Tables fit a terminal of 80 columns, and names stay apart."""

import numpy as np
import pytest
from rich.console import Console

from kernelwise.cli.tables import scores_table, shortened, weights_table
from kernelwise.tabular import Weight, evaluate

from ..tabular.tables import patients


def lines(table):
    console = Console(width=80, highlight=False, markup=False, force_terminal=False)
    with console.capture() as capture:
        console.print(table)
    return [line.rstrip() for line in capture.get().splitlines()]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("age", "age"), ("measurement_17", "measu.._17"), ("0123456789", "0123456789")],
)
def test_ends_of_long_names_are_kept(name, expected):
    assert shortened(name, 10).startswith(expected[:4])
    assert shortened(name, 10).endswith(expected[-3:])
    assert len(shortened(name, 10)) <= 10


@pytest.mark.parametrize("several", [1, 2], ids=["one each", "several each"])
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
    assert ("made of it" in "".join(shown)) == (several == 2)


def test_scores_fit_with_the_longest_name(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    frame = patients(60).assign(outcome=["yes", "no"] * 30)  # the accuracy comes first
    long_one = "feature-discrimination"
    found = evaluate(frame, "outcome", "svc", against=(long_one, "majority"), cv=2)
    shown = lines(scores_table(found))
    assert max(map(len, shown)) <= 80
    for score in found.scores:
        row = next(line for line in shown if line.startswith(score.method + " "))
        assert row.endswith(f"{np.mean(score.seconds):.2f}")

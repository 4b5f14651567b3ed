"""Rows of results: selected, grouped, averaged and put into tables."""

import pytest

from kernelwise.experiments.engine.rows import grouped, mean_of, only, spread_of, values_of
from kernelwise.experiments.engine.tables import Claim, Column, tabulate
from kernelwise.experiments.experiment import crossed
from kernelwise.experiments.protocol import timed

ROWS = [{"set": "b", "n": 1}, {"set": "a", "n": 2}, {"set": "b", "n": 5}]


def test_selections_and_means():
    assert only(ROWS, set="b", n=5) == [ROWS[2]]
    assert values_of(ROWS, "n") == [1, 2, 5]
    assert mean_of(only(ROWS, set="b"), "n") == 3
    assert spread_of(ROWS[:1], "n").error is None
    assert spread_of([], "n") is None


def test_groups_come_in_the_given_order_or_as_they_are():
    assert list(grouped(ROWS, "set")) == ["b", "a"]
    assert list(grouped(ROWS, "set", "abc")) == ["a", "b"]
    assert grouped(ROWS, ("set", "n"), [("a", 2), ("a", 3)]) == {("a", 2): [ROWS[1]]}


def test_a_table_takes_cells_of_one_or_several_columns():
    parts = [
        (Column("rows"), lambda name, own: len(own)),
        ([Column("first"), Column("last")], lambda _, own: [own[0]["n"], own[-1]["n"]]),
    ]
    table = tabulate("Sizes", "set", grouped(ROWS, "set"), parts, "A note.")
    assert [column.name for column in table.columns] == ["set", "rows", "first", "last"]
    assert table.rows == [["b", 2, 1, 5], ["a", 1, 2, 2]]
    assert table.note == "A note."


def test_a_claim_is_judged_by_reading():
    found = {"drawn": 3.0, "in order": 8.0}
    claim = Claim.judged("near", "0", found, "{:.1f} %".format, lambda value: value < 7)
    assert claim.measured == "drawn: 3.0 %; in order: 8.0 %"
    assert claim.verdict == "holds under drawn"


def test_tasks_are_crossed_with_the_last_entry_first():
    assert crossed(a=[1, 2], b="xy")[:2] == [{"a": 1, "b": "x"}, {"a": 1, "b": "y"}]
    assert crossed(a=[]) == []


def test_work_is_timed():
    result, seconds = timed(max, 1, 2)
    assert result == 2
    assert seconds == pytest.approx(0, abs=1)

"""Rows, tables and the page, from result files."""

import re

import pytest

from benchmarks.engine import run
from reproduction.experiment import crossed
from reproduction.markdown import write_markdown
from reproduction.rows import grouped, mean_of, only, spread_of, values_of
from reproduction.sections import cell_text, check_text, sections
from reproduction.tables import Check, Claim, Column, Spread, against, spread_text, tabulate

from .toy import Toy

ROWS = [{"set": "b", "n": 1}, {"set": "a", "n": 2}, {"set": "b", "n": 5}]


def test_rows_are_selected_grouped_and_averaged():
    assert only(ROWS, set="b", n=5) == [ROWS[2]]
    assert values_of(ROWS, "n") == [1, 2, 5]
    assert mean_of(only(ROWS, set="b"), "n") == 3
    assert spread_of(ROWS[:1], "n").error is None
    assert spread_of([], "n") is None
    assert list(grouped(ROWS, "set")) == ["b", "a"]
    assert list(grouped(ROWS, "set", "abc")) == ["a", "b"]
    assert grouped(ROWS, ("set", "n"), [("a", 2), ("a", 3)]) == {("a", 2): [ROWS[1]]}
    assert crossed(a=[1, 2], b="xy")[:2] == [{"a": 1, "b": "x"}, {"a": 1, "b": "y"}]


def test_a_table_takes_cells_of_one_or_several_columns():
    parts = [
        (Column("rows"), lambda name, own: len(own)),
        ([Column("first"), Column("last")], lambda _, own: [own[0]["n"], own[-1]["n"]]),
    ]
    table = tabulate("Sizes", "set", grouped(ROWS, "set"), parts, "A note.")
    assert [column.name for column in table.columns] == ["set", "rows", "first", "last"]
    assert table.rows == [["b", 2, 1, 5], ["a", 1, 2, 2]]


def test_cells_checks_and_claims():
    for cell, column, text in [
        (None, Column("a"), "-"),
        ("word", Column("a"), "word"),
        (3, Column("a"), "3"),
        (2.345, Column("a", 1, signed=True), "+2.3"),
        (Spread(2.345, 0.51), Column("a", 1), "2.3 ± 0.5"),
        (Spread(2.345), Column("a", 1), "2.3"),
    ]:
        assert cell_text(cell, column) == text
    assert against(1.0, []) == [1.0, None, None]
    assert against(1.0, [3.0]) == [1.0, Spread(3.0, None), 2.0]
    assert against(None, [3.0, 5.0]) == [None, Spread(4.0, 1.0), None]
    for value, relation, verdict in [
        (0.6, ">", "met"), (0.5, ">", "missed"), (0.5, ">=", "met"), (0.6, "<", "missed"),
        (0.5, "<=", "met"), (None, ">", "open"),
    ]:  # fmt: skip
        assert check_text(Check("r", value, relation, 0.5))[3] == verdict
    found = {"drawn": 3.0, "in order": 8.0}
    claim = Claim.judged("near", "0", found, "{:.1f} %".format, lambda value: value < 7)
    assert claim.measured == "drawn: 3.0 %; in order: 8.0 %"
    assert claim.verdict == "holds under drawn (1 of 2)"
    assert Claim("x", "1", {"": "1"}, {"": True}).verdict == "holds"
    assert Claim("x", "1", {"": "1"}, {"": False}).verdict == "does not hold"
    assert Claim.illustration("x", "1", "an example").verdict == "illustration"
    assert Claim.unjudged("x", "1", "no data").verdict == "cannot be judged"
    assert spread_text([1.0, 3.0], 1, signed=True) == "+2.0 ± 1.0"


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    run(Toy(), folder)
    assert sections([Toy()], folder, "quick") == ([], ["toy-table1"])
    found, missing = sections([Toy()], folder)
    assert missing == []
    return found


def test_page_has_tables_and_its_pictures(found, tmp_path):
    status = found[0].status
    assert status.startswith("24 of 24 tasks, ")
    assert "seed 0" in status
    for name in ("one", "two"):
        write_markdown(found, tmp_path / name / "page.md")
    text = (tmp_path / "one" / "page.md").read_text(encoding="utf-8")
    assert "| set | value paper | value ours | value diff. |\n| --- | ---: | ---: | ---: |" in text
    assert "| rows | >= 24 | 24.00 | met |" in text
    line = "| b is larger | 0.5 | A: 0.1; B: 0.6 | holds under B (1 of 2) | `toy-table1` |"
    assert text.index("## What holds") < text.index(line) < text.index("## Toy, Table 1")
    picture = re.search(r"!\[The values\.\]\((.*)\)", text).group(1)
    assert picture == "images/page/toy-table1-line.png"
    files = [sorted(each.rglob("*.*")) for each in (tmp_path / "one", tmp_path / "two")]
    assert len(files[0]) == 2
    assert [f.read_bytes() for f in files[0]] == [f.read_bytes() for f in files[1]]

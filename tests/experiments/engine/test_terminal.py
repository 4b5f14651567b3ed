"""Results and the list of experiments on terminals of several widths."""

import pytest
from rich.console import Console

from kernelwise._text import duration
from kernelwise.experiments import Column, Spread, Summary, Table, experiments, run, sections
from kernelwise.experiments.engine.terminal import list_facts, list_view, section_view

from ..toy import Toy


def printed(view, width):
    console = Console(width=width, record=True, force_terminal=False)
    console.print(view)
    return console.export_text().splitlines()


@pytest.mark.parametrize("width", [80, 120])
def test_the_list_has_each_title_below_its_name(width):
    every = list(experiments().values())
    lines = printed(list_view(every), width)
    assert max(map(len, lines)) <= width
    at = 1
    for experiment in every:
        facts = list_facts(experiment)
        costs = [duration(facts["cpu_seconds"][scale]) for scale in ("full", "quick")]
        told = " ".join([experiment.name, str(facts["tasks"]["full"]), *costs])
        assert " ".join(lines[at].split()) == told
        below = [experiment.title, *experiment.reproduces]
        assert [line.strip() for line in lines[at + 1 : at + 1 + len(below)]] == below
        at += 1 + len(below)
    assert at == len(lines)


def test_facts_for_machines():
    assert list_facts(Toy()) == {
        "name": "toy-table1",
        "title": "Toy, Table 1",
        "reproduces": ["Table 1: means"],
        "tasks": {"full": 24, "quick": 8},
        "cpu_seconds": {"full": 12.0, "quick": 4.0},
    }


class Wide(Toy):
    """Has a table of 88 columns, 80 at the least."""

    def summarise(self, rows):
        columns = [Column("data set"), *(Column(str(k), 1, "with bias") for k in range(6))]
        rows = [["echocardiogram", *[Spread(82.94, 2.61)] * 6]]
        return Summary([Table("Accuracy", columns, rows, "A note.")], [], ["word " * 30])


@pytest.mark.parametrize("width", [80, 120])
def test_numbers_of_a_wide_table_are_never_broken(tmp_path, width):
    run(Wide(), tmp_path)
    lines = printed(section_view(sections([Wide()], tmp_path)[0][0]), width)
    assert max(map(len, lines)) <= width
    row = next(line for line in lines if "echocardiogram" in line)
    assert row.split() == ["echocardiogram", *["82.9", "±", "2.6"] * 6]
    assert sum("bias" in line for line in lines) == 1
    assert "…" not in "".join(lines)
    first = next(k for k, line in enumerate(lines) if line.startswith("- word"))
    assert lines[first + 1].startswith("  word")

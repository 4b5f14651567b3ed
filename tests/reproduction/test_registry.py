"""The experiments of the papers: complete, cheap where they must be, and found by name."""

import re

import pytest

from benchmarks.engine import ExperimentError, chosen
from reproduction.experiment import experiments, register, select

from .toy import Toy

# Every table and figure of the five papers with numbers or drawings, and the counts of their texts.
PRINTED = {
    "adaptive-kernel": [
        "Figure 1", "Figure 2", "Figure 3", "186", "4895", "110", "2624", "close to 1",
        "Kernel-Adatron", "Kernel Selection Procedure",
    ],
    "dual-objective": [
        "Table 1", "Figure 1", "Figure 2", "z = -5.05", "r = 0.646", "4200", "0.0001",
    ],
    "feature-discrimination": [
        *(f"Table {k}" for k in (1, 2, 3, 4, 5)), *(f"Figure {k}" for k in (1, 2, 3)),
        "MEAN and CASE", "training times", "9, 10 and 11 sets", "suitable eta",
    ],
    "generalized-bias": ["Figure 1", "Figure 2", "Figure 3", "section 4.1", "section 4.2"],
    "margin-radius": [
        "Table 1", "Table 2", "68.6 %", "better on 7 sets, worse on 2", "Algorithm 1",
        "Theorem 2", "inequality (4)",
    ],
}  # fmt: skip


def test_every_experiment_is_complete():
    for name, experiment in experiments().items():
        folder = type(experiment).__module__.split(".")[-2]
        assert experiment.name == name == name.lower()
        assert name.startswith(folder.replace("_", "-") + "-")
        for attribute in ("title", "paper", "description"):
            assert getattr(experiment, attribute), (name, attribute)
        for scale, max_seconds in (("full", float("inf")), ("quick", 360), ("smoke", 20)):
            tasks = chosen(experiment, experiment.scale(scale))
            assert tasks, (name, scale)
            assert all(experiment.cost(task) > 0 for task in tasks)
            assert sum(map(experiment.cost, tasks)) <= max_seconds, (name, scale)
            assert all(experiment.needs(task) <= set(experiment.datasets) for task in tasks)


def test_everything_that_the_papers_print_is_reproduced():
    for paper, printed in PRINTED.items():
        text = " ".join(line for each in select([paper]) for line in each.reproduces)
        for wanted in printed:
            assert re.search(rf"{re.escape(wanted)}(?!\d)", text), (paper, wanted)


def test_select_by_name_and_by_paper():
    names = {each.name for each in select(["dual-objective"])}
    assert {"dual-objective-table1", "dual-objective-figure1"} <= names
    assert select(["dual_objective"]) == select(["dual-objective"])
    assert [each.name for each in select(["dual-objective-table1"])] == ["dual-objective-table1"]
    assert len(select([])) == len(experiments())
    with pytest.raises(ExperimentError, match=r"no experiment is named .dua.; there are: "):
        select(["dua"])


def test_register_refuses_missing_scales_and_taken_names():
    class Half(Toy):
        repeats = {"full": 1}  # noqa: RUF012

    class Thief(Toy):
        name = "dual-objective-table1"

    experiments()
    with pytest.raises(TypeError, match="smoke"):
        register(Half)
    with pytest.raises(ValueError, match="two experiments"):
        register(Thief)

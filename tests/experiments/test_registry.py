"""Seeds come from what is in a task; experiments are found by name."""

import pytest

from kernelwise.experiments import Experiment, ExperimentError, experiments, register, select
from kernelwise.experiments.engine.runner import chosen
from kernelwise.experiments.engine.seeds import key_of, seed_of

from .toy import Toy


def test_seed_depends_on_content_alone():
    toy = Toy()
    task = {"dataset": "a", "repeat": 1, "variant": "x"}
    shuffled = {"variant": "x", "repeat": 1, "dataset": "a"}
    assert key_of(task) == key_of(shuffled)
    assert seed_of(toy, task, 0) == seed_of(toy, shuffled, 0)
    assert seed_of(toy, task, 0) == seed_of(toy, task | {"variant": "y"}, 0)  # not in seed_keys
    others = [seed_of(toy, task | {"repeat": 2}, 0), seed_of(toy, task, 1)]
    assert seed_of(toy, task, 0) not in others


def test_seeds_differ_between_tasks_and_stay_what_they_are():
    toy = Toy()
    seeds = {seed_of(toy, task, 0) for task in toy.tasks(toy.scale("full", 100))}
    assert len(seeds) == 200  # two variants share one
    assert seed_of(toy, {"dataset": "a", "repeat": 0}, 0) == 4010650843


def test_every_experiment_is_complete():
    for name, experiment in experiments().items():
        assert experiment.name == name
        assert name == name.lower()
        for attribute in ("title", "paper", "description"):
            assert getattr(experiment, attribute), (name, attribute)
        for scale in ("full", "quick", "smoke"):
            tasks = chosen(experiment, experiment.scale(scale))
            assert tasks, (name, scale)
            assert all(experiment.cost(task) > 0 for task in tasks)
            assert all(experiment.needs(task) <= set(experiment.datasets) for task in tasks)


def test_quick_runs_take_minutes_and_smoke_runs_seconds():
    for experiment in experiments().values():
        for scale, most in (("quick", 360), ("smoke", 20)):
            cost = sum(map(experiment.cost, experiment.tasks(experiment.scale(scale))))
            assert cost <= most, (experiment.name, scale, cost)


def test_select_by_name_and_by_paper():
    names = {each.name for each in select(["dual-objective"])}
    assert {"dual-objective-table1", "dual-objective-figure1"} <= names
    assert [each.name for each in select(["dual-objective-table1"])] == ["dual-objective-table1"]
    assert len(select([])) == len(experiments())
    with pytest.raises(
        ExperimentError, match=r"no experiment is named .dua.; there are: .*dual-objective-tab"
    ):
        select(["dua"])


def test_register_wants_all_scales():
    class Half(Toy):
        repeats = {"full": 1}  # noqa: RUF012

    with pytest.raises(TypeError, match="smoke"):
        register(Half)


def test_register_refuses_a_name_twice():
    class Thief(Toy):
        name = "dual-objective-table1"

    experiments()
    with pytest.raises(ValueError, match="two experiments"):
        register(Thief)


def test_tasks_must_differ():
    class Double(Toy):
        def tasks(self, scale):
            return 2 * super().tasks(scale)

    assert issubclass(Double, Experiment)
    with pytest.raises(ExperimentError, match="two tasks"):
        chosen(Double(), Double().scale())


def test_a_paper_is_selected_by_the_name_of_its_folder():
    assert select(["dual_objective"]) == select(["dual-objective"])
    assert [each.name for each in select(["dual_objective-table1"])] == ["dual-objective-table1"]


def test_experiments_are_named_after_their_folder():
    for name, each in experiments().items():
        folder = type(each).__module__.split(".")[-2]
        assert name.startswith(folder.replace("_", "-") + "-")

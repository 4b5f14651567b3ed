"""The base class of the papers' experiments, and their registry."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from importlib import import_module
from itertools import product
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, ClassVar, TypeVar

from benchmarks.engine import SCALES, Experiment, ExperimentError, Row, Scale, Task

from .data import dataset
from .tables import Summary

__all__ = ["PaperExperiment", "Row", "Scale", "Task", "crossed", "experiments", "register"]


def crossed(**entries: Iterable[Any]) -> list[Task]:
    """Return a task for each combination of the entries' values; the last entry varies fastest."""
    return [dict(zip(entries, each, strict=True)) for each in product(*entries.values())]


class PaperExperiment(Experiment):
    """A table or figure of a paper: its tasks, and the summary of its results.

    A subclass sets the attributes, writes `tasks`, `run` and `summarise`, draws `figures` if there
    are any, and is registered by `register`. The scale "quick" takes at most three minutes on two
    cores, "smoke" a few seconds.

    Attributes
    ----------
    paper : str
        Authors, title and year.
    description : str
        What is measured, and how the paper was read where it leaves something open: one or two
        paragraphs of Markdown.
    reproduces : tuple of str
        Tables, figures and printed numbers of the paper that the experiment measures again; empty
        where it measures something that the paper does not have.
    datasets : tuple of str
        All data sets that are read. Those of the tasks at hand are checked before any work.
    """

    paper: ClassVar[str]
    description: ClassVar[str]
    reproduces: ClassVar[tuple[str, ...]] = ()
    datasets: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def summarise(self, rows: Sequence[Row]) -> Summary:
        """Make tables, checks and remarks from the rows that exist, perhaps not all.

        A row has the entries of its task, those of its result, and "cpu", its CPU seconds.
        """

    def needs(self, task: Task) -> set[str]:
        """Return the values of the task that are in `datasets`."""
        return {value for value in task.values() if isinstance(value, str)} & set(self.datasets)

    def check_data(self, tasks: Sequence[Task], data_dir: Path | None) -> dict[str, str]:
        """Read each data set that the tasks need, so that a wrong folder is reported at once.

        Return reasons by name for sets that tasks need in addition to their own ``dataset``: such
        tasks can be left out. Raise if the own set of a task cannot be read, or no task is left.
        """
        own = {task.get("dataset") for task in tasks}
        unreadable: dict[str, str] = {}
        for name in sorted(set().union(*map(self.needs, tasks))):
            try:
                dataset(name, data_dir)
            except (OSError, ValueError, LookupError) as error:
                unreadable[name] = " ".join(str(error).split())
                reason = f"data set {name}: {unreadable[name]}"
                if name in own:
                    raise ExperimentError(reason) from error
                if all(self.needs(task) & unreadable.keys() for task in tasks):
                    raise ExperimentError(
                        f"every task also needs one of {', '.join(sorted(unreadable))}, and none "
                        f"of these can be read: {reason}"
                    ) from error
        return unreadable


_REGISTRY: dict[str, PaperExperiment] = {}
E_ = TypeVar("E_", bound=type[PaperExperiment])


def register(experiment: E_) -> E_:
    """Add an experiment to the registry; a class decorator."""
    if set(experiment.repeats) != set(SCALES):
        raise TypeError(f"{experiment.__name__}.repeats must have the keys {', '.join(SCALES)}.")
    known = _REGISTRY.get(experiment.name)
    if known is not None and type(known).__qualname__ != experiment.__qualname__:
        raise ValueError(f"two experiments are named {experiment.name!r}.")
    _REGISTRY[experiment.name] = experiment()
    return experiment


def experiments() -> dict[str, PaperExperiment]:
    """Return all experiments of ``papers`` by name, sorted."""
    papers = import_module(".papers", __package__)
    for module in walk_packages(papers.__path__, f"{papers.__name__}."):
        import_module(module.name)
    return dict(sorted(_REGISTRY.items()))


def select(names: Sequence[str]) -> list[PaperExperiment]:
    """Return the experiments with these names, or beginnings of names up to a hyphen.

    "dual-objective" selects all of that paper, as does the name of its folder, "dual_objective".
    Without names, return all.
    """
    known = experiments()
    chosen: dict[str, PaperExperiment] = {}
    for name in names or known:
        start = name.replace("_", "-")
        found = {k: e for k, e in known.items() if f"{k}-".startswith(f"{start}-")}
        if not found:
            raise ExperimentError(f"no experiment is named {name!r}; there are: {', '.join(known)}")
        chosen |= found
    return list(chosen.values())

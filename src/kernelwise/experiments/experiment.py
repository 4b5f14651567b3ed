"""The base class of experiments, and their registry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, ClassVar, TypeVar

from .._checks import check_kind
from .data import dataset
from .engine.errors import ExperimentError
from .engine.tables import Drawing, Summary

Task = dict[str, Any]
Row = dict[str, Any]
SCALES = ("full", "quick", "smoke")


@dataclass(frozen=True)
class Scale:
    """How much of an experiment to run.

    Parameters
    ----------
    name : {"full", "quick", "smoke"}
        The paper's size, a few minutes, or a few seconds.
    repeats : int
        Number of random splits, draws or runs.
    """

    name: str
    repeats: int

    @property
    def is_full(self) -> bool:
        """Whether this is the paper's own size."""
        return self.name == "full"


def crossed(**entries: Iterable[Any]) -> list[Task]:
    """Return a task for each combination of the entries' values; the last entry varies fastest."""
    return [dict(zip(entries, each, strict=True)) for each in product(*entries.values())]


class Experiment(ABC):
    """A table or figure of a paper, or a benchmark: its tasks, and the summary of its results.

    A subclass sets the attributes, writes `tasks`, `run` and `summarise`, draws `figures` if there
    are any, and is registered by `register`. It has no state, because it is sent to other
    processes.

    Attributes
    ----------
    name : str
        Name of the paper and its table or figure, in lower case: "dual-objective-table1".
    title : str
        One line.
    paper : str
        Authors, title and year.
    description : str
        What is measured, and how the paper was read where it leaves something open: one or two
        paragraphs of Markdown.
    reproduces : tuple of str
        Tables, figures and printed numbers of the paper that the experiment measures again; empty
        where it measures something that the paper does not have.
    repeats : dict
        Number of repeats at the scales "full", "quick" (at most three minutes on two cores) and
        "smoke" (a few seconds).
    seconds : float
        CPU seconds of one task; override `cost` if tasks differ.
    datasets : tuple of str
        All data sets that are read. Those of the tasks at hand are checked before any work.
    seed_keys : tuple of str or None
        Entries of a task on which its seed depends; None is all. Tasks that differ in other
        entries only have the same seed, and so the same split.
    protocol : int
        Raised when earlier results stop being comparable.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    description: ClassVar[str]
    reproduces: ClassVar[tuple[str, ...]] = ()
    repeats: ClassVar[Mapping[str, int]] = dict.fromkeys(SCALES, 1)
    seconds: ClassVar[float] = 1.0
    datasets: ClassVar[tuple[str, ...]] = ()
    seed_keys: ClassVar[tuple[str, ...] | None] = None
    protocol: ClassVar[int] = 1

    @abstractmethod
    def tasks(self, scale: Scale) -> list[Task]:
        """List the tasks: small, independent, and with everything that a result depends on.

        Parameters
        ----------
        scale : Scale
            How much to run.

        Returns
        -------
        tasks : list of dict
            Plain values (str, int, float, bool). ``--only`` selects by the entry "dataset".
        """

    @abstractmethod
    def run(self, task: Task, seed: int, data_dir: Path | None) -> Row:
        """Do one task, in any process, on one thread.

        Parameters
        ----------
        task : dict
            One of `tasks`.
        seed : int
            Made from the task and the seed of the run; everything random starts from it.
        data_dir : Path or None
            The folder of the data sets, for `kernelwise.experiments.data.dataset`.

        Returns
        -------
        result : dict
            Plain values, lists of them, or NumPy numbers and arrays. Names of times end in
            "_seconds".
        """

    def summarise(self, rows: Sequence[Row]) -> Summary:
        """Make tables, checks and remarks from the rows that exist, perhaps not all.

        Parameters
        ----------
        rows : sequence of dict
            For each finished task its entries, those of its result, and "cpu", its CPU seconds.

        Returns
        -------
        summary : Summary
            Tables, checks and remarks; empty for a benchmark, which has a page of its own.
        """
        return Summary()

    def figures(self, rows: Sequence[Row]) -> list[Drawing]:
        """Draw the figures.

        Parameters
        ----------
        rows : sequence of dict
            As in `summarise`.

        Returns
        -------
        drawings : list of Drawing
            Figures of matplotlib with name and caption.
        """
        return []

    def cost(self, task: Task) -> float:
        """Estimate the CPU seconds of a task.

        Parameters
        ----------
        task : dict
            One of `tasks`.

        Returns
        -------
        seconds : float
            On a machine of about 2020; only ratios matter once some tasks are finished.
        """
        return self.seconds

    def needs(self, task: Task) -> set[str]:
        """Return the data sets that a task reads.

        Parameters
        ----------
        task : dict
            One of `tasks`.

        Returns
        -------
        names : set of str
            The values of the task that are in `datasets`.
        """
        return {value for value in task.values() if isinstance(value, str)} & set(self.datasets)

    def check_data(self, tasks: Sequence[Task], data_dir: Path | None) -> dict[str, str]:
        """Read each data set that the tasks need, so that a wrong folder is reported at once.

        Parameters
        ----------
        tasks : sequence of dict
            The tasks to be done.
        data_dir : Path or None
            The folder of the data sets.

        Returns
        -------
        unreadable : dict
            Reasons by name, of sets that tasks need beside their own ``dataset``: such tasks can
            be left out.

        Raises
        ------
        ExperimentError
            If the own set of a task cannot be read, or no task is left.
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

    def facts(self) -> dict[str, Any]:
        """Return further entries for the header of the result file.

        Returns
        -------
        facts : dict
            Plain values.
        """
        return {}

    def scale(self, name: str = "full", repeats: int | None = None) -> Scale:
        """Return a scale by name.

        Parameters
        ----------
        name : {"full", "quick", "smoke"}, default="full"
            Name of the scale.
        repeats : int, default=None
            Replaces the declared number of repeats.

        Returns
        -------
        scale : Scale
            Name and repeats.
        """
        return Scale(name, self.repeats[name] if repeats is None else repeats)


_REGISTRY: dict[str, Experiment] = {}
E_ = TypeVar("E_", bound=type[Experiment])


def register(experiment: E_) -> E_:
    """Add an experiment to the registry; a class decorator.

    Parameters
    ----------
    experiment : type
        A subclass of `Experiment`.

    Returns
    -------
    experiment : type
        The same.
    """
    if not (isinstance(experiment, type) and issubclass(experiment, Experiment)):
        raise TypeError(f"experiment must be a subclass of Experiment; got {experiment!r}.")
    if set(experiment.repeats) != set(SCALES):
        raise TypeError(f"{experiment.__name__}.repeats must have the keys {', '.join(SCALES)}.")
    known = _REGISTRY.get(experiment.name)
    if known is not None and type(known).__qualname__ != experiment.__qualname__:
        raise ValueError(f"two experiments are named {experiment.name!r}.")
    _REGISTRY[experiment.name] = experiment()
    return experiment


def experiments() -> dict[str, Experiment]:
    """Return all experiments of ``papers`` by name.

    Returns
    -------
    experiments : dict
        Sorted by name.

    Examples
    --------
    >>> from kernelwise.experiments import experiments
    >>> "dual-objective-table1" in experiments()
    True
    """
    papers = import_module(".papers", __package__)
    for module in walk_packages(papers.__path__, f"{papers.__name__}."):
        import_module(module.name)
    return dict(sorted(_REGISTRY.items()))


def select(names: Sequence[str]) -> list[Experiment]:
    """Return the experiments with these names, or of these papers.

    Parameters
    ----------
    names : sequence of str
        Names, or beginnings of names up to a hyphen: "dual-objective" selects all of that paper.
        Underscores count as hyphens, so that a paper may be named by its folder,
        "dual_objective". An empty sequence selects every experiment.

    Returns
    -------
    experiments : list of Experiment
        Each once.
    """
    known = experiments()
    if not names:
        return list(known.values())
    chosen: dict[str, Experiment] = {}
    for name in names:
        check_kind(name, "each of names", str)
        start = name.replace("_", "-")
        found = {k: e for k, e in known.items() if k == start or k.startswith(f"{start}-")}
        if not found:
            raise ExperimentError(f"no experiment is named {name!r}; there are: {', '.join(known)}")
        chosen |= found
    return list(chosen.values())

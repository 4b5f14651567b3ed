"""What an experiment declares, and the registry of all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, ClassVar, TypeVar

from .engine.errors import ExperimentError
from .engine.tables import Drawing, Summary

Task = dict[str, Any]
Row = dict[str, Any]
SCALES = ("full", "quick", "smoke")


@dataclass(frozen=True)
class Scale:
    """How much is run.

    Parameters
    ----------
    name : {"full", "quick", "smoke"}
        As in the paper, in a few minutes, or in a few seconds.
    repeats : int
        How many random splits, draws or runs.
    """

    name: str
    repeats: int

    @property
    def is_full(self) -> bool:
        """Whether this is the paper's own size."""
        return self.name == "full"


class Experiment(ABC):
    """A table or figure of a paper: what is run for it, and what is made of the results.

    A subclass sets the attributes, writes `tasks`, `run` and `summarise`, draws `figures` where
    there are any, and is registered by `register`. It has no state: it is sent to other processes.

    Attributes
    ----------
    name : str
        The paper and its table or figure, in small letters: "dual-objective-table1".
    title : str
        One line.
    paper : str
        Authors, title and year.
    description : str
        What is measured, and which readings of the paper were taken: Markdown, a paragraph or two.
    repeats : dict
        The number of repeats of the scales "full", "quick" (at most three minutes on two cores)
        and "smoke" (a few seconds).
    seconds : float
        CPU seconds of one task; override `cost` where tasks differ.
    datasets : tuple of str
        Every data set that is read; those that the tasks name are looked at before any work.
    seed_keys : tuple of str or None
        The entries of a task that its seed depends on; None is all. Tasks that differ in other
        entries only have the same seed, hence the same split.
    protocol : int
        Raised when results measured before are no longer comparable.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    description: ClassVar[str]
    repeats: ClassVar[Mapping[str, int]]
    seconds: ClassVar[float] = 1.0
    datasets: ClassVar[tuple[str, ...]] = ()
    seed_keys: ClassVar[tuple[str, ...] | None] = None
    protocol: ClassVar[int] = 1

    @abstractmethod
    def tasks(self, scale: Scale) -> list[Task]:
        """List what is to be run: small and independent, all that a result depends on.

        Parameters
        ----------
        scale : Scale
            Its name, and the number of repeats.

        Returns
        -------
        tasks : list of dict
            Plain values (str, int, float, bool). The entry "dataset" is what ``--only`` selects by.
        """

    @abstractmethod
    def run(self, task: Task, seed: int, data_dir: Path | None) -> Row:
        """Do one task, in some process, on one thread.

        Parameters
        ----------
        task : dict
            One of `tasks`.
        seed : int
            Made from the task and the seed of the run; all that is random starts from it.
        data_dir : Path or None
            The folder of the data sets, for `kernelwise.experiments.data.dataset`.

        Returns
        -------
        result : dict
            Plain values, lists of them, or NumPy numbers and arrays. Times end in "_seconds".
        """

    @abstractmethod
    def summarise(self, rows: Sequence[Row]) -> Summary:
        """Make tables, checks and remarks of the rows there are, perhaps not all.

        Parameters
        ----------
        rows : sequence of dict
            For each task that was done, its entries, those of its result and "cpu", the seconds
            it took.

        Returns
        -------
        summary : Summary
            What is shown.
        """

    def figures(self, rows: Sequence[Row]) -> list[Drawing]:
        """Draw what there is to see.

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
            On a machine of about 2020; the ratio is corrected by what is measured.
        """
        return self.seconds

    def needs(self, task: Task) -> set[str]:
        """Name the data sets that a task reads.

        Parameters
        ----------
        task : dict
            One of `tasks`.

        Returns
        -------
        names : set of str
            Those of its values that are in `datasets`.
        """
        return {value for value in task.values() if isinstance(value, str)} & set(self.datasets)

    def scale(self, name: str = "full", repeats: int | None = None) -> Scale:
        """Return a scale by name.

        Parameters
        ----------
        name : {"full", "quick", "smoke"}, default="full"
            Which.
        repeats : int, default=None
            In place of the declared number of repeats.

        Returns
        -------
        scale : Scale
            Name and repeats.
        """
        return Scale(name, self.repeats[name] if repeats is None else repeats)


_REGISTRY: dict[str, Experiment] = {}
E_ = TypeVar("E_", bound=type[Experiment])


def register(experiment: E_) -> E_:
    """Enter an experiment into the registry; a class decorator.

    Parameters
    ----------
    experiment : type
        A subclass of `Experiment`.

    Returns
    -------
    experiment : type
        The same.
    """
    if set(experiment.repeats) != set(SCALES):
        raise TypeError(f"{experiment.__name__}.repeats must have the keys {', '.join(SCALES)}.")
    known = _REGISTRY.get(experiment.name)
    if known is not None and type(known).__qualname__ != experiment.__qualname__:
        raise ValueError(f"two experiments are named {experiment.name!r}.")
    _REGISTRY[experiment.name] = experiment()
    return experiment


def experiments() -> dict[str, Experiment]:
    """Return all experiments by name, those of every module in ``papers``.

    Returns
    -------
    experiments : dict
        In the order of their names.

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
        start = name.replace("_", "-")
        found = {k: e for k, e in known.items() if k == start or k.startswith(f"{start}-")}
        if not found:
            raise ExperimentError(f"no experiment is named {name!r}; there are: {', '.join(known)}")
        chosen |= found
    return list(chosen.values())

"""Data sets: kept in memory from task to task, and looked at before any work."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from ..datasets import Dataset, load_dataset
from .engine.errors import ExperimentError
from .experiment import Experiment, Task


@lru_cache(maxsize=8)
def dataset(name: str, data_dir: Path | None = None, *, drop_leaks: bool = True) -> Dataset:
    """Return a data set, read once in a process: do not write into its arrays.

    Parameters
    ----------
    name : str
        See `kernelwise.datasets.load_dataset`.
    data_dir : Path, default=None
        The folder, as given to ``run``.
    drop_leaks : bool, default=True
        Whether columns that leak the class are left out.

    Returns
    -------
    dataset : Dataset
        With ``X``, ``y`` and ``encoder()``.
    """
    return load_dataset(name, data_dir=data_dir, drop_leaks=drop_leaks)


def check_data(experiment: Experiment, tasks: Sequence[Task], data_dir: Path | None) -> None:
    """Read each data set that the tasks need: a wrong folder is one line here, not a thousand."""
    for name in sorted(set().union(*map(experiment.needs, tasks))):
        try:
            dataset(name, data_dir)
        except (OSError, ValueError, LookupError) as error:
            raise ExperimentError(f"data set {name}: {' '.join(str(error).split())}") from error

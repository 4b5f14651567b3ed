"""The runner: does the tasks that a result file lacks, in one process or several."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from .errors import ExperimentError
from .experiment import Experiment, Row, Scale, Task
from .progress import RunProgress
from .seeds import key_of, seed_of
from .store import ResultFile, Results, header, plain

_RESERVED = {"cpu", "warnings"}


@dataclass(frozen=True)
class Plan:
    """The tasks that the result file lacks, and their expected CPU seconds."""

    todo: list[Task]
    seconds: float


@dataclass(frozen=True)
class Outcome:
    """Results of the tasks that were asked for, and how many needed a set that cannot be read."""

    results: Results
    path: Path
    n_left_out: int = 0
    unreadable: dict[str, str] = field(default_factory=dict)  # reasons by name


def chosen(experiment: Experiment, scale: Scale, only: Sequence[str] = ()) -> list[Task]:
    """Return the tasks of a scale that `only` selects: data sets, or KEY=VALUE of a task."""
    tasks = experiment.tasks(scale)
    keys = [key_of(task) for task in tasks]
    if len(set(keys)) < len(keys):
        raise ExperimentError(f"{experiment.name} has two tasks with the same entries")
    wanted: dict[str, set[str]] = {}
    for name in only:
        key, _, value = name.rpartition("=")
        wanted.setdefault(key or "dataset", set()).add(value)
    return [
        task
        for task in tasks
        if all(str(task.get(key)) in values for key, values in wanted.items())
    ]


def plan(experiment: Experiment, tasks: list[Task], done: Results | None) -> Plan:
    """Return the tasks left to do and their expected cost, scaled by the cost of finished ones."""
    known = set(done.keys) if done else set()
    todo = [task for task in tasks if key_of(task) not in known]
    rows = done.rows if done else []
    declared = sum(experiment.cost(row) for row in rows)
    ratio = sum(row["cpu"] for row in rows) / declared if declared else 1.0
    return Plan(todo, ratio * sum(map(experiment.cost, todo)))


def run(
    experiment: Experiment,
    folder: Path,
    *,
    scale: Scale | None = None,
    only: Sequence[str] = (),
    seed: int = 0,
    n_jobs: int | None = None,
    data_dir: Path | None = None,
    fresh: bool = False,
    quiet: bool = True,
) -> Outcome:
    """Do the tasks of an experiment that its result file lacks.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    folder : Path
        Folder of the result file.
    scale : Scale, default=None
        How much to run; None is the full size.
    only : sequence of str, default=()
        Data sets to run, or KEY=VALUE for another entry of a task; empty runs all.
    seed : int, default=0
        Seed from which the seeds of all tasks are made.
    n_jobs : int, default=None
        Number of processes; None is one.
    data_dir : Path, default=None
        The folder of the data sets; None is the one that KERNELWISE_DATA names.
    fresh : bool, default=False
        Whether to throw away the results of these tasks and measure them again.
    quiet : bool, default=True
        Whether to hide the progress.

    Returns
    -------
    outcome : Outcome
        Results and failures of the tasks that were asked for.
    """
    scale = experiment.scale() if scale is None else scale
    tasks = chosen(experiment, scale, only)
    file = ResultFile(folder, experiment.name, scale.name)
    ahead = plan(experiment, tasks, None if fresh else file.read()).todo
    unreadable = experiment.check_data(ahead, data_dir)
    todo = [task for task in ahead if not experiment.needs(task) & unreadable.keys()]
    file.begin(header(experiment, scale, seed), forget=tasks if fresh else ())
    jobs = (delayed(_measured)(experiment, task, seed, data_dir) for task in todo)
    costs = [experiment.cost(task) for task in todo]
    progress = RunProgress(experiment.name, costs, quiet)
    with threadpool_limits(1):
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        for task, outcome in parallel(jobs):
            file.add(task, outcome)
            progress.advance(experiment.cost(task), "error" in outcome)
    results = file.read()
    assert results is not None
    return Outcome(results.of(tasks), file.path, len(ahead) - len(todo), unreadable)


def _measured(
    experiment: Experiment, task: Task, seed: int, data_dir: Path | None
) -> tuple[Task, dict[str, Any]]:
    """Do one task; a failure is recorded like a result, so that the others go on."""
    begin = time.thread_time()
    try:
        with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = plain(experiment.run(task, seed_of(experiment, task, seed), data_dir))
    except Exception:
        return task, {"error": traceback.format_exc()}
    if clash := (set(task) | _RESERVED) & set(result):
        return task, {"error": f"the result has the reserved entries {sorted(clash)}"}
    messages = sorted({f"{each.category.__name__}: {each.message}" for each in caught})
    outcome: Row = {"result": result, "cpu": round(time.thread_time() - begin, 4)}
    return task, outcome | ({"warnings": messages} if messages else {})

"""The runner: does the tasks that a result file lacks, on any backend of joblib."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from threadpoolctl import threadpool_limits

from ..._checks import check_kind
from ..experiment import Experiment, Row, Scale, Task
from .errors import ExperimentError
from .progress import RunProgress
from .seeds import key_of, seed_of
from .store import ResultFile, Results, header, plain

_RESERVED = {"cpu", "warnings"}


@dataclass(frozen=True)
class Plan:
    """The work ahead of a run.

    Parameters
    ----------
    tasks : list of dict
        All tasks that were asked for.
    todo : list of dict
        The tasks that the result file lacks.
    seconds : float
        Expected CPU seconds of `todo`.
    """

    tasks: list[Task]
    todo: list[Task]
    seconds: float


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run.

    Parameters
    ----------
    results : Results
        Results of the tasks that were asked for.
    path : Path
        The result file.
    n_left_out : int, default=0
        Number of tasks that were not done because a set that they also need cannot be read.
    unreadable : dict, default={}
        Those sets, with the reasons.
    """

    results: Results
    path: Path
    n_left_out: int = 0
    unreadable: dict[str, str] = field(default_factory=dict)


def chosen(experiment: Experiment, scale: Scale, only: Sequence[str] = ()) -> list[Task]:
    """Return the tasks of a scale that `only` selects: data sets, or KEY=VALUE of a task."""
    tasks = experiment.tasks(scale)
    keys = [key_of(task) for task in tasks]
    if len(set(keys)) < len(keys):
        raise ExperimentError(f"{experiment.name} has two tasks with the same entries")
    wanted: dict[str, set[str]] = {}
    for name in only:
        check_kind(name, "only", str)
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
    return Plan(tasks, todo, ratio * sum(map(experiment.cost, todo)))


def run(
    experiment: Experiment,
    folder: Path,
    *,
    scale: Scale | None = None,
    only: Sequence[str] = (),
    seed: int = 0,
    n_jobs: int | None = None,
    backend: str | None = None,
    data_dir: Path | None = None,
    fresh: bool = False,
    quiet: bool = True,
) -> Outcome:
    """Do the tasks of an experiment that its result file lacks.

    Parameters
    ----------
    experiment : Experiment
        One of `experiments`.
    folder : Path
        Folder of the result file.
    scale : Scale, default=None
        How much to run; None is the paper's size.
    only : sequence of str, default=()
        Data sets to run, or KEY=VALUE for another entry of a task; empty runs all.
    seed : int, default=0
        Seed from which the seeds of all tasks are made.
    n_jobs : int, default=None
        Number of processes; None is one.
    backend : {"loky", "threading", "dask"}, default=None
        Backend of joblib; None is the one of ``joblib.parallel_config``.
    data_dir : Path, default=None
        The folder of the data sets; None is the default of `kernelwise.datasets`.
    fresh : bool, default=False
        Whether to throw away the results of these tasks and measure them again.
    quiet : bool, default=True
        Whether to hide the progress.

    Returns
    -------
    outcome : Outcome
        Results and failures of the tasks that were asked for.
    """
    check_kind(experiment, "experiment", Experiment)
    scale = experiment.scale() if scale is None else scale
    check_kind(scale, "scale", Scale)
    if backend is not None:
        check_kind(backend, "backend", str)
    tasks = chosen(experiment, scale, only)
    file = ResultFile(folder, experiment.name, scale.name)
    ahead = plan(experiment, tasks, None if fresh else file.read())
    unreadable = experiment.check_data(ahead.todo, data_dir)
    todo = [task for task in ahead.todo if not experiment.needs(task) & unreadable.keys()]
    file.begin(header(experiment, scale, seed), forget=tasks if fresh else ())
    jobs = (delayed(_measured)(experiment, task, seed, data_dir) for task in todo)
    costs = [experiment.cost(task) for task in todo]
    with RunProgress(experiment.name, costs, quiet) as progress, _workers(backend, n_jobs):
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        for task, outcome in parallel(jobs):
            file.add(task, outcome)
            progress.advance(experiment.cost(task), "error" in outcome)
    results = file.read()
    assert results is not None
    return Outcome(results.of(tasks), file.path, len(ahead.todo) - len(todo), unreadable)


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


@contextmanager
def _workers(backend: str | None, n_jobs: int | None) -> Iterator[None]:
    """Set joblib's backend, and limit this process to one thread as well."""
    with ExitStack() as stack:
        stack.enter_context(threadpool_limits(1))
        if backend == "dask":
            stack.enter_context(_dask_client(n_jobs))
        if backend is not None:
            stack.enter_context(parallel_config(backend=backend))
        yield


def _dask_client(n_jobs: int | None) -> Any:
    """Return a client of the scheduler that DASK_SCHEDULER_ADDRESS names, or of a local one."""
    try:
        import dask
        from distributed import Client
    except ImportError as error:
        raise ExperimentError(
            "backend 'dask' needs Dask: pip install 'kernelwise[dask]'"
        ) from error
    if dask.config.get("scheduler-address", None):
        return Client()
    n_workers = effective_n_jobs(-1 if n_jobs is None else n_jobs)
    return Client(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0")

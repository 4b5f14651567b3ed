"""The runner: the tasks that are not done yet, on any backend of joblib, one thread a task."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from threadpoolctl import threadpool_limits

from ..data import check_data
from ..experiment import Experiment, Row, Scale, Task
from .errors import ExperimentError
from .progress import Progress
from .seeds import key_of, seed_of
from .store import ResultFile, Results, header, plain

_RESERVED = {"cpu", "warnings"}


@dataclass(frozen=True)
class Plan:
    """What is to be run, known before any work.

    Parameters
    ----------
    tasks : list of dict
        All tasks that were asked for.
    todo : list of dict
        Those that are not in the result file.
    seconds : float
        Expected CPU seconds of the latter.
    """

    tasks: list[Task]
    todo: list[Task]
    seconds: float


@dataclass(frozen=True)
class Outcome:
    """What a run has left.

    Parameters
    ----------
    results : Results
        Of the tasks that were asked for.
    path : Path
        The result file.
    """

    results: Results
    path: Path


def chosen(experiment: Experiment, scale: Scale, only: Sequence[str] = ()) -> list[Task]:
    """Return the tasks of a scale, of some data sets or of all."""
    tasks = experiment.tasks(scale)
    keys = [key_of(task) for task in tasks]
    if len(set(keys)) < len(keys):
        raise ExperimentError(f"{experiment.name} has two tasks with the same entries")
    if only:
        tasks = [task for task in tasks if task.get("dataset") in only]
    return tasks


def plan(experiment: Experiment, tasks: list[Task], done: Results | None) -> Plan:
    """Return what is left to do and what it will cost, by what similar tasks took before."""
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
        For the result file.
    scale : Scale, default=None
        How much; None is the paper's size.
    only : sequence of str, default=()
        Data sets to which to keep; none is all.
    seed : int, default=0
        All seeds come from it.
    n_jobs : int, default=None
        Processes; None is one.
    backend : {"loky", "threading", "dask"}, default=None
        Of joblib; None is what ``joblib.parallel_config`` says.
    data_dir : Path, default=None
        The folder of the data sets; None is the default of `kernelwise.datasets`.
    fresh : bool, default=False
        Whether to throw away the results that are there.
    quiet : bool, default=True
        Whether to show no progress.

    Returns
    -------
    outcome : Outcome
        What there is of the tasks that were asked for, failures included.
    """
    scale = experiment.scale() if scale is None else scale
    tasks = chosen(experiment, scale, only)
    file = ResultFile(folder, experiment.name, scale.name)
    ahead = plan(experiment, tasks, None if fresh else file.read())
    check_data(experiment, ahead.todo, data_dir)
    file.begin(header(experiment, scale, seed), fresh)
    jobs = (delayed(_measured)(experiment, task, seed, data_dir) for task in ahead.todo)
    costs = [experiment.cost(task) for task in ahead.todo]
    with Progress(experiment.name, costs, quiet) as progress, _workers(backend, n_jobs):
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        for task, outcome in parallel(jobs):
            file.add(task, outcome)
            progress.advance(experiment.cost(task), "error" in outcome)
    results = file.read()
    assert results is not None
    return Outcome(results.of(tasks), file.path)


def _measured(
    experiment: Experiment, task: Task, seed: int, data_dir: Path | None
) -> tuple[Task, dict[str, Any]]:
    """Do one task; a failure is a result like any other, so that the rest goes on."""
    begin = time.thread_time()
    try:
        with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = plain(experiment.run(task, seed_of(experiment, task, seed), data_dir))
    except Exception:
        return task, {"error": traceback.format_exc()}
    if clash := (set(task) | _RESERVED) & set(result):
        return task, {"error": f"the result has the reserved entries {sorted(clash)}"}
    said = sorted({f"{each.category.__name__}: {each.message}" for each in caught})
    outcome: Row = {"result": result, "cpu": round(time.thread_time() - begin, 4)}
    return task, outcome | ({"warnings": said} if said else {})


@contextmanager
def _workers(backend: str | None, n_jobs: int | None) -> Iterator[None]:
    """Set joblib's backend, and keep this process to one thread for each task as well."""
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

"""The runner: one task is one fit of one contender on one split, in one process on one thread."""

import multiprocessing
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache

from .quality_contenders import CONTENDERS, Setting
from .quality_store import Store, Task


def measure(task: Task, quick: bool = False) -> dict:
    """Fit and score a contender; return its accuracy, the CPU seconds of the fit and the sizes."""
    import numpy as np
    from threadpoolctl import threadpool_limits

    from .measure import rounded
    from .quality_data import draw

    one = draw(task.set, task.condition, task.seed)
    n, p = one.X.shape
    model = CONTENDERS[task.contender].make(Setting(p, task.seed, quick))
    with threadpool_limits(1), quiet():
        if CONTENDERS[task.contender].ours:
            warm_up(task.contender)
        begin = time.process_time()
        model.fit(one.X, one.y)
        cpu = time.process_time() - begin
        accuracy = np.mean(model.predict(one.X_test) == one.y_test)
    return {
        "accuracy": rounded(float(accuracy)),
        "cpu": rounded(cpu),
        "n": n,
        "p": p,
        "classes": len(np.unique(one.y)),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


@cache
def warm_up(contender: str) -> None:
    """Let a contender of ours compile or load what it needs: once in a process, and untimed."""
    import numpy as np

    for n, p in ((60, 4), (300, 40)):  # few and many columns may be compiled apart
        X = np.random.default_rng(0).normal(size=(n, p))
        for classes in (2, 3):
            CONTENDERS[contender].make(Setting(p)).fit(X, np.arange(n) % classes)


@contextmanager
def quiet() -> Iterator[None]:
    """Hide what is expected: classes smaller than a fold, and constant columns."""
    from . import rounds

    with rounds.quiet(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Features .* are constant", UserWarning)
        warnings.filterwarnings("ignore", "invalid value encountered in divide", RuntimeWarning)
        yield


def run(
    tasks: Sequence[Task], store: Store, jobs: int, quick: bool, say: Callable[[str], None]
) -> int:
    """Run the tasks and write each to the journal when it is finished; return how many failed."""
    begin, failed = time.perf_counter(), 0
    for done, (task, found) in enumerate(_finished(tasks, jobs, quick), start=1):
        name = f"{task.contender} on {task.set}, {task.condition}, seed {task.seed}"
        if isinstance(found, str):
            failed += 1
            say(f"{name} FAILED:\n{found}")
            continue
        store.add(task, found)
        left = len(tasks) - done
        minutes = (time.perf_counter() - begin) / done * left / 60
        say(
            f"{name}: {100 * found['accuracy']:.1f} %, {found['cpu']:.3g} s; "
            f"{left} of {len(tasks)} left, about {minutes:.0f} min"
        )
    return failed


def _finished(tasks: Sequence[Task], jobs: int, quick: bool) -> Iterator[tuple[Task, dict | str]]:
    """Yield tasks with their result, or with what went wrong: one failure must not end a night."""
    if jobs == 1:
        for task in tasks:
            yield task, _tried(task, quick)
        return
    # New processes, not copies of this one: they read the limits on threads at their start.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        futures = {pool.submit(_tried, task, quick): task for task in tasks}
        for future in as_completed(futures):
            yield futures[future], future.result()


def _tried(task: Task, quick: bool) -> dict | str:
    try:
        return measure(task, quick)
    except Exception:
        return traceback.format_exc()

"""Run tasks in parallel, with progress on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from sklearn.utils.parallel import Parallel, delayed

PATIENCE = 2.0  # seconds before the first line of progress, and between two lines


def run_all(
    task: Callable[..., Any],
    jobs: list[tuple[Any, ...]],
    *,
    what: str,
    n_jobs: int | None,
    verbose: bool | str,
    callback: Callable[[int, int], Any] | None,
) -> list[Any]:
    """Run a task for each tuple of arguments; return the results in order.

    ``callback`` is called with the number of finished tasks and their total. ``verbose="auto"``
    prints progress to stderr every two seconds, True after each task, False never.
    """
    finished: Iterator[Any] = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(task)(*arguments) for arguments in jobs
    )
    results, total = [], len(jobs)
    begin = printed = time.monotonic()
    for done, result in enumerate(finished, 1):
        results.append(result)
        now = time.monotonic()
        if verbose is True or (verbose == "auto" and now - printed > PATIENCE and done < total):
            printed, left = now, (now - begin) / done * (total - done)
            print(f"[kernelwise] {what}: {done} of {total}, {left:.0f} s left", file=sys.stderr)
        if callback is not None:
            callback(done, total)
    return results

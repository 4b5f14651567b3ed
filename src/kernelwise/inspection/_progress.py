"""A word on the way, where something takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from sklearn.utils.parallel import Parallel, delayed

PATIENCE = 2.0  # seconds after which to tell, and between two lines


def run_all(
    task: Callable[..., Any],
    jobs: list[tuple[Any, ...]],
    *,
    what: str,
    n_jobs: int | None,
    verbose: bool | str,
    callback: Callable[[int, int], Any] | None,
) -> list[Any]:
    """Run a task on each tuple of arguments, some at a time; results are in order.

    ``callback`` is called with how many are done and how many there are. ``verbose="auto"`` prints
    to stderr once two seconds have passed, True after each, False never.
    """
    if verbose not in (True, False, "auto"):
        raise ValueError(f"verbose={verbose!r} must be True, False or 'auto'.")
    found: Iterator[Any] = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(task)(*arguments) for arguments in jobs
    )
    results, total = [], len(jobs)
    begin = said = time.monotonic()
    for done, result in enumerate(found, 1):
        results.append(result)
        now = time.monotonic()
        if verbose is True or (verbose == "auto" and now - said > PATIENCE and done < total):
            said, left = now, (now - begin) / done * (total - done)
            print(f"[kernelwise] {what}: {done} of {total}, {left:.0f} s left", file=sys.stderr)
        if callback is not None:
            callback(done, total)
    return results

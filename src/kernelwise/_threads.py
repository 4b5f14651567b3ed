"""Threads: one thread a fit by default, and BLAS never takes more than it was given."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

from joblib import effective_n_jobs

T = TypeVar("T")


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def single_blas() -> Any:
    """Return a context in which each BLAS call runs on the calling thread only."""
    return _controller().limit(limits=1, user_api="blas")


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads that ``n_jobs`` asks for; None is one."""
    return 1 if n_jobs is None else int(effective_n_jobs(n_jobs))


def run(task: Callable[[Any], T], items: Iterable[Any], threads: int) -> list[T]:
    """Map ``task`` over ``items``, in order, on as many threads."""
    items = list(items)
    if threads <= 1 or len(items) <= 1:
        return [task(item) for item in items]
    with ThreadPoolExecutor(min(threads, len(items))) as pool:
        return list(pool.map(task, items))

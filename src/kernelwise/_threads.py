"""Threads: one thread a fit by default, and BLAS never takes more than it was given."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from threading import Lock
from typing import Any, TypeVar

from joblib import effective_n_jobs

T = TypeVar("T")


class _SingleBlas:
    """Holds BLAS to the calling thread while any fit is under way, in whichever thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._depth = 0
        self._held: list[tuple[Any, int]] = []

    @cached_property
    def _libraries(self) -> list[Any]:
        from threadpoolctl import ThreadpoolController

        return list(ThreadpoolController().select(user_api="blas").lib_controllers)

    def __enter__(self) -> None:
        # Library by library: threadpoolctl's own context asks them for all they know of themselves.
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                self._held = [
                    (library, threads)
                    for library in self._libraries
                    if (threads := library.get_num_threads()) != 1
                ]
                for library, _ in self._held:
                    library.set_num_threads(1)

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                for library, threads in self._held:
                    library.set_num_threads(threads)


_single_blas = _SingleBlas()


def single_blas() -> _SingleBlas:
    """Return a context in which each BLAS call runs on the calling thread only."""
    return _single_blas


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

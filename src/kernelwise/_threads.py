"""Threads: one per fit by default, and BLAS never uses more than the calling thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from threading import Lock
from typing import Any, TypeVar

from joblib import effective_n_jobs

T = TypeVar("T")


class _SingleBlas:
    """Keeps BLAS to the calling thread while a fit runs in any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._depth = 0
        self._held: list[tuple[Any, int]] = []

    @cached_property
    def _libraries(self) -> list[Any]:
        from threadpoolctl import ThreadpoolController

        return list(ThreadpoolController().select(user_api="blas").lib_controllers)

    def __enter__(self) -> None:
        # Library by library: threadpoolctl's own context is slower, as it queries all properties.
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
    """Return a context manager in which BLAS runs on the calling thread only."""
    return _single_blas


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads for ``n_jobs``; None is one."""
    return 1 if n_jobs is None else int(effective_n_jobs(n_jobs))


def run(task: Callable[[Any], T], items: Iterable[Any], threads: int) -> list[T]:
    """Map ``task`` over ``items`` on up to ``threads`` threads; return the results in order."""
    items = list(items)
    if threads <= 1 or len(items) <= 1:
        return [task(item) for item in items]
    with ThreadPoolExecutor(min(threads, len(items))) as pool:
        return list(pool.map(task, items))

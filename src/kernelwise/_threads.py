"""Threads: one per fit by default, and BLAS never uses more than the calling thread."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from threading import Event, Lock, RLock, Thread, current_thread, local, main_thread
from typing import Any, TypeVar

from joblib import effective_n_jobs

T = TypeVar("T")


def in_forked_child(renew: Callable[[], None]) -> None:
    """Call a function in each process that forks off, where processes fork at all."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=renew)


class ForkSafeLock:
    """A lock that is open in a forked child, whichever thread of the parent held it.

    Enter ``current``, a plain lock: Ctrl-C cannot come between its being taken and the block.
    """

    def __init__(self) -> None:
        self._renew()
        in_forked_child(self._renew)

    def _renew(self) -> None:
        self.current = Lock()


def _renew_cached_properties() -> None:
    """Open the locks of our cached properties, which Python 3.11 has and later versions do not."""
    ours = [module for name, module in sys.modules.items() if name.startswith("kernelwise.")]
    classes = {each for module in ours for each in vars(module).values() if isinstance(each, type)}
    for cls in classes:
        for each in vars(cls).values():
            if isinstance(each, cached_property):
                each.lock = RLock()  # type: ignore[attr-defined]


if sys.version_info < (3, 12):
    in_forked_child(_renew_cached_properties)


class _SingleBlas:
    """Keeps BLAS to the calling thread while a fit runs in any thread."""

    def __init__(self) -> None:
        # A plain lock: Ctrl-C cannot come between its being taken and the start of the block.
        self._lock = Lock()
        self._depth = 0  # contexts that are open, in all threads
        self._own = local()
        self._held: list[tuple[Any, int]] = []
        in_forked_child(self._forget_other_threads)

    def _forget_other_threads(self) -> None:
        self._lock = Lock()
        self._depth = getattr(self._own, "depth", 0)

    @cached_property
    def _libraries(self) -> list[Any]:
        from threadpoolctl import ThreadpoolController

        class BlasController(ThreadpoolController):
            """Looks only at libraries whose name may be one of BLAS.

            A process has hundreds of others, and each takes 50 microseconds. In a version of
            threadpoolctl without this method, all of them are looked at.
            """

            def _make_controller_from_path(self, filepath: str) -> None:
                name = os.path.basename(filepath).lower()
                if any(word in name for word in ("blas", "blis", "mkl")):
                    super()._make_controller_from_path(filepath)

        return list(BlasController().select(user_api="blas").lib_controllers)

    def __enter__(self) -> None:
        depth, is_in = getattr(self._own, "depth", 0) + 1, False
        try:
            with self._lock:
                self._depth += 1
                self._own.depth, is_in = depth, True
                if self._depth == 1:
                    self._hold()
        except BaseException:  # Ctrl-C: the block is not entered, so nothing else would undo this
            if is_in:
                self.__exit__()
            raise

    def _hold(self) -> None:
        """Set BLAS to one thread; note how many it had.

        This is done library by library: threadpoolctl's own context queries all properties.
        """
        held = [(library, library.get_num_threads()) for library in self._libraries]
        held = [(library, threads) for library, threads in held if threads != 1]
        self._held = held or self._held  # a fork may have left some to give back
        for library, _ in held:
            _set_threads(library, 1)

    def __exit__(self, *exception: object) -> None:
        self._own.depth -= 1
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                for library, threads in self._held:
                    _set_threads(library, threads)
                self._held = []


def _set_threads(library: Any, threads: int) -> None:
    """Set the threads of a library, whichever thread has set them before.

    Newer versions of threadpoolctl do nothing for a thread that is not the first one to ask.
    """
    let_go = getattr(library, "clear_controlling_thread", None)
    if let_go is None:
        library.set_num_threads(threads)
        return
    let_go(force=True)
    library.set_num_threads(threads)
    let_go()


_single_blas = _SingleBlas()


def single_blas() -> _SingleBlas:
    """Return a context manager in which BLAS runs on the calling thread only."""
    return _single_blas


MOST_THREADS = 4096  # more threads than any machine has use for


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads for ``n_jobs``; None is one."""
    return 1 if n_jobs is None else min(int(effective_n_jobs(n_jobs)), MOST_THREADS)


def run(task: Callable[[Any], T], items: Iterable[Any], threads: int) -> list[T]:
    """Map ``task`` over ``items`` on up to ``threads`` threads; return the results in order.

    After an error no further item is begun, and the error of the first item that failed is raised.
    """
    items = list(items)
    if threads <= 1 or len(items) <= 1:
        return [task(item) for item in items]
    found: list[Any] = [None] * len(items)
    failed: dict[int, BaseException] = {}
    left = deque(range(len(items)))  # each thread takes the next one: a pool would take 20 us each

    def work() -> None:
        while True:
            try:
                number = left.popleft()
            except IndexError:
                return
            try:
                found[number] = task(items[number])
            except BaseException as error:
                failed[number] = error
                left.clear()

    with ThreadPoolExecutor(min(threads, len(items))) as pool:
        try:
            for worker in [pool.submit(work) for _ in range(min(threads, len(items)))]:
                worker.result()
        finally:  # Ctrl-C: the threads end what they have begun
            left.clear()
    if failed:
        raise failed[min(failed)]
    return found


_POLL = 0.05  # seconds between two looks for Ctrl-C


def interruptible(function: Callable[[], T]) -> T:
    """Call a function that is deaf to signals, such as one of LAPACK, so that Ctrl-C ends the wait.

    The function runs in a thread of its own while the main thread, which alone gets signals, looks
    for them. It must release Python's lock. After Ctrl-C it ends behind the caller's back, and its
    result is dropped, so it may only write to what it made itself.
    """
    if current_thread() is not main_thread():
        return function()
    answers: list[T] = []
    errors: list[BaseException] = []
    is_done = Event()

    def work() -> None:
        try:
            answers.append(function())
        except BaseException as error:
            errors.append(error)
        finally:
            is_done.set()

    try:
        Thread(target=work, daemon=True).start()
    except RuntimeError:  # not enough memory for the stack of a thread
        return function()
    while not is_done.wait(_POLL):
        pass
    if errors:
        raise errors[0]
    return answers[0]

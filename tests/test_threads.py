"""BLAS on one thread while a fit is under way, and as it was behind it."""

import _thread
import signal
import sys
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from kernelwise import EmpiricalKernelMap
from kernelwise._threads import interruptible, run, single_blas
from tests.loop import loop


def blas_threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


@loop("threads", [1, 2])
def test_blas_is_held_to_one_thread(threads):
    with threadpool_limits(threads, user_api="blas"):
        before = blas_threads()
        with single_blas():
            assert blas_threads() == {1}
            with single_blas():
                assert blas_threads() == {1}
            assert blas_threads() == {1}
        assert blas_threads() == before


def test_blas_is_held_by_a_thread_that_is_not_the_first_to_hold_it():
    seen = []

    def hold():
        with single_blas():
            seen.append(blas_threads())

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with single_blas():
            pass
        other = threading.Thread(target=hold)
        other.start()
        other.join()
        assert seen == [{1}]
        assert blas_threads() == before


def test_blas_is_given_back_after_an_error():
    before = blas_threads()
    with pytest.raises(KeyError), single_blas():
        raise KeyError
    assert blas_threads() == before


class _InterruptAt:
    """Raises KeyboardInterrupt at a call inside the context's entry, as Ctrl-C may."""

    def __init__(self, call):
        self.left, self.inside = call, False

    def __call__(self, frame, event, argument):
        name = frame.f_code.co_name
        if name == "__enter__" and frame.f_locals.get("self") is single_blas():
            self.inside = event != "return"
        if self.inside and event == "c_return":  # Python looks for signals after a call
            self.left -= 1
            if self.left < 0:
                sys.setprofile(None)
                raise KeyboardInterrupt


def test_ctrl_c_at_the_entry_leaves_no_lock_taken():
    with single_blas():  # finds the libraries
        pass
    with threadpool_limits(2, user_api="blas"):
        before, was_interrupted = blas_threads(), []
        for call in range(100):
            try:
                sys.setprofile(_InterruptAt(call))
                with single_blas():
                    sys.setprofile(None)
                was_interrupted.append(False)
            except KeyboardInterrupt:
                was_interrupted.append(True)
            finally:
                sys.setprofile(None)
            assert not single_blas()._lock.locked()
            assert single_blas()._depth == 0
            if not was_interrupted[-1]:
                break
        assert was_interrupted.count(True) >= 3
        assert not was_interrupted[-1]
        with single_blas():
            assert blas_threads() == {1}
        assert blas_threads() == before


class _Deaf:
    """A function that ends only when it is let go, and sends Ctrl-C once it has begun."""

    def __init__(self):
        self.let_go = threading.Event()

    def __call__(self, *arguments):
        _thread.interrupt_main()
        self.let_go.wait(60)


def test_ctrl_c_does_not_wait_for_what_is_deaf_to_signals():
    deaf = _Deaf()
    with pytest.raises(KeyboardInterrupt):
        interruptible(deaf)
    assert not deaf.let_go.is_set()
    deaf.let_go.set()


@loop("threads", [1, 2, 3, 99])
def test_tasks_run_once_each_and_give_their_answers_in_order(threads):
    taken = []

    def task(item):
        taken.append(item)
        return item * item

    assert run(task, iter(range(50)), threads) == [i * i for i in range(50)]
    assert sorted(taken) == list(range(50))


@loop("threads", [1, 2, 3])
def test_the_error_of_the_first_task_that_failed_is_raised_and_no_more_are_begun(threads):
    taken = []

    def task(item):
        taken.append(item)
        if item >= 10:
            raise ValueError(f"item {item}")

    with pytest.raises(ValueError, match="item 10"):
        run(task, range(1000), threads)
    assert len(taken) <= 10 + threads


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="sends Ctrl-C to one thread")
def test_after_ctrl_c_no_more_tasks_are_begun():
    taken = []

    def task(item):
        taken.append(item)
        if item == 3:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        if item > 3:
            time.sleep(0.05)

    with pytest.raises(KeyboardInterrupt):
        run(task, range(1000), 2)
    assert len(taken) < 500


def test_answers_and_errors_of_what_is_deaf_to_signals():
    assert interruptible(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0)


def test_in_other_threads_nothing_waits_for_signals():
    found = []
    thread = threading.Thread(target=lambda: found.append(interruptible(threading.current_thread)))
    thread.start()
    thread.join()
    assert found == [thread]


def test_without_memory_for_a_thread_the_work_is_done_all_the_same(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert interruptible(threading.current_thread) is threading.main_thread()


def test_ctrl_c_ends_the_decomposition_of_a_kernel_map_and_keeps_the_old_model(monkeypatch):
    X = np.random.default_rng(0).normal(size=(600, 3))
    model = EmpiricalKernelMap(n_components=2).fit(X[:50])
    before, deaf = model.map_, _Deaf()
    monkeypatch.setattr(np.linalg, "eigh", deaf)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    deaf.let_go.set()
    assert model.map_ is before

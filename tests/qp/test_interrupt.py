"""A long solve tells how far it is, lets other threads run, and stops when asked to."""

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from kernelwise.kernels import RBF, LazyGram
from kernelwise.qp import SMO, Progress, c_svc
from kernelwise.qp import active_rows as run
from tests.loop import loop


def endless_problem(n=1500):
    """Return a problem that takes far longer than any test waits."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return c_svc(RBF(gamma=0.1)(X), y, 1e8)


def quick_problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    return c_svc(LazyGram(RBF(), X), np.where(rng.random(60) < 0.5, 1.0, -1.0), 10.0)


def test_callback_hears_of_the_progress():
    heard = []
    solution = SMO(callback=heard.append).solve(quick_problem())
    assert heard
    assert all(isinstance(progress, Progress) for progress in heard)
    steps = [progress.n_iter for progress in heard]
    assert steps == sorted(steps)
    assert steps[-1] == solution.n_iter
    assert heard[-1].violation <= 1e-3
    assert heard[-1].objective == pytest.approx(solution.objective, rel=1e-3)
    assert 0 < heard[-1].n_active <= 60


def test_steps_and_objective_go_on_through_a_long_solve(monkeypatch):
    monkeypatch.setattr(run, "SWEEP", 1e6)  # a call every thousand steps
    heard = []

    def listen(progress):
        heard.append(progress)
        if len(heard) == 120:  # long enough for the solver to change its ways
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SMO(callback=listen, exact=False).solve(endless_problem(300))
    steps = [progress.n_iter for progress in heard]
    objectives = np.array([progress.objective for progress in heard])
    assert steps == sorted(steps)
    assert (np.diff(objectives) <= 1e-6 * np.abs(objectives[1:])).all()


@loop("error", [KeyboardInterrupt, RuntimeError("enough")])
def test_an_error_in_the_callback_ends_the_solve(error):
    def stop(progress):
        raise error

    with pytest.raises(error if isinstance(error, type) else type(error)):
        SMO(callback=stop).solve(quick_problem())


INTERRUPTED = """
import sys
sys.path.insert(0, {root!r})
from tests.qp.test_interrupt import endless_problem, quick_problem
from kernelwise.qp import SMO
SMO(exact={exact}).solve(quick_problem())  # compiles
qp = endless_problem()
print("started", flush=True)
SMO(exact={exact}, max_iter=2_000_000_000).solve(qp)
print("solved", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send to a process")
@loop("exact", [True, False])
def test_ctrl_c_stops_a_long_solve(pytestconfig, exact):
    code = INTERRUPTED.format(root=str(pytestconfig.rootpath), exact=exact)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "started\n"
            time.sleep(1.0)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
        finally:
            process.kill()
    assert "solved" not in out, "the problem was too easy to be interrupted"
    assert "KeyboardInterrupt" in err
    assert process.returncode == -signal.SIGINT


def test_other_threads_run_during_a_solve(monkeypatch):
    monkeypatch.setattr(run, "_FIRST_SWEEP", 1e13)  # one stretch of compiled code
    solver, qp = SMO(max_iter=50_000, exact=False), endless_problem(2000)
    SMO(max_iter=1).solve(qp)  # compiles
    worker = threading.Thread(target=solver.solve, args=(qp,))
    ticks = [time.perf_counter()]
    worker.start()
    while worker.is_alive():
        time.sleep(0.001)
        ticks.append(time.perf_counter())
    # With the GIL held, this thread would sleep as long as the stretch lasts.
    assert max(np.diff(ticks)) < 0.5 * (ticks[-1] - ticks[0])
    assert len(ticks) > 10

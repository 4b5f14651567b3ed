"""A process that forks while another of its threads fits: the child fits as well."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")

HELD = """
import os, signal, threading
from sklearn.datasets import load_iris
import kernelwise
from kernelwise._threads import single_blas
from kernelwise.kernels import RBF, LazyGram

X, y = load_iris(return_X_y=True)
kernelwise.SVC().fit(X, y)
inside, leave = threading.Event(), threading.Event()


class Slow(RBF):
    def diag(self, X):
        inside.set()
        leave.wait()
        return super().diag(X)


def hold():
    {hold}


thread = threading.Thread(target=hold, daemon=True)
thread.start()
inside.wait()
child = os.fork()
if child == 0:
    signal.alarm(60)  # a child that hangs is killed
    leave.set()
    assert LazyGram(RBF(), X).diag().shape == (150,)
    os._exit(0 if kernelwise.SVC().fit(X, y).score(X, y) > 0.9 else 1)
_, status = os.waitpid(child, 0)
leave.set()
thread.join()
print("status", status)
"""
WAYS = {
    "the lock around BLAS": "with single_blas()._lock: inside.set(); leave.wait()",
    "a context of BLAS": "with single_blas(): inside.set(); leave.wait()",
    "a cached property": "LazyGram(Slow(), X).diag()",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_child_fits_while_a_thread_of_its_parent_holds(way):
    command = [sys.executable, "-W", "ignore", "-c", HELD.format(hold=WAYS[way])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout == "status 0\n", done.stderr


BLAS = """
import os, threading
import kernelwise
from threadpoolctl import threadpool_info, threadpool_limits
from kernelwise._threads import single_blas


def threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


inside, leave = threading.Event(), threading.Event()


def hold():
    with single_blas():
        inside.set()
        leave.wait()


threadpool_limits(2, user_api="blas")
before = threads()
thread = threading.Thread(target=hold)
thread.start()
inside.wait()
child = os.fork()
if child == 0:
    with single_blas():
        assert threads() == {1}
    os._exit(0 if threads() == before else 1)
_, status = os.waitpid(child, 0)
leave.set()
thread.join()
assert threads() == before
print("status", status)
"""


def test_a_child_gives_blas_back_the_threads_that_its_parent_took():
    command = [sys.executable, "-W", "ignore", "-c", BLAS]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout == "status 0\n", done.stderr

"""The levels of a processor: which there are, how one is picked, and that they agree."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kernelwise
from kernelwise import _native

FIT = """
import sys
import numpy as np
from sklearn.datasets import load_digits
from kernelwise import SVC, MarginRadiusSVC
from kernelwise._native import level
from kernelwise.kernels import RBF, Laplacian

X, y = load_digits(return_X_y=True)
X, y = X[:300] / 16, y[:300]
decision = SVC(C=10.0, tol=1e-6).fit(X, y).decision_function(X)
learned = MarginRadiusSVC(tol=1e-8).fit(X[:80, :20], y[:80] % 2).decision_function(X[:, :20])
rbf, laplacian = (kernel(X[:50], X).ravel() for kernel in (RBF(0.1), Laplacian(0.1)))
np.savez(sys.argv[1], decision=decision, learned=learned, rbf=rbf, laplacian=laplacian)
print(level)
"""


def run(code, *args, cpu):
    env = os.environ | {"KERNELWISE_CPU": cpu}
    command = [sys.executable, "-c", code, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env)


def test_a_level_is_picked_and_the_best_comes_first():
    assert _native.level in _native.levels
    assert list(_native.levels) == sorted(_native.levels, reverse=True)


@pytest.mark.parametrize("level", _native.levels)
def test_every_level_can_be_forced(level):
    done = run("from kernelwise._native import level; print(level)", cpu=level)
    assert done.stdout == f"{level}\n", done.stderr


@pytest.mark.parametrize("level", ["v9", "avx2", "v4 "])
def test_an_unknown_level_is_an_import_error_that_names_the_known_ones(level):
    done = run("import kernelwise._native", cpu=level)
    assert done.returncode != 0
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: ")
    assert repr(level) in last
    assert ", ".join(_native.levels) in last


@pytest.mark.skipif("v2" not in _native.levels, reason="levels are those of x86-64 processors")
def test_an_old_processor_is_an_import_error_that_names_the_remedy():
    assert _native.levels_of(2) == ("v2",)
    assert _native.levels_of(4) == ("v4", "v3", "v2")
    with pytest.raises(ImportError, match=r"older; build it .*\.KERNELWISE_BASELINE=ON"):
        _native.levels_of(1)


def test_an_empty_level_is_the_best():
    done = run("from kernelwise._native import level; print(level)", cpu="")
    assert done.stdout == f"{_native.levels[0]}\n", done.stderr


def test_levels_agree_up_to_rounding(tmp_path):
    found = []
    for level in _native.levels:
        path = tmp_path / f"{level}.npz"
        done = run(FIT, path, cpu=level)
        assert done.stdout == f"{level}\n", done.stderr
        found.append(np.load(path))
    for other in found[1:]:
        for name in ("rbf", "laplacian"):
            assert_allclose(other[name], found[0][name], rtol=0, atol=1e-14)
        assert_allclose(other["decision"], found[0]["decision"], rtol=0, atol=1e-5)
        assert_allclose(other["learned"], found[0]["learned"], rtol=0, atol=1e-5)


def test_show_versions_names_the_level(capsys):
    kernelwise.show_versions()
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith(f"compiled for   {_native.level} ")
    assert f"kernelwise     {kernelwise.__version__}" in lines

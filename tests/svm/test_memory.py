"""Memory: a fit keeps to its allowance, and gives the same answer with little of it."""

import gc
import json
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification

import kernelwise._memory as memory_module
from kernelwise import (
    SVC,
    AdaptiveKernelSVC,
    DualObjectiveSVC,
    FeatureDiscriminationSVC,
    GeneralizedBiasSVC,
    MarginRadiusSVC,
    RelevanceSVC,
    RelevanceSVR,
)
from kernelwise._memory import allowance, machine_memory
from tests.loop import loop

ROOT = Path(__file__).resolve().parents[2]
N_ROWS = 3000  # 36 MB of kernel in float32


@pytest.fixture(scope="module")
def problem():
    return make_classification(N_ROWS, 10, n_informative=6, flip_y=0.05, random_state=0)


@pytest.fixture(scope="module")
def ample(problem):
    return SVC(cache_size=1000).fit(*problem)


# 5 MB hold 400 rows of the kernel, 1 MB holds 83, and 0.05 MB less than the solver keeps at least.
@pytest.mark.parametrize("megabytes", [20, 5, 1, 0.05])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_little_memory_gives_the_same_solution(problem, ample, megabytes, n_jobs):
    X, y = problem
    model = SVC(cache_size=megabytes, n_jobs=n_jobs).fit(X, y)
    assert model.certificate_.violation[0] <= model.tol
    assert model.certificate_.objective == pytest.approx(ample.certificate_.objective, rel=1e-6)
    values, expected = model.decision_function(X), ample.decision_function(X)
    assert_allclose(values, expected, atol=1e-2)
    decided = np.abs(expected) > 1e-2
    assert_array_equal(model.predict(X)[decided], ample.predict(X)[decided])


def test_little_memory_at_a_tight_tolerance(problem):
    X, y = problem[0][:1000], problem[1][:1000]
    little, ample = (SVC(cache_size=size, tol=1e-8).fit(X, y) for size in (0.5, 1000))
    assert_array_equal(little.support_, ample.support_)
    assert_allclose(little.dual_coef_, ample.dual_coef_, atol=1e-6)


@pytest.mark.parametrize("megabytes", [1e-6, 0.001, 0.01])
def test_a_cache_of_next_to_nothing_still_fits(problem, megabytes):
    X, y = problem[0][:200], problem[1][:200]
    model, expected = (SVC(cache_size=size).fit(X, y) for size in (megabytes, None))
    assert model.fit_status_ == 0
    assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-2)


def test_little_memory_with_several_classes_and_a_warm_start():
    X, y = make_classification(1200, 10, n_informative=8, n_classes=4, random_state=0)
    ample = SVC(decision_function_shape="ovo", C=2.0).fit(X, y)
    little = SVC(decision_function_shape="ovo", cache_size=0.2, warm_start=True).fit(X, y)
    little.set_params(C=2.0).fit(X, y)
    assert_allclose(little.decision_function(X), ample.decision_function(X), atol=1e-2)
    assert_array_equal(little.fit(X, y).n_iter_, 0)


@loop(
    "cls",
    [
        *(SVC, AdaptiveKernelSVC, DualObjectiveSVC, FeatureDiscriminationSVC, GeneralizedBiasSVC),
        *(MarginRadiusSVC, RelevanceSVC, RelevanceSVR),
    ],
)
def test_a_fitted_model_does_not_keep_the_table(cls):
    X, y = make_classification(120, 4, n_informative=3, n_redundant=0, random_state=0)
    table = weakref.ref(X)
    model = cls().fit(X, y)
    del X
    gc.collect()
    assert table() is None
    assert model.n_features_in_ == 4


LARGE_FIT = """
import json, time
from sklearn.datasets import make_classification
from benchmarks.speed.large import peak_bytes
from kernelwise import SVC

X, y = make_classification(50_000, 20, random_state=0)
started = time.perf_counter()
model = SVC(C=1.0).fit(X, y)
print(json.dumps({
    "seconds": time.perf_counter() - started,
    "peak": peak_bytes(),
    "status": model.fit_status_,
    "violation": float(model.certificate_.violation[0]),
    "score": model.score(X[:5000], y[:5000]),
}))
"""


def test_fifty_thousand_rows_take_less_than_a_gigabyte():
    run = [sys.executable, "-c", LARGE_FIT]
    done = subprocess.run(run, capture_output=True, text=True, check=True, cwd=ROOT)
    result = json.loads(done.stdout)
    print(result)
    assert result["peak"] < 1e9
    assert result["status"] == 0
    assert result["violation"] <= 1e-3
    assert result["score"] > 0.9


# --- The allowance -------------------------------------------------------------------------------


@pytest.fixture
def machine(monkeypatch):
    """Return a function that sets the memory of the machine."""

    def set_memory(size):
        monkeypatch.setattr(memory_module, "machine_memory", lambda: size)

    return set_memory


@pytest.fixture
def limit(monkeypatch, tmp_path):
    """Return the file in which a container finds its limit; it is not there yet."""
    machine_memory.cache_clear()
    monkeypatch.setattr(memory_module, "Path", lambda name: tmp_path / "memory.max")
    yield tmp_path / "memory.max"
    machine_memory.cache_clear()


def look_again():
    machine_memory.cache_clear()
    return machine_memory()


def test_the_allowance_given_is_in_megabytes_and_for_each_worker():
    assert allowance(200) == 200e6
    assert allowance(0.5) == 0.5e6
    assert allowance(200, workers=4) == 200e6


@pytest.mark.parametrize(
    ("size", "workers", "expected"),
    [(4e9, 1, 1e9), (4e9, 2, 0.5e9), (8e9, 1, 2e9), (64e9, 1, 2e9), (64e9, 4, 0.5e9)],
)
def test_the_default_allowance_is_a_quarter_at_most_two_gigabytes(machine, size, workers, expected):
    machine(size)
    assert allowance(None, workers) == expected


def test_the_memory_of_this_machine_does_not_depend_on_what_runs():
    before = look_again()
    ballast = np.ones(20_000_000)
    assert look_again() == before > ballast.nbytes


def test_a_container_has_the_memory_of_its_limit(limit):
    whole = look_again()
    limit.write_text("123456789\n")
    assert look_again() == 123456789
    limit.write_text("max\n")
    assert look_again() == whole
    limit.write_text(f"{int(4 * whole)}\n")
    assert look_again() == whole


def test_a_system_that_does_not_tell_gets_the_largest_default(limit, monkeypatch):
    def unknown(name):
        raise ValueError(name)

    monkeypatch.setattr(memory_module.os, "sysconf", unknown)
    assert allowance(None) == 2e9

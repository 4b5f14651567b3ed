"""Time the public API of whichever kernelwise is installed, one case whenever it is asked to.

A script of its own, run as ``PYTHON -P worker.py [SUITE ...] [--quick] [--avx2]``. It prints the
place of the package; then, for each line of its input, the suite, name and CPU time of the next
case; and null after the last one, all as JSON. It imports nothing of the benchmarks and only public
names, so that it works with older versions.
"""

import gc
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from statistics import median
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, make_classification


def hold_numba() -> None:
    """Hold numba, by which older versions are compiled, to AVX2."""
    from llvmlite import binding

    found = binding.get_host_cpu_features()
    found.update(dict.fromkeys((name for name in found if name.startswith("avx512")), False))
    os.environ |= {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": found.flatten()}
    binding.get_host_cpu_features = lambda: found  # the package asks as well


if "--avx2" in sys.argv:  # before numba is imported
    hold_numba()

import kernelwise  # noqa: E402
from kernelwise import kernels  # noqa: E402

_ENOUGH = 0.4  # seconds per case, after the first run
_MOST_RUNS = 25
_START = {
    "import kernelwise": "import kernelwise",
    "import SVC": "from kernelwise import SVC",
    "first fit": "import numpy as np; from kernelwise import SVC\n"
    "X = np.random.default_rng(0).normal(size=(200, 5)); SVC().fit(X, X[:, 0] > 0)",
}
Cases = Iterator[tuple[str, Callable[[], Any]]]


def data(n: int, p: int, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Return a standardised synthetic table."""
    X, y = make_classification(
        n, p, n_informative=max(2, p // 2), n_redundant=0, n_classes=classes, random_state=0
    )
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def digits(step: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return X[::step] / 16, y[::step]


def fit(quick: bool) -> Cases:
    for n in (100,) if quick else (500, 1000, 2000, 5000):
        for p in (20, 100):
            X, y = data(n, p)
            for C in (1.0, 10.0):
                model = kernelwise.SVC(C=C)
                yield f"n={n} p={p} C={C:g}", lambda X=X, y=y, model=model: model.fit(X, y)


def predict(quick: bool) -> Cases:
    for n in (100,) if quick else (1000, 5000):
        X, y = data(n + 2000, 20)
        model = kernelwise.SVC().fit(X[:n], y[:n])
        yield f"n={n} p=20", lambda X=X, n=n, model=model: model.predict(X[n:])


def gram(quick: bool) -> Cases:
    X = data(100 if quick else 2000, 40)[0]
    for kernel in (kernels.RBF(gamma=0.02), kernels.Laplacian(gamma=0.02)):
        for dtype in ("float32", "float64"):
            rows, name = X.astype(dtype), type(kernel).__name__
            yield f"{name} {dtype}", lambda rows=rows, kernel=kernel: kernel(rows)


def warm(quick: bool) -> Cases:
    n = 100 if quick else 2000
    X, y = data(n, 20)
    fitted = kernelwise.SVC(C=10.0, gamma=0.05, warm_start=True).fit(X, y)
    for name, params in {"C x 1.5": {"C": 15.0}, "gamma x 1.1": {"gamma": 0.055}}.items():
        yield name, lambda p=params: deepcopy(fitted).set_params(**p).fit(X, y)


def multiclass(quick: bool) -> Cases:
    X, y = digits(12 if quick else 1)
    for C in (1.0, 100.0):
        yield f"digits C={C:g}", lambda C=C: kernelwise.SVC(C=C).fit(X, y)


def checkerboard(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a board of 8 by 8 fields with 10 % of wrong labels and 18 columns of noise."""
    rng = np.random.default_rng(0)
    X = rng.random((n, 20))
    y = (np.floor(8 * X[:, 0]) + np.floor(8 * X[:, 1])) % 2
    wrong = rng.random(n) < 0.1
    return (X - X.mean(axis=0)) / X.std(axis=0), np.where(wrong, 1 - y, y)


def growth(quick: bool) -> Cases:
    for n in (200,) if quick else (5000, 10_000, 20_000):
        for p, C in ((20, 1.0), (20, 10.0), (20, 100.0), (50, 10.0)):
            X, y = data(n, p)
            model = kernelwise.SVC(C=C)
            yield f"n={n} p={p} C={C:g}", lambda X=X, y=y, model=model: model.fit(X, y)
    X, y = checkerboard(200 if quick else 20_000)
    noisy = kernelwise.SVC(kernel="laplacian", C=10.0, gamma=0.05)
    yield f"checkerboard n={len(y)}", lambda: noisy.fit(X, y)


def large(quick: bool) -> Cases:
    for kernel, n, p, C in (
        ("rbf", 60_000, 50, 10.0),
        ("laplacian", 60_000, 50, 10.0),  # the kernel of RelevanceSVC
        ("rbf", 100_000, 20, 1.0),
        ("rbf", 100_000, 20, 10.0),
    ):
        X, y = data(n // 500 if quick else n, p)
        model = kernelwise.SVC(kernel=kernel, C=C)
        yield f"{kernel} n={len(y)} p={p} C={C:g}", lambda X=X, y=y, model=model: model.fit(X, y)


def search(quick: bool) -> Cases:
    points = 2 if quick else 5
    grid = {"C": np.logspace(-1, 3, points), "gamma": np.logspace(-3, 0, points)}
    for name, (X, y) in {
        "two classes": data(120 if quick else 600, 20),
        "digits": digits(9),
    }.items():
        yield name, lambda X=X, y=y: kernelwise.SVCSearchCV(kernelwise.SVC(), grid, cv=5).fit(X, y)


def _fits(tables: dict[str, tuple], models: dict[str, Callable[[], Any]]) -> Cases:
    for table, (X, y) in tables.items():
        for name, make in models.items():
            yield f"{name}, {table}", lambda X=X, y=y, make=make: make().fit(X, y)


def _tables(quick: bool) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    n = 60 if quick else 400
    return {"two classes": data(n, 20), "four classes": data(n, 20, 4)}


def weights(quick: bool) -> Cases:
    make = kernelwise.DualObjectiveSVC
    models = {
        "default": make,
        "paper": lambda: make(gamma=0.05, optimizer="paper"),
        "radius-margin": lambda: make(criterion="radius_margin"),
    }
    return _fits(_tables(quick), models)


def path(quick: bool) -> Cases:
    make = kernelwise.AdaptiveKernelSVC
    models = {name: lambda name=name: make(criterion=name) for name in ("span", "cv", "bound")}
    return _fits(_tables(quick), models)


def relevance(quick: bool) -> Cases:
    make = kernelwise.RelevanceSVC
    models = {"ensemble": make, "single": lambda: make(ensemble=False)}
    tables = _tables(quick) | ({} if quick else {"digits": digits(3)})
    return _fits(tables, models)


def margin_radius(quick: bool) -> Cases:
    return _fits(_tables(quick), {"default": kernelwise.MarginRadiusSVC})


def discrimination(quick: bool) -> Cases:
    X, y = data(60 if quick else 150, 20)
    make = kernelwise.FeatureDiscriminationSVC
    yield "given eta", lambda: make(kernel="rbf", importance="fisher").fit(X, y)
    yield "eta by folds", lambda: make(kernel="rbf", eta="cv").fit(X, y)


def bias(quick: bool) -> Cases:
    X, y = data(60 if quick else 1000, 20)
    yield "two columns", lambda: kernelwise.GeneralizedBiasSVC([0, 1]).fit(X, y)


def startup(quick: bool) -> Cases:
    for name, code in _START.items():
        yield name, lambda code=code: subprocess.run([sys.executable, "-P", "-c", code], check=True)


SUITES: dict[str, Callable[[bool], Cases]] = {
    each.__name__: each
    for each in (
        fit, predict, gram, warm, multiclass, growth, search, weights, path, relevance,
        margin_radius, discrimination, bias, startup, large,
    )
}  # fmt: skip
_LEAST_RUNS = {"startup": 5}  # the times of new processes vary most; one run elsewhere
_ON_REQUEST = {"large"}  # suites that take minutes; one run of each case counts


def cpu() -> float:
    """Return the CPU seconds of this process and of the children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime


def timed(run: Callable[[], Any], quick: bool, once: bool, least: int = 1) -> float:
    """Return the median CPU time of one or some runs, after a first one that does not count."""
    run()
    least, most = (1, 1) if quick or once else (least, _MOST_RUNS)
    found, begin = [], time.perf_counter()
    while len(found) < least or (len(found) < most and time.perf_counter() - begin < _ENOUGH):
        gc.collect()
        before = cpu()
        run()
        found.append(cpu() - before)
    return max(median(found), 1e-9)


def main(names: list[str]) -> None:
    quick = "--quick" in names
    wanted = [name for name in names if not name.startswith("--")]
    wanted = wanted or [name for name in SUITES if name not in _ON_REQUEST]
    if unknown := set(wanted) - set(SUITES):
        raise SystemExit(f"no suite {', '.join(sorted(unknown))}; there are: {', '.join(SUITES)}")
    warnings.simplefilter("ignore")
    say(kernelwise.__file__)
    cases = ((name, case, run) for name in wanted for case, run in SUITES[name](quick))
    for _ in sys.stdin:
        name, case, run = next(cases, (None, None, None))
        if run is None:
            say(None)
            break
        say([name, case, timed(run, quick, name in _ON_REQUEST, _LEAST_RUNS.get(name, 1))])


def say(answer: Any) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

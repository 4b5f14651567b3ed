"""Instances of every kernel and every solver, and problems for the solvers.

A class that is missing here fails a test, and one that is here meets every law.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from inspect import isabstract
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_circles, make_classification, make_moons

import kernelwise.qp.active_rows as run_module
import kernelwise.qp.equalities as equalities_module
import kernelwise.qp.smo as smo_module
from kernelwise import kernels
from kernelwise.kernels import (
    RBF,
    FunctionKernel,
    Kernel,
    Laplacian,
    LazyGram,
    Linear,
    Matern32,
    Matern52,
    Normalized,
    Polynomial,
    Precomputed,
    Ridge,
    Sigmoid,
)
from kernelwise.qp import (
    SMO,
    Adatron,
    DualQP,
    SeveralEqualities,
    Terms,
    c_svc,
    enclosing_ball,
    hard_margin,
)
from kernelwise.qp.problem import SolverState
from tests.loop import loop

D = 4  # features of the rows that the kernels below are given
WEIGHTS = np.array([0.5, 2.0, 0.25, 1.3])
CATEGORIES = np.array([False, True, False, True])


# --- Kernels ----------------------------------------------------------------------------------


def cosine_of_shifted_rows(X, Y):
    """Return a kernel as a user would write one; of this module, so that it can be pickled."""
    X, Y = (Z.toarray() if hasattr(Z, "toarray") else np.asarray(Z) for Z in (X, Y))
    return np.cos(X.sum(axis=1)[:, None] - Y.sum(axis=1))


KERNELS: dict[str, Kernel] = {
    "linear": Linear(),
    "linear-weights": Linear(gamma=0.3, weights=WEIGHTS),
    "polynomial": Polynomial(gamma=0.2),
    "polynomial-weights": Polynomial(gamma=0.2, weights=WEIGHTS, degree=2, coef0=1.0),
    "polynomial-degree-0": Polynomial(degree=0, coef0=0.5),
    "polynomial-negative-coef0": Polynomial(gamma=0.3, degree=3, coef0=-0.7),
    "sigmoid": Sigmoid(gamma=0.2),
    "sigmoid-weights": Sigmoid(gamma=0.2, weights=WEIGHTS, coef0=-0.3),
    "rbf": RBF(),
    "rbf-weights": RBF(gamma=0.3, weights=WEIGHTS),
    "rbf-zero-weight": RBF(gamma=0.3, weights=[1.0, 0.0, 2.0, 0.0]),
    "laplacian": Laplacian(gamma=0.4),
    "laplacian-weights": Laplacian(gamma=0.4, weights=WEIGHTS),
    "laplacian-categories": Laplacian(gamma=0.4, weights=WEIGHTS, categorical=CATEGORIES),
    "laplacian-all-categories": Laplacian(gamma=0.4, categorical=np.ones(4, dtype=bool)),
    "matern32": Matern32(gamma=0.5),
    "matern32-weights": Matern32(gamma=0.5, weights=WEIGHTS),
    "matern52": Matern52(gamma=0.5),
    "matern52-weights": Matern52(gamma=0.5, weights=WEIGHTS),
    "precomputed": Precomputed(),
    "function": FunctionKernel(cosine_of_shifted_rows),
    "ridge": Ridge(0.7),
    "ridge-weights": Ridge(0.7, weights=WEIGHTS),
    "ridge-vector": Ridge([0.1, 0.2, 0.3, 0.4], weights=WEIGHTS),
    "sum": RBF(gamma=0.3, weights=WEIGHTS) + Linear(),
    "product": Matern32(gamma=0.3) * Linear(weights=WEIGHTS),
    "scaled": 2.5 * Laplacian(gamma=0.4, weights=WEIGHTS),
    "normalized": Normalized(Linear(weights=WEIGHTS)),
    "normalized-polynomial": Normalized(Polynomial(gamma=0.2, degree=2, coef0=1.0)),
    "normalized-ridge": Normalized(Linear() + Ridge(0.5)),
    "margin-radius": Linear(weights=WEIGHTS) + Ridge([0.1, 0.2, 0.3, 0.4], weights=WEIGHTS),
    "product-with-ridge": RBF(gamma=0.3) * (Linear() + Ridge(0.5)),
    "product-of-products": RBF(gamma=0.2) * (Linear(gamma=0.5) * Matern52(gamma=0.1)),
    "sum-of-everything": 0.5 * (RBF() + 2.0 * Normalized(Polynomial(gamma=0.2, coef0=1.0)))
    + Sigmoid(gamma=0.1) * FunctionKernel(cosine_of_shifted_rows),
    "scaled-precomputed": 2.0 * Precomputed(),
    "precomputed-with-ridge": Precomputed() + Ridge(0.5),
    "normalized-precomputed": Normalized(Precomputed()),
}


def parts(kernel):
    """Return a kernel and all kernels inside it."""
    inner = [value for value in kernel.get_params(deep=False).values() if isinstance(value, Kernel)]
    return [kernel, *(part for value in inner for part in parts(value))]


def public_kernels():
    """Return the concrete kernel classes that kernelwise.kernels exports."""
    exported = (getattr(kernels, name) for name in kernels.__all__)
    return {
        item
        for item in exported
        if isinstance(item, type) and issubclass(item, Kernel) and not isabstract(item)
    }


def is_precomputed(kernel):
    return any(isinstance(part, Precomputed) for part in parts(kernel))


def is_stationary(kernel):
    return isinstance(kernel, RBF | Laplacian | Matern32 | Matern52)


def rows_for(kernel, n=12, dtype=np.float64, seed=0):
    """Return rows that suit a kernel: features, or a kernel matrix for a precomputed one."""
    rows = np.random.default_rng(seed).normal(size=(n, D))
    if is_precomputed(kernel):
        rows = np.exp(-((rows[:, None] - rows) ** 2).sum(axis=2))
        rows = rows * (1 + np.arange(n))[:, None] * (1 + np.arange(n)) / n**2  # no unit diagonal
    categorical = getattr(kernel, "categorical", None)
    if categorical is not None:
        rows[:, categorical] = np.floor(2 * rows[:, categorical]) + 5  # codes of about ten levels
    return rows.astype(dtype)


def kernels_where(condition: Callable[[Kernel], bool] = lambda kernel: True):
    """Return pytest parameters of the kernels that meet a condition."""
    return [pytest.param(kernel, id=name) for name, kernel in KERNELS.items() if condition(kernel)]


every_kernel = loop("kernel", kernels_where())
every_kernel_of_features = loop("kernel", kernels_where(lambda kernel: not is_precomputed(kernel)))
every_stationary_kernel = loop("kernel", kernels_where(is_stationary))
every_weighted_kernel = loop(
    "kernel",
    kernels_where(
        lambda kernel: (
            getattr(kernel, "weights", None) is not None and not isinstance(kernel, Ridge)
        )
    ),
)
every_kernel_of_one_sum = loop("kernel", kernels_where(lambda kernel: hasattr(kernel, "gamma")))
both_types = loop("dtype", [np.float32, np.float64])


def differentiable(kernel):
    """Return the names of the parameters by which a kernel is differentiable."""
    names = set()
    for name, value in kernel.get_params().items():
        *path, own = name.split("__")
        owner = kernel
        for step in path:
            owner = getattr(owner, step)
        missing = value is None and isinstance(owner, Ridge)  # without weights it has no features
        if own in {"gamma", "weights", "coef0", "scale", "value"} and not missing:
            names.add(name)
    return names


# --- Solvers ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class SolverCase:
    """A solver, the form in which it is given K, and the settings of a run."""

    name: str
    form: str  # stored64, stored32 or lazy
    tol: float = 1e-3
    exact: bool = True
    rows: int | None = None  # rows that the memory holds; None is all of them
    settings: Any = ()  # (module, name, value) of constants of a run
    balance: float = 1e-12  # how well the sum is kept, relative to the coefficients

    def qp(self, problem: Problem) -> DualQP:
        return problem.build(self.gram(problem))

    def gram(self, problem: Problem):
        if self.form == "lazy":
            return LazyGram(problem.kernel, problem.X)
        K = problem.kernel(problem.X)
        return K if self.form == "stored64" else K.astype(np.float32)

    def solver(self, n: int, **options) -> SMO:
        memory = 2e9 if self.rows is None else 8 * n * self.rows
        return SMO(tol=self.tol, exact=self.exact, memory=memory, **options)

    @contextmanager
    def in_force(self):
        """Set the module's constants for the time of a run."""
        with pytest.MonkeyPatch.context() as patch:
            for module, name, value in self.settings:
                patch.setattr(module, name, value)
            yield

    def solve(self, qp: DualQP, start=None, **options):
        with self.in_force():
            return self.solver(qp.n, **options).solve(qp, start=start)


@dataclass(frozen=True)
class AdatronCase(SolverCase):
    """The Adatron, with the step that suits the problem and epochs enough."""

    exact: bool = False

    def solver(self, n: int, **options) -> Adatron:
        return Adatron(tol=self.tol, **({"max_iter": 1_000_000} | options))

    def solve(self, qp: DualQP, start=None, **options):
        return self.solver(qp.n, eta=1 / qp.gram.size, **options).solve(qp, start=start)


@dataclass(frozen=True)
class EqualitiesCase(SolverCase):
    """The solver of several equalities, on the one that every problem here has.

    It satisfies the equality like all other conditions: to its tolerance, mostly far better.
    """

    balance: float = 1e-8

    def solver(self, n: int) -> SeveralEqualities:
        return SeveralEqualities(tol=self.tol)


# A growing set of rows serves thousands of them; these bring it to problems that the oracle solves.
_SMALL_STEPS = (
    (run_module, "_WHOLE", 4),
    (run_module, "_FIRST_ROWS", 6),
    (run_module, "SWEEP", 2e3),
    (run_module, "_FIRST_SWEEP", 2e3),
    (smo_module, "SMALL", 0),
    (smo_module, "_FEWEST", 12),
)

# A warm start takes the rows of its support and those near the margin.
_GROW_WARM = ((run_module, "WARM_WHOLE", 4), (smo_module, "SMALL", 0))


def _stay(qp, K, beta, tol, most_steps, product):
    """Leave all work to the general way of solving."""
    return SolverState.start(beta), np.empty(4)


_SLOWLY = ((smo_module, "solve_quickly", _stay),)

SOLVERS = [
    SolverCase("stored64", "stored64"),
    SolverCase("stored32", "stored32"),
    SolverCase("lazy", "lazy"),
    SolverCase("not-exact", "stored64", exact=False),
    SolverCase("lazy-not-exact", "lazy", exact=False),
    SolverCase("tight", "stored64", tol=1e-8),
    SolverCase("tight-not-exact", "stored64", tol=1e-8, exact=False),
    SolverCase("tight-stored32", "stored32", tol=1e-8),
    SolverCase("tight-lazy", "lazy", tol=1e-8),
    SolverCase("general-stored64", "stored64", settings=_SLOWLY),
    SolverCase("general-stored32", "stored32", settings=_SLOWLY),
    SolverCase("general-not-exact", "stored64", exact=False, settings=_SLOWLY),
    SolverCase("growing-warm", "lazy", settings=_GROW_WARM),
    SolverCase("growing-warm-not-exact", "lazy", exact=False, settings=_GROW_WARM),
    SolverCase("growing", "lazy", settings=_SMALL_STEPS),
    SolverCase("growing-not-exact", "lazy", exact=False, settings=_SMALL_STEPS),
    SolverCase("evicting", "lazy", rows=12, settings=_SMALL_STEPS),
    SolverCase("evicting-not-exact", "lazy", exact=False, rows=12, settings=_SMALL_STEPS),
    SolverCase("evicting-tight", "lazy", tol=1e-8, rows=12, settings=_SMALL_STEPS),
    AdatronCase("adatron", "stored64"),
    AdatronCase("adatron-stored32", "stored32"),
    AdatronCase("adatron-lazy", "lazy"),
    AdatronCase("adatron-tight", "stored64", tol=1e-8),
]

# They take any equalities and no infinite bounds.
EQUALITIES_SOLVERS = [
    EqualitiesCase("equalities", "stored64"),
    EqualitiesCase("equalities-stored32", "stored32"),
    EqualitiesCase("equalities-lazy", "lazy"),
    EqualitiesCase("equalities-tight", "stored64", tol=1e-8),
    EqualitiesCase("equalities-guessed", "stored64", settings=((equalities_module, "SMALL", 0),)),
]


# --- Problems ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows, their kernel, and a builder of the dual from the kernel matrix."""

    name: str
    kernel: Kernel
    X: np.ndarray
    build: Callable[[Any], DualQP]

    @cache  # noqa: B019  problems live as long as the tests
    def reference(self, form: str) -> DualQP:
        """Return the problem in float64, with K rounded as the solver is given it."""
        K = self.kernel(self.X)
        return self.build(K.astype(np.float32).astype(np.float64) if form == "stored32" else K)


def signs(labels):
    return np.where(labels > 0, 1.0, -1.0)


def _classification(n=50):
    X, labels = make_classification(n, 5, n_informative=3, flip_y=0.1, random_state=3)
    return X, signs(labels)


def _moons(n=50):
    X, labels = make_moons(n, noise=0.25, random_state=1)
    return X, signs(labels)


def _circles(n=50):
    X, labels = make_circles(n, noise=0.15, factor=0.5, random_state=2)
    return X, signs(labels)


def _separable(n=40):
    X, labels = make_blobs(n, centers=[[-3.0, 0.0], [3.0, 0.5]], cluster_std=0.8, random_state=0)
    return X, signs(labels)


def _c_svc(y, C):
    return lambda gram: c_svc(gram, y, C)


def _problems():
    rng = np.random.default_rng(5)
    for C in (0.01, 1.0, 10.0, 1000.0):
        X, y = _moons()
        yield Problem(f"moons-C{C:g}", RBF(gamma=1.0), X, _c_svc(y, C))
    X, y = _classification()
    yield Problem("classification-linear", Linear(gamma=0.2), X, _c_svc(y, 1.0))
    yield Problem("classification-laplacian", Laplacian(gamma=0.1), X, _c_svc(y, 100.0))
    per_row = rng.choice([0.0, 0.1, 1.0, 30.0], size=len(y))
    yield Problem("C-per-row", RBF(gamma=0.2), X, _c_svc(y, per_row))
    outside = np.where(rng.random(len(y)) < 0.4, 0.0, y)
    yield Problem("rows-outside", RBF(gamma=0.2), X, _c_svc(outside, 5.0))
    X, y = _circles()
    yield Problem("circles-matern", Matern32(gamma=1.0), X, _c_svc(y, 100.0))
    # The squared slack is a ridge, here for all forms of K alike.
    yield Problem("l2-svm", RBF(gamma=1.0) + Ridge(1 / 4.0), X, lambda gram: hard_margin(gram, y))
    X_apart, y_apart = _separable()
    yield Problem("hard-margin", Linear(), X_apart, lambda gram: hard_margin(gram, y_apart))
    yield Problem("hard-margin-rbf", RBF(gamma=4.0), X, lambda gram: hard_margin(gram, y))
    yield Problem("ball", RBF(gamma=0.5), X, enclosing_ball)
    yield Problem("ball-linear", Linear(), X_apart, enclosing_ball)
    yield Problem(
        "one-class", RBF(gamma=0.5), X, lambda gram: DualQP(gram, Terms.one_class(50, 0.3))
    )
    yield from _regressions(rng)


def _regressions(rng, n=50):
    X = rng.normal(size=(n, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)
    per_row = rng.choice([0.0, 0.1, 1.0, 30.0], size=n)
    for name, kernel, rows, C, epsilon in (
        ("svr", RBF(gamma=0.5), X, 1.0, 0.2),
        ("svr-C100", RBF(gamma=0.5), X, 100.0, 0.1),
        ("svr-epsilon0", Laplacian(gamma=0.3), X, 1.0, 0.0),
        ("svr-linear", Linear(), X, 3.0, 0.3),
        ("svr-C-per-row", RBF(gamma=0.2), X, per_row, rng.uniform(0, 0.4, size=n)),
        ("svr-equal-rows", RBF(gamma=0.5), X[np.arange(n) % 20], 5.0, 0.1),
        ("svr-all-zero", RBF(gamma=0.5), X, 1.0, 9.0),
    ):
        yield Problem(name, kernel, rows, _svr(y, C, epsilon))


def _svr(y, C, epsilon):
    return lambda gram: DualQP(gram, Terms.epsilon_svr(y, C, epsilon))


PROBLEMS = list(_problems())


def solvable(cases):
    """Return pytest parameters of all pairs of a solver and a problem that it supports."""
    some = [(problem, problem.build(np.eye(len(problem.X)))) for problem in PROBLEMS]
    pairs = [
        (case, problem)
        for case in cases
        for problem, qp in some
        if case.solver(qp.n).supports(qp) is None
    ]
    return [pytest.param(*pair, id="-".join(item.name for item in pair)) for pair in pairs]


def named(items):
    """Return pytest parameters of cases that have a name."""
    return [pytest.param(item, id=item.name) for item in items]

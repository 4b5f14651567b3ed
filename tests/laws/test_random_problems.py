"""Random problems: any shape and scale, equal rows, constant columns, classes of one row."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kernelwise.kernels import RBF, Kernel, Laplacian, LazyGram, Linear, Matern52, Polynomial
from kernelwise.qp import SMO, DualQP, Terms, c_svc, enclosing_ball
from tests.oracles import naive_kernel, violation

MOST_STEPS = 20_000  # enough to converge where that is possible, and soon over where it is not


@dataclass(frozen=True)
class Data:
    """What a random data set is like; the rows follow from it."""

    seed: int
    n: int
    d: int
    exponent: int = 0  # the size of the rows is ten to this
    n_distinct: int = 1000  # rows beyond this many repeat earlier ones
    n_constant: int = 0  # columns that hold one number
    n_minority: int = 1000  # rows of the smaller class, at most half
    n_outside: int = 0  # rows that are not in the machine

    def rows(self):
        rng = np.random.default_rng(self.seed)
        X = 10.0**self.exponent * rng.normal(size=(self.n, self.d))
        X[:, : self.n_constant] = 10.0**self.exponent
        return X[np.arange(self.n) % self.n_distinct]

    def codes(self):
        rng = np.random.default_rng(self.seed + 1)
        y = np.ones(self.n)
        y[: max(1, min(self.n_minority, self.n // 2))] = -1
        y = rng.permutation(y)
        y[: min(self.n_outside, self.n - 2)] = 0
        return y


data_sets = st.builds(
    Data,
    seed=st.integers(0, 2**20),
    n=st.integers(2, 40),
    d=st.integers(1, 6),
    exponent=st.integers(-6, 6),
    n_distinct=st.integers(1, 40),
    n_constant=st.integers(0, 6),
    n_minority=st.integers(1, 20),
    n_outside=st.integers(0, 10),
)
kernels = st.sampled_from(
    [RBF, Laplacian, Matern52, Linear, lambda gamma: Polynomial(gamma=gamma, degree=2, coef0=1.0)]
)


def fitting(make, data, X) -> Kernel:
    """Return a kernel with a width that suits the size of the rows."""
    return make(gamma=10.0 ** (-data.exponent * (1 if make is Laplacian else 2)) / X.shape[1])


def assert_feasible(qp, beta, start_size=0.0):
    assert np.isfinite(beta).all()
    assert (qp.lo <= beta).all()
    assert (beta <= qp.hi).all()
    # A start is shifted into the box, and the shift is rounded as numbers of its size are.
    rounding = 1e-12 * (1 + np.abs(beta).sum()) + 1e-15 * len(beta) * start_size
    assert beta.sum() == pytest.approx(qp.c[0], abs=rounding)


def assert_certified(reference, solution, tol, single):
    """Compute the certificate anew and compare; ``single`` tells that rows were in float32."""
    beta, K = solution.beta, reference.gram.K
    # In float32 a fifth of the tolerance, as the solver promises; in float64 what rounding makes.
    felt = 0.2 * tol if single else 1e-14 * (1 + np.abs(K).max() * np.abs(beta).sum())
    gradient = K @ beta - reference.p
    np.testing.assert_allclose(solution.gradient, gradient, rtol=0, atol=felt)
    fresh = reference.kkt_violation(beta, solution.nu, gradient)
    assert solution.violation == pytest.approx(fresh, abs=2 * felt)
    assert solution.gap >= 0
    if solution.converged:
        assert violation(reference, beta) <= tol + 2 * felt


@settings(max_examples=150)
@given(
    data=data_sets,
    make=kernels,
    C=st.sampled_from([1e-3, 1.0, 10.0, 1e3]),
    exact=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
)
@example(Data(0, 40, 2, n_distinct=1), RBF, 1e3, True, np.float64)
@example(Data(0, 40, 2, n_constant=2), Linear, 1.0, True, np.float32)
@example(Data(0, 2, 1, n_minority=1), RBF, 10.0, True, np.float64)
def test_stored_problems(data, make, C, exact, dtype):
    X, y = data.rows(), data.codes()
    K = fitting(make, data, X)(X).astype(dtype)
    solution = SMO(max_iter=MOST_STEPS, exact=exact).solve(c_svc(K, y, C))
    reference = c_svc(K.astype(np.float64), y, C)
    assert_feasible(reference, solution.beta)
    assert_certified(reference, solution, 1e-3, single=dtype == np.float32)
    assert solution.status in {"converged", "max_iter", "stalled"}


@settings(max_examples=100)
@given(
    data=data_sets, make=kernels, C=st.sampled_from([1.0, 100.0]), tol=st.sampled_from([1e-3, 1e-8])
)
@example(Data(1, 7, 2, n_distinct=3, n_minority=1), Linear, 1.0, 1e-8)
def test_lazy_problems(data, make, C, tol):
    X, y = data.rows(), data.codes()
    kernel = fitting(make, data, X)
    solution = SMO(max_iter=MOST_STEPS, tol=tol).solve(c_svc(LazyGram(kernel, X), y, C))
    reference = c_svc(kernel(X), y, C)
    assert_feasible(reference, solution.beta)
    assert_certified(reference, solution, tol, single=tol == 1e-3)


@settings(max_examples=60)
@given(data=data_sets, gamma=st.sampled_from([1e-6, 1.0, 1e6]), C=st.sampled_from([1.0, 1e3]))
@example(Data(0, 30, 4, exponent=6), 1e6, 1e3)
def test_widths_that_do_not_suit_the_rows(data, gamma, C):
    X, y = data.rows(), data.codes()
    qp = c_svc(LazyGram(RBF(gamma=gamma), X), y, C)
    solution = SMO(max_iter=MOST_STEPS).solve(qp)
    assert_feasible(qp, solution.beta)
    assert_certified(c_svc(RBF(gamma=gamma)(X), y, C), solution, 1e-3, single=True)


@settings(max_examples=60)
@given(data=data_sets, make=kernels)
@example(Data(1, 4, 2), Linear)  # more free rows than the kernel has rank
def test_balls(data, make):
    X = data.rows()
    K = fitting(make, data, X)(X)
    solution = SMO(max_iter=MOST_STEPS).solve(enclosing_ball(K))
    reference = enclosing_ball(K)
    assert_feasible(reference, solution.beta)
    assert_certified(reference, solution, 1e-3, single=False)
    if solution.converged:
        inner = solution.beta @ K @ solution.beta
        squared_radius = 2 * solution.nu[0] + inner
        farthest = (np.diagonal(K) - 2 * K @ solution.beta + inner).max()
        assert farthest <= squared_radius + 2 * (1e-3 + 1e-12 * np.abs(K).max())


@settings(max_examples=150)
@given(
    data=data_sets,
    make=kernels,
    C=st.sampled_from([1e-3, 1.0, 1e3]),
    epsilon=st.sampled_from([0.0, 0.1, 1.0, 10.0]),
    exact=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
)
@example(Data(0, 40, 2, n_distinct=1), RBF, 1e3, 0.1, True, np.float64)
@example(Data(0, 40, 2, n_constant=2), Linear, 1.0, 0.0, True, np.float32)
def test_regressions(data, make, C, epsilon, exact, dtype):
    X, codes = data.rows(), data.codes()
    y = codes + np.random.default_rng(data.seed + 2).normal(size=data.n)
    K = fitting(make, data, X)(X).astype(dtype)
    terms = Terms.epsilon_svr(y, C * np.abs(codes), epsilon)
    solution = SMO(max_iter=MOST_STEPS, exact=exact).solve(DualQP(K, terms))
    reference = DualQP(K.astype(np.float64), terms)
    assert_feasible(reference, solution.beta)
    assert_certified(reference, solution, 1e-3, single=dtype == np.float32)
    assert not solution.beta[codes == 0].any()


@settings(max_examples=60)
@given(data=data_sets, make=kernels, C=st.sampled_from([0.1, 10.0]), size=st.integers(-3, 6))
@example(Data(0, 12, 2, n_distinct=3, n_minority=2), Linear, 0.1, 0)
def test_any_start_leads_to_the_cold_solution(data, make, C, size):
    X, y = data.rows(), data.codes()
    qp = c_svc(fitting(make, data, X)(X), y, C)
    start = 10.0**size * np.random.default_rng(data.seed).normal(size=data.n)
    cold, warm = SMO().solve(qp), SMO().solve(qp, start=start)
    assert_feasible(qp, warm.beta, start_size=np.abs(start).max())
    assert warm.converged == cold.converged
    assert warm.objective == pytest.approx(cold.objective, rel=1e-6, abs=1e-9)


@settings(max_examples=60)
@given(data=data_sets, make=kernels)
def test_kernels_of_any_rows_follow_their_formula(data, make):
    X = data.rows()[:12]
    kernel = fitting(make, data, X)
    np.testing.assert_allclose(kernel(X), naive_kernel(kernel, X), rtol=1e-11, atol=1e-11)
    single = X.astype(np.float32)
    expected = naive_kernel(kernel, single)
    size = np.abs(expected).max()
    np.testing.assert_allclose(kernel(single), expected, rtol=0, atol=1e-5 * max(1.0, size))

"""The interior-point method for kernel matrices of low rank, which finishes what steps do not."""

import clarabel
import numpy as np
from numpy.testing import assert_allclose

from kernelwise import SVC
from kernelwise.kernels import Linear
from kernelwise.qp import SMO, DualQP, StoredGram, Terms, c_svc
from kernelwise.qp.factored import solve_factored
from kernelwise.qp.problem import SolverState
from tests.criteria.cone import solve as cone_program
from tests.oracles import descend


def table(n=200, seed=0):
    """Return columns of unlike units, and classes that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) * 10.0 ** np.array([-2, -1, 0, 1, 2, 3])
    y = np.where(X[:, 0] / 1e-2 + X[:, 5] / 1e3 + rng.normal(size=n) > 0, 1.0, -1.0)
    return X, y


def start_of(qp):
    """Return the state in which nothing has been solved."""
    beta = qp.terms.start()
    gradient = qp.gradient(beta)
    least, most = qp.terms.reach(beta, gradient)
    return SolverState(beta, gradient, most - least, 0, "max_iter")


def primal(X, y, C):
    """Return the least primal objective, by a cone solver, in columns of size one."""
    n, d = X.shape
    scale = np.abs(X).max(axis=0)
    P = np.diag(np.concatenate([1 / scale**2, np.zeros(n + 1)]))
    q = np.append(np.zeros(d + 1), np.full(n, C))
    margins = np.hstack([-y[:, None] * X / scale, -y[:, None], -np.eye(n)])
    slacks = np.hstack([np.zeros((n, d + 1)), -np.eye(n)])
    right = np.append(-np.ones(n), np.zeros(n))
    cones = [clarabel.NonnegativeConeT(2 * n)]
    x, _ = cone_program(P, q, np.vstack([margins, slacks]), right, cones)
    return 0.5 * x @ P @ x + q @ x


def test_unscaled_columns_are_solved_where_steps_crawl():
    X, y = table()
    for C in (1.0, 100.0, 1e4):
        qp = c_svc(X @ X.T, y, C)
        crawling = SMO(max_iter=50_000).solve(qp)
        assert crawling.status == "max_iter"
        solution = SMO().solve(qp)
        assert solution.status == "converged"
        assert solution.violation < 1e-3
        assert solution.gap < 1e-6 * -solution.objective
        assert_allclose(-solution.objective, primal(X, y, C), rtol=1e-5)
        assert solution.objective < crawling.objective


def test_users_with_unscaled_columns_get_a_converged_machine():
    X, y = table()
    model = SVC(kernel="linear", C=100.0).fit(X, y)
    assert model.certificate_.status[0] == "converged"


def test_it_equals_the_slow_oracle_with_any_sum_and_fixed_variables():
    rng = np.random.default_rng(1)
    F, p = rng.normal(size=(12, 3)), rng.normal(size=12)
    lo, hi = -rng.uniform(0.5, 1.0, 12), rng.uniform(0.5, 1.0, 12)
    lo[3] = hi[3] = 0.0
    lo[5] = hi[5] = 0.7
    for total in (0.0, 0.4):
        terms = Terms(p=p, lo=lo, hi=hi, A=np.ones((1, 12)), c=np.array([total]))
        qp = DualQP(StoredGram(F @ F.T), terms)
        found = solve_factored(qp, start_of(qp), 1e-8)
        assert found.status == "converged"
        assert_allclose(qp.objective(found.beta), qp.objective(descend(qp)), rtol=1e-7)
        assert_allclose(found.beta.sum(), total, atol=1e-12)


def test_what_it_cannot_solve_stays_as_it_was():
    X, y = table(40)
    hard = c_svc(X @ X.T, y, np.inf)
    indefinite = DualQP(StoredGram(-X @ X.T, is_psd=False), c_svc(X @ X.T, y, 1.0).terms)
    large = c_svc(Linear()(np.ones((2001, 1))), np.resize([1.0, -1.0], 2001), 1.0)
    for qp in (hard, indefinite, large):
        state = start_of(qp)
        assert solve_factored(qp, state, 1e-3) is state

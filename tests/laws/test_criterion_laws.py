"""The laws of criteria, each once, over all criteria and all kernels of the registry."""

from dataclasses import replace
from inspect import isabstract

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from kernelwise import criteria as bounds
from kernelwise.criteria import (
    Criterion,
    CriterionValue,
    CrossValidation,
    LeaveOneOut,
    RadiusMargin,
)
from kernelwise.kernels import RBF, Cotangent, LazyGram
from kernelwise.qp import Solution
from tests.laws.criterion_cases import CRITERIA, codes_for
from tests.laws.registry import KERNELS, differentiable, named, rows_for
from tests.loop import loop
from tests.oracles import slopes

every_criterion = loop("case", named(CRITERIA))
every_solved_criterion = loop("case", named(case for case in CRITERIA if case.solves))
# The chain rule is cut at K: each criterion with some kernels, and one criterion with each kernel.
SOME_KERNELS = {"rbf-weights", "laplacian-categories", "margin-radius"}
some_pairs = loop(
    ("case", "kernel"),
    [
        pytest.param(case, kernel, id=f"{case.name}-{name}")
        for case in CRITERIA
        for name, kernel in KERNELS.items()
        if case.accepts(kernel) and (case is CRITERIA[0] or name in SOME_KERNELS)
    ],
)

KERNEL = RBF(gamma=0.3)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """Keep BLAS from sending blocks of a few rows to other threads."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield


def problem(kernel=KERNEL, seed=0):
    return rows_for(kernel, n=24, seed=seed), *codes_for(seed)


def evaluate(case, seed=0, **options):
    X, Y, weights = problem(seed=seed)
    return case.criterion.evaluate(KERNEL(X), Y, weights=weights, **options)


def in_full(cotangent, n):
    """Return a cotangent as an (n, n) array."""
    rows = np.arange(n) if cotangent.rows is None else cotangent.rows
    full = np.zeros((n, n))
    full[np.ix_(rows, rows)] = cotangent.block(0, cotangent.n_rows)
    return full


def solutions(carry):
    """Return the solutions in what a criterion carries over, however it packs them."""
    if isinstance(carry, Solution):
        return [carry]
    return [] if carry is None else [inner for part in carry for inner in solutions(part)]


def test_every_public_criterion_is_in_the_registry():
    exported = {getattr(bounds, name) for name in bounds.__all__}
    criteria = {
        item
        for item in exported
        if isinstance(item, type) and issubclass(item, Criterion) and not isabstract(item)
    }
    assert criteria == {type(case.criterion) for case in CRITERIA}


# --- The gradient -----------------------------------------------------------------------------


def parameters(kernel, names, C, d):
    """Return the kernel's parameters and C as one vector."""
    params = {**kernel.get_params(), "C": C}
    values = [np.ones(d) if params[name] is None else params[name] for name in names]
    return np.concatenate([np.atleast_1d(np.asarray(value, dtype=float)) for value in values])


def roles(evaluation, K, Y, bound):
    """Return the set that each row of each machine is in; within one, values are smooth.

    A row at zero may be held out: it has a kink of its own, at a margin of one.
    """
    out = []
    for solution in solutions(evaluation.carry):
        beta = solution.beta
        short = Y * (K @ beta + solution.nu[0])[:, None] < 1
        out.append((np.sign(beta) * (1 + at_bound(beta, bound))).tobytes())
        out.append((short & (beta == 0)[:, None]).tobytes())
    return tuple(out)


def at_bound(beta, bound):
    return np.abs(beta) >= (1 - 1e-10) * bound


def is_singular(evaluation, K, bound):
    """Return whether the span depends on the jitter, as the block of some free rows is singular."""
    betas = [solution.beta for solution in solutions(evaluation.carry)]
    sets = [(beta != 0) & ~at_bound(beta, bound) for beta in betas]
    return any(free.any() and np.linalg.cond(K[np.ix_(free, free)]) > 1e8 for free in sets)


def differences(case, kernel, names, X, Y, weights):
    """Return value and gradient by finite differences, and whether they can be trusted."""
    objective = case.criterion.of(kernel, names, X, Y, weights=weights)
    spans = isinstance(case.criterion, LeaveOneOut)
    met = set()

    def value(theta):
        at, criterion = objective.at(theta)
        K, bound = at(X), criterion.C * weights
        evaluation = criterion.evaluate(K, Y, weights=weights, gradient=False)
        met.add((roles(evaluation, K, Y, bound), spans and is_singular(evaluation, K, bound)))
        return evaluation.value

    theta = parameters(kernel, names, case.criterion.C, X.shape[1])
    gradient = slopes(value, theta)
    trusted = len(met) == 1 and not any(singular for _, singular in met)
    return value(theta), gradient, trusted


@some_pairs
def test_gradient_against_finite_differences(case, kernel):
    names = [*sorted(differentiable(kernel)), "C"]
    for seed in range(10):
        X, Y, weights = problem(kernel, seed)
        expected_value, expected, trusted = differences(case, kernel, names, X, Y, weights)
        if trusted:
            break
    assert trusted, "no data on which the sets of support vectors stay"
    objective = case.criterion.of(kernel, names, X, Y, weights=weights)
    value, gradient = objective(parameters(kernel, names, case.criterion.C, X.shape[1]))
    assert value == pytest.approx(expected_value, rel=1e-9)
    # What is zero is the difference of terms of unit size.
    atol = case.precision * (np.abs(expected).max() + 0.01)
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=atol)


@every_solved_criterion
def test_gradient_by_features_and_cost_together_is_that_by_each(case):
    X, Y, weights = problem()
    names = ["C", "weights", "gamma"]
    theta = np.array([1.5, 1.0, 0.8, 1.2, 0.6, 0.3])
    _, together = case.criterion.of(KERNEL, names, X, Y, weights=weights)(theta)
    kernel = KERNEL.with_params(weights=theta[1:5], gamma=0.3)
    criterion = replace(case.criterion, C=1.5)
    apart = [
        criterion.of(kernel, name, X, Y, weights=weights)(part)[1]
        for name, part in zip(names, np.split(theta, [1, 5]), strict=True)
    ]
    np.testing.assert_allclose(together, np.concatenate(apart), rtol=1e-9, atol=1e-12)


@every_criterion
def test_gradient_of_the_logarithm(case):
    X, Y, weights = problem()
    plain, logarithm = (
        case.criterion.of(KERNEL, "gamma", X, Y, weights=weights, log=log)([0.3])
        for log in (False, True)
    )
    assert logarithm[0] == pytest.approx(np.log(plain[0]), rel=1e-12)
    np.testing.assert_allclose(logarithm[1], plain[1] / plain[0], rtol=1e-12)


@every_criterion
def test_value_without_a_gradient(case):
    full, bare = evaluate(case), evaluate(case, gradient=False)
    assert bare.value == full.value
    assert bare.cotangent is None
    assert isinstance(full.cotangent, Cotangent)
    assert isinstance(bare, CriterionValue)


# --- One matrix in several forms --------------------------------------------------------------


@every_criterion
def test_value_and_cotangent_of_a_lazy_matrix(case):
    X, Y, weights = problem()
    stored = case.criterion.evaluate(KERNEL(X), Y, weights=weights)
    lazy = case.criterion.evaluate(LazyGram(KERNEL, X), Y, weights=weights)
    assert lazy.value == pytest.approx(stored.value, rel=1e-9)
    assert lazy.by_C == pytest.approx(stored.by_C, rel=1e-6)
    expected = in_full(stored.cotangent, len(X))
    np.testing.assert_allclose(in_full(lazy.cotangent, len(X)), expected, rtol=0, atol=1e-7)


@every_criterion
def test_value_of_a_float32_matrix(case):
    X, Y, weights = problem()
    K = KERNEL(X)
    double = case.criterion.evaluate(K, Y, weights=weights)
    single = case.criterion.evaluate(K.astype(np.float32), Y, weights=weights)
    # Each entry is rounded by 2^-25 at most.
    felt = np.abs(in_full(double.cotangent, len(X))).sum() * 2.0**-25
    assert abs(single.value - double.value) <= 2 * felt + 1e-12
    size = np.abs(in_full(double.cotangent, len(X))).max()
    moved = in_full(single.cotangent, len(X)) - in_full(double.cotangent, len(X))
    assert np.abs(moved).max() <= 1e-4 * size


@every_criterion
def test_caller_keeps_its_matrix(case):
    X, Y, weights = problem()
    for dtype in (np.float32, np.float64):
        K = KERNEL(X).astype(dtype)
        before = K.copy()
        case.criterion.evaluate(K, Y, weights=weights)
        np.testing.assert_array_equal(K, before)


# --- Machines, rows and their weights ---------------------------------------------------------


@every_criterion
def test_columns_add_up(case):
    X, Y, weights = problem()
    K, n = KERNEL(X), len(X)
    both = case.criterion.evaluate(K, Y, weights=weights)
    alone = [case.criterion.evaluate(K, y, weights=weights) for y in Y.T]
    assert both.value == pytest.approx(sum(one.value for one in alone), rel=1e-12)
    assert both.by_C == pytest.approx(sum(one.by_C for one in alone), rel=1e-9)
    total = sum(in_full(one.cotangent, n) for one in alone)
    np.testing.assert_allclose(in_full(both.cotangent, n), total, rtol=0, atol=1e-9)


@every_criterion
def test_threads_do_not_change_anything(case):
    one, two = evaluate(case), evaluate(case_with(case, threads=2))
    assert two.value == one.value
    assert two.by_C == one.by_C
    np.testing.assert_array_equal(in_full(two.cotangent, 24), in_full(one.cotangent, 24))


def case_with(case, **changes):
    return replace(case, criterion=replace(case.criterion, **changes))


@every_criterion
def test_permuting_the_rows_permutes_the_cotangent(case):
    X, Y, weights = problem()
    K, order = KERNEL(X), np.random.default_rng(3).permutation(len(X))
    criterion = case.criterion
    if hasattr(criterion, "folds"):
        other = replace(criterion, folds=np.asarray(criterion.folds)[order])
    else:
        other = criterion
    plain = criterion.evaluate(K, Y, weights=weights)
    moved = other.evaluate(K[np.ix_(order, order)], Y[order], weights=weights[order])
    assert moved.value == pytest.approx(plain.value, rel=1e-9)
    assert moved.by_C == pytest.approx(plain.by_C, rel=1e-6)
    expected = in_full(plain.cotangent, len(X))[np.ix_(order, order)]
    atol = 1e-7 * np.abs(expected).max()
    np.testing.assert_allclose(in_full(moved.cotangent, len(X)), expected, rtol=0, atol=atol)


@every_solved_criterion
def test_weights_multiply_the_cost(case):
    X, Y, _ = problem()
    K = KERNEL(X)
    weighted = case.criterion.evaluate(K, Y, weights=np.full(len(X), 3.0))
    dear = replace(case.criterion, C=3 * case.criterion.C).evaluate(K, Y)
    assert weighted.value == pytest.approx(dear.value, rel=1e-9)
    assert weighted.by_C == pytest.approx(3 * dear.by_C, rel=1e-6)
    plain = case.criterion.evaluate(K, Y)
    ones = case.criterion.evaluate(K, Y, weights=np.ones(len(X)))
    assert ones.value == plain.value
    assert plain.value != pytest.approx(weighted.value, rel=1e-3)


@every_criterion
def test_codes_change_sign_together(case):
    X, Y, weights = problem()
    plain = case.criterion.evaluate(KERNEL(X), Y, weights=weights)
    turned = case.criterion.evaluate(KERNEL(X), -Y, weights=weights)
    assert turned.value == pytest.approx(plain.value, rel=1e-9)
    np.testing.assert_allclose(
        in_full(turned.cotangent, len(X)), in_full(plain.cotangent, len(X)), rtol=0, atol=1e-7
    )


@loop("case", named(case for case in CRITERIA if not isinstance(case.criterion, RadiusMargin)))
def test_rows_outside_all_machines_do_not_count(case):
    X, Y, weights = problem()
    inside = np.flatnonzero(Y[:, 1])
    K, y = KERNEL(X), Y[:, 1]
    criterion = case.criterion
    if hasattr(criterion, "folds"):
        small = replace(criterion, folds=np.asarray(criterion.folds)[inside])
    else:
        small = criterion
    whole = criterion.evaluate(K, y, weights=weights)
    alone = small.evaluate(K[np.ix_(inside, inside)], y[inside], weights=weights[inside])
    assert whole.value == pytest.approx(alone.value, rel=1e-9)
    full = in_full(whole.cotangent, len(X))
    expected = np.zeros_like(full)
    expected[np.ix_(inside, inside)] = in_full(alone.cotangent, len(inside))
    np.testing.assert_allclose(full, expected, rtol=0, atol=1e-7)


# --- Warm starts ------------------------------------------------------------------------------


@every_criterion
def test_warm_from_its_own_evaluation_is_the_same(case):
    cold = evaluate(case)
    warm = evaluate(case, start=cold.carry)
    assert warm.value == pytest.approx(cold.value, rel=1e-12)
    assert [solution.n_iter for solution in solutions(warm.carry)] == [0] * len(
        solutions(cold.carry)
    )
    np.testing.assert_allclose(
        in_full(warm.cotangent, 24), in_full(cold.cotangent, 24), rtol=0, atol=1e-9
    )


@every_solved_criterion
def test_warm_from_a_neighbour_is_the_same_and_shorter(case):
    X, Y, weights = problem()
    near, K = RBF(gamma=0.301)(X), KERNEL(X)
    start = case.criterion.evaluate(near, Y, weights=weights).carry
    cold = case.criterion.evaluate(K, Y, weights=weights)
    warm = case.criterion.evaluate(K, Y, weights=weights, start=start)
    assert warm.value == pytest.approx(cold.value, rel=1e-9)
    steps = [sum(s.n_iter for s in solutions(each.carry)) for each in (warm, cold)]
    assert steps[0] < steps[1]


@every_criterion
def test_function_of_parameters_is_warm_from_call_to_call(case):
    X, Y, weights = problem()
    objective = case.criterion.of(KERNEL, "gamma", X, Y, weights=weights)
    values = [objective([gamma])[0] for gamma in (0.3, 0.5, 0.2, 0.3)]
    assert values[3] == pytest.approx(values[0], rel=1e-9)
    assert objective.n_solves == 4
    assert objective.best.value == pytest.approx(min(values), rel=1e-9)


@every_criterion
def test_machines_are_those_of_the_columns(case):
    evaluation = evaluate(case)
    # Of a cross-validation no machine is solved on all rows.
    none = not case.solves or isinstance(case.criterion, CrossValidation)
    assert len(evaluation.machines) == (0 if none else 2)
    for machine, y in zip(evaluation.machines, codes_for()[0].T, strict=False):
        assert machine.converged
        assert not machine.beta[y == 0].any()
        assert (y * machine.beta >= 0).all()


@every_solved_criterion
def test_machines_can_be_solved_without_the_criterion(case):
    X, Y, weights = problem()
    options = {"weights": weights, "solver": case.criterion.solver}
    machines = case.criterion.machines(KERNEL, X, Y, start=(), **options)
    assert len(machines) == 2
    for machine, judged in zip(machines, evaluate(case).machines, strict=False):
        np.testing.assert_allclose(machine.beta, judged.beta, rtol=0, atol=1e-9)
        assert machine.nu[0] == pytest.approx(judged.nu[0], abs=1e-9)
    again = case.criterion.machines(KERNEL, X, Y, start=machines, **options)
    assert [machine.n_iter for machine in again] == [0, 0]


# --- The solver decides how exact and how large it may be -------------------------------------


@loop("case", named(case for case in CRITERIA if case.solves and case.precision < 1e-6))
def test_default_solver_is_near(case):
    X, Y, weights = problem()
    default = replace(case.criterion, solver=type(case.criterion)().solver)
    names, theta = ["gamma", "C"], [0.3, 2.0]
    value, gradient = default.of(KERNEL, names, X, Y, weights=weights)(theta)
    exact, expected = case.criterion.of(KERNEL, names, X, Y, weights=weights)(theta)
    assert value == pytest.approx(exact, rel=1e-5)
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-2 * np.abs(expected).max())


@every_criterion
def test_a_matrix_without_room_is_refused_where_all_of_it_is_read(case):
    X, Y, weights = problem()
    small = replace(case.criterion, solver=replace(case.criterion.solver, memory=1000))
    objective = small.of(KERNEL, "gamma", X, Y, weights=weights)
    if small.reads_all_rows:
        with pytest.raises(ValueError, match="kernel matrix of 24 rows needs"):
            objective([0.3])
    else:
        expected = case.criterion.of(KERNEL, "gamma", X, Y, weights=weights)([0.3])
        assert objective([0.3])[0] == pytest.approx(expected[0], rel=1e-9)

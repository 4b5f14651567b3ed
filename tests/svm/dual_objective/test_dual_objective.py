"""DualObjectiveSVC: the paper's steps, better ones, other criteria and kernels."""

import re
import time
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as Reference

from kernelwise import SVC, DualObjectiveSVC
from kernelwise.criteria import Alignment, CrossValidation, DualObjective, LeaveOneOut, RadiusMargin
from kernelwise.kernels import RBF, Laplacian, Linear, Matern32, Polynomial
from kernelwise.outer import Step
from tests.loop import loop
from tests.svm.base.test_progress import TaskCounter

LOADERS = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}
CRITERIA = ["dual", "radius_margin", "span", "cv", "alignment"]
OPTIMIZERS = ["lbfgs", "projected_gradient", "exponentiated_gradient", "paper"]
WEIGHTS = ["shared", "per_class"]
N_CLASSES = {"iris": 3, "wine": 3, "cancer": 2}


@cache
def noisy(name):
    """Return a bundled set with as many columns of noise as it has, standardised."""
    X, y = LOADERS[name](return_X_y=True)
    noise = np.random.default_rng(0).normal(size=X.shape)
    X = StandardScaler().fit_transform(np.hstack([X, noise]))
    X.flags.writeable = y.flags.writeable = False
    return X, y


def codes(y):
    """Return the signs of each machine."""
    classes = np.unique(y)
    positive = classes[1:] if len(classes) == 2 else classes
    return [np.where(y == c, 1, -1) for c in positive]


def solve(K, signs, C=1.0):
    """Return the dual objective and coefficients of one machine, by scikit-learn."""
    machine = Reference(kernel="precomputed", C=C, tol=1e-6).fit(K, signs)
    beta = np.zeros(len(signs))
    beta[machine.support_] = machine.dual_coef_[0]
    return np.abs(beta).sum() - 0.5 * beta @ K @ beta, beta


def total_dual(K, y, C=1.0):
    return sum(solve(K, signs, C)[0] for signs in codes(y))


# --- The paper -----------------------------------------------------------------------------------


def paper_steps(X, machines, gamma, eta, updates):
    """Take the paper's updates, slowly: eq. 15 as printed, clip, sum p. Return duals, weights."""
    p = X.shape[1]
    squares = (X[:, None, :] - X[None, :, :]) ** 2
    v, duals, weights = np.ones(p), [], []
    for _ in range(updates + 1):
        K = np.exp(-gamma * (squares @ v))
        dual, gradient = 0.0, np.zeros(p)
        for signs in machines:
            own, beta = solve(K, signs)
            dual += own
            S = np.outer(beta, beta) * K
            gradient += [0.5 * gamma * (S * squares[:, :, k]).sum() for k in range(p)]
        duals.append(dual)
        weights.append(v)
        v = np.maximum(0, v - eta * 2 * gradient)
        v = v * p / v.sum()
    return np.array(duals), np.array(weights)


def paper_data(name):
    X, y = noisy(name)
    return (X[::3], y[::3]) if name == "cancer" else (X, y)


PAPER = [
    ("cancer", "shared", 0.05, 0.001),
    ("iris", "shared", 0.5, 0.001),
    ("iris", "per_class", 0.5, 0.001),
    ("wine", "per_class", 0.1, 0.001),
]
WIDER = [  # steps so wide that weights are clipped to zero on the way
    ("cancer", "shared", 0.05, 0.1),
    ("iris", "shared", 0.5, 0.005),
    ("iris", "per_class", 0.5, 0.02),
]
# Measured: 7e-6 at the default tolerance, of the weights and relatively of the dual; 5e-7 below.
EXACTLY = [(1e-3, 1e-5, run) for run in PAPER] + [(1e-6, 1e-6, run) for run in PAPER + WIDER]


@loop(("tol", "off", "run"), EXACTLY, ids=str)
def test_the_papers_updates(run, tol, off):
    name, weights, gamma, eta = run
    X, y = paper_data(name)
    settings = {"optimizer": "paper", "gamma": gamma, "eta": eta, "max_iter": 11, "tol": tol}
    model = DualObjectiveSVC(weights=weights, **settings).fit(X, y)
    groups = [codes(y)] if weights == "shared" else [[signs] for signs in codes(y)]
    best, dual = [], 0.0
    for number, machines in enumerate(groups):
        duals, path = paper_steps(X, machines, gamma, eta, updates=10)
        own = model.history_["machine"] == number
        assert_allclose(model.history_["weights"][own], path, atol=off)
        assert_allclose(model.history_["value"][own], duals, rtol=off)
        best.append(path[duals.argmin()])
        dual += duals.min()
    expected = best[0] if len(best) == 1 else best
    assert_allclose(model.feature_weights_, expected, atol=off)
    assert model.dual_objective_ == pytest.approx(dual, rel=off)
    assert (model.history_["weights"] == 0).any() == (run in WIDER)


def test_the_paper_takes_a_hundred_updates():
    X, y = noisy("iris")
    model = DualObjectiveSVC(optimizer="paper").fit(X, y)
    assert len(model.history_["value"]) == 101
    assert model.n_solves_ == 102  # and the machine itself, exactly


@loop("name", ["cancer", "iris"])
@loop("eta", [1e-3, 10.0, 1e6])
def test_equal_weights_are_a_candidate(name, eta):
    """Whatever the steps do, the dual is not above that of equal weights."""
    X, y = noisy(name)
    model = DualObjectiveSVC(optimizer="paper", eta=eta, max_iter=5).fit(X, y)
    assert_array_equal(model.history_["weights"][0], 1.0)
    assert model.dual_objective_ <= total_dual(RBF(model.gamma_)(X), y) * (1 + 1e-6)


def test_steps_that_only_harm_leave_the_weights_equal():
    """Random labels and a wide step: the first point stays the best one."""
    X, y = np.random.default_rng(4).normal(size=(40, 3)), np.arange(40) % 2
    model = DualObjectiveSVC(optimizer="paper", gamma=5.0, eta=1e3, max_iter=6).fit(X, y)
    assert model.history_["value"].argmin() == 0
    assert_array_equal(model.feature_weights_, 1.0)


# --- Degenerate cases that are a known thing -----------------------------------------------------


@loop("gamma", ["scale", "auto", 0.02])
@loop("optimizer", OPTIMIZERS)
def test_one_evaluation_is_a_plain_svc(gamma, optimizer):
    X, y = noisy("cancer")
    settings = {"gamma": gamma, "C": 3.0, "tol": 1e-6}
    model = DualObjectiveSVC(max_iter=1, optimizer=optimizer, **settings).fit(X, y)
    plain = SVC(**settings).fit(X, y)
    assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-5)
    assert_array_equal(model.predict(X), plain.predict(X))
    assert model.gamma_ == plain.kernel_.gamma
    assert_array_equal(model.feature_weights_, 1.0)
    assert (model.n_solves_, len(model.history_["value"])) == (2, 1)
    assert model.dual_objective_ == pytest.approx(-plain.certificate_.objective[0], rel=1e-9)


@loop("optimizer", OPTIMIZERS)
@loop("weights", WEIGHTS)
@loop("name", ["iris", "cancer"])
def test_weights_sum_to_the_number_of_columns(name, weights, optimizer):
    X, y = noisy(name)
    model = DualObjectiveSVC(weights=weights, optimizer=optimizer, max_iter=6).fit(X, y)
    several = weights == "per_class" and N_CLASSES[name] > 2
    assert model.feature_weights_.shape == ((3, 8) if several else (X.shape[1],))
    assert (model.feature_weights_ >= 0).all()
    assert_allclose(model.feature_weights_.sum(axis=-1), X.shape[1], rtol=1e-12)
    assert_allclose(model.history_["weights"].sum(axis=1), X.shape[1], rtol=1e-12)


@loop("optimizer", OPTIMIZERS)
def test_constant_columns_have_no_weight_and_do_not_count(optimizer):
    X, y = noisy("iris")
    wide = np.insert(X, [0, 3, 8], [7.0, 0.0, -1e6], axis=1)
    varying = np.ptp(wide, axis=0) > 0
    settings = {"gamma": 0.2, "optimizer": optimizer, "max_iter": 8, "tol": 1e-9}
    model = DualObjectiveSVC(**settings).fit(wide, y)
    narrow = DualObjectiveSVC(**settings).fit(X, y)
    assert_array_equal(model.feature_weights_[~varying], 0.0)
    assert_array_equal(model.feature_importances_[~varying], 0.0)
    assert model.feature_weights_.sum() == pytest.approx(8.0, rel=1e-12)
    assert_allclose(model.feature_weights_[varying], narrow.feature_weights_, atol=1e-6)
    assert_allclose(model.decision_function(wide), narrow.decision_function(X), atol=1e-6)
    shaken = np.where(varying, wide, 1e3)
    assert_allclose(model.decision_function(shaken), model.decision_function(wide), atol=1e-9)


@loop("criterion", CRITERIA)
def test_constant_columns_under_every_criterion(criterion):
    X, y = noisy("iris")
    wide = np.insert(X, 2, 7.0, axis=1)
    model = DualObjectiveSVC(criterion=criterion, max_iter=4).fit(wide, y)
    assert model.feature_weights_[2] == model.feature_importances_[2] == 0
    assert (np.delete(model.feature_weights_, 2) > 0).any()


@loop("optimizer", OPTIMIZERS)
def test_copies_of_a_column_share_its_weight(optimizer):
    X, y = noisy("iris")
    copied = np.hstack([X, X[:, [2, 2]]])
    model = DualObjectiveSVC(optimizer=optimizer, max_iter=8, tol=1e-9).fit(copied, y)
    copies = model.feature_weights_[[2, 8, 9]]
    assert_allclose(copies, copies[0], rtol=1e-6)


def test_the_order_of_rows_and_columns_does_not_matter():
    X, y = noisy("iris")
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(len(y)), rng.permutation(X.shape[1])
    settings = {"tol": 1e-10, "max_iter": 8}
    model = DualObjectiveSVC(**settings).fit(X, y)
    shuffled = DualObjectiveSVC(**settings).fit(X[np.ix_(rows, columns)], y[rows])
    assert_allclose(shuffled.feature_weights_, model.feature_weights_[columns], atol=1e-6)
    assert shuffled.dual_objective_ == pytest.approx(model.dual_objective_, rel=1e-8)


# --- The default ---------------------------------------------------------------------------------


@loop("name", LOADERS)
@loop("gamma", ["scale", 0.1])
def test_the_default_beats_a_hundred_updates_in_twenty_solves(name, gamma):
    X, y = noisy(name)
    model = DualObjectiveSVC(gamma=gamma).fit(X, y)
    paper = DualObjectiveSVC(gamma=gamma, optimizer="paper").fit(X, y)
    assert model.n_solves_ <= 20
    assert model.dual_objective_ < 0.9 * paper.dual_objective_
    assert paper.dual_objective_ < model.history_["value"][0]


@loop("name", LOADERS)
@loop("criterion", CRITERIA)
def test_importances_of_real_columns_exceed_those_of_noise(name, criterion):
    X, y = noisy(name)
    model = DualObjectiveSVC(criterion=criterion).fit(X, y)
    real, noise = np.split(model.feature_importances_, 2)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert real.sum() > 0.85
    assert real.max() > 2 * noise.max()
    assert model.score(X, y) > 0.95


@loop("kernel", ["rbf", "laplacian", "linear"])
@loop("weights", WEIGHTS)
def test_importances_are_weights_times_spreads(kernel, weights):
    X, y = noisy("iris")
    X = X * np.linspace(0.5, 3.0, X.shape[1])
    model = DualObjectiveSVC(kernel=kernel, weights=weights, max_iter=5, shrinkage=0.0).fit(X, y)
    spread = X.std(axis=0) if kernel == "laplacian" else X.var(axis=0)
    products = np.atleast_2d(model.feature_weights_) * spread
    expected = (products / products.sum(axis=1, keepdims=True)).mean(axis=0)
    assert_allclose(model.feature_importances_, expected, rtol=1e-9)


@loop("optimizer", OPTIMIZERS)
@loop("name", ["iris", "cancer"])
def test_every_optimizer_lowers_the_dual(name, optimizer):
    X, y = noisy(name)
    model = DualObjectiveSVC(optimizer=optimizer, max_iter=12).fit(X, y)
    assert model.dual_objective_ < 0.995 * model.history_["value"][0]
    assert len(model.history_["value"]) <= 12


@loop("criterion", CRITERIA)
@loop("weights", WEIGHTS)
@loop("name", ["iris", "cancer"])
def test_every_criterion_learns(name, weights, criterion):
    X, y = noisy(name)
    model = DualObjectiveSVC(criterion=criterion, weights=weights, max_iter=6).fit(X, y)
    n_groups = 3 if (name, weights) == ("iris", "per_class") else 1
    history = model.history_
    first = sum(history["value"][history["machine"] == g][0] for g in range(n_groups))
    least = sum(history["value"][history["machine"] == g].min() for g in range(n_groups))
    assert model.criterion_value_ == pytest.approx(least)
    assert least < first
    assert np.shape(model.C_) == (() if n_groups == 1 else (3,))
    learns_C = criterion in ("radius_margin", "span")
    assert np.all(model.C_ != 1.0) == learns_C
    assert np.ptp(history["C"]) > 0 or not learns_C
    free_scale = criterion != "dual"
    assert np.allclose(model.feature_weights_.sum(axis=-1), X.shape[1]) != free_scale
    shape = (len(X),) if name == "cancer" else (len(X), 3)
    assert model.decision_function(X).shape == shape


@loop(
    "criterion",
    [
        DualObjective(C=2.0),
        DualObjective(slack="squared"),
        RadiusMargin(C=3.0),
        RadiusMargin(ball=False),
        LeaveOneOut(),
        CrossValidation(folds=3),
        Alignment(),
    ],
    ids=lambda criterion: type(criterion).__name__,
)
@loop("name", ["iris", "cancer"])
def test_a_criterion_object_is_used_as_it_is(name, criterion):
    X, y = noisy(name)
    model = DualObjectiveSVC(criterion=criterion, C=50.0, max_iter=4).fit(X, y)
    assert criterion.C == model.C_
    assert model.history_["value"].min() < model.history_["value"][0]
    given = criterion.of(RBF(model.gamma_), "weights", X, np.column_stack(codes(y)))
    assert given(np.ones(X.shape[1]))[0] == pytest.approx(model.history_["value"][0], rel=1e-3)


def test_the_criterion_object_of_the_name_gives_the_same():
    X, y = noisy("iris")
    name, made = (DualObjectiveSVC(criterion=c).fit(X, y) for c in ("dual", DualObjective()))
    assert_array_equal(name.feature_weights_, made.feature_weights_)


def test_per_class_duals_are_not_above_the_shared_one():
    """Own weights are one choice more for each machine."""
    X, y = noisy("wine")
    settings = {"max_iter": 40, "tol": 1e-6}
    shared, own = (DualObjectiveSVC(weights=w, **settings).fit(X, y) for w in WEIGHTS)
    assert own.dual_objective_ < shared.dual_objective_
    assert own.feature_weights_.shape == (3, X.shape[1])
    assert [k.weights.tolist() for k in own.kernel_] == own.feature_weights_.tolist()


# --- What is learned is a machine ----------------------------------------------------------------

KERNELS = [
    "linear",
    "poly",
    "rbf",
    "laplacian",
    "matern32",
    "matern52",
    Linear(),
    RBF(0.05, weights=np.linspace(0.5, 1.5, 8)),
    Matern32(0.1),
    Polynomial(0.1, degree=2, coef0=1.0),
    RBF(0.1) + Linear(),
    0.5 * Laplacian(0.1),
    RBF(0.1) * Linear(),
]


@loop("kernel", KERNELS, ids=str)
@loop("weights", WEIGHTS)
def test_any_kernel_with_weights(kernel, weights):
    """The dual falls, and it is the one of scikit-learn's machines at the learned kernel."""
    X, y = noisy("iris")
    how = {"max_iter": 8, "tol": 1e-5, "shrinkage": 0.0}
    model = DualObjectiveSVC(kernel=kernel, weights=weights, **how).fit(X, y)
    kernels = [model.kernel_] * 3 if weights == "shared" else model.kernel_
    expected = sum(solve(k(X), s)[0] for k, s in zip(kernels, codes(y), strict=True))
    assert model.dual_objective_ == pytest.approx(expected, rel=1e-4)
    first = model.history_["value"][model.history_["machine"] == 0][0]
    assert model.history_["value"][model.history_["machine"] == 0].min() < first
    assert model.dual_objective_ == pytest.approx(model.criterion_value_, rel=1e-4)
    assert_allclose(model.feature_weights_.sum(axis=-1), 8.0)
    for j, (k, signs) in enumerate(zip(kernels, codes(y), strict=True)):
        plain = SVC(kernel=k, tol=1e-5).fit(X, signs)
        assert_allclose(
            model.decision_function(X)[:, j], plain.decision_function(X), rtol=1e-3, atol=1e-3
        )


def test_weights_of_the_parts_of_a_kernel_are_learned_together():
    X, y = noisy("cancer")
    model = DualObjectiveSVC(kernel=RBF(0.02) + 0.1 * Linear()).fit(X, y)
    left, right = model.kernel_.left.weights, model.kernel_.right.kernel.weights
    assert (left + right).sum() == pytest.approx(2 * X.shape[1])
    assert left.sum() != pytest.approx(X.shape[1], rel=1e-3)
    assert_allclose(model.feature_weights_, (left + right) / 2)
    assert model.kernel_.left.gamma == 0.02
    assert model.dual_objective_ == pytest.approx(total_dual(model.kernel_(X), y), rel=1e-4)


def test_given_weights_are_the_start_and_keep_their_sum():
    X, y = noisy("iris")
    given = np.array([2.0, 1, 1, 1, 1, 1, 1, 0.5])
    model = DualObjectiveSVC(kernel=RBF(0.1, weights=given)).fit(X, y)
    assert_allclose(model.history_["weights"][0], given, rtol=1e-12)
    assert model.feature_weights_.sum() == pytest.approx(8.5)


@loop("criterion", CRITERIA)
@loop("name", ["iris", "cancer"])
def test_the_fitted_machine_is_the_optimum_at_what_was_learned(name, criterion):
    """Of the hinge, or of the squared slack under radius_margin: 1/C on the diagonal."""
    X, y = noisy(name)
    model = DualObjectiveSVC(criterion=criterion, max_iter=5, tol=1e-6).fit(X, y)
    K = model.kernel_(X)
    if criterion == "radius_margin":
        expected = total_dual(K + np.eye(len(y)) / model.C_, y, C=1e6)
    else:
        expected = total_dual(K, y, C=model.C_)
    assert model.dual_objective_ == pytest.approx(expected, rel=1e-6)
    assert model.fit_status_ == 0
    assert (model.certificate_.violation <= model.tol).all()
    by_hand = model.kernel_(X, model.support_vectors_) @ model.dual_coef_.T + model.intercept_
    assert_allclose(model.decision_function(X), np.squeeze(by_hand), atol=1e-9)
    assert_array_equal(model.support_vectors_, X[model.support_])
    assert_array_equal(np.bincount(y[model.support_]), model.n_support_)


# --- History, progress, callbacks ----------------------------------------------------------------


@loop("criterion", ["dual", "radius_margin"])
@loop("weights", WEIGHTS)
def test_the_history_is_complete(weights, criterion):
    X, y = noisy("iris")
    begin = time.perf_counter()
    model = DualObjectiveSVC(criterion=criterion, weights=weights).fit(X, y)
    elapsed = time.perf_counter() - begin
    history = model.history_
    n_groups = 1 if weights == "shared" else 3
    assert set(history) == {"value", "weights", "C", "n_iter", "seconds", "machine"}
    assert {len(column) for column in history.values()} == {len(history["value"])}
    assert history["weights"].shape[1] == X.shape[1]
    assert model.n_solves_ == len(history["value"]) + n_groups
    assert_array_equal(np.unique(history["machine"]), np.arange(n_groups))
    assert (np.diff(history["machine"]) >= 0).all()
    assert (history["seconds"] > 0).all()
    assert history["seconds"].sum() < elapsed
    assert (history["n_iter"] >= 0).all()
    assert history["n_iter"][0] > 0
    learned = np.atleast_2d(model.feature_weights_)
    for g in range(n_groups):
        own = history["machine"] == g
        best = np.minimum.accumulate(history["value"][own])
        assert best[-1] < best[0]
        at = history["value"][own].argmin()
        assert_array_equal(history["weights"][own][at], learned[g])
        assert history["C"][own][at] == np.atleast_1d(model.C_)[g]


def test_warm_solves_on_the_way_take_fewer_steps():
    """A hundred updates move the weights a little each: the solver hardly works."""
    X, y = noisy("cancer")
    n_iter = DualObjectiveSVC(optimizer="paper", max_iter=20).fit(X, y).history_["n_iter"]
    assert np.median(n_iter[1:]) < n_iter[0] / 4


@loop("criterion", CRITERIA)
@loop("weights", WEIGHTS)
def test_warm_start_goes_on_from_the_last_weights(weights, criterion):
    X, y = noisy("iris")
    model = DualObjectiveSVC(criterion=criterion, weights=weights, warm_start=True)
    first = model.fit(X, y).criterion_value_
    solves, learned = model.n_solves_, np.atleast_2d(model.feature_weights_)
    model.fit(X, y)
    starts = np.flatnonzero(np.diff(model.history_["machine"], prepend=-1))
    assert_allclose(model.history_["weights"][starts], learned, rtol=1e-9, atol=1e-9)
    if criterion in ("dual", "radius_margin", "alignment"):  # the others have many valleys
        assert model.n_solves_ < solves
    assert model.criterion_value_ <= first * (1 + 1e-5)


def test_without_warm_start_a_refit_starts_anew():
    X, y = noisy("iris")
    model = DualObjectiveSVC().fit(X, y)
    first = model.feature_weights_
    assert_array_equal(model.fit(X, y).feature_weights_, first)
    assert_allclose(model.history_["weights"][0], 1.0, rtol=1e-12)


def test_warm_start_on_another_table_or_criterion_starts_anew():
    X, y = noisy("iris")
    model = DualObjectiveSVC(warm_start=True, max_iter=4).fit(X, y)
    model.fit(X[:, :5], y)
    assert_allclose(model.history_["weights"][0], 1.0, rtol=1e-12)
    model.set_params(criterion="radius_margin").fit(X[:, :5], y)
    assert_allclose(model.history_["weights"][0], 1.0, rtol=1e-12)


@loop("optimizer", OPTIMIZERS)
def test_our_callback_sees_each_step(optimizer):
    X, y = noisy("iris")
    seen = []
    model = DualObjectiveSVC(optimizer=optimizer, max_iter=5, callback=seen.append).fit(X, y)
    assert all(isinstance(step, Step) for step in seen)
    assert_array_equal([step.value for step in seen], model.history_["value"])
    assert_array_equal([step.theta for step in seen], model.history_["weights"])
    assert_array_equal([step.n_iter for step in seen], model.history_["n_iter"])


@loop("optimizer", OPTIMIZERS)
@loop("stop_at", [1, 3])
def test_our_callback_ends_the_learning(optimizer, stop_at):
    X, y = noisy("iris")
    seen = []

    def callback(step):
        seen.append(step.value)
        return len(seen) == stop_at

    model = DualObjectiveSVC(optimizer=optimizer, callback=callback).fit(X, y)
    assert len(seen) == len(model.history_["value"]) == stop_at
    assert model.criterion_value_ == min(seen)
    assert model.score(X, y) > 0.8


def test_an_error_of_our_callback_ends_the_fit():
    def fail(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        DualObjectiveSVC(callback=fail).fit(*noisy("iris"))


@loop("weights", WEIGHTS)
def test_verbose_prints_a_line_a_step(weights, capsys):
    X, y = noisy("iris")
    model = DualObjectiveSVC(verbose=True, weights=weights, max_iter=3).fit(X, y)
    *lines, last = capsys.readouterr().out.splitlines()
    assert last.endswith(f"shrinkage={model.shrinkage_:g}")
    assert len(lines) == len(model.history_["value"])
    for line, value in zip(lines, model.history_["value"], strict=True):
        assert re.fullmatch(r"\[kernelwise\.DualObjectiveSVC\] step \d+: [-0-9.e]+", line)
        assert float(line.rsplit(" ", 1)[1]) == pytest.approx(value, rel=1e-5)
    DualObjectiveSVC(weights=weights, max_iter=3).fit(X, y)
    assert capsys.readouterr() == ("", "")


@loop("n_jobs", [None, 2])
@loop("weights", WEIGHTS)
def test_scikit_learn_callbacks_see_a_task_a_step(weights, n_jobs):
    X, y = noisy("iris")
    counter = TaskCounter()
    model = DualObjectiveSVC(weights=weights, max_iter=4, n_jobs=n_jobs).set_callbacks(counter)
    model.fit(X, y)
    n_groups = 1 if weights == "shared" else 3
    steps = [("step", 4 * g + i) for g in range(n_groups) for i in range(4)]
    expected = [("fit", 0), *steps, ("shrinkage", len(steps))]
    assert counter.begun == expected
    assert counter.ended == [*expected[1:], expected[0]]
    assert len(model.history_["value"]) == len(steps)
    assert counter.set_up == counter.torn_down == 1


def test_the_machine_itself_is_polished_on_an_exact_kernel():
    """Only on the way do float32 entries do: the machine is that of SVC with the same kernel."""
    rng = np.random.default_rng(0)
    y = np.arange(600) % 2
    X = rng.normal(size=(600, 3)) + 6 * y[:, None]
    model = DualObjectiveSVC(max_iter=3).fit(X, y)
    exact = SVC(kernel=model.kernel_).fit(X, y)
    assert 600 * len(exact.support_) < 1e5  # so few that a polish is cheap
    assert_allclose(model.decision_function(X), exact.decision_function(X), rtol=0, atol=1e-10)

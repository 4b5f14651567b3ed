"""FDSVM line by line: Table 1 of the paper, its kernel extension and its search."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC as Reference

from tests.loop import loop

from .machine import machine

PAPER = {"normalization": "trace", "eta_units": "raw"}
SEARCHES = ("joint", "stages")
MEASURES = {"fisher": 1, "separation": 2, "efficiency": 3}


def cancer(n=120, d=5):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:n, :d]
    return (X - X.min(axis=0)) / np.ptp(X, axis=0), y[:n]


def discrimination(number, X, y):
    """Return F1, F2 or F3 of each feature: eq. 3, 4 and 5."""
    q = []
    for f in X.T:
        plus, minus = f[y == y.max()], f[y != y.max()]
        low, high = max(plus.min(), minus.min()), min(plus.max(), minus.max())
        if number == 1:
            q.append((plus.mean() - minus.mean()) ** 2 / (plus.var() + minus.var()))
        elif number == 2:
            widest = max(plus.max(), minus.max()) - min(plus.min(), minus.min())
            q.append((low - high) / widest)
        else:
            q.append(1.0 if low > high else 1 - sum(low <= v <= high for v in f) / len(f))
    return np.array(q)


def fdsvm(X, y, X_new, number, eta, C):
    """Run Table 1; return the predictions for new rows, their values, and w and b."""
    q = discrimination(number, X, y)
    a = np.array([np.exp(-eta * each) for each in q])  # eq. 6
    a = a / a.sum()  # a_ii / trace(A)
    transformed = X * a**-0.5  # T: x -> A^(-1/2) x
    machine = Reference(kernel="linear", C=C, tol=1e-8).fit(transformed, y)
    values = machine.decision_function(X_new * a**-0.5)
    return machine.predict(X_new * a**-0.5), values, machine.coef_[0] * a**-0.5


def empirical_map(X, gamma):
    """Return the empirical kernel map of eq. 11, with the transposes that make it one."""

    def kernel(A, B):
        return np.exp(-gamma * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    sizes, U = np.linalg.eigh(kernel(X, X))
    kept = sizes > 1e-10 * sizes[-1]
    return lambda Z: kernel(Z, X) @ U[:, kept] * sizes[kept] ** -0.5


@loop("measure", MEASURES)
@loop("eta", [0.1, 1.0, 3.0])
def test_linear_machine_is_that_of_table_1(measure, eta):
    X, y = cancer()
    model = machine(importance=measure, eta=eta, C=0.5, tol=1e-8, **PAPER)
    model.fit(X[::2], y[::2])
    predicted, values, w = fdsvm(X[::2], y[::2], X[1::2], MEASURES[measure], eta, 0.5)
    # libsvm has the products of rows in single precision, which eta = 3 makes large.
    assert_allclose(model.decision_function(X[1::2]), values, rtol=1e-4, atol=1e-4)
    assert_allclose(model.coef_[0], w, rtol=1e-4, atol=1e-4)
    assert (model.predict(X[1::2]) == predicted).all()


@loop("measure", MEASURES)
def test_kernel_machine_is_the_linear_one_on_the_empirical_map(measure):
    X, y = cancer(80)
    to_components = empirical_map(X[::2], 2.0)
    model = machine(kernel="rbf", gamma=2.0, importance=measure, eta=1.0, tol=1e-8, **PAPER).fit(
        X[::2], y[::2]
    )
    A, B = to_components(X[::2]), to_components(X[1::2])
    _, values, _ = fdsvm(A, y[::2], B, MEASURES[measure], 1.0, 1.0)
    assert_allclose(model.decision_function(X[1::2]), values, atol=1e-4)


def test_joint_search_is_the_whole_grid():
    X, y = cancer(90)
    sigmas, etas, costs = [0.2, 0.5], [0.1, 1.0, 10.0], [0.1, 1.0, 10.0]
    splits = list(StratifiedKFold(3).split(X, y))
    model = machine(
        kernel="rbf", importance="separation", eta="cv", search="joint", widths=sigmas, etas=etas,
        costs=costs, cv=splits, tol=1e-6, **PAPER,
    ).fit(X, y)  # fmt: skip
    slow = {}
    for sigma in sigmas:
        for eta in etas:
            for C in costs:
                wrong = 0
                for train, held in splits:
                    to_components = empirical_map(X[train], 0.5 / sigma**2)
                    A, B = to_components(X[train]), to_components(X[held])
                    wrong += np.sum(fdsvm(A, y[train], B, 2, eta, C)[0] != y[held])
                slow[round(0.5 / sigma**2, 9), eta, C] = wrong / len(y)
    path = model.path_
    keys = zip(path["gamma"].round(9), path["eta"], path["C"], strict=True)
    expected = np.array([slow[key] for key in keys])
    assert len(expected) == len(slow)
    assert_allclose(path["held_out_error"], expected, atol=1.01 / len(y))
    assert np.mean(np.abs(path["held_out_error"] - expected) < 1e-9) >= 0.8
    chosen = slow[round(model.gamma_, 9), model.eta_, model.C_]
    assert chosen <= min(slow.values()) + 1.01 / len(y)


@loop("settings", [{}, {"normalization": "trace"}, {"etas": [1.0, 4.0]}])
def test_joint_search_scores_every_width(settings):
    X, y = load_iris(return_X_y=True)
    how = {"kernel": "rbf", "eta": "cv", "widths": 3, "costs": [1.0, 10.0], "cv": 3} | settings
    etas = how.setdefault("etas", [0.0, 2.0])
    joint = machine(search="joint", **how).fit(X, y)
    points = set(zip(joint.path_["gamma"], joint.path_["eta"], joint.path_["C"], strict=True))
    assert len(points) == len(joint.path_["C"]) == 3 * len(etas) * 2
    stages = machine(**how).fit(X, y)
    best = joint.path_["held_out_error"][joint.path_["converged"]].min()
    second = stages.path_["stage"] == 2
    assert best <= stages.path_["held_out_error"][second].min()


def test_linear_kernels_have_one_width_to_search():
    X, y = cancer()
    how = {"eta": "cv", "costs": [0.1, 1.0], "cv": 3, "tol": 1e-6}
    joint, stages = (machine(search=s, **how).fit(X, y) for s in SEARCHES)
    assert (joint.eta_, joint.C_) == (stages.eta_, stages.C_)

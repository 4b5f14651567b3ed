"""The loss on held-out rows against refitting on the folds with scikit-learn."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from kernelwise.criteria import CrossValidation
from kernelwise.kernels import RBF, Linear
from kernelwise.qp import SMO
from tests.loop import loop

TIGHT = SMO(tol=1e-8)
LOSSES = {
    "hinge": lambda margins: np.maximum(0, 1 - margins),
    "logistic": lambda margins: np.log1p(np.exp(-margins)),
}


def rows(n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0.2, 1.0, -1.0)
    return X, y, rng.uniform(0.5, 2.0, size=n)


def refitted(K, y, C, folds, loss, weights=None):
    """Return the mean loss of the rows of a machine, each held out once."""
    weights = np.ones(len(y)) if weights is None else weights
    total = 0.0
    for fold in np.unique(folds):
        train = np.flatnonzero((folds != fold) & (y != 0))
        test = np.flatnonzero((folds == fold) & (y != 0))
        peer = SVC(kernel="precomputed", C=C, tol=1e-8)
        peer.fit(K[np.ix_(train, train)], y[train], sample_weight=weights[train])
        margins = y[test] * peer.decision_function(K[np.ix_(test, train)])
        total += LOSSES[loss](margins).sum()
    return total / np.count_nonzero(y)


@loop("loss", LOSSES)
@loop("C", [0.1, 1.0, 30.0])
@loop("kernel", [RBF(gamma=0.3), Linear(gamma=0.5)])
def test_value_is_that_of_refitting(kernel, C, loss):
    X, y, weights = rows()
    K, folds = kernel(X), np.arange(len(y)) % 4
    criterion = CrossValidation(C=C, loss=loss, folds=folds, solver=TIGHT)
    expected = refitted(K, y, C, folds, loss, weights)
    assert criterion.evaluate(K, y, weights=weights).value == pytest.approx(expected, abs=1e-4)


@loop("loss", LOSSES)
def test_columns_with_rows_outside(loss):
    X, y, _ = rows()
    other = np.where(X[:, 1] > 0.7, 0.0, np.where(X[:, 2] > 0, 1.0, -1.0))
    K, folds = RBF(gamma=0.3)(X), np.arange(len(y)) % 3
    criterion = CrossValidation(loss=loss, folds=folds, solver=TIGHT)
    expected = sum(refitted(K, column, 1.0, folds, loss) for column in (y, other))
    value = criterion.evaluate(K, np.column_stack([y, other])).value
    assert value == pytest.approx(expected, abs=1e-4)


def test_folds_may_have_any_names():
    X, y, _ = rows()
    K, numbers = RBF(gamma=0.3)(X), np.arange(len(y)) % 3
    values = [
        CrossValidation(folds=folds, solver=TIGHT).evaluate(K, y).value
        for folds in (numbers, 10 * numbers - 7, np.array(["a", "b", "c"])[numbers], list(numbers))
    ]
    assert values == [values[0]] * 4


def test_number_of_folds_is_stratified_and_the_same_each_time():
    X, y, _ = rows()
    K = RBF(gamma=0.3)(X)
    folds = np.empty(len(y))
    splitter = StratifiedKFold(5, shuffle=True, random_state=0)
    for number, (_, test) in enumerate(splitter.split(X, y)):
        folds[test] = number
    value = CrossValidation(solver=TIGHT).evaluate(K, y).value
    assert value == pytest.approx(refitted(K, y, 1.0, folds, "logistic"), abs=1e-4)
    assert CrossValidation(solver=TIGHT).evaluate(K, y).value == value


def test_every_class_is_in_every_fold():
    # Three rows of the smaller class, so there are three folds however many are asked for.
    X, _, _ = rows(20)
    y = np.where(np.arange(20) < 3, 1.0, -1.0)
    found = CrossValidation(folds=10, solver=TIGHT).evaluate(RBF()(X), y)
    assert len(found.carry) == 3
    for solution in found.carry:
        assert np.count_nonzero(solution.beta > 0) == 2


def test_leave_one_out_is_one_fold_a_row():
    X, y, _ = rows(20)
    K = RBF(gamma=0.3)(X)
    value = CrossValidation(folds=np.arange(20), loss="hinge", solver=TIGHT).evaluate(K, y).value
    assert value == pytest.approx(refitted(K, y, 1.0, np.arange(20), "hinge"), abs=1e-4)


def test_large_margins_do_not_overflow():
    X, y, _ = rows(20)
    found = CrossValidation(C=1e6, folds=4).evaluate(1e8 * RBF(gamma=3.0)(X), y, gradient=False)
    assert np.isfinite(found.value)


def test_too_few_rows_of_a_class():
    y = np.array([1.0, -1.0, -1.0, -1.0])
    with pytest.raises(ValueError, match="two rows of each class"):
        CrossValidation().evaluate(np.eye(4), y)


@loop("folds", [[0, 1, 0], np.zeros(4), np.zeros((4, 1)), [0, 1, 0, 1, 0]])
def test_folds_that_do_not_fit(folds):
    with pytest.raises(ValueError, match="folds must assign each of the 4 rows"):
        CrossValidation(folds=folds).evaluate(np.eye(4), np.array([1.0, 1.0, -1.0, -1.0]))


@loop("folds", [1, 0, -3])
def test_too_few_folds(folds):
    with pytest.raises(ValueError, match="fold"):
        CrossValidation(folds=folds).evaluate(np.eye(4), np.array([1.0, 1.0, -1.0, -1.0]))


@loop("loss", ["squared", "Hinge", None])
def test_unknown_loss(loss):
    with pytest.raises(ValueError, match="loss must be 'hinge' or 'logistic'"):
        CrossValidation(loss=loss)

"""DualObjectiveSVC(penalty=...): a penalty on the weights in place of their fixed sum."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.datasets import make_classification
from sklearn.svm import SVC as Reference

from kernelwise import DualObjectiveSVC

PENALTIES = {"l1": np.sum, "l2": lambda v: 0.5 * np.sum(v**2)}


def table(n=80):
    X, y = make_classification(n, 3, n_informative=2, n_redundant=0, class_sep=1.5, random_state=3)
    return X, y


def penalised(X, y, v, penalty, C, gamma):
    """Return the penalised dual objective, with scikit-learn's machine."""
    squares = ((X[:, None] - X[None]) ** 2 * v).sum(axis=-1)
    K = np.exp(-gamma * squares)
    machine = Reference(C=C, kernel="precomputed", tol=1e-8).fit(K, y)
    beta, support = machine.dual_coef_[0], machine.support_
    dual = np.abs(beta).sum() - 0.5 * beta @ K[np.ix_(support, support)] @ beta
    return dual + PENALTIES[penalty](v)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_weights_and_scale_are_those_of_a_search_without_gradients(penalty):
    X, y = table()
    how = {"C": 2.0, "gamma": 0.2}
    model = DualObjectiveSVC(penalty=penalty, shrinkage=0.0, max_iter=100, tol=1e-6, **how)
    model.fit(X, y)
    found = minimize(
        lambda z: penalised(X, y, np.exp(z), penalty, **how),
        np.zeros(3),
        method="Nelder-Mead",
        options={"xatol": 1e-4, "fatol": 1e-7, "maxiter": 2000},
    )
    assert_allclose(model.criterion_value_, found.fun, rtol=1e-3)
    ours = penalised(X, y, model.feature_weights_, penalty, **how)
    assert_allclose(ours, model.criterion_value_, rtol=1e-4)
    assert abs(model.feature_weights_.sum() - 3) > 0.1  # the scale is learned


def test_constant_columns_stay_without_a_weight():
    X, y = table()
    wide = np.column_stack([X, np.ones(len(X))])
    model = DualObjectiveSVC(penalty="l1", shrinkage=0.0, gamma=0.2).fit(wide, y)
    plain = DualObjectiveSVC(penalty="l1", shrinkage=0.0, gamma=0.2).fit(X, y)
    assert_allclose(model.feature_weights_, [*plain.feature_weights_, 0.0], rtol=1e-6)


def test_other_criteria_are_refused():
    for how in ({"criterion": "span"}, {"optimizer": "paper"}):
        with pytest.raises(ValueError, match="penalty='l1' is for criterion='dual'"):
            DualObjectiveSVC(penalty="l1", **how).fit(*table())

"""Data sets for the tests of the estimators, and slow answers to hold them against."""

from functools import cache
from itertools import combinations

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_classification,
    make_moons,
)
from sklearn.preprocessing import StandardScaler

from kernelwise.kernels import RBF
from kernelwise.svm.base.task import FitTask, Labels


def _scaled(X, y):
    return StandardScaler().fit_transform(X), y


def _imbalanced():
    return make_classification(
        n_samples=300, n_features=8, n_informative=5, weights=[0.85], flip_y=0.05, random_state=3
    )


_MAKERS = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: _scaled(*load_wine(return_X_y=True)),
    "cancer": lambda: _scaled(*load_breast_cancer(return_X_y=True)),
    "digits": lambda: tuple(part[:700] for part in load_digits(return_X_y=True)),
    "noisy": lambda: make_classification(500, 20, flip_y=0.1, random_state=0),
    "imbalanced": _imbalanced,
    "moons": lambda: make_moons(400, noise=0.3, random_state=0),
    "eight blobs": lambda: make_blobs(400, 5, centers=8, cluster_std=3.0, random_state=0),
    "fifteen blobs": lambda: make_blobs(450, 3, centers=15, cluster_std=1.5, random_state=1),
}


@cache
def data(name):
    """Return (X, y) of a data set, read-only, so that one test cannot spoil another's."""
    X, y = (np.array(part) for part in _MAKERS[name]())
    X.flags.writeable = y.flags.writeable = False
    return X, y


def pair_coefficients(model, y):
    """Return one vector of signed coefficients a pair of classes, read from ``dual_coef_``."""
    n, k = len(y), len(model.classes_)
    coef = model.dual_coef_.toarray() if hasattr(model.dual_coef_, "toarray") else model.dual_coef_
    if k == 2:
        beta = np.zeros(n)
        beta[model.support_] = coef[0]
        return [beta]
    own = np.repeat(np.arange(k), model.n_support_)
    out = []
    for i, j in combinations(range(k), 2):
        beta = np.zeros(n)
        beta[model.support_[own == i]] = coef[j - 1, own == i]
        beta[model.support_[own == j]] = coef[i, own == j]
        out.append(beta)
    return out


def dual_objective(model, K, y):
    """Return 1/2 b'Kb - sum |b|, summed over the pairs of classes."""
    return sum(0.5 * b @ K @ b - np.abs(b).sum() for b in pair_coefficients(model, y))


def pair_decisions(model, K, y):
    """Return the one-vs-one decision values from the fitted attributes; K is (m, n_train)."""
    columns = [K @ beta for beta in pair_coefficients(model, y)]
    return np.column_stack(columns) + model.intercept_


def kkt_violation(K, y, beta, intercept, cost):
    """Return the largest violation of the optimality conditions of one machine, y in {-1, +1}.

    The margin y f(x) is at least 1 where alpha = 0, at most 1 where alpha = C, else 1.
    """
    margin, alpha = y * (K @ beta + intercept), y * beta
    short = np.where(alpha < cost, 1 - margin, 0.0)
    over = np.where(alpha > 0, margin - 1, 0.0)
    return max(short.max(), over.max(), 0.0)


def task_of(X, classes, weight=None, class_weight=None, kernel=None):
    """Return the task of fitting one machine per class to rows, for the parts of a fit."""
    names = np.arange(int(classes.max()) + 1)
    weight = np.ones(len(classes)) if weight is None else weight
    class_weight = np.ones(len(names)) if class_weight is None else class_weight
    labels = Labels(names, np.arange(len(classes)), classes, weight, class_weight)
    kernel = RBF() if kernel is None else kernel
    return FitTask(X, labels, kernel, progress=None, threads=1, given=(X, None, None))

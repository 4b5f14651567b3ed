"""The optimality of a fitted SVC, by formulas of our own in float64: nothing here is the library's.

A machine has signed coefficients b_i between 0 and y_i C_i, and f_i = y_i - sum_j b_j K_ij. It is
optimal if no row that may rise has a larger f than a row that may fall; the violation is the
largest such difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kernelwise._typing import Array

_EPS = float(np.finfo(np.float64).eps)


def resolved(problem: Any) -> dict[str, Any]:
    """Return the parameters with a number for gamma="scale" where rows have weights.

    The weighted variance is the documented meaning; rows of weight zero count as absent.
    """
    params = {"gamma": "scale", "coef0": 0.0, "degree": 3} | problem.params
    if params["gamma"] == "scale" and problem.sample_weight is not None:
        share = problem.sample_weight[:, None] / problem.sample_weight.sum() / problem.X.shape[1]
        variance = float((share * (problem.X - (share * problem.X).sum()) ** 2).sum())
        size = np.sqrt(variance) if params["kernel"] == "laplacian" else variance
        params["gamma"] = float(1 / (problem.X.shape[1] * (size or 1.0)))
    return params


def kernel_matrix(X: Array, params: dict[str, Any]) -> Array:
    """Return the kernel matrix of the named kernel, from its textbook formula."""
    name, d = params["kernel"], X.shape[1]
    if name == "linear":
        return _products(X)
    size = 1.0
    if params["gamma"] == "scale":
        size = float(X.std() if name == "laplacian" else X.var())
    gamma = params["gamma"] if isinstance(params["gamma"], float) else 1 / (d * (size or 1.0))
    if name in ("rbf", "laplacian"):
        power = 1 if name == "laplacian" else 2
        distance = sum(np.abs(column[:, None] - column[None, :]) ** power for column in (X.T))
        K: Array = np.exp(-gamma * np.asarray(distance))
        return K
    inner = gamma * _products(X) + params["coef0"]
    K = inner ** params["degree"] if name == "poly" else np.tanh(inner)
    return K


def _products(X: Array) -> Array:
    """Return X X' with sums in extended precision, so as not to round as a solver does."""
    wide = X.astype(np.longdouble)
    products: Array = (wide @ wide.T).astype(np.float64)
    return products


def pairs(model: Any, y: Array) -> Iterator[tuple[Array, Array, Array]]:
    """Yield rows, codes and coefficients of each one-vs-one machine, from scikit-learn's layout."""
    starts = np.concatenate([[0], np.cumsum(model.n_support_)])
    n_classes, coef = len(model.classes_), np.asarray(model.dual_coef_)
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            beta = np.zeros(len(y))
            first, second = slice(*starts[i : i + 2]), slice(*starts[j : j + 2])
            beta[model.support_[first]] = coef[j - 1, first]
            beta[model.support_[second]] = coef[i, second]
            rows = np.flatnonzero(np.isin(y, model.classes_[[i, j]]))
            sign = 1.0 if n_classes > 2 else -1.0  # of the class that comes first
            codes = np.where(y[rows] == model.classes_[i], sign, -sign)
            yield rows, codes, beta[rows]


def violation(K: Array, codes: Array, beta: Array, bound: Array) -> tuple[float, float]:
    """Return the violation of a machine, and how much of it may be rounding of K in float64."""
    f = codes - (K.astype(np.longdouble) @ beta).astype(np.float64)
    rounding = 4 * _EPS * float((np.abs(K) @ np.abs(beta)).max(initial=0.0))
    high, low = np.where(codes > 0, bound, 0.0), np.where(codes > 0, 0.0, -bound)
    rises, falls = beta < high, beta > low
    if not rises.any() or not falls.any():
        return 0.0, rounding
    return max(0.0, float(f[rises].max() - f[falls].min())), rounding


def objective(K: Array, codes: Array, beta: Array) -> float:
    """Return the dual objective 1/2 b'Kb - y'b, which a machine minimises."""
    return float(0.5 * beta @ (K @ beta) - codes @ beta)

"""Synthetic data, and the dual objective by which solutions are compared."""

from itertools import combinations
from typing import Any

import numpy as np

_BLOCK = 1000  # rows of the kernel in memory


def classification(n: int, p: int, extra: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return n + extra rows of two classes, half of the columns informative.

    The columns are standardised by their mean and deviation over the first n rows.
    """
    from sklearn.datasets import make_classification

    X, y = make_classification(n + extra, p, n_informative=p // 2, random_state=0)
    return (X - X[:n].mean(axis=0)) / X[:n].std(axis=0), y


def scale_gamma(X: np.ndarray) -> float:
    """Return the value of ``gamma="scale"``."""
    return float(1 / (X.shape[1] * X.var()))


def dual_objective(model: Any, X: np.ndarray, gamma: float) -> float:
    """Return 1/2 b'Kb - sum |b| of a fitted classifier with RBF kernel, summed over its machines.

    K is computed in float64 and rounded to float32, which is the kernel that all solvers see. The
    coefficients b of each pair of classes come from ``dual_coef_``.
    """
    ends = np.cumsum(model.n_support_)
    of_class = [slice(end - count, end) for end, count in zip(ends, model.n_support_, strict=True)]
    total = 0.0
    for i, j in combinations(range(len(of_class)), 2):
        one, two = of_class[i], of_class[j]
        b = np.concatenate([model.dual_coef_[j - 1, one], model.dual_coef_[i, two]])
        rows = np.concatenate([model.support_[one], model.support_[two]])
        total += 0.5 * quadratic(X[rows], b, gamma) - np.abs(b).sum()
    return float(total)


def quadratic(X: np.ndarray, b: np.ndarray, gamma: float) -> float:
    """Return b'Kb of an RBF kernel in float64 that is rounded to float32."""
    from sklearn.metrics.pairwise import rbf_kernel

    total = 0.0
    for start in range(0, len(b), _BLOCK):
        block = slice(start, start + _BLOCK)
        K = rbf_kernel(X[block], X, gamma=gamma).astype(np.float32).astype(np.float64)
        total += b[block] @ (K @ b)
    return total


def add_objectives(times: dict[str, dict], models: dict, X: np.ndarray, gamma: float) -> None:
    """Add to each timing its model's objective, and the relative excess of ours over it."""
    ours = dual_objective(models["kernelwise"], X, gamma)
    for name, model in models.items():
        theirs = dual_objective(model, X, gamma)
        times[name] |= {
            "objective": theirs,
            "excess": float(f"{(ours - theirs) / abs(theirs):.3g}"),
            "n_support": int(np.sum(model.n_support_)),
        }


def generator(seed: int, *names: str) -> np.random.Generator:
    """Return the random numbers of a seed and of what is drawn."""
    return np.random.default_rng([seed, *"/".join(names).encode()])

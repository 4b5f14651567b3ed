"""Width and C by the span estimate: against a grid search, and against leave-one-out."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..data import read, standardised
from ..measure import Effort
from ..names import FAST_GRID, GRID
from ..rounds import Round, judge, quiet, stratified

_SETS = (
    "sonar", "ionosphere", "glass", "iris", "pima", "bupa", "wdbc", "breast_cancer_wisconsin",
    "ecoli", "biomed", "wine", "voting",
)  # fmt: skip
_LEFT_OUT = ("bupa", "sonar", "ionosphere", "wdbc", "biomed", "iris", "wine", "glass", "voting")
_QUICK_SETS = ("fisher_iris", "wine")
_SPLITS, _FURTHER = 5, 15  # of all contenders, and of the span path and the fast search
_COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)


def _case(name: str, X: np.ndarray, y: np.ndarray) -> dict:
    shape = {"n": X.shape[0], "p": X.shape[1], "classes": len(np.unique(y))}
    return {"set": name} | shape


def span_path(effort: Effort) -> Iterator[dict]:
    """Choose width and C by the span path and by grid searches over the same 55 points."""
    for name in _QUICK_SETS if effort.quick else _SETS:
        table = read(name)
        first, further = (1, 1) if effort.quick else (_SPLITS, _FURTHER)
        splits = stratified(table.y, first + further)
        rounds = [Round.of(table, train, test) for train, test in splits]
        times = judge(
            lambda X, number, first=first: _choosers(
                X, everybody=number < first, quick=effort.quick
            ),
            rounds,
        )
        yield {"case": _case(name, rounds[0].X, rounds[0].y), "times": times}


def _choosers(X: np.ndarray, *, everybody: bool, quick: bool) -> dict[str, Any]:
    """Return the contenders with the same grid: the default path of these rows."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    import kernelwise
    from kernelwise.svm import AdaptiveKernelSVC, SVCSearchCV

    exponents = np.linspace(-2, 3, 3 if quick else 11)
    sigma = np.sqrt(X.var(axis=0).sum()) * 2.0**exponents
    grid = {"C": list(_COSTS), "gamma": 0.5 / sigma**2}
    own = {"widths": 3} if quick else {}
    models = {
        "span": AdaptiveKernelSVC(**own),
        FAST_GRID: SVCSearchCV(kernelwise.SVC(), grid, cv=5),
    }
    if not everybody:
        return models
    return models | {
        "cv": AdaptiveKernelSVC(criterion="cv", **own),
        "bound": AdaptiveKernelSVC(criterion="bound", **own),
        GRID: GridSearchCV(SVC(), grid, cv=5),
    }


def leave_one_out(effort: Effort) -> Iterator[dict]:
    """Count the errors of leave-one-out by the span estimate and by fitting once a row."""
    from kernelwise.svm import AdaptiveKernelSVC

    for name in _QUICK_SETS if effort.quick else _LEFT_OUT:
        table = read(name)
        X, y = standardised(table.X), table.y
        model = AdaptiveKernelSVC(widths=3 if effort.quick else None).fit(X, y)
        with quiet():
            wrong = brute_force(X, y, model.C_, model.gamma_)
        found = {
            "span": {"errors": round(model.loo_error_ * len(y))},
            "left out": {"errors": int(wrong.sum())},
            "training rows": {"errors": int((model.predict(X) != y).sum())},
        }
        case = _case(name, X, y) | {"C": model.C_, "sigma": float(f"{model.sigma_:.4g}")}
        yield {"case": case, "found": found}


def brute_force(X: np.ndarray, y: np.ndarray, C: float, gamma: float) -> np.ndarray:
    """Fit scikit-learn's SVC without each row, one-vs-rest, and tell whether it is misjudged."""
    from sklearn.svm import SVC

    from kernelwise.kernels import RBF

    K, classes = RBF(gamma=gamma)(X), np.unique(y)
    labels = classes[len(classes) == 2 :]
    decisions = np.zeros((len(y), len(labels)))
    for j, label in enumerate(labels):
        sign = np.where(y == label, 1, -1)
        for i in range(len(y)):
            others = np.arange(len(y)) != i
            if len(np.unique(sign[others])) == 1:
                decisions[i, j] = sign[others][0]
                continue
            machine = SVC(C=C, kernel="precomputed", tol=1e-4)
            machine.fit(K[np.ix_(others, others)], sign[others])
            decisions[i, j] = machine.decision_function(K[[i]][:, others])[0]
    if len(labels) == 1:
        return (decisions[:, 0] > 0) != (y == labels[0])
    return labels[decisions.argmax(axis=1)] != y

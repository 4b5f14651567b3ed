"""Cold fits against the peers, at equal objective."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from ..measure import Contender, Effort, compare
from ..peers import classifiers
from ..problems import add_objectives, classification, scale_gamma


def _compare_fits(X: np.ndarray, y: np.ndarray, C: float, effort: Effort) -> tuple[dict, dict]:
    contenders = {
        name: Contender(lambda cls=cls: cls(C=C, gamma="scale", tol=1e-3).fit(X, y))
        for name, cls in classifiers().items()
    }
    times, models = compare(contenders, effort)
    add_objectives(times, models, X, scale_gamma(X))
    return times, models


def fit(effort: Effort) -> Iterator[dict]:
    """Fit two classes."""
    sizes = (100, 200) if effort.quick else (500, 1000, 2000, 5000, 10_000)
    for n, p in product(sizes, (20,) if effort.quick else (20, 100)):
        X, y = classification(n, p)
        for C in (1, 10) if effort.quick else (1, 10, 100):
            times, _ = _compare_fits(X, y, C, effort)
            yield {"case": {"n": n, "p": p, "C": C}, "times": times}


def multiclass(effort: Effort) -> Iterator[dict]:
    """Fit the ten digits, one machine a pair of them."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X = X[:: 6 if effort.quick else 1] / 16
    y = y[:: 6 if effort.quick else 1]
    for C in (1, 10, 100):
        times, models = _compare_fits(X, y, C, effort)
        answers = {name: model.predict(X) for name, model in models.items()}
        for name in models:
            times[name]["agreement"] = float(np.mean(answers["kernelwise"] == answers[name]))
        yield {"case": {"n": len(X), "p": X.shape[1], "classes": 10, "C": C}, "times": times}

"""A re-fit after a small change, from the last solution and from nothing."""

from collections.abc import Iterator
from copy import deepcopy
from itertools import product

import numpy as np

from ..measure import Contender, Effort, compare
from ..problems import classification, scale_gamma


def warm(effort: Effort) -> Iterator[dict]:
    """Change C, gamma or the rows a little, and fit again."""
    sizes = (100, 200) if effort.quick else (1000, 5000)
    for n, p in product(sizes, (20, 100)):
        X, y = classification(n, p, extra=n // 100)
        gamma = scale_gamma(X[:n])
        base = {"C": 10.0, "gamma": gamma}
        changes = {
            "C x 1.5": (base | {"C": 15.0}, n),
            "gamma x 1.1": (base | {"gamma": 1.1 * gamma}, n),
            "1 % new rows": (base, len(X)),
        }
        fitted = _svc(**base, warm_start=True).fit(X[:n], y[:n])
        for change, (params, rows) in changes.items():
            times = _compare(fitted, params, X[:rows], y[:rows], effort)
            yield {"case": {"n": n, "p": p, "change": change}, "times": times}


def _svc(**params: object):
    from kernelwise import SVC

    return SVC(**params)


def _compare(fitted, params: dict, X: np.ndarray, y: np.ndarray, effort: Effort) -> dict:
    def fit(model):
        return model.fit(X, y)

    contenders = {
        "warm": Contender(fit, prepare=lambda: deepcopy(fitted).set_params(**params)),
        "cold": Contender(fit, prepare=lambda: _svc(**params)),
    }
    times, models = compare(contenders, effort)
    for name, model in models.items():
        times[name]["steps"] = int(model.n_iter_.sum())
        times[name]["objective"] = float(model.certificate_.objective.sum())
    return times

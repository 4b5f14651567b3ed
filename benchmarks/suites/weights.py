"""Feature weights: the dual they reach, the accuracy they give and what they cost."""

from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np

from ..data import (
    read,
    split,
    to_interval,
    with_noise,
)
from ..measure import Contender, Effort, compare, rounded
from ..names import FAST_GRID, GRID, PROTOCOL, TWO_CLASSES
from ..problems import classification
from ..rounds import Round, judge, stratified

_QUICK_SETS = ("fisher_iris", "wine")
_EXACT = 1e-6  # tolerance at which duals are compared
_CLEAN_SPLITS, _NOISY_SPLITS = 12, 2  # of a set alone, and with each of six noises


def _pairs(effort: Effort) -> list[tuple[str, str]]:
    return list(permutations(_QUICK_SETS if effort.quick else PROTOCOL, 2))


def _generator(repeat: int, name: str, noise: str) -> np.random.Generator:
    return np.random.default_rng([repeat, *f"{name}/{noise}".encode()])


def _case(name: str, noise: str, X: np.ndarray, y: np.ndarray) -> dict:
    shape = {"n": X.shape[0], "p": X.shape[1], "classes": len(np.unique(y))}
    return {"set": name, "noise": noise} | shape


def exact_dual(X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> float:
    """Return the dual of the one-vs-rest machines at C = 1, gamma = 1, summed and solved tightly.

    Duals solved to different tolerances do not compare: an unconverged one reads low.
    """
    from kernelwise.kernels import RBF
    from kernelwise.qp import SMO, c_svc

    K = RBF(gamma=1.0, weights=weights)(X)
    classes = np.unique(y)
    signs = (np.where(y == label, 1.0, -1.0) for label in classes[len(classes) == 2 :])
    return -sum(SMO(tol=_EXACT).solve(c_svc(K, sign, 1.0)).objective for sign in signs)


def weights(effort: Effort) -> Iterator[dict]:
    """Learn weights on the paper's noisy sets, by its own steps and by the default."""
    for name, noise in _pairs(effort):
        found: dict[str, dict[str, list]] = {}
        for repeat in range(effort.repeats):
            rng = _generator(repeat, name, noise)
            table = with_noise(name, noise, rng)
            X = to_interval(table.X)
            train, test = split(len(X), rng)
            for method, numbers in _learn(X, table.y, train, test).items():
                for key, number in numbers.items():
                    found.setdefault(method, {}).setdefault(key, []).append(number)
        yield {"case": _case(name, noise, X[train], table.y), "found": found}


def _learn(X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> dict[str, dict]:
    """Return dual, solves and accuracy of each method at C = 1, gamma = 1."""
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import SVC

    from kernelwise import DualObjectiveSVC

    models: dict[str, Any] = {
        "equal": OneVsRestClassifier(SVC(gamma=1.0)),
        "paper": DualObjectiveSVC(gamma=1.0, optimizer="paper"),
        "default": DualObjectiveSVC(gamma=1.0),
        "radius_margin": DualObjectiveSVC(criterion="radius_margin"),
    }
    rows, labels = X[train], y[train]
    found: dict[str, dict] = {}
    for method, model in models.items():
        model.fit(rows, labels)
        found[method] = {"accuracy": rounded(model.score(X[test], y[test]))}
        if method != "equal":
            found[method]["solves"] = model.n_solves_
    found["equal"]["dual"] = exact_dual(rows, labels, np.ones(X.shape[1]))
    for method in ("paper", "default"):
        found[method]["dual"] = exact_dual(rows, labels, models[method].feature_weights_)
    goal = found["paper"]["dual"]
    for solves, tried in enumerate(models["default"].history_["weights"], start=1):
        if exact_dual(rows, labels, tried) < goal:
            found["default"]["solves_to_beat"] = solves
            break
    else:
        found["default"]["solves_to_beat"] = None
    for numbers in found.values():
        if "dual" in numbers:
            numbers["dual"] = float(f"{numbers['dual']:.9g}")
    return found


def weight_criteria(effort: Effort) -> Iterator[dict]:
    """Learn weights on standardised columns, with and without noise, against a grid search."""
    pairs = _pairs(effort)
    first = {name: noise for name, noise in reversed(pairs)}  # the first noise of each set
    for name, noise in [(name, None) for name in reversed(first)] + pairs:
        splits = _NOISY_SPLITS if noise else _CLEAN_SPLITS
        rounds = []
        for repeat, (train, test) in enumerate(
            stratified(read(name).y, 1 if effort.quick else splits)
        ):
            table = with_noise(name, noise, _generator(repeat, name, noise or ""))
            rounds.append(Round.of(table, train, test))
        timed = noise in (None, first[name])
        times = judge(
            lambda X, number, timed=timed: _criteria(
                X, with_grid=timed and number == 0, quick=effort.quick
            ),
            rounds,
        )
        yield {"case": _case(name, noise or "", rounds[0].X, rounds[0].y), "times": times}


def _criteria(X: np.ndarray, *, with_grid: bool, quick: bool) -> dict[str, Any]:
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    import kernelwise
    from kernelwise.svm import DualObjectiveSVC, SVCSearchCV

    grid = {
        "C": [1.0] if quick else [0.1, 1.0, 10.0, 100.0, 1000.0],
        "gamma": 2.0 ** np.arange(-4, 5, 4 if quick else 1) / (X.shape[1] * X.var()),
    }
    models = {
        "dual": DualObjectiveSVC(),
        "radius_margin": DualObjectiveSVC(criterion="radius_margin"),
        "span": DualObjectiveSVC(criterion="span"),
        "SVC": SVC(),
        FAST_GRID: SVCSearchCV(kernelwise.SVC(), grid, cv=5),
    }
    return models | ({GRID: GridSearchCV(SVC(), grid, cv=5)} if with_grid else {})


def weight_steps(effort: Effort) -> Iterator[dict]:
    """Time 100 paper updates and the default against one cold fit of `SVC` on the same rows."""
    n, p = (200, 5) if effort.quick else (2000, 20)
    X, y = classification(n, p)
    X = np.hstack([X, np.random.default_rng(0).normal(size=X.shape)])
    times = _cost(X, y, "scale", effort)
    yield {"case": _case("make_classification", "normal", X, y), "times": times}
    for name, noise in [("diagnostic", "wine")] if effort.quick else _pairs(effort):
        others = [other for other in PROTOCOL if other != name]
        if not effort.quick and name not in TWO_CLASSES and noise != others[0]:
            continue  # several classes: one noise
        rng = _generator(0, name, noise)
        table = with_noise(name, noise, rng)
        X = to_interval(table.X)
        train, _ = split(len(X), rng)
        times = _cost(X[train], table.y[train], 1.0, effort)
        yield {"case": _case(name, noise, X[train], table.y[train]), "times": times}


def _cost(X: np.ndarray, y: np.ndarray, gamma: Any, effort: Effort) -> dict:
    """Time the fits; the reference is one cold fit of `SVC`."""
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import SVC

    from kernelwise import DualObjectiveSVC

    models = {
        "SVC": lambda: SVC(gamma=gamma),
        "paper": lambda: DualObjectiveSVC(gamma=gamma, optimizer="paper"),
        "default": lambda: DualObjectiveSVC(gamma=gamma),
    }
    if len(np.unique(y)) > 2:
        models["one-vs-rest SVC"] = lambda: OneVsRestClassifier(SVC(gamma=gamma))
    contenders = {
        name: Contender(lambda model: model.fit(X, y), prepare=model)
        for name, model in models.items()
    }
    times, fitted = compare(contenders, effort)
    for name in ("paper", "default"):
        times[name]["solves"] = fitted[name].n_solves_
    return times

"""The methods that can be fitted to a table, by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..._memory import allowance
from ..tabular import TableError
from ..tabular.errors import quoted


class Stage(NamedTuple):
    """How a fit behaves from some number of rows on, for an estimate of its time.

    Parameters
    ----------
    rows : int, default=0
        Rows from which the stage begins.
    growth : float, default=2.0
        The time grows with this power of the number of rows.
    min_probe_rows : int, default=0
        Rows of the smallest fit from which the time can be estimated.
    """

    rows: int = 0
    growth: float = 2.0
    min_probe_rows: int = 0


_LINEAR = (Stage(growth=1.0),)
_TILED = 6000  # rows from which machines keep tiles of the kernel, not the whole of it
_EXACT = 3000  # rows from which RelevanceSVR solves cells instead of one kernel


def kernel_bytes(n: float, d: float) -> float:
    """Return the bytes of a kernel matrix in single precision, or of its tiles.

    Parameters
    ----------
    n : float
        The number of rows.
    d : float
        The number of columns.

    Returns
    -------
    size : float
        The bytes beside the table.
    """
    return min(allowance(None), 4.0 * min(n, _TILED) ** 2) + 24.0 * n * d


def relevance_bytes(n: float, d: float) -> float:
    """Return the bytes of `RelevanceSVC` and `RelevanceSVR`: kernels of some rows, and columns."""
    return 40.0 * min(n, _EXACT) ** 2 + 2000.0 * n + 60.0 * n * d


def tree_bytes(n: float, d: float) -> float:
    """Return the bytes of a forest of 100 trees, whose leaves hold few rows."""
    return 1300.0 * n + 24.0 * n * d


@dataclass(frozen=True)
class Method:
    """A method by name, with facts for balancing its classes and for estimating its cost.

    Parameters
    ----------
    name : str
        Its name on the command line.
    label : str
        Its name in tables.
    make : callable
        Returns the unfitted estimator for a seed.
    stages : tuple of Stage, default=(Stage(),)
        How the fit time grows with the number of rows, by rising numbers of rows.
    learns : bool, default=True
        Whether the method can be fitted to a table, rather than serve as a yardstick only.
    working_bytes : callable, default=kernel_bytes
        Returns the bytes that a fit needs beside the table, for a number of rows and of columns.
    reads_categories : bool, default=False
        Whether the estimator reads categories and missing values as they are; others get one
        column per value, and scaled columns.
    yardstick_rows : float, default=0
        Most rows with which other methods are compared with this one if nothing else is asked for.
    """

    name: str
    label: str
    make: Callable[[int], Any]
    stages: tuple[Stage, ...] = (Stage(),)
    learns: bool = True
    working_bytes: Callable[[float, float], float] = kernel_bytes
    reads_categories: bool = False
    yardstick_rows: float = 0

    def estimator(self, seed: int, *, balanced: bool = False, proba: bool = False) -> Any:
        """Return the unfitted estimator.

        Parameters
        ----------
        seed : int
            Seed of the estimator.
        balanced : bool, default=False
            Whether all classes count alike, where the classifier can do that.
        proba : bool, default=False
            Whether it gives probabilities, where it can at no further fit.

        Returns
        -------
        estimator : estimator
            The unfitted estimator.
        """
        model = self.make(seed)
        parameters = model.get_params()
        if balanced and "class_weight" in parameters:
            model.set_params(class_weight="balanced")
        if balanced and "estimator__class_weight" in parameters:  # a search
            model.set_params(estimator__class_weight="balanced", scoring="balanced_accuracy")
        for name in ("estimator__calibration", "calibration"):
            if proba and name in parameters:
                return model.set_params(**{name: "loo"})
        return model


def methods(task: str = "classification") -> dict[str, Method]:
    """Return the methods by name, those of this library first.

    Parameters
    ----------
    task : {"classification", "regression"}, default="classification"
        Whether they predict classes or numbers.

    Returns
    -------
    methods : dict of str to Method
        The methods that `evaluate` knows; `fit_table` takes those that learn.

    Examples
    --------
    >>> from kernelwise.app.evaluation import methods
    >>> [name for name, method in methods().items() if not method.learns]
    ['guessing', 'forest', 'boosting']
    >>> list(methods("regression"))
    ['relevance', 'guessing', 'ridge', 'svr', 'forest', 'boosting']
    """
    made = _numeric() if task == "regression" else (*_own_methods(), *_yardsticks())
    return {method.name: method for method in made}


def yardsticks(task: str, n_rows: int) -> list[str]:
    """Return the methods with which others are compared, of those that so many rows allow."""
    return [each.name for each in methods(task).values() if n_rows <= each.yardstick_rows]


def method_named(name: str, task: str, *, learns: bool = False) -> Method:
    """Return the method of that name; raise TableError where there is none."""
    known = {k: method for k, method in methods(task).items() if method.learns or not learns}
    if name not in known:
        raise TableError(
            f"method={name!r} is not known for {task}; choose one of {quoted(known, 20)}."
        )
    return known[name]


def _relevance(name: str) -> Method:
    def make(seed: int) -> Any:
        from ... import svm

        return getattr(svm, name)(random_state=seed, verbose=False)

    stages = (Stage(growth=1.5, min_probe_rows=500), Stage(_EXACT, 1.0, _EXACT))
    return Method("relevance", name, make, stages, True, relevance_bytes, reads_categories=True)


def _own_methods() -> list[Method]:
    from ... import svm

    def linear_trend(seed: int) -> Any:  # of all columns, lightly penalised, below the kernel
        return svm.GeneralizedBiasSVC(bias_features=slice(None), bias_penalty=1.0)

    return [
        _relevance("RelevanceSVC"),
        Method("svc", "SVC()", lambda seed: svm.SVC(), yardstick_rows=50_000),
        Method("grid-search", "SVC, grid search", lambda seed: svm.SVCSearchCV(svm.SVC())),
        Method("dual-objective", "DualObjectiveSVC", lambda seed: svm.DualObjectiveSVC()),
        Method(
            "adaptive-kernel",
            "AdaptiveKernelSVC",
            lambda seed: svm.AdaptiveKernelSVC(),
            stages=(Stage(growth=2.5),),
        ),
        Method(
            "margin-radius",
            "MarginRadiusSVC",
            lambda seed: svm.MarginRadiusSVC(),
            stages=(Stage(growth=1.2),),
        ),
        Method(
            "feature-discrimination",
            "FeatureDiscriminationSVC",
            lambda seed: svm.FeatureDiscriminationSVC(),
        ),
        Method("generalized-bias", "GeneralizedBiasSVC, linear trend", linear_trend),
    ]


def _peer(
    name: str, label: str, make: Callable[[int], Any], growth: float = 1.0, most: float = 0
) -> Method:
    return Method(name, label, make, (Stage(growth=growth),), False, tree_bytes, False, most)


def _yardsticks() -> list[Method]:
    def largest_class(seed: int) -> Any:
        from sklearn.dummy import DummyClassifier

        return DummyClassifier()

    def forest(seed: int) -> Any:
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(random_state=seed)

    def boosting(seed: int) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(random_state=seed)

    return [
        _peer("guessing", "shares of the classes", largest_class, most=math.inf),
        _peer("forest", "forest of 100 trees", forest, 1.2, 200_000),
        _peer("boosting", "gradient boosting", boosting),
    ]


def _numeric() -> list[Method]:
    def mean(seed: int) -> Any:
        from sklearn.dummy import DummyRegressor

        return DummyRegressor()

    def ridge(seed: int) -> Any:
        import numpy as np
        from sklearn.linear_model import RidgeCV

        return RidgeCV(alphas=np.logspace(-3, 4, 15))

    def svr(seed: int) -> Any:
        from sklearn.compose import TransformedTargetRegressor
        from sklearn.preprocessing import StandardScaler
        from sklearn.svm import SVR

        return TransformedTargetRegressor(SVR(), transformer=StandardScaler())

    def forest(seed: int) -> Any:
        from sklearn.ensemble import RandomForestRegressor

        return RandomForestRegressor(random_state=seed)

    def boosting(seed: int) -> Any:
        from sklearn.ensemble import HistGradientBoostingRegressor

        return HistGradientBoostingRegressor(random_state=seed)

    return [
        _relevance("RelevanceSVR"),
        _peer("guessing", "mean", mean, most=math.inf),
        _peer("ridge", "ridge regression", ridge, most=math.inf),
        _peer("svr", "SVR()", svr, 2.0),
        _peer("forest", "forest of 100 trees", forest, 1.2, 200_000),
        _peer("boosting", "gradient boosting", boosting),
    ]

"""The methods that can be fitted to a table, by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..tabular import TableError
from ..tabular.errors import quoted


@dataclass(frozen=True)
class Method:
    """A method by name.

    Parameters
    ----------
    name : str
        Its name on the command line.
    label : str
        Its name in tables.
    make : callable
        Returns the unfitted estimator for a seed.
    learns : bool, default=True
        Whether the method can be fitted to a table, rather than serve as a yardstick only.
    reads_categories : bool, default=False
        Whether the estimator reads categories and missing values as they are; others get one
        column per value, and scaled columns.
    yardstick_rows : float, default=0
        Most rows with which other methods are compared with this one if nothing else is asked for.
    """

    name: str
    label: str
    make: Callable[[int], Any]
    learns: bool = True
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

    return Method("relevance", name, make, reads_categories=True)


def _own_methods() -> list[Method]:
    from ... import svm

    def linear_trend(seed: int) -> Any:  # of all columns, lightly penalised, below the kernel
        return svm.GeneralizedBiasSVC(bias_features=slice(None), bias_penalty=1.0)

    return [
        _relevance("RelevanceSVC"),
        Method("svc", "SVC()", lambda seed: svm.SVC(), yardstick_rows=50_000),
        Method("grid-search", "SVC, grid search", lambda seed: svm.SVCSearchCV(svm.SVC())),
        Method("dual-objective", "DualObjectiveSVC", lambda seed: svm.DualObjectiveSVC()),
        Method("adaptive-kernel", "AdaptiveKernelSVC", lambda seed: svm.AdaptiveKernelSVC()),
        Method("margin-radius", "MarginRadiusSVC", lambda seed: svm.MarginRadiusSVC()),
        Method(
            "feature-discrimination",
            "FeatureDiscriminationSVC",
            lambda seed: svm.FeatureDiscriminationSVC(),
        ),
        Method("generalized-bias", "GeneralizedBiasSVC, linear trend", linear_trend),
    ]


def _peer(name: str, label: str, make: Callable[[int], Any], max_rows: float = 0) -> Method:
    return Method(name, label, make, learns=False, yardstick_rows=max_rows)


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
        _peer("guessing", "shares of the classes", largest_class, math.inf),
        _peer("forest", "forest of 100 trees", forest, 200_000),
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
        _peer("guessing", "mean", mean, math.inf),
        _peer("ridge", "ridge regression", ridge, math.inf),
        _peer("svr", "SVR()", svr),
        _peer("forest", "forest of 100 trees", forest, 200_000),
        _peer("boosting", "gradient boosting", boosting),
    ]

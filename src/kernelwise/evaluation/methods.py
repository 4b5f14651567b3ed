"""The classifiers that can be fitted to a table, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from .._memory import allowance
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
    settings : tuple of (str, object), default=()
        Parameters that make a smaller fit behave like one of this stage.
    """

    rows: int = 0
    growth: float = 2.0
    min_probe_rows: int = 0
    settings: tuple[tuple[str, Any], ...] = ()


_LINEAR = (Stage(growth=1.0),)
_TILED = 6000  # rows from which machines keep tiles of the kernel, not the whole of it


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
    """Return the bytes of `RelevanceSVC`, measured at 1,500 to 100,000 rows."""
    from ..svm.relevance.mixing import LARGER

    small = 24.0 * n**2 if n < LARGER else 0.0  # kernels of three members on a path
    larger = 20_000.0 * min(n, 5000.0) + 1500.0 * n  # landmarks of some rows, decisions of all
    return max(small, larger) + 60.0 * n * d


def tree_bytes(n: float, d: float) -> float:
    """Return the bytes of a forest of 100 trees, whose leaves hold few rows."""
    return 1300.0 * n + 24.0 * n * d


@dataclass(frozen=True)
class Method:
    """A classifier by name, with facts for balancing its classes and for estimating its cost.

    Parameters
    ----------
    name : str
        Its name on the command line.
    label : str
        Its name in tables.
    make : callable
        Returns the unfitted classifier for a seed.
    stages : tuple of Stage, default=(Stage(),)
        How the fit time grows with the number of rows, by rising numbers of rows.
    learns : bool, default=True
        Whether the method can be fitted to a table, rather than serve as a yardstick only.
    working_bytes : callable, default=kernel_bytes
        Returns the bytes that a fit needs beside the table, for a number of rows and of columns.
    reads_categories : bool, default=False
        Whether the classifier reads categories and missing values as they are; others get one
        column per value, and scaled columns.
    """

    name: str
    label: str
    make: Callable[[int], Any]
    stages: tuple[Stage, ...] = (Stage(),)
    learns: bool = True
    working_bytes: Callable[[float, float], float] = kernel_bytes
    reads_categories: bool = False

    def estimator(self, seed: int, *, balanced: bool = False, proba: bool = False) -> Any:
        """Return the unfitted classifier.

        Parameters
        ----------
        seed : int
            Seed of the classifier.
        balanced : bool, default=False
            Whether all classes count alike, where the classifier can do that.
        proba : bool, default=False
            Whether it gives probabilities.

        Returns
        -------
        classifier : estimator
            The unfitted classifier.
        """
        model = self.make(seed)
        parameters = model.get_params()
        if balanced and "class_weight" in parameters:
            model.set_params(class_weight="balanced")
        if balanced and "estimator__class_weight" in parameters:  # a search
            model.set_params(estimator__class_weight="balanced", scoring="balanced_accuracy")
        if proba and not hasattr(model, "predict_proba"):
            is_search = "estimator__calibration" in parameters
            name = "estimator__calibration" if is_search else "calibration"
            model.set_params(**{name: "loo"})
        return model


def methods() -> dict[str, Method]:
    """Return the classifiers by name, those of this library first.

    Returns
    -------
    methods : dict of str to Method
        The methods that `evaluate` knows; `fit_table` takes those that learn.

    Examples
    --------
    >>> from kernelwise.evaluation import methods
    >>> [name for name, method in methods().items() if not method.learns]
    ['majority', 'forest', 'boosting']
    """
    return {method.name: method for method in (*_own_methods(), *_yardsticks())}


def _own_methods() -> list[Method]:
    from .. import svm
    from ..svm.relevance.mixing import LARGER

    def relevance(seed: int) -> Any:
        return svm.RelevanceSVC(random_state=seed, verbose=False)

    def linear_trend(seed: int) -> Any:  # of all columns, lightly penalised, below the kernel
        return svm.GeneralizedBiasSVC(bias_features=slice(None), bias_penalty=1.0)

    return [
        Method(
            "relevance",
            "RelevanceSVC",
            relevance,
            stages=(
                Stage(min_probe_rows=500),
                Stage(LARGER, 1.2, 2 * LARGER),
                Stage(20_001, 1.0, 4000, (("large", "cells"),)),
            ),
            working_bytes=relevance_bytes,
            reads_categories=True,
        ),
        Method("svc", "SVC()", lambda seed: svm.SVC()),
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
        Method("majority", "largest class", largest_class, _LINEAR, False, tree_bytes),
        Method("forest", "forest of 100 trees", forest, (Stage(growth=1.2),), False, tree_bytes),
        Method("boosting", "gradient boosting", boosting, _LINEAR, False, tree_bytes),
    ]


def method_named(name: str, *, learns: bool = False) -> Method:
    """Return the method of that name; raise TableError where there is none."""
    known = {key: method for key, method in methods().items() if method.learns or not learns}
    if name not in known:
        raise TableError(f"method={name!r} is not known; choose one of {quoted(known, 20)}.")
    return known[name]

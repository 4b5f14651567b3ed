"""The classifiers that can be fitted to a table, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..tabular import TableError
from ..tabular.errors import quoted
from .calibration import MIN_ROWS, balanced_by_threshold, calibrated


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
    growth : float, default=2.0
        The fit time grows with this power of the number of rows.
    learns : bool, default=True
        Whether the method can be fitted to a table, rather than serve as a yardstick only.
    max_search_rows : float, default=inf
        Rows beyond which only the final machines grow, because all else uses a sample.
    make_final : callable or None, default=None
        Returns a classifier whose fit takes as long as one final machine.
    n_final : int, default=0
        Number of final machines.
    balances_by_threshold : bool, default=False
        Whether two classes are balanced by the threshold between them, in six fits. Class weights
        multiply C, which has little effect where a large C is chosen.
    reads_categories : bool, default=False
        Whether the classifier reads categories and missing values as they are; others get one
        column per value, and scaled columns.
    """

    name: str
    label: str
    make: Callable[[int], Any]
    growth: float = 2.0
    learns: bool = True
    max_search_rows: float = float("inf")
    make_final: Callable[[], Any] | None = None
    n_final: int = 0
    balances_by_threshold: bool = False
    reads_categories: bool = False

    def estimator(self, seed: int, y: Any, *, balanced: bool = False) -> Any:
        """Return the unfitted classifier.

        Parameters
        ----------
        seed : int
            Seed of the classifier.
        y : ndarray of shape (n_rows,)
            The classes of the rows that it is going to be fitted to.
        balanced : bool, default=False
            Whether all classes count alike, where the classifier can do that.

        Returns
        -------
        classifier : estimator
            With ``class_weight="balanced"`` or a threshold, if it is to be balanced.
        """
        model = self.make(seed)
        if not balanced:
            return model
        if self.moves_threshold(y):
            return balanced_by_threshold(calibrated(model, y, seed), y)
        parameters = model.get_params()
        if "class_weight" in parameters:
            model.set_params(class_weight="balanced")
        if "estimator__class_weight" in parameters:  # a search
            model.set_params(estimator__class_weight="balanced", scoring="balanced_accuracy")
        return model

    def moves_threshold(self, y: Any) -> bool:
        """Return whether balancing these classes moves the threshold between them.

        Parameters
        ----------
        y : ndarray of shape (n_rows,)
            The classes.

        Returns
        -------
        moves_threshold : bool
            True for two classes with enough rows for calibration, if the method works that way.
        """
        counts = np.unique(y, return_counts=True)[1]
        return self.balances_by_threshold and len(counts) == 2 and bool(counts.min() >= MIN_ROWS)


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

    def relevance(seed: int) -> Any:
        return svm.RelevanceSVC(random_state=seed, verbose=False)

    def linear_trend(seed: int) -> Any:  # of all columns, lightly penalised, below the kernel
        return svm.GeneralizedBiasSVC(bias_features=slice(None), bias_penalty=1.0)

    return [
        Method(
            "relevance",
            "RelevanceSVC",
            relevance,
            max_search_rows=2000,
            make_final=lambda: svm.SVC(kernel="laplacian"),
            n_final=3,
            balances_by_threshold=True,
            reads_categories=True,
        ),
        Method("svc", "SVC()", lambda seed: svm.SVC()),
        Method("grid-search", "SVC, grid search", lambda seed: svm.SVCSearchCV(svm.SVC())),
        Method("dual-objective", "DualObjectiveSVC", lambda seed: svm.DualObjectiveSVC()),
        Method(
            "adaptive-kernel",
            "AdaptiveKernelSVC",
            lambda seed: svm.AdaptiveKernelSVC(),
            growth=2.5,
            balances_by_threshold=True,
        ),
        Method("margin-radius", "MarginRadiusSVC", lambda seed: svm.MarginRadiusSVC(), growth=1.2),
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
        Method("majority", "largest class", largest_class, growth=1.0, learns=False),
        Method("forest", "forest of 100 trees", forest, growth=1.2, learns=False),
        Method("boosting", "gradient boosting", boosting, growth=1.0, learns=False),
    ]


def method_named(name: str, *, learns: bool = False) -> Method:
    """Return the method of that name; raise TableError where there is none."""
    known = {key: method for key, method in methods().items() if method.learns or not learns}
    if name not in known:
        raise TableError(f"method={name!r} is not known; choose one of {quoted(known, 20)}.")
    return known[name]

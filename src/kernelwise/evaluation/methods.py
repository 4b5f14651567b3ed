"""The classifiers that can be fitted to a table, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..tabular import TableError
from ..tabular.errors import quoted


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
            With ``class_weight="balanced"`` if it is to be balanced.
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

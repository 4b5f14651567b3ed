"""The classifiers that a table can be given to, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..tabular import TableError
from ..tabular.errors import named
from .calibration import FEWEST, above_its_share, calibrated, rows_of_classes


@dataclass(frozen=True)
class Method:
    """A classifier by name.

    Parameters
    ----------
    name : str
        What it is called on the command line.
    label : str
        What it is called in tables.
    make : callable
        Makes it from a seed.
    growth : float
        The power of the rows that its time grows with.
    learns : bool
        Whether it is offered for fitting, rather than a yardstick.
    settles : float
        Rows beyond which only its last machines grow.
    last : callable or None
        Makes such a machine.
    n_last : int
        How many there are.
    by_threshold : bool
        Whether two classes are balanced by the threshold between them, in six fits: class weights
        multiply C, which does little where a large C is chosen.
    """

    name: str
    label: str
    make: Callable[[int], Any]
    growth: float = 2.0
    learns: bool = True
    settles: float = float("inf")
    last: Callable[[], Any] | None = None
    n_last: int = 0
    by_threshold: bool = False

    def made(self, seed: int, balanced: bool, y: Any) -> Any:
        """Return the classifier, not fitted.

        Parameters
        ----------
        seed : int
            Seeds it.
        balanced : bool
            Whether all classes are to count alike, where it can do that.
        y : ndarray of shape (n_rows,)
            The classes that it is going to be fitted to.

        Returns
        -------
        classifier : estimator
            With ``class_weight="balanced"`` or a threshold, if balance is wanted.
        """
        model = self.make(seed)
        if balanced and self.shifts(y):
            return above_its_share(calibrated(model, y, seed), y)
        known = model.get_params() if balanced else {}
        if "class_weight" in known:
            model.set_params(class_weight="balanced")
        if "estimator__class_weight" in known:  # a search
            model.set_params(estimator__class_weight="balanced", scoring="balanced_accuracy")
        return model

    def shifts(self, y: Any) -> bool:
        """Tell whether two classes are balanced by the threshold between them.

        Parameters
        ----------
        y : ndarray of shape (n_rows,)
            The classes.

        Returns
        -------
        shifts : bool
            Whether there is a threshold, and enough rows to find it.
        """
        counts = rows_of_classes(y)[1]
        return self.by_threshold and len(counts) == 2 and bool(counts.min() >= FEWEST)


def _relevance(seed: int) -> Any:
    from ..svm import RelevanceSVC

    return RelevanceSVC(random_state=seed, verbose=False)


def _svc(seed: int) -> Any:
    from ..svm import SVC

    return SVC()


def _grid(seed: int) -> Any:
    from ..svm import SVC, SVCSearchCV

    return SVCSearchCV(SVC())


def _dual_objective(seed: int) -> Any:
    from ..svm import DualObjectiveSVC

    return DualObjectiveSVC()


def _adaptive_kernel(seed: int) -> Any:
    from ..svm import AdaptiveKernelSVC

    return AdaptiveKernelSVC()


def _margin_radius(seed: int) -> Any:
    from ..svm import MarginRadiusSVC

    return MarginRadiusSVC()


def _feature_discrimination(seed: int) -> Any:
    from ..svm import FeatureDiscriminationSVC

    return FeatureDiscriminationSVC()


def _generalized_bias(seed: int) -> Any:
    """Make the machine with a linear trend of all columns below the kernel, lightly penalised."""
    from ..svm import GeneralizedBiasSVC

    return GeneralizedBiasSVC(bias_features=slice(None), bias_penalty=1.0)


def _majority(seed: int) -> Any:
    from sklearn.dummy import DummyClassifier

    return DummyClassifier()


def _forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=seed)


def _boosting(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed)


def _laplacian() -> Any:
    from ..svm import SVC

    return SVC(kernel="laplacian")


def methods() -> dict[str, Method]:
    """Return the classifiers by name, those of this library first.

    Returns
    -------
    methods : dict of str to Method
        What `evaluate` and `compare` know; `fit_table` takes those that learn.

    Examples
    --------
    >>> from kernelwise.evaluation import methods
    >>> [name for name, method in methods().items() if not method.learns]
    ['majority', 'forest', 'boosting']
    """
    known = [
        Method(
            "relevance",
            "RelevanceSVC",
            _relevance,
            settles=2000,
            last=_laplacian,
            n_last=3,
            by_threshold=True,
        ),
        Method("svc", "SVC()", _svc),
        Method("grid-search", "SVC, grid search", _grid),
        Method("dual-objective", "DualObjectiveSVC", _dual_objective),
        Method("adaptive-kernel", "AdaptiveKernelSVC", _adaptive_kernel, 2.5, by_threshold=True),
        Method("margin-radius", "MarginRadiusSVC", _margin_radius, 1.2),
        Method("feature-discrimination", "FeatureDiscriminationSVC", _feature_discrimination),
        Method("generalized-bias", "GeneralizedBiasSVC, linear trend", _generalized_bias),
        Method("majority", "largest class", _majority, 1.0, learns=False),
        Method("forest", "forest of 100 trees", _forest, 1.2, learns=False),
        Method("boosting", "gradient boosting", _boosting, 1.0, learns=False),
    ]
    return {method.name: method for method in known}


def method_named(name: str, *, learns: bool = False) -> Method:
    """Return a method; raise where there is none of that name."""
    known = {key: method for key, method in methods().items() if method.learns or not learns}
    if name not in known:
        raise TableError(f"method={name!r} is not known; take one of {named(known, 20)}.")
    return known[name]

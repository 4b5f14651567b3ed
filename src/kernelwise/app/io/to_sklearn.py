"""Export fitted models to plain scikit-learn objects, for use without kernelwise."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ...svm import RelevanceSVC, RelevanceSVR
from ...svm.base.estimator import KernelMachine


def to_sklearn(model: Any) -> Any:
    """Export a fitted model as plain scikit-learn objects.

    Parameters
    ----------
    model : estimator
        A support vector machine of kernelwise with a linear, polynomial, RBF, sigmoid or
        precomputed kernel, a search with such a best estimator, or a pipeline that ends in one.

    Returns
    -------
    plain : Pipeline, OneVsRestClassifier or MultiOutputRegressor
        Fitted scikit-learn objects with the same predictions. Feature weights become a scaling of
        the columns.

    Raises
    ------
    ValueError
        If scikit-learn has no equivalent of the model.

    See Also
    --------
    to_onnx : Export any kernel except user functions and precomputed ones.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernelwise import SVC
    >>> from kernelwise.app.io import to_sklearn
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(feature_weights=[0.1, 0.1, 1.0, 2.0]).fit(X, y)
    >>> plain = to_sklearn(model)
    >>> type(plain[-1]).__module__, bool((plain.predict(X) == model.predict(X)).all())
    ('sklearn.svm._classes', True)
    """
    check_is_fitted(model)
    if isinstance(model, Pipeline):
        return _pipeline(model)
    model = getattr(model, "best_estimator_", model)
    if isinstance(model, Pipeline):
        return _pipeline(model)
    if not isinstance(model, KernelMachine):
        raise ValueError(_refusal(model))
    from ...svm.base.to_sklearn import to_sklearn as exported

    return exported(model)


def _refusal(model: Any) -> str:
    """Return why scikit-learn has no object for a model, and what can be exported."""
    name = type(model).__name__
    if not isinstance(model, RelevanceSVC | RelevanceSVR):
        return f"{name} is not a model of kernelwise."
    return (
        f"{name} mixes several parts, which scikit-learn has no object for. SVC, NuSVC, SVR, "
        "NuSVR, OneClassSVM, AdaptiveKernelSVC, DualObjectiveSVC, FeatureDiscriminationSVC, "
        "MarginRadiusSVC and GeneralizedBiasSVC without bias features can be exported to "
        "scikit-learn; export this model to ONNX, or save it to a file."
    )


def _pipeline(model: Pipeline) -> Pipeline:
    """Export the last step; no other step may be one of kernelwise."""
    for name, step in model.steps[:-1]:
        if type(step).__module__.partition(".")[0] == "kernelwise":
            raise ValueError(
                f"step {name!r} is {type(step).__name__}, which scikit-learn does not have; "
                "export to ONNX, or save the model to a file."
            )
    name, last = model.steps[-1]
    return Pipeline([*deepcopy(model.steps[:-1]), (name, to_sklearn(last))])

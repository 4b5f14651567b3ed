"""Look inside fitted models: the estimator that decides, and the features that it sees."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted


def final_estimator(model: Any) -> Any:
    """Return the estimator that decides inside a pipeline, search, calibration or threshold.

    Returns ``final``, the estimator that decides; the model itself if nothing is wrapped around it.
    """
    return unwrap(model)[0]


def unwrap(model: Any) -> tuple[Any, list[Pipeline]]:
    """Return the estimator that decides, and the pipelines of fitted steps before it."""
    from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

    before: list[Pipeline] = []
    while True:
        if isinstance(model, Pipeline):
            before += [model[:-1]] if len(model) > 1 else []
            model = model[-1]
        elif isinstance(model, FixedThresholdClassifier | TunedThresholdClassifierCV):
            model = model.estimator_
        elif hasattr(model, "calibrated_classifiers_"):
            model = model.calibrated_classifiers_[0].estimator
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        else:
            return model, before


def feature_names(model: Any, columns: Any = None) -> Any:
    """Return the names of the features that the final estimator sees; None if unknown.

    ``columns`` are the names of the table's columns, for a model that does not store them.
    """
    final, before = unwrap(model)
    names = columns
    for steps in before:
        check_is_fitted(steps)
        try:
            names = steps.get_feature_names_out(names)
        except AttributeError:  # a step that does not name its outputs
            names = None
    return getattr(final, "feature_names_in_", None) if names is None else names


def names_of_weights(model: Any, n_weights: int, columns: Any = None) -> list[str]:
    """Return one name per weight of the final estimator: its feature, or else a numbered name."""
    names = feature_names(model, columns)
    if names is not None and len(names) == n_weights:
        return [str(name) for name in names]
    n_features = getattr(final_estimator(model), "n_features_in_", n_weights)
    if names is None and n_weights == n_features:
        return [f"x{k}" for k in range(n_weights)]
    # The weights are those of products of features, or of components of a kernel.
    return [f"column {k}" for k in range(n_weights)]

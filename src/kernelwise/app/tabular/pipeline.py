"""The weights of a fitted pipeline, put back to the columns of its table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ..._models import final_estimator, names_of_weights
from .encoder import TableEncoder


@dataclass(frozen=True)
class Weight:
    """How much a column of the table counts for a model.

    Parameters
    ----------
    column : str
        The column.
    share : float
        Its share of the weights, summed over its encoded columns; all shares sum to one.
    features : dict of str to float
        The share of each of its encoded columns.
    """

    column: str
    share: float
    features: dict[str, float]


def column_weights(model: Any, columns: Any = None) -> list[Weight]:
    """Return how much each column of the table counts, the largest first.

    Parameters
    ----------
    model : estimator
        A fitted model, for instance by `kernelwise.app.evaluation.fit_table`.
    columns : sequence of str, default=None
        The names of the table's columns, where the model does not know them.

    Returns
    -------
    weights : list of Weight
        One entry per column that is used; empty where the model weighs all columns alike.
    """
    importances = getattr(final_estimator(model), "feature_importances_", None)
    if importances is None:
        return []
    shares = np.abs(np.asarray(importances, dtype=np.float64))
    shares = shares / (shares.sum() or 1.0)
    encoder = table_encoder(model)
    if encoder is not None and len(encoder.outputs_) == len(shares):
        sources, outputs = encoder.sources_, encoder.outputs_
    else:
        sources = outputs = names_of_weights(model, len(shares), columns)
    features: dict[str, dict[str, float]] = {}
    for source, output, share in zip(sources, outputs, shares.tolist(), strict=True):
        features.setdefault(source, {})[output] = share
    weights = [Weight(name, sum(own.values()), own) for name, own in features.items()]
    return sorted(weights, key=lambda weight: -weight.share)


def table_encoder(model: Any) -> TableEncoder | None:
    """Return the first step of a pipeline where that takes tables as they are read, else None."""
    first = model[0] if isinstance(model, Pipeline) else None
    return first if isinstance(first, TableEncoder) else None

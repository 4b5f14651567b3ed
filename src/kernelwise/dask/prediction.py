"""Predictions of partitions, which are computed when they are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._records import dataclass
from .partitions import in_whole_rows, is_array
from .shared import Shared


@dataclass(frozen=True)
class Prediction:
    """What a method of a model returns for some rows.

    Parameters
    ----------
    method : str
        The name of the method.
    dtype : dtype
        The type of its values.
    columns : list or None
        The classes, where there is one value per class; None where there is one value per row.
    """

    method: str
    dtype: Any
    columns: list[Any] | None

    @classmethod
    def of(cls, model: Any, method: str) -> Prediction:
        """Describe a method of a fitted model."""
        if method == "predict":
            return cls(method, model.classes_.dtype, None)
        one_value = method == "decision_function" and len(model.classes_) == 2
        return cls(method, np.dtype(np.float64), None if one_value else model.classes_.tolist())

    @property
    def empty(self) -> Any:
        """An empty result, of the right type and shape."""
        return np.empty((0,) if self.columns is None else (0, len(self.columns)), self.dtype)

    def of_array(self, X: Any, model: Shared) -> Any:
        """Return the values of the rows of an array."""
        return getattr(model.value, self.method)(X) if len(X) else self.empty

    def of_frame(self, X: Any, model: Shared) -> Any:
        """Return the values of the rows of a data frame, with its index."""
        return self.with_index(self.of_array(X, model), X.index)

    def with_index(self, values: Any, index: Any) -> Any:
        """Return values as a series, or as a data frame with a column per class."""
        import pandas as pd

        if self.columns is None:
            return pd.Series(values, index=index, name=self.method)
        return pd.DataFrame(values, index=index, columns=self.columns)


def predict_lazily(model: Any, node: Any, X: Any, method: str) -> Any:
    """Apply a method of a fitted model to each partition.

    Parameters
    ----------
    model : RelevanceSVC
        The model.
    node : Delayed
        The model, as `Shared`, as a node of the graph.
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n, d)
        The rows.
    method : str
        The name of the method.

    Returns
    -------
    predictions : dask.array.Array, dask.dataframe.Series or dask.dataframe.DataFrame
        Arrays for arrays; a series, or a data frame with a column per class, for data frames.
    """
    own = Prediction.of(model, method)
    if not is_array(X):
        meta = own.with_index(own.empty, X._meta.index[:0])
        return X.map_partitions(own.of_frame, model=node, meta=meta)
    X = in_whole_rows(X)
    shape: dict[str, Any] = {"drop_axis": 1}
    if own.columns is not None:
        shape = {"chunks": (X.chunks[0], (len(own.columns),))}
    return X.map_blocks(own.of_array, model=node, dtype=own.dtype, meta=own.empty, **shape)

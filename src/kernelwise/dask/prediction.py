"""Predictions of partitions, which are computed when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .partitions import in_whole_rows, is_array
from .tasks import Shared


@dataclass(frozen=True)
class Prediction:
    """What a method of a model returns for some rows."""

    method: str  # the name of the method
    arguments: tuple[Any, ...]  # its arguments behind the rows
    dtype: Any  # the type of its values
    names: Sequence[Any] | None  # the names of its columns; None if there is one value per row

    @property
    def empty(self) -> Any:
        """An empty result, of the right type and shape."""
        return np.empty((0,) if self.names is None else (0, len(self.names)), self.dtype)

    def of_array(self, X: Any, model: Shared) -> Any:
        """Return the values of the rows of an array."""
        return getattr(model.value, self.method)(X, *self.arguments) if len(X) else self.empty

    def of_frame(self, X: Any, model: Shared) -> Any:
        """Return the values of the rows of a data frame, with its index."""
        return self.with_index(self.of_array(X, model), X.index)

    def with_index(self, values: Any, index: Any) -> Any:
        """Return values as a series, or as a data frame with named columns."""
        import pandas as pd

        if self.names is None:
            return pd.Series(values, index=index, name=self.method)
        return pd.DataFrame(values, index=index, columns=list(self.names))

    def of_collection(self, X: Any, model: Any) -> Any:
        """Return the values of the rows of a collection, not computed yet."""
        node = Shared(model).as_node()
        if not is_array(X):
            meta = self.with_index(self.empty, X._meta.index[:0])
            return X.map_partitions(self.of_frame, model=node, meta=meta)
        X = in_whole_rows(X)
        shape: dict[str, Any] = {"drop_axis": 1}
        if self.names is not None:
            shape = {"chunks": (X.chunks[0], (len(self.names),))}
        return X.map_blocks(self.of_array, model=node, dtype=self.dtype, meta=self.empty, **shape)

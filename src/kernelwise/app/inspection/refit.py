"""Fit clones of a model to some of the rows."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from ..._sklearn import safe_indexing
from ..._typing import Index


def refit(model: Any, X: Any, y: Any, rows: Index) -> Any:
    """Fit a clone to some rows; it prints no progress unless the model was told to."""
    own = clone(model)
    automatic = [
        name
        for name, value in own.get_params().items()
        if name.rpartition("__")[2] == "verbose" and isinstance(value, str) and value == "auto"
    ]
    own.set_params(**dict.fromkeys(automatic, False))
    return own.fit(safe_indexing(X, rows), safe_indexing(y, rows))

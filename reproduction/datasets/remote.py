"""Read data sets that come with scikit-learn, or that it fetches from OpenML."""

from __future__ import annotations

import logging
import warnings
from http.client import HTTPException
from typing import Any

from .registry import Bundled, Remote
from .table import Cells

_log = logging.getLogger(__name__)


def read_bundled(bundled: Bundled) -> Cells:
    """Read a data set that comes with scikit-learn."""
    from sklearn import datasets

    found = getattr(datasets, bundled.loader)()
    columns = [[_cell(value) for value in column] for column in found.data.T.tolist()]
    target = [str(label) for label in found.target.tolist()]
    return Cells(
        tuple(map(str, found.feature_names)),
        columns,
        [bundled.labels.get(label, label) for label in target],
    )


def read_remote(remote: Remote, name: str, remedies: str) -> Cells:
    """Fetch a set from OpenML; scikit-learn caches it on disk."""
    from sklearn.datasets import fetch_openml

    _log.info("fetching %s from OpenML, data_id=%d", name, remote.data_id)
    try:
        with warnings.catch_warnings():
            # Each failed attempt warns; the error below is enough.
            warnings.filterwarnings("ignore", "A network error occurred", UserWarning)
            found = fetch_openml(data_id=remote.data_id, target_column=remote.target, as_frame=True)
    except (OSError, HTTPException, ValueError, KeyError) as error:
        # An unknown data_id or target is a ValueError or a KeyError.
        raise ConnectionError(
            f"The data set {name!r} could not be fetched from OpenML (data_id={remote.data_id}): "
            f"{type(error).__name__}: {error}. {remedies}"
        ) from error
    columns = [_cells(found.data[column]) for column in found.data]
    target = [remote.labels.get(label, label) for label in _cells(found.target)]
    return Cells(tuple(map(str, found.data.columns)), columns, target)


def _cells(column: Any) -> list[str]:
    """Return the cells of a pandas column as text."""
    known = column.notna().tolist()
    return [
        _cell(value) if is_known else ""
        for value, is_known in zip(column.tolist(), known, strict=True)
    ]


def _cell(value: Any) -> str:
    """Return a value as text: a number without loss, a word without quotation marks."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value).strip("'\" ")

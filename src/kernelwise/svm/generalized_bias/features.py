"""The features of a generalised bias: columns of X, a transformer's, or a function's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags

from ..._typing import Array, Index
from ..base.predictor import take
from ..base.steps import as_features


def is_transformer(spec: Any) -> bool:
    """Return whether features come from an object that is fitted."""
    return hasattr(spec, "fit") and hasattr(spec, "transform")


def is_columns(spec: Any) -> bool:
    """Return whether features are columns of X."""
    return spec is not None and not is_transformer(spec) and not callable(spec)


def column_numbers(spec: Any, n_columns: int, names: Sequence[str] | None) -> Index:
    """Return the numbers of columns given by number, name, mask or slice."""
    if isinstance(spec, slice):
        return _checked_slice(spec, n_columns)
    given = np.atleast_1d(np.asarray(spec))
    if given.size == 0:
        return np.empty(0, dtype=np.intp)
    if given.ndim != 1 or given.dtype.kind not in "biuUSO":
        raise ValueError(f"bias_features must list names or numbers of columns; got {spec!r}.")
    if given.dtype.kind == "b":
        if len(given) != n_columns:
            raise ValueError(
                f"bias_features as a mask must have an entry for each of the {n_columns} columns "
                f"of X; got {len(given)}."
            )
        return np.flatnonzero(given)
    if given.dtype.kind in "iu":
        return _checked_numbers(given.astype(np.intp), n_columns)
    return _numbers_of_names([str(name) for name in given], names)


def _checked_slice(spec: slice, n_columns: int) -> Index:
    try:
        numbers = np.arange(n_columns)[spec]
    except TypeError:
        raise ValueError("bias_features must be a slice of column numbers.") from None
    if len(numbers) == 0 and spec.start != spec.stop:
        raise ValueError(
            f"bias_features={spec!r} selects no column: X has {n_columns} columns, numbered from 0."
        )
    return numbers


def _checked_numbers(given: Index, n_columns: int) -> Index:
    wrong = given[(given < -n_columns) | (given >= n_columns)]
    if len(wrong):
        raise ValueError(
            f"bias_features names the column(s) {wrong.tolist()}, but X has {n_columns} columns."
        )
    return given % n_columns


def _numbers_of_names(given: Sequence[str], names: Sequence[str] | None) -> Index:
    if names is None:
        raise ValueError(
            "bias_features gives names of columns, but X has none; fit to a data frame, or give "
            "the numbers of the columns."
        )
    places = {name: k for k, name in enumerate(names)}
    unknown = [name for name in given if name not in places]
    if unknown:
        raise ValueError(
            f"bias_features names columns that X does not have: {unknown}; its columns are "
            f"{list(names)[:20]}{' ...' if len(names) > 20 else ''}."
        )
    return np.array([places[name] for name in given], dtype=np.intp)


def uses_labels(transformer: Any) -> bool:
    """Return whether a transformer, or one inside it, needs the labels to be fitted."""
    inside = transformer.get_params().values() if hasattr(transformer, "get_params") else ()
    return any(
        get_tags(part).target_tags.required
        for part in (transformer, *inside)
        if hasattr(part, "__sklearn_tags__") and not isinstance(part, type)
    )


def fit_transformer(
    given: Any, X: Any, y: Any, cross_fit: bool | str, cv: Any
) -> tuple[Any, Array]:
    """Fit a transformer; return it and its features of the training rows.

    Where the labels are used, a training row's features must not know its own label, or the machine
    learns to trust features that are worse on new rows: each fold's come from a transformer that
    was fitted to the other folds.
    """
    transformer = clone(given, safe=False)
    if cross_fit == "auto" and not uses_labels(given):
        transformer.fit(X)
        return transformer, as_features(transformer.transform(X), X.shape[0])
    if cross_fit and getattr(given, "out_of_fold", False):
        return transformer, as_features(transformer.fit_transform(X, y), X.shape[0])
    transformer.fit(X, y)
    F = as_features(transformer.transform(X), X.shape[0])
    return transformer, _out_of_fold(given, X, y, cv, F.shape[1]) if cross_fit else F


def _out_of_fold(given: Any, X: Any, y: Any, cv: Any, width: int) -> Array:
    """Return features of each row from a transformer that was fitted without its fold."""
    if np.iterable(cv):  # rows of weight zero are left out, and classes stand together
        raise ValueError("cv must be a number of folds or a splitter; lists of rows do not fit.")
    out = np.full((len(y), width), np.nan)
    for fitted, held in check_cv(cv, y, classifier=True).split(np.zeros(len(y)), y):
        transformer = clone(given, safe=False)
        transformer.fit(take(X, fitted), y[fitted])
        values = as_features(transformer.transform(take(X, held)), len(held))
        if values.shape[1] != width:
            raise ValueError(
                f"bias_features={given!r} gives {width} features of all rows, and "
                f"{values.shape[1]} without those of a fold; use more folds (cv), or a transformer "
                "whose number of features does not depend on the rows."
            )
        out[held] = values
    if np.isnan(out).any():
        raise ValueError("cv must hold out every row once, as StratifiedKFold does.")
    return out


def names_out(transformer: Any, names: Any, width: int) -> Any:
    """Return the names of a transformer's features; "bias0" and so on if it has none."""
    try:
        found = np.asarray(transformer.get_feature_names_out(names), dtype=object)
    except AttributeError:  # it has none, or a part of it has none
        found = np.empty(0, dtype=object)
    return found if len(found) == width else numbered("bias", np.arange(width))


def numbered(word: str, numbers: Index) -> Any:
    """Return names with numbers."""
    return np.array([f"{word}{k}" for k in numbers], dtype=object)

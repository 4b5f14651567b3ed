"""Checks of arguments at public functions: kind, shape, finiteness and range, with one wording."""

from __future__ import annotations

import sys
from math import inf, isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np

from ._typing import Array

_LARGEST = sys.float_info.max


def as_real(values: Any, name: str) -> Array:
    """Return values as a float64 array; raise where they are not real numbers.

    An array that is float64 already is returned itself.
    """
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must be an array of numbers: {error}") from error
    if array.dtype == np.float64:
        return array
    if array.dtype.kind == "c":
        raise ValueError(f"{name} must be real, but it is complex; give its real part or modulus.")
    if array.dtype.kind not in "biufO" or (array.ndim == 0 and array[()] is None):
        raise TypeError(f"{name} must be numbers; got {_kind(values, array)}.")
    try:
        return array.astype(np.float64)
    except OverflowError as error:
        raise ValueError(f"{name} has integers that float64 cannot represent.") from error
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be numbers: {error}.") from error


def _kind(values: Any, array: Array) -> str:
    if values is None:
        return "None"
    return "text" if array.dtype.kind in "US" else f"an array of {array.dtype}"


def as_vector(values: Any, name: str, n: int) -> Array:
    """Return n finite numbers as float64; raise where the argument is anything else."""
    vector = as_real(values, name)
    if vector.shape != (n,):
        raise ValueError(
            f"{name} must be a vector of {n}, one number per row of K; got shape {vector.shape}."
        )
    if not np.isfinite(vector).all():
        raise ValueError(f"{name} must be finite, but it has NaN or infinity.")
    return vector


def as_matrix(K: Any, n: int | None = None) -> Any:
    """Return a kernel matrix; raise where it is not square, real and finite, or has not n rows.

    It is converted to float64 unless it is in float32; the entries of a Gram are not read.
    """
    if not hasattr(K, "matvec"):
        single = isinstance(K, np.ndarray) and K.dtype == np.float32
        K = K if single else as_real(K, "K")
    if len(K.shape) != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"K must be square; got shape {tuple(K.shape)}.")
    if n is not None and K.shape[0] != n:
        raise ValueError(f"K has {K.shape[0]} rows, but there are {n} codes.")
    if K.shape[0] == 0:
        raise ValueError("K has no rows.")
    if isinstance(K, np.ndarray) and not _is_finite(K):
        raise ValueError("K must be finite, but it has NaN or infinity.")
    return K


def _is_finite(K: Array) -> bool:
    """Return whether all entries are finite; their sum may overflow although they are."""
    with np.errstate(over="ignore", invalid="ignore"):
        return isfinite(K.sum()) or bool(np.isfinite(K).all())


def check_number(value: Any, name: str, *, least: float = 0.0) -> None:
    """Raise unless the value is a finite number of at least ``least``."""
    # The test of an abstract type takes longer than all others.
    is_number = type(value) is float or (isinstance(value, Real) and not isinstance(value, bool))
    if not is_number or not max(least, -_LARGEST) <= value <= _LARGEST:
        error = ValueError if is_number else TypeError
        bound = f" of at least {least:g}" if isfinite(least) else ""
        raise error(f"{name} must be a finite number{bound}; got {value!r}.")


def check_kind(value: Any, name: str, kind: type) -> None:
    """Raise unless a value is of a type."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be of type {kind.__name__}; got {type(value).__name__}.")


def check_method(value: Any, name: str, method: str) -> None:
    """Raise unless an object has a method."""
    if not callable(getattr(value, method, None)):
        raise TypeError(f"{name} must be an object with a method {method!r}; got {value!r}.")


def check_cost(C: Any) -> None:
    """Raise unless C is a positive number; infinity is a hard margin."""
    if not isinstance(C, Real):
        raise TypeError(f"C must be a positive number; got {C!r}.")
    number: Any = C
    if not (0 < number <= _LARGEST or number == inf):  # which NaN fails as well
        raise ValueError(f"C must be positive; got {C!r}.")


def check_count(value: Any, name: str, *, least: int = 0, most: int | None = None) -> None:
    """Raise unless the value is a whole number between two bounds; ``most=None`` is none."""
    is_whole = type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))
    if not is_whole or value < least or (most is not None and value > most):
        error = ValueError if is_whole else TypeError
        bounds = f"at least {least}" if most is None else f"{least} to {most}"
        raise error(f"{name} must be a whole number of {bounds}; got {value!r}.")

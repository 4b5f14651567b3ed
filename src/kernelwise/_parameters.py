"""Checks of parameters and arguments, by constraints that are declared or by functions at the end.

An estimator lists the allowed values of each parameter, a function in `checked_arguments`::

    _parameter_constraints = {
        "C": [Interval(Real, 0, None, closed="right")],
        "gamma": [Options({"scale", "auto"}), Interval(Real, 0, None, closed="left")],
        "class_weight": [dict, None],
        "warm_start": ["boolean"],
    }

A constraint is an object below, a type, ``callable``, None, or one of the words in `_WORDS`. The
errors read like scikit-learn's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache, wraps
from inspect import signature
from math import inf, isfinite
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from ._typing import Array

_Function = TypeVar("_Function", bound=Callable[..., Any])
_MAX_SHOWN = 200  # characters of a wrong value in an error
_LARGEST = float(np.finfo(np.float64).max)


class InvalidParameterError(ValueError, TypeError):
    """Raised when a parameter of an estimator has a value that is not allowed."""


class Interval:
    """Numbers of a type between two bounds; NaN is outside.

    ``left`` and ``right`` may be None, for an infinite bound; ``closed`` says which bounds are
    included: "left", "right", "both" or "neither".
    """

    def __init__(self, kind: type, left: float | None, right: float | None, *, closed: str) -> None:
        self.kind, self.closed = kind, closed
        self.left = -inf if left is None else left
        self.right = inf if right is None else right
        self._with_left = closed in ("left", "both")
        self._with_right = closed in ("right", "both")
        # Types whose test is quick: that of an abstract type takes longer than all others.
        self._usual = (int, float) if kind is Real else (int,) if kind is Integral else ()

    def allows(self, value: Any) -> bool:
        """Return whether the value is a number of the type, inside the bounds."""
        if type(value) not in self._usual and not isinstance(value, self.kind):
            return False
        if self.left < value < self.right:
            return type(value) is not int or abs(value) <= _LARGEST
        return bool(
            (self._with_left and value == self.left) or (self._with_right and value == self.right)
        )

    def __str__(self) -> str:
        kind, bound = ("an int", str) if self.kind is Integral else ("a float", _as_float)
        left = "[" if self._with_left else "("
        right = "]" if self._with_right else ")"
        return f"{kind} in the range {left}{bound(self.left)}, {bound(self.right)}{right}"


def _as_float(bound: float) -> str:
    return str(float(bound))


class Options:
    """One of several strings; hidden options are allowed but not named in errors."""

    def __init__(self, options: Collection[str], *, is_hidden: bool = False) -> None:
        self.options, self.is_hidden = frozenset(options), is_hidden

    def allows(self, value: Any) -> bool:
        """Return whether the value is one of the strings."""
        return isinstance(value, str) and value in self.options

    def __str__(self) -> str:
        return f"a str among {{{', '.join(map(repr, sorted(self.options)))}}}"


class HasMethods:
    """Any object with these methods."""

    def __init__(self, methods: Collection[str]) -> None:
        self.methods = tuple(methods)

    def allows(self, value: Any) -> bool:
        """Return whether the object has all of the methods."""
        return all(callable(getattr(value, method, None)) for method in self.methods)

    def __str__(self) -> str:
        return f"an object implementing {' and '.join(map(repr, self.methods))}"


def _is_array_like(value: Any) -> bool:
    is_array = hasattr(value, "__len__") or hasattr(value, "shape") or hasattr(value, "__array__")
    return is_array and not np.isscalar(value) and not sp.issparse(value)


def _is_seed(value: Any) -> bool:
    return value is None or isinstance(value, np.random.RandomState) or _SEEDS.allows(value)


def _is_boolean(value: Any) -> bool:
    return isinstance(value, _BOOLEANS)


def _is_verbosity(value: Any) -> bool:
    return isinstance(value, _BOOLEANS) or _COUNTS.allows(value)


def _is_splitter(value: Any) -> bool:
    if value is None or _FOLDS.allows(value) or _SPLITTERS.allows(value):
        return True
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _is_table(value: Any) -> bool:
    """Return whether a value has rows and columns, of a frame, an array or lists of real values."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return len(shape) == 2 and getattr(getattr(value, "dtype", None), "kind", "f") not in "cV"
    if not isinstance(value, list | tuple) or not value:
        return False
    return all(_is_array_like(row) and len(row) == len(value[0]) for row in value)


def _is_column(value: Any) -> bool:
    """Return whether a value is one-dimensional: an array, a Series or a list."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return len(shape) == 1
    return isinstance(value, list | tuple) and not any(_is_array_like(each) for each in value)


def _is_job_count(value: Any) -> bool:
    return value is None or (_JOBS.allows(value) and value != 0)


_BOOLEANS = (bool, np.bool_)
_SEEDS = Interval(Integral, 0, 2**32 - 1, closed="both")
_COUNTS = Interval(Integral, 0, None, closed="left")
_FOLDS = Interval(Integral, 2, None, closed="left")
_JOBS = Interval(Integral, -4096, 4096, closed="both")
_SPLITTERS = HasMethods(["split", "get_n_splits"])

# Named constraint -> its test, and its description in error messages.
_WORDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "array-like": (_is_array_like, "an array-like"),
    "boolean": (_is_boolean, "a bool"),
    "column": (_is_column, "a one-dimensional array, a Series or a list"),
    "cv_object": (
        _is_splitter,
        f"{_FOLDS}, {_SPLITTERS}, an iterable over (train, test) splits or None",
    ),
    "n_jobs": (_is_job_count, f"{_JOBS} other than 0, or None"),
    "random_state": (_is_seed, f"{_SEEDS}, a numpy.random.RandomState or None"),
    "sparse matrix": (sp.issparse, "a sparse matrix"),
    "table": (_is_table, "a table of real values: a data frame, or an array of two dimensions"),
    "verbose": (_is_verbosity, f"{_COUNTS} or a bool"),
}
_NAMES: dict[Any, str] = {Real: "a number", Integral: "an int", object: "any object"}


def check_parameters(estimator: Any) -> None:
    """Raise an error if a parameter of the estimator violates its constraints.

    A value that is the default itself, as most values are, needs no check.
    """
    cls: Any = type(estimator)
    values = vars(estimator)
    changed = {k: v for k, own in _defaults(cls).items() if (v := values.get(k, own)) is not own}
    if changed:
        check_values(cls, changed)


@lru_cache(maxsize=64)
def _defaults(cls: type) -> dict[str, Any]:
    """Return the default of each parameter of an estimator's class."""
    return {name: each.default for name, each in signature(cls).parameters.items()}


def check_values(cls: type, values: Mapping[str, Any]) -> None:
    """Raise an error if a parameter value violates the constraints of an estimator's class."""
    constraints: Mapping[str, list[Any]] = cls._parameter_constraints  # type: ignore[attr-defined]
    _check(constraints, values, cls.__name__)


def checked_arguments(**constraints: list[Any]) -> Callable[[_Function], _Function]:
    """Decorate a function so that its arguments are checked before any work.

    ``**constraints``: the constraints of each argument, by its name. Returns ``decorate``, the
    decorator; the function keeps its signature.
    """

    def decorate(function: _Function) -> _Function:
        own = signature(function)
        unknown = set(constraints) - set(own.parameters)
        if unknown:
            raise TypeError(f"{function.__qualname__} has no arguments {sorted(unknown)}.")

        @wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            given = own.bind(*args, **kwargs).arguments
            _check(constraints, given, function.__qualname__)
            return function(*args, **kwargs)

        return wrapper  # type: ignore[return-value]

    return decorate


def _check(constraints: Mapping[str, list[Any]], values: Mapping[str, Any], owner: str) -> None:
    for name, allowed in constraints.items():
        if name not in values:
            continue
        value = values[name]
        for constraint in allowed:
            if _allows(constraint, value):
                break
        else:
            texts = [_text(each) for each in allowed if not getattr(each, "is_hidden", False)]
            *others, last = texts
            wanted = f"{', '.join(others)} or {last}" if others else last
            raise InvalidParameterError(
                f"The {name!r} parameter of {owner} must be {wanted}. Got {_shown(value)} instead."
            )


def _shown(value: Any) -> str:
    """Return a value in one line of readable length; arrays by their shape."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"{type(value).__name__} of shape {shape}"
    text = " ".join(repr(value).split())
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + " ..."


def _allows(constraint: Any, value: Any) -> bool:
    if constraint is None:
        return value is None
    if type(constraint) is Interval or type(constraint) is Options:  # most of them
        return constraint.allows(value)
    if isinstance(constraint, str):
        return _WORDS[constraint][0](value)
    if constraint is callable:
        return callable(value)
    if isinstance(constraint, type):
        return isinstance(value, constraint)
    return bool(constraint.allows(value))


def _text(constraint: Any) -> str:
    if isinstance(constraint, str):
        return _WORDS[constraint][1]
    if constraint is callable:
        return "a callable"
    if isinstance(constraint, type):
        return _NAMES.get(constraint, f"an instance of {constraint.__qualname__!r}")
    return str(constraint)


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

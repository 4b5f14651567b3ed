"""Names of scikit-learn that are private or that differ between versions, from 1.6 on.

No other module imports a private name of scikit-learn, and each of them has a replacement here for
versions that lack it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from math import isfinite
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from sklearn import get_config
from sklearn.utils import check_array, compute_class_weight
from sklearn.utils.validation import validate_data

from ._parameters import as_real, check_parameters
from ._typing import Array

__all__ = [
    "CallbackSupportMixin",
    "atomic_fit",
    "base_search",
    "check_sample_weight",
    "checked_fit",
    "class_weights",
    "naming_the_remedy",
    "safe_indexing",
    "unfitted",
    "validate_fit",
]

Fit = TypeVar("Fit", bound=Callable[..., Any])


class NoCallbackContext:
    """The context of a fit without callbacks, which does nothing."""

    def subcontext(self, **about: Any) -> NoCallbackContext:
        """Return the context of a part of the fit."""
        return self

    def call_on_fit_task_begin(self, **about: Any) -> NoCallbackContext:
        """Call no callback."""
        return self

    def call_on_fit_task_end(self, **about: Any) -> None:
        """Call no callback."""

    def propagate_callback_context(self, estimator: Any) -> Any:
        """Return a context manager that gives the estimator no callbacks."""
        return nullcontext()


def indexed(X: Any, indices: Any, axis: int = 0) -> Any:
    """Return rows or columns by their numbers, of an array, sparse matrix, data frame or list."""
    if hasattr(X, "iloc"):
        X = X.iloc
    elif not hasattr(X, "shape"):
        return [X[k] for k in indices]
    return X[indices] if axis == 0 else X[:, indices]


try:
    from sklearn.utils import _safe_indexing as safe_indexing
except ImportError:
    safe_indexing = indexed

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback._callback_support import callback_management_context
except ImportError:  # scikit-learn has callbacks since 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Replacement for the mixin of newer versions, without callbacks."""

        def _init_callback_context(self, **about: Any) -> NoCallbackContext:
            return NoCallbackContext()

    callback_management_context = nullcontext


def checked_fit(fit: Fit) -> Fit:
    """Decorate a ``fit``: check the parameters before it, and release callbacks after it.

    It replaces scikit-learn's ``_fit_context``. Parameters are not checked if scikit-learn is
    configured with ``skip_parameter_validation``.
    """

    @wraps(fit)
    def wrapper(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        if not get_config()["skip_parameter_validation"]:
            check_parameters(estimator)
        with callback_management_context(estimator):
            return fit(estimator, *args, **kwargs)

    return wrapper  # type: ignore[return-value]


def unfitted(estimator: Any) -> Any:
    """Return a copy without fitted attributes, on which a fit can work unseen.

    Returns ``copy``: the copy, with the same parameters.
    """
    copy = object.__new__(type(estimator))
    kept = {k: v for k, v in vars(estimator).items() if k[-1] != "_" or k.startswith("__")}
    copy.__dict__ = kept
    return copy


def atomic_fit(fit: Fit) -> Fit:
    """Decorate a ``fit`` that sets attributes as it goes: they appear all at once, at its end.

    A fit that fails or is interrupted leaves the estimator as it was.
    """

    @wraps(fit)
    def wrapper(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        draft = unfitted(estimator)
        fit(draft, *args, **kwargs)
        estimator.__dict__ = vars(draft)
        return estimator

    return wrapper  # type: ignore[return-value]


def validate_fit(estimator: Any, X: Any, y: Any, **checks: Any) -> tuple[Any, Any]:
    """Check training rows and labels as scikit-learn's ``validate_data`` does.

    It sets ``n_features_in_`` and ``feature_names_in_`` of the estimator. A plain array is used as
    it is: ``validate_data`` takes 113 microseconds, a fifth of a fit to 500 rows.

    ``estimator``: the estimator to be fitted. ``X``, ``y``: the training rows and their labels.
    ``**checks``: arguments of ``validate_data``. Returns ``X``, ``y``: the rows and labels,
    converted.
    """
    if _is_plain(X, y):
        estimator.n_features_in_ = X.shape[1]
        vars(estimator).pop("feature_names_in_", None)
        return X, y
    with naming_the_remedy():
        checked: Any = validate_data(estimator, X, y, **checks)
    return (checked, None) if y is None else checked


def _is_plain(X: Any, y: Any) -> bool:
    """Return whether X is finite float64 in C order, and y one finite number per row."""
    if not (type(X) is type(y) is np.ndarray and X.dtype == np.float64 and X.flags.c_contiguous):
        return False
    if X.ndim != 2 or X.size == 0 or y.shape != X.shape[:1] or y.dtype.kind not in "biuf":
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        # Not a dot product, which would wake the threads of BLAS.
        return isfinite(X.sum()) and (y.dtype.kind != "f" or isfinite(y.sum()))


def check_sample_weight(
    sample_weight: Any, n_rows: int, *, ensure_non_negative: bool = False
) -> Array:
    """Return one weight per row as float64: ones for None, a number applies to all rows."""
    if sample_weight is None:
        return np.ones(n_rows)
    if isinstance(sample_weight, Real):
        return np.full(n_rows, as_real(sample_weight, "sample_weight"))
    try:
        weights: Array = check_array(
            sample_weight, ensure_2d=False, dtype=np.float64, order="C", input_name="sample_weight"
        )
    except ValueError as error:
        if "could not convert" not in str(error):
            raise
        raise ValueError("sample_weight must be numbers, one per row.") from error
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array.")
    if len(weights) != n_rows:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}!")
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    if ensure_non_negative and (weights < 0).any():
        raise ValueError("Negative values in data passed to `sample_weight`.")
    return weights


def class_weights(class_weight: Any, classes: Array, y: Array, sample_weight: Array) -> Array:
    """Return the weight of each class; balanced weights account for sample weights.

    scikit-learn's ``compute_class_weight`` accepts sample weights only since version 1.7.
    """
    if isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(np.searchsorted(classes, y), weights=sample_weight)
        return totals.sum() / (len(classes) * totals)
    weights: Array = compute_class_weight(class_weight, classes=classes, y=y)
    return weights


# Parts of the errors of NumPy about dates and other objects in place of numbers
_NOT_NUMBERS = ("could not be promoted", "must be a string or a real number")


@contextmanager
def naming_the_remedy() -> Iterator[None]:
    """Add advice to the errors about columns that are not numbers and about sparse rows."""
    try:
        yield
    except OverflowError as error:
        raise ValueError("X has integers that float64 cannot represent.") from error
    except TypeError as error:
        if "Sparse data was passed" in str(error):
            raise TypeError(
                "X is sparse, and this model needs dense rows: convert it with X.toarray(). SVC, "
                "SVR, NuSVC, NuSVR, OneClassSVM, SVCSearchCV, AdaptiveKernelSVC, DualObjectiveSVC "
                "and GeneralizedBiasSVC take sparse rows with every kernel but the Laplacian, such "
                "as kernel='rbf' or kernel='linear'."
            ) from error
        if not any(text in str(error) for text in _NOT_NUMBERS):
            raise
        reason = str(error).split(". ")[0]
        raise TypeError(
            f"X has values that are not numbers, such as dates ({reason}); encode the table first, "
            "for instance with kernelwise.app.tabular.TableEncoder, which takes dates."
        ) from error
    except ValueError as error:
        if "could not convert" not in str(error):
            raise
        raise ValueError(
            f"X has columns that are not numbers ({error}); encode them first, for instance "
            "with kernelwise.app.tabular.TableEncoder, which takes words and dates, or with "
            "OneHotEncoder."
        ) from error


def base_search() -> Any:
    """Return scikit-learn's base class of searches, with callback support in every version."""
    from sklearn.model_selection import GridSearchCV

    base = GridSearchCV.__base__
    if hasattr(base, "_init_callback_context"):
        return base
    return type("BaseSearchCV", (CallbackSupportMixin, base), {})

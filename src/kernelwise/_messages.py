"""Errors of scikit-learn's validation, with the remedy added."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def naming_the_encoders() -> Iterator[None]:
    """Say what to do about columns that are not numbers."""
    try:
        yield
    except ValueError as error:
        if "could not convert" not in str(error):
            raise
        raise ValueError(
            f"X has columns that are not numbers ({error}); encode them first, for instance "
            "with OneHotEncoder or OrdinalEncoder."
        ) from error


@contextmanager
def naming_imputation() -> Iterator[None]:
    """Tell of ``missing="impute"`` where NaN is refused."""
    try:
        yield
    except ValueError as error:
        if "X contains NaN" not in str(error):
            raise
        raise ValueError(
            'Input X contains NaN; fit with missing="impute" to put the means of the columns in '
            "its place."
        ) from error

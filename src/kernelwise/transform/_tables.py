"""Messages for tables that cannot be used."""

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

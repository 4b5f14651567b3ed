"""Limits between the recipes, apart from their code: a fit of a small table does not import that.

A part of a table must not get the recipe of smaller tables where it shall tell of the whole, as
resamples do that show how stable the weights are.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

SWITCH = 20_000  # rows above which large="auto" takes cells
CELL_SIZE = 2000  # most rows of a cell
N_TREES = 3

_share: ContextVar[float] = ContextVar("share", default=1.0)


@contextmanager
def as_part(share: float) -> Iterator[None]:
    """Fit tables in this block by the recipe of a table of which they are a part.

    Parameters
    ----------
    share : float
        The rows of the part over those of the whole table.
    """
    token = _share.set(share)
    try:
        yield
    finally:
        _share.reset(token)


def n_of_whole(n_rows: int) -> int:
    """Return how many rows the table has of which this is a part."""
    return round(n_rows / _share.get())

"""What a person can mend in a table."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


class TableError(ValueError):
    """A table, or a column of it, that cannot be used, with the remedy in one line."""


def named(values: Iterable[Any], most: int = 5) -> str:
    """Return the first values, quoted and with commas between them."""
    texts = [repr(value if isinstance(value, int) else str(value)) for value in values]
    rest = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + rest


def require_columns(frame: Any, names: Iterable[str], where: str) -> None:
    """Raise unless the frame has all the columns; say which one may be meant."""
    known = [str(name) for name in frame.columns]
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            meant = f"did you mean {near[0]!r}?" if near else f"it has {named(known, 8)}."
            raise TableError(f"{where}: the table has no column {name!r}; {meant}")


def check_names(names: list[str], where: str) -> None:
    """Raise unless each column has a name of its own."""
    seen: set[str] = set()
    for k, name in enumerate(names):
        if not name.strip():
            raise TableError(f"{where}: column {k + 1} has no name; give it one.")
        if name in seen:
            raise TableError(f"{where}: two columns are called {name!r}; rename one of them.")
        seen.add(name)

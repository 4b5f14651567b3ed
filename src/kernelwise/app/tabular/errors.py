"""The error for tables that cannot be used, and checks of column names."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from typing import Any

_ALIKE = 0.7  # similarity from which on another name may be what was meant; one is equality


class TableError(ValueError):
    """A table or column that cannot be used; the message says in one line what to do."""


def quoted(values: Iterable[Any], max_values: int = 5) -> str:
    """Return the first values in quotation marks, separated by commas."""
    texts = [repr(value if isinstance(value, int) else str(value)) for value in values]
    rest = f" and {len(texts) - max_values} more" if len(texts) > max_values else ""
    return ", ".join(texts[:max_values]) + rest


def require_columns(frame: Any, names: Collection[str], where: str) -> None:
    """Raise TableError unless the frame has all the columns; suggest the nearest name."""
    if not hasattr(frame, "columns"):
        raise TypeError(
            f"{where}: the table must be a data frame; got {type(frame).__name__}. Give "
            "pandas.DataFrame(array, columns=[...])."
        )
    if isinstance(names, str | bytes) or not isinstance(names, Collection):
        raise TypeError(f"{where} must be a list of names of columns; got {names!r}.")
    known = [str(name) for name in frame.columns]
    if len(names) > len(known):
        raise TableError(f"{where} names {len(names)} columns, but the table has {len(known)}.")
    for name in names:
        if hasattr(name, "__len__") and not isinstance(name, str):
            raise TypeError(f"{where} must name a column; got {type(name).__name__}.")
        if known.count(name) > 1:
            raise TableError(
                f"{where}: {known.count(name)} columns are called {name!r}; rename them."
            )
        if name not in known:
            spelt = {each.casefold(): each for each in known}
            near = get_close_matches(str(name).casefold(), spelt, n=1, cutoff=_ALIKE)
            hint = f"did you mean {spelt[near[0]]!r}?" if near else f"it has {quoted(known, 8)}."
            raise TableError(f"{where}: the table has no column {name!r}; {hint}")


def check_names(names: list[str], where: str) -> None:
    """Raise TableError unless each column has a name of its own."""
    seen: set[str] = set()
    for k, name in enumerate(names):
        if not name.strip():
            raise TableError(f"{where}: column {k + 1} has no name; give it one.")
        if name in seen:
            raise TableError(f"{where}: two columns are called {name!r}; rename one of them.")
        seen.add(name)

"""Import the names of a package on first access."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_demand(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a package's ``__getattr__``, which imports each name from its module in ``homes``."""

    def find(name: str) -> Any:
        if name in homes:
            return getattr(import_module(f".{homes[name]}", package), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find

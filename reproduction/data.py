"""Data sets, kept in memory from task to task."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from .datasets import Dataset, load_dataset


@lru_cache(maxsize=8)
def dataset(name: str, data_dir: Path | None = None, *, drop_leaks: bool = True) -> Dataset:
    """Return a data set, read once per process: do not write into its arrays."""
    return load_dataset(name, data_dir=data_dir, drop_leaks=drop_leaks)

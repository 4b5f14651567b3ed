"""Load a data set by name: from a folder, from scikit-learn, or from OpenML."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelwise._typing import Matrix

from .dataset import Dataset
from .files import VARIABLE, folder, read_counts, read_posts, read_table
from .registry import REGISTRY, Bundled, Remote, Spec, spec_of
from .remote import read_bundled, read_remote
from .table import Cells, check, coded, derive, labels_of

Source: TypeAlias = Path | Bundled | Remote


def load_dataset(
    name: str, *, data_dir: str | os.PathLike[str] | None = None, drop_leaks: bool = True
) -> Dataset:
    """Load a data set of the papers by name.

    It is read from the first of these sources that has it: a folder, scikit-learn, or OpenML
    through :func:`sklearn.datasets.fetch_openml`. The numbers of rows, columns, classes and missing
    cells are checked.
    """
    spec = spec_of(name)
    source = _source(spec, data_dir)
    if source is None:
        raise FileNotFoundError(f"The data set {name!r} was not found. {_remedies(spec)}")
    if isinstance(source, Path) and source.suffix == ".npz":
        X, names, target = read_counts(source)
        check(spec, X.shape[1], 0, target, str(source))
        return _dataset(spec, X, np.array(target), names, {}, source, drop_leaks)
    if isinstance(source, Path) and source.name.endswith(".jsonl.gz"):
        X, target = read_posts(source, headers=not drop_leaks)
        check(spec, 1, 0, target, str(source))
        return _dataset(spec, X, np.array(target), ["text"], {}, source, drop_leaks)
    cells = _cells(spec, source)
    if drop_leaks:
        cells = _without_leaks(spec, cells, source)
    columns = [coded(column) for column in cells.columns]
    words = {name: found for name, (_, found) in zip(cells.names, columns, strict=True) if found}
    X = np.column_stack([values for values, _ in columns])
    y = labels_of(cells.target) if spec.classes else np.array(cells.target, dtype=float)
    return _dataset(spec, X, y, cells.names, words, source, drop_leaks)


def _cells(spec: Spec, source: Source) -> Cells:
    """Read and check the cells of a set, or derive them from those of its base."""
    if spec.base is not None:
        cells = derive(spec.name, _cells(REGISTRY[spec.base], source))
    elif isinstance(source, Path):
        cells = read_table(source)
    elif isinstance(source, Bundled):
        cells = read_bundled(source)
    else:
        cells = read_remote(source, spec.name, _remedies(spec))
    check(spec, len(cells.columns), cells.missing(), cells.target, _source_text(source))
    return cells


def _without_leaks(spec: Spec, cells: Cells, source: Source) -> Cells:
    absent = ", ".join(sorted(set(spec.leaks) - set(cells.names)))
    if absent:
        raise ValueError(
            f"{_source_text(source)} has no column {absent}, which must be left out of "
            f"{spec.name!r}; drop_leaks=False keeps all columns."
        )
    return cells.without(tuple(spec.leaks))


def _dataset(
    spec: Spec,
    X: Matrix,
    y: NDArray[Any],
    names: Sequence[str],
    words: dict[str, tuple[str, ...]],
    source: Source,
    dropped: bool,
) -> Dataset:
    classes = tuple(map(str, np.unique(y).tolist())) if spec.classes else ()
    about = _description(spec, dropped)
    return Dataset(spec.name, X, y, tuple(names), classes, words, about, _source_text(source))


def _description(spec: Spec, dropped: bool) -> str:
    """Describe a set, and the columns that are left out of it."""
    parts = [spec.about, spec.licence]
    for column, reason in spec.leaks.items():
        parts.append(f"{'Left out' if dropped else 'Kept, though a leak'}: {column}, {reason}.")
    return "\n".join(parts)


def _root(spec: Spec) -> Spec:
    """Return the set whose file is read."""
    return REGISTRY[spec.base] if spec.base else spec


def _source(spec: Spec, data_dir: str | os.PathLike[str] | None) -> Source | None:
    """Return the first source that has the set."""
    root, path = _root(spec), folder(data_dir)
    if path and root.file and (path / root.file).is_file():
        return path / root.file
    return root.bundled or root.remote


def _source_text(source: Source | None) -> str:
    """Return the source of a set in words."""
    if isinstance(source, Bundled):
        return f"scikit-learn, {source.loader}"
    if isinstance(source, Remote):
        return f"OpenML, data_id={source.data_id}"
    return str(source) if source else "nowhere"


def _remedies(spec: Spec) -> str:
    """Return advice on how to get a set, or another one."""
    root = _root(spec)
    bundled = ", ".join(name for name, each in REGISTRY.items() if each.bundled)
    fetched = "OpenML has no such set"
    if root.remote:
        fetched = f"or allow access to OpenML over the network (data_id={root.remote.data_id})"
    return (
        f"Put {root.file} into a folder and set the environment variable {VARIABLE} to it; or use "
        f"a set that comes with scikit-learn ({bundled}); {fetched}."
    )

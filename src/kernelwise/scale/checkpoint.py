"""Finished trees in a folder, so that a fit that was killed goes on where it was.

A file holds the arrays of one tree, and nothing that could run code. Its name has a digest of the
rows, of what is left out of them and of the settings: a tree of anything else is not found. Files
are written beside their place and moved there.
"""

from __future__ import annotations

import os
import zipfile
from dataclasses import fields
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from .._files import replacing
from .._version import __version__
from ..kernels.pairwise import PairwiseKernel
from .cells import CellSettings, HeldOut
from .forest import CellTable, CellTree, FittedTree
from .metric import Metric
from .trees import Tree

_HASHED_ROWS = 65536  # rows whose bytes are hashed at a time
_DIGEST = 12  # bytes of a digest


class TreeFolder:
    """Keeps trees in a folder.

    Parameters
    ----------
    folder : path-like
        The folder, which is created where it is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> from kernelwise.kernels import RBF
    >>> from kernelwise.scale.cells import CellSettings, HeldOut
    >>> from kernelwise.scale.checkpoint import TreeFolder
    >>> from kernelwise.scale.forest import CellTable, fit_tree
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> table = CellTable(X, np.sign(X[:, :1]), np.ones(60), np.arange(60))
    >>> held_out, member = HeldOut(np.arange(60) % 5, np.ones(60)), CellSettings(RBF(), 1.0)
    >>> with TemporaryDirectory() as folder:
    ...     store = TreeFolder(folder)
    ...     store.open(table, held_out)
    ...     store.save(fit_tree(table, member, 0, 30, held_out=held_out), member, 0, 30)
    ...     store.load(member, 0, 30) is not None, store.load(member, 1, 30) is None
    (True, True)
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(
                f"checkpoint={str(folder)!r} cannot be made a folder ({error.strerror}): name one "
                "that can be written to."
            ) from error
        self._used: set[Path] = set()  # files that were read or written
        self._rows = b""  # the digest of the rows

    def open(self, table: CellTable, held_out: HeldOut) -> None:
        """Say which rows the trees are of.

        Parameters
        ----------
        table : CellTable
            The rows.
        held_out : HeldOut
            What is left out of them.
        """
        digest = blake2b(__version__.encode(), digest_size=_DIGEST)
        for each in (*vars(table).values(), *vars(held_out).values()):
            digest.update(f"{each.shape} {each.dtype}".encode())
            for start in range(0, len(each), _HASHED_ROWS):
                digest.update(each[start : start + _HASHED_ROWS].tobytes())
        self._rows = digest.digest()

    @property
    def others(self) -> int:
        """The number of files that were neither read nor written."""
        return len(set(self.folder.glob("tree-*.npz")) - self._used)

    def load(self, member: CellSettings, seed: int, cell_size: int) -> FittedTree | None:
        """Return a tree that was kept.

        Parameters
        ----------
        member : CellSettings
            Its kernel, C and loss.
        seed : int
            Its seed.
        cell_size : int
            The largest number of rows of a cell.

        Returns
        -------
        fitted : FittedTree or None
            The tree; None where there is none, or where its file is damaged.
        """
        path = self._path(member, seed, cell_size)
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                found = _tree_of(dict(archive), member)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None
        self._used.add(path)
        return found

    def save(self, fitted: FittedTree, member: CellSettings, seed: int, cell_size: int) -> None:
        """Keep a tree.

        Parameters
        ----------
        fitted : FittedTree
            The tree.
        member : CellSettings
            Its kernel, C and loss.
        seed : int
            Its seed.
        cell_size : int
            The largest number of rows of a cell.
        """
        path = self._path(member, seed, cell_size)
        with replacing(path) as draft, draft.open("wb") as file:
            np.savez(file, **_arrays_of(fitted))
        self._used.add(path)

    def _path(self, member: CellSettings, seed: int, cell_size: int) -> Path:
        kernel: Any = member.kernel
        digest = blake2b(self._rows, digest_size=_DIGEST)
        numbers = (kernel.gamma, member.C, member.loss, member.tol, seed, cell_size)
        digest.update(f"{type(kernel).__name__} {numbers!r}".encode())
        for each in (kernel.weights, kernel.categorical):
            digest.update(b"" if each is None else np.ascontiguousarray(each).tobytes())
        return self.folder / f"tree-{digest.hexdigest()}.npz"


def _arrays_of(fitted: FittedTree) -> dict[str, Any]:
    """Return the arrays of a tree by name; its kernel is known by the name of the file."""
    arrays = {f"cells.{f.name}": getattr(fitted.cells, f.name) for f in fields(CellTree)}
    tree = arrays.pop("cells.tree")
    del arrays["cells.kernel"]
    arrays |= {f"tree.{f.name}": getattr(tree, f.name) for f in fields(Tree)}
    metric = arrays.pop("tree.metric")
    arrays |= {f"metric.{f.name}": getattr(metric, f.name) for f in fields(Metric)}
    if fitted.left_out is not None:
        arrays["left_out"] = fitted.left_out
    return arrays


def _tree_of(arrays: dict[str, Any], member: CellSettings) -> FittedTree:
    """Return the tree of stored arrays."""
    assert isinstance(member.kernel, PairwiseKernel)
    parts: dict[str, dict[str, Any]] = {"cells": {}, "tree": {}, "metric": {}}
    for name, value in arrays.items():
        part, _, own = name.partition(".")
        if own:
            parts[part][own] = value
    metric = Metric(**(parts["metric"] | {"seed": int(parts["metric"]["seed"])}))
    tree = Tree(metric=metric, **parts["tree"])
    cells = CellTree(tree=tree, kernel=member.kernel, **parts["cells"])
    return FittedTree(cells, arrays.get("left_out"))

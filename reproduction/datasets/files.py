"""Read data sets from a folder: tables as NAME.csv.gz, word counts and posts."""

from __future__ import annotations

import csv
import gzip
import json
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwise._typing import Matrix

from .table import Cells

VARIABLE = "KERNELWISE_DATA"
_DAMAGE = (OSError, EOFError, zlib.error, zipfile.BadZipFile, csv.Error, ValueError, KeyError)


def folder(data_dir: str | os.PathLike[str] | None) -> Path | None:
    """Return the given folder, else that of the environment variable, else None."""
    origin = "data_dir" if data_dir is not None else VARIABLE
    value = data_dir if data_dir is not None else os.environ.get(VARIABLE)
    if not value:
        return None
    if not Path(value).is_dir():
        raise NotADirectoryError(
            f"{origin} names {os.fspath(value)!r}, which is not a folder; it should hold the data "
            "sets, each as NAME.csv.gz with the class in its last column, `target`."
        )
    return Path(value)


def read_table(path: Path) -> Cells:
    """Read NAME.csv.gz: column names in the first line, `target` last, empty cells missing."""
    with _reporting_damage(path), gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        header, *rows = list(csv.reader(lines)) or [[]]
    if header[-1:] != ["target"]:
        raise ValueError(f"{path} must name its columns in the first line, `target` last.")
    if len(set(header)) != len(header):
        raise ValueError(f"{path} must not give two columns the same name.")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise ValueError(f"{path}, line {number}: {len(row)} cells, expected {len(header)}.")
    columns = list(zip(*rows, strict=True)) or [()] * len(header)
    return Cells(tuple(header[:-1]), columns[:-1], columns[-1])


def read_counts(path: Path) -> tuple[Matrix, list[str], list[str]]:
    """Return the word counts, the words, and the groups of the posts."""
    from scipy.sparse import csr_matrix

    with _reporting_damage(path), np.load(path) as found:
        parts = (found["data"].astype(np.float64), found["indices"], found["indptr"])
        X = csr_matrix(parts, shape=tuple(found["shape"].tolist()))
        X.check_format()
        groups = np.array(str(found["target_names"]).split("\n"))[found["target"]]
        return X, str(found["vocab"]).split("\n"), groups.tolist()


def read_posts(path: Path, *, headers: bool) -> tuple[NDArray[Any], list[str]]:
    """Return the posts and their groups."""
    with _reporting_damage(path), gzip.open(path, "rt", encoding="utf-8") as lines:
        posts = [json.loads(line) for line in lines]
        texts = [post["text"] for post in posts]
        if not headers:
            texts = [text.partition("\n\n")[2] for text in texts]
        return np.array(texts, dtype=object), [post["target"] for post in posts]


@contextmanager
def _reporting_damage(path: Path) -> Iterator[None]:
    try:
        yield
    except PermissionError:
        raise
    except _DAMAGE as error:
        raise ValueError(
            f"{path} cannot be read ({type(error).__name__}: {error}): it is damaged or has "
            "another format. Replace it by an intact copy."
        ) from error

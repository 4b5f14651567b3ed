"""The images of the generalised-bias experiments, and which objects are near along them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from kernelwise._typing import Array
from kernelwise.transform import GeodesicNeighborFeatures

from ...data import dataset
from ...protocol import Split
from .machines import SplitRows

SIZES = (6, 12, 24, 48)  # training images per object
JOINS = (3, 2, 5)  # neighbours in the graph; the first is the default of the features
OBJECTS, SMOKE_OBJECTS = 20, 6
RULES = ("training", "paper")  # whose nearest: training images, or all images, as printed


class Near(NamedTuple):
    """Images with their features, the vote of the neighbours, and the parts of the graph."""

    part: SplitRows
    votes: Any
    n_islands: int


def images(m: int, n_objects: int, data_dir: Path | None) -> Split:
    """Return the first m images of each object and the others, grey levels in 0..1."""
    data = dataset("coil20", data_dir)
    rows = [np.flatnonzero(data.y == label) for label in np.unique(data.y)[:n_objects]]
    train = np.concatenate([own[:m] for own in rows])
    test = np.concatenate([own[m:] for own in rows])
    X = data.X / 255
    return Split(X[train], data.y[train], X[test], data.y[test])


def near(split: Split, every: Array, joins: int, rule: str = RULES[0]) -> Near:
    """Return features by a rule, and votes of the three nearest training images along a graph."""
    features = GeodesicNeighborFeatures(
        3, graph_neighbors=joins, neighbors=rule, transductive=every
    )
    F = features.fit_transform(split.X, split.y)
    codes = np.searchsorted(features.classes_, split.y)
    # The features tell which objects are near; a vote needs the number of each.
    voting = clone(features).set_params(neighbors="training").fit(split.X, split.y)
    _, nearest = voting.kneighbors(split.X_test)
    votes = [_majority(row) for row in codes[nearest]]
    F_test = features.transform(split.X_test)
    part = SplitRows(split.X, F, split.y, split.X_test, F_test, split.y_test)
    return Near(part, features.classes_[votes], features.n_connected_components_)


def _majority(codes: Any) -> int:
    """Return the class of most neighbours, on ties of the nearest."""
    counts = np.bincount(codes)
    return int(next(code for code in codes if counts[code] == counts.max()))

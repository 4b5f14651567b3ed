"""Machines with features in their bias: the cases on which their solver is measured."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from sklearn.preprocessing import normalize

from benchmarks.engine import Task
from kernelwise.kernels import RBF
from kernelwise.transform import GeodesicNeighborFeatures, TopicFeatures
from reproduction.datasets import load_dataset

from .. import data
from ..problems import classification, scale_gamma

COSTS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)


@dataclass(frozen=True, eq=False)
class BiasProblem:
    """A kernel matrix, features, classes of -1 and 1, and C."""

    family: str
    name: str
    K: np.ndarray
    F: np.ndarray
    y: np.ndarray
    C: float


def groups(quick: bool) -> list[Task]:
    """List groups of cases; the quick ones are few, small and need no data sets."""
    if quick:
        found = [{"kind": "synthetic", "n": 120, "features": count} for count in (1, 5)]
        found += [{"kind": "columns", "n": 60}, {"kind": "separating", "n": 60}]
        return [*found, {"kind": "close", "n": 30}]
    found = [
        {"kind": "synthetic", "n": n, "features": count}
        for n in (500, 1500, 2500, 5000)
        for count in (1, 5, 20, 50)
    ]
    found += [{"kind": "columns", "n": 300}]
    found += [{"kind": "separating", "n": n} for n in (200, 1500)]
    found += [{"kind": "close", "n": n} for n in (50, 100, 500)]
    found += [{"kind": "images", "angles": angles} for angles in (6, 12, 24, 48)]
    for group, n, draws, folds in (("comp", 400, 12, 0), ("sci", 100, 6, 3)):
        found += [
            {"kind": "documents", "group": group, "n": n, "draw": draw, "folds": folds}
            for draw in range(draws)
        ]
    return found


def problems(group: Task) -> Iterator[BiasProblem]:
    """Yield the cases of a group."""
    given = {key: value for key, value in group.items() if key not in ("kind", "quick")}
    if group["kind"] == "synthetic":
        given["costs"] = COSTS[1::2] if "quick" in group else COSTS
    return _KINDS[group["kind"]](**given)


# --- Synthetic --------------------------------------------------------------------------------


def rbf(X: np.ndarray) -> np.ndarray:
    return RBF(gamma=scale_gamma(X))(X)


@cache
def _made(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, labels = classification(n, 20)
    return X, rbf(X), np.where(labels > 0, 1.0, -1.0)


def bent(X: np.ndarray, count: int, seed: int = 0) -> np.ndarray:
    """Return the constant and bent directions of X with noise."""
    rng = np.random.default_rng(seed)
    bent = np.tanh(X @ rng.normal(size=(X.shape[1], count - 1)) / 4)
    return np.hstack([np.ones((len(X), 1)), bent + 0.3 * rng.normal(size=bent.shape)])


def synthetic(n: int, features: int, costs: Sequence[float]) -> Iterator[BiasProblem]:
    X, K, y = _made(n)
    F = bent(X, features)
    for C in costs:
        name = f"n = {n}, l = {features}, C = {C:g}"
        yield BiasProblem(f"synthetic, n = {n}", name, K, F, y, C)


def columns(n: int) -> Iterator[BiasProblem]:
    """Yield features with redundant or badly scaled columns."""
    X, K, y = _made(n)
    F = bent(X, 8)
    rng = np.random.default_rng(1)
    spoilt = {
        "zero": np.hstack([F, np.zeros((n, 2))]),
        "equal": np.hstack([F, F[:, 1:4]]),
        "dependent": np.hstack([F, F @ rng.normal(size=(8, 3))]),
        "nearly dependent": np.hstack([F, F[:, 1:4] + 1e-7 * rng.normal(size=(n, 3))]),
        "badly scaled": F * 10.0 ** np.linspace(-12, 12, 8),
    }
    whole = np.hstack([spoilt["dependent"], np.zeros((n, 1)), F[:, :2]])
    spoilt["all of these"] = whole * 10.0 ** rng.uniform(-12, 12, whole.shape[1])
    for name, F in spoilt.items():
        for C in (0.01, 1.0, 1000.0):
            yield BiasProblem("spoilt columns", f"{name}, C = {C:g}", K, F, y, C)


def separating(n: int) -> Iterator[BiasProblem]:
    """Yield features that separate the classes: wholly, or all rows but one."""
    X, K, y = _made(n)
    F = bent(X, 5)
    F[:, 4] = y * np.random.default_rng(0).uniform(0.2, 2.0, n)
    nearly = F.copy()
    nearly[0, 4] *= -1
    for name, features in (("all", F), ("all but one", nearly)):
        for C in (0.01, 1.0, 1000.0):
            yield BiasProblem("separating", f"{name}, n = {n}, C = {C:g}", K, features, y, C)


def close_to_n(n: int) -> Iterator[BiasProblem]:
    """Yield nearly as many features as rows, and more."""
    X, K, y = _made(n)
    for count in (n // 2, 9 * n // 10, n - 2, n - 1, n, 6 * n // 5):
        for C in (1.0, 1000.0):
            name = f"n = {n}, l = {count}, C = {C:g}"
            yield BiasProblem(f"l close to n = {n}", name, K, bent(X, count), y, C)


# --- Images and documents ---------------------------------------------------------------------


def pairs(family: str, name: str, K, F, labels, costs) -> Iterator[BiasProblem]:
    """Yield the machines of all pairs of classes."""
    for a, b in combinations(np.unique(labels), 2):
        rows = np.flatnonzero((labels == a) | (labels == b))
        y = np.where(labels[rows] == a, 1.0, -1.0)
        for C in costs:
            own = f"{name}, {a} and {b}, C = {C:g}"
            yield BiasProblem(family, own, K[np.ix_(rows, rows)], F[rows], y, C)


def images(angles: int, costs=(1.0, 100.0)) -> Iterator[BiasProblem]:
    """Yield the pairs of COIL-20: the first angles of each object, all images in the graph."""
    coil = data.load("coil20", drop_leaks=True)
    X = coil.X / 255
    near = GeodesicNeighborFeatures(graph_neighbors=3, transductive=X)
    first = [np.flatnonzero(coil.y == label)[:angles] for label in np.unique(coil.y)]
    rows = np.concatenate(first)
    F = near.fit_transform(X[rows], coil.y[rows])
    name = f"{angles} angles"
    yield from pairs(f"COIL-20, {name}", name, rbf(X[rows]), F, coil.y[rows], costs)


def documents(
    group: str, n: int, draw: int, folds: int, costs=(1.0, 10.0, 1000.0)
) -> Iterator[BiasProblem]:
    """Yield the pairs of groups of the newsgroups, with the constant and ten topics.

    All documents of a draw, or all but those of one of `folds` folds.
    """
    counts, labels = _documents(group)
    rows = np.random.default_rng(draw).choice(counts.shape[0], n, replace=False)
    K, F, drawn = _described(counts[rows], labels[rows])
    for fold in range(folds or 1):
        left = np.arange(n) % folds != fold if folds else np.ones(n, dtype=bool)
        name = f"draw {draw}" + (f" without fold {fold}" if folds else "")
        block = K[np.ix_(left, left)]
        yield from pairs(f"documents, {group}", name, block, F[left], drawn[left], costs)


@cache
def _documents(group: str):
    news = load_dataset("newsgroups20", data_dir=data.folder())
    own = np.array([str(label).startswith(f"{group}.") for label in news.y])
    return news.X[own].tocsr(), np.asarray(news.y)[own]


def _described(counts, labels) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the linear kernel of the 2000 most informative words, the features and the labels."""
    counts = counts[:, _most_informative(counts, labels, 2000)]
    topics = TopicFeatures(10, random_state=0).fit_transform(counts)
    rows = normalize(counts.astype(np.float64))
    K = (rows @ rows.T).toarray()
    return K, np.hstack([np.ones((len(K), 1)), topics]), labels


def _most_informative(counts, labels, most: int) -> np.ndarray:
    """Return the words whose presence has the most mutual information with the group."""
    there = counts > 0
    groups = np.unique(labels)
    joint = np.array([there[labels == g].sum(axis=0) for g in groups]).reshape(len(groups), -1)
    joint = joint / len(labels)
    share = np.array([[np.mean(labels == g)] for g in groups])
    present = joint.sum(axis=0)

    def entropy(p: np.ndarray) -> np.ndarray:
        return -(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=0)

    information = entropy(np.array([present, 1 - present])) + entropy(share)
    information -= entropy(np.vstack([joint, share - joint]))
    return np.argsort(-information, kind="stable")[:most]


_KINDS: dict[str, Callable[..., Iterator[BiasProblem]]] = {
    "synthetic": synthetic,
    "columns": columns,
    "separating": separating,
    "close": close_to_n,
    "images": images,
    "documents": documents,
}

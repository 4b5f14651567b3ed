"""The paper's sets with noise columns of each other, which several suites use."""

from collections.abc import Iterable
from itertools import permutations

import numpy as np

from benchmarks.engine import Row

# The seven sets of the dual-objective paper.
PROTOCOL = (
    "breast_cancer_wisconsin", "ecoli", "glass", "ionosphere", "iris", "pima", "voting",
)  # fmt: skip
QUICK_SETS = ("fisher_iris", "wine")


def pairs(quick: bool) -> list[tuple[str, str]]:
    """Return each set with each other set as its noise."""
    return list(permutations(QUICK_SETS if quick else PROTOCOL, 2))


def generator(repeat: int, name: str, noise: str) -> np.random.Generator:
    """Return the random numbers of a repeat of a noisy set."""
    return np.random.default_rng([repeat, *f"{name}/{noise}".encode()])


def shape(X: np.ndarray, y: np.ndarray) -> dict[str, int]:
    """Return the numbers of rows, columns and classes."""
    return {"n": X.shape[0], "p": X.shape[1], "classes": len(np.unique(y))}


def by_set(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of each data set."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["dataset"], []).append(row)
    return found

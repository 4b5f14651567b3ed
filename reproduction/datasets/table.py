"""Tables of cells as text, the common form of all sources: checks and conversion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwise._typing import Array

from .registry import Spec


class Cells(NamedTuple):
    """Columns of text; an empty cell is missing."""

    names: tuple[str, ...]
    columns: Sequence[Sequence[str]]
    target: Sequence[str]

    def missing(self) -> int:
        """Count the empty cells."""
        return sum(column.count("") for column in self.columns)

    def rows(self, kept: Sequence[bool]) -> Cells:
        """Return some rows."""
        columns = [_kept(column, kept) for column in self.columns]
        return Cells(self.names, columns, _kept(self.target, kept))

    def without(self, names: Sequence[str]) -> Cells:
        """Return the table without some columns."""
        kept = [name not in names for name in self.names]
        return Cells(tuple(_kept(self.names, kept)), _kept(self.columns, kept), self.target)


def _kept(values: Sequence[Any], kept: Sequence[bool]) -> list[Any]:
    return [value for value, keep in zip(values, kept, strict=True) if keep]


def coded(column: Sequence[str]) -> tuple[Array, tuple[str, ...]]:
    """Return the numbers of a column; for a column of words, their codes and the sorted words.

    A column with any cell that is not a number is one of words.
    """
    try:
        return np.array([float(cell) if cell else np.nan for cell in column]), ()
    except ValueError:
        words = sorted({cell for cell in column if cell})
        code = {word: float(i) for i, word in enumerate(words)}
        return np.array([code.get(cell, np.nan) for cell in column]), tuple(words)


def labels_of(target: Sequence[str]) -> NDArray[Any]:
    """Return the labels as integers if all of them are, else as text."""
    try:
        return np.array([int(label) for label in target])
    except ValueError:
        return np.array(list(target))


def check(spec: Spec, features: int, missing: int, target: Sequence[str], origin: str) -> None:
    """Raise where a table does not have the known facts of its set."""
    expected: dict[str, Any] = {"rows": spec.rows, "features": spec.features}
    found: dict[str, Any] = {"rows": len(target), "features": features}
    expected["missing cells"], found["missing cells"] = spec.missing, missing
    if spec.classes:
        expected["classes"], found["classes"] = spec.classes, dict(Counter(target))
    wrong = [key for key in expected if expected[key] != found[key]]
    if wrong:
        facts = "; ".join(
            f"{key}: expected {_text(expected[key])}, found {_text(found[key])}" for key in wrong
        )
        raise ValueError(f"{origin} is not the data set {spec.name!r}: {facts}.")


def _text(fact: Any) -> str:
    """Return a fact as text; of class counts, at most twelve in the order of the labels."""
    if not isinstance(fact, dict):
        return str(fact)
    parts = [f"{label} {count}" for label, count in sorted(fact.items())]
    return ", ".join(parts[:12]) + (f" and {len(parts) - 12} more" if len(parts) > 12 else "")


def derive(name: str, cells: Cells) -> Cells:
    """Derive the set of this name from its base."""
    if name == "echocardiogram_alive1":
        alive = cells.columns[cells.names.index("alive_at_1")]
        # The source says to ignore `mult`, a by-product of the record.
        kept = cells.without(("survival", "alive_at_1", "mult"))._replace(target=alive)
        return kept.rows([cell != "" for cell in alive])
    if name == "import_lowrisk":
        rows = list(zip(*cells.columns, strict=True))
        cells = cells.rows(["" not in row for row in rows])
    word = _CLASSES[name]
    return cells._replace(target=[word(float(label)) for label in cells.target])


def _risk(symboling: float) -> str:
    return "risky" if symboling > 0 else "low_risk"


_CLASSES = {
    "automobile_risky": _risk,
    "import_lowrisk": _risk,
    "arrhythmia_normal": lambda label: "normal" if label == 1 else "other",
    "housing_medv35": lambda medv: "medv_above_35" if medv > 35 else "medv_at_most_35",
}

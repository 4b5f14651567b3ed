"""A category of many levels that says nothing, beside a number that does."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

import numpy as np

from kernelwise.experiments import Row

from ..measure import Effort, rounded
from ..suite import Results, Suite, Task
from ..text import table

_ROWS, _LEVELS, _SEEDS = 400, 30, 20
_COLUMNS = ("signal", "noise", "other noise", "category")


def noisy_category(seed: int) -> tuple[Any, np.ndarray]:
    """Return a data frame of one signal, two columns of noise and a category of noise."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    numbers = rng.standard_normal((_ROWS, 3))
    levels = rng.integers(_LEVELS, size=_ROWS)
    y = (numbers[:, 0] + rng.standard_normal(_ROWS) > 0).astype(int)
    frame = pd.DataFrame(numbers, columns=list(_COLUMNS[:3]))
    return frame.assign(category=pd.Categorical([f"level {k}" for k in levels])), y


class NoiseCategory(Suite):
    """Shares and selection of the columns."""

    name = "quality-category"
    title = "A category of noise"
    is_timed = False
    seconds = 0.5

    def cases(self, quick: bool) -> list[Task]:
        return [{"seed": seed} for seed in range(1 if quick else _SEEDS)]

    def measure(self, case: Task, effort: Effort) -> Row:
        from kernelwise import RelevanceSVC

        model = RelevanceSVC(calibration=None).fit(*noisy_category(case["seed"]))
        return {
            "shares": [rounded(float(share)) for share in model.feature_importances_],
            "selected": [bool(each) for each in model.selected_features_],
        }

    def section(self, results: Results) -> str:
        rows = results.rows
        cells = [
            [name, f"{fmean(row['shares'][k] for row in rows):.2f}", _times(rows, k)]
            for k, name in enumerate(_COLUMNS)
        ]
        return (
            f"{_ROWS} rows: one number that decides the class up to noise, two numbers and a "
            f"category of {_LEVELS} levels that say nothing. In {below_signal(rows)} of "
            f"{len(rows)} repeats the category has a smaller share than the signal.\n\n"
            + table(["column", "mean share", "selected"], cells, left=1)
        )


def below_signal(rows: Sequence[Row]) -> int:
    """Count the repeats in which the category has a smaller share than the signal."""
    return sum(row["shares"][3] < row["shares"][0] for row in rows)


def selected_more_often(rows: Sequence[Row]) -> float:
    """Return how much more often the category is selected than the numbers of noise, in repeats."""
    category, one, other = (sum(row["selected"][k] for row in rows) for k in (3, 1, 2))
    return category - (one + other) / 2


def _times(rows: Sequence[Row], k: int) -> str:
    return f"{sum(row['selected'][k] for row in rows)} of {len(rows)}"

"""Feature discrimination (FDSVM): the paper's search over sigma, C and eta, and two stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ...experiment import PaperExperiment, Row, Scale, Task, register
from ...rows import grouped, mean_of, only, spread_of, values_of
from ...tables import Check, Column, Spread, Summary, Table, tabulate
from .machines import (
    MEASURES,
    PAPER,
    TRACE,
    WITH_LEAKS,
    Found,
    Halves,
    halves,
    powers,
    score,
    sigmas,
    tried,
    weighted,
)
from .printed import SETS

_FEWEST = 2  # splits of a set for a verdict
_KINDS = ("full", "stages")
SMALL = ("sonar", "hepatitis", "biomed", "echocardiogram")  # of a quick run
COLUMNS_READ = ("standardised", "raw")
Splits = dict[tuple[str, str, int], dict[str, Any]]


@register
class FullSearch(PaperExperiment):
    """Accuracy and time of the search over all three parameters, and of two stages."""

    name = "feature-discrimination-full-search"
    title = "Feature discrimination: the full search of three parameters against two stages"
    paper = PAPER
    description = (
        "The paper chooses sigma (21 values), C and eta (7 each) at once by 5 folds. Here every "
        "sigma is a task, with all C, eta and measures on one eigendecomposition per fold; for "
        "each measure the point with the lowest error is taken, and on ties the smaller eta, the "
        "smaller C and the larger sigma. The two stages choose sigma for the plain machine, then "
        'eta and C. That is `search="joint"` against `search="stages"` of '
        "`FeatureDiscriminationSVC`. Gaussian kernel, trace normalisation, columns standardised "
        "and raw; random halves, choices and limits as in `feature-discrimination-table5`, on all "
        "its sets."
    )
    repeats: ClassVar[Mapping[str, int]] = {"full": 2, "quick": 1, "smoke": 1}
    datasets = SETS
    seed_keys = ("dataset", "repeat")
    protocol = 2

    def tasks(self, scale: Scale) -> list[Task]:
        """Return a task for each sigma, and one for the two stages."""
        sets = {"full": SETS, "quick": SMALL, "smoke": SMALL[-1:]}[scale.name]
        n_powers, n_sigmas = (7, 21) if scale.name != "smoke" else (3, 3)
        grid = {"n_powers": n_powers, "n_sigmas": n_sigmas}
        searches: list[Task] = [{"search": "stages"}]
        searches += [{"search": "full", "sigma": s} for s in sigmas(n_sigmas).tolist()]
        return [
            {"dataset": name, "columns": columns, "repeat": repeat} | search | grid
            for name in sets
            for columns in (COLUMNS_READ if scale.is_full else COLUMNS_READ[:1])
            for repeat in range(scale.repeats)
            for search in searches
        ]

    def cost(self, task: Task) -> float:
        """Return the CPU seconds of a width, or of two stages, scaled by the number of points."""
        return (1.3 if task["search"] == "full" else 3.0) * (task["n_powers"] / 7) ** 2

    def run(self, task: Task, seed: int, data_dir: Path | None) -> Row:
        """Choose eta and C at one sigma, or sigma first; fit the best point of each measure."""
        name = task["dataset"]
        part = halves(name, seed, data_dir, leaks=name in WITH_LEAKS, columns=task["columns"])
        values = powers(task["n_powers"])
        grids: dict[str, Any] = {"costs": values, "etas": values, "random_state": seed}
        if task["search"] == "stages":
            grids["widths"] = sigmas(task["n_sigmas"])
        else:
            grids["gamma"] = 0.5 / task["sigma"] ** 2
        return _chosen(part, grids)

    def summarise(self, rows: Sequence[Row]) -> Summary:
        """Return accuracy and CPU time of both searches."""
        splits = _splits(rows)
        pairs = [(kind, column) for column in MEASURES.values() for kind in _KINDS]
        columns = [Column(kind, 1, column) for kind, column in pairs]
        cells = [(columns, lambda _, own: [spread_of(own, "_".join(pair)) for pair in pairs])]
        note = "Full: sigma, C and eta at once, as in the paper. Only complete splits count."
        accuracies = tabulate("Test accuracy, %", "data set", _by_set(splits), cells, note)
        return Summary([accuracies, _cost(splits)], _checks(splits), _remarks(splits))


def _chosen(part: Halves, grids: Mapping[str, Any]) -> Row:
    path, seconds = tried(part, kernel="rbf", **TRACE, **grids)
    row: Row = {"choice_seconds": seconds}
    for measure, column in MEASURES.items():
        found = weighted(path, measure, or_plain=False)
        settings = {"kernel": "rbf", "importance": measure, "eta": found.eta, **TRACE}
        row[column] = score(part, **settings, **found.given)
        row[f"{column}_point"] = list(found)
    return row


def _splits(rows: Sequence[Row]) -> Splits:
    """Return choices and costs of both searches, for each split with results for all widths."""
    groups = grouped(rows, ("dataset", "columns", "repeat"))
    return {key: _both(own) for key, own in groups.items() if len(own) == own[0]["n_sigmas"] + 1}


def _by_set(splits: Splits) -> dict[str, list[dict[str, Any]]]:
    """Return the splits of each set and reading of the columns."""
    found: dict[str, list[dict[str, Any]]] = {
        f"{name}, {reading}": [] for reading in COLUMNS_READ for name in SETS
    }
    for (name, reading, _), split in splits.items():
        found[f"{name}, {reading}"].append(split)
    return {key: own for key, own in found.items() if own}


def _both(rows: Sequence[Row]) -> dict[str, Any]:
    (stages,), widths = only(rows, search="stages"), only(rows, search="full")
    out: dict[str, Any] = {
        "stages_seconds": stages["choice_seconds"],
        "full_seconds": sum(values_of(widths, "choice_seconds")),
    }
    for column in MEASURES.values():
        chosen = _best(widths, column)
        out[f"full_{column}"], out[f"stages_{column}"] = chosen[column], stages[column]
        for kind, row in (("full", chosen), ("stages", stages)):
            out[f"{kind}_{column}_error"] = 100 * Found(*row[f"{column}_point"]).error
    return out


def _best(rows: Sequence[Row], column: str) -> Row:
    return min(rows, key=lambda row: Found(*row[f"{column}_point"]))


def _mean_over_measures(splits: Splits, kind: str, what: str = "") -> list[float]:
    """Return one value per split, the mean of the three measures."""
    return [
        float(np.mean([split[f"{kind}_{column}{what}"] for column in MEASURES.values()]))
        for split in splits.values()
    ]


def _cost(splits: Splits) -> Table:
    def seconds(_: str, own: Sequence[Mapping[str, Any]]) -> list[float]:
        full, stages = (mean_of(own, f"{kind}_seconds") for kind in _KINDS)
        return [full, stages, full / stages]

    columns = [*(Column(kind, 1, "CPU s") for kind in _KINDS), Column("ratio", 0)]
    note = (
        "One split with all three measures; both searches share the eigendecompositions of the "
        "folds."
    )
    parts = [(columns, seconds)]
    return tabulate("Time of the search", "data set", _by_set(splits), parts, note)


def _checks(splits: Splits) -> list[Check]:
    name = "two stages against the full search, mean accuracy, points"
    seconds = "CPU of the full search over that of two stages"
    if {key[0] for key in splits} != set(SETS) or len(splits) < _FEWEST * len(SETS):
        return [Check(name, None, ">=", -1), Check(seconds, None, ">", 5)]
    full, stages = (np.mean(_mean_over_measures(splits, kind)) for kind in _KINDS)
    spent = [sum(values_of(splits.values(), f"{kind}_seconds")) for kind in _KINDS]
    return [
        Check(name, float(stages - full), ">=", -1),
        Check(seconds, spent[0] / spent[1], ">", 5, 0),
    ]


def _remarks(splits: Splits) -> list[str]:
    if not splits:
        return []
    gains = Spread.of(
        np.subtract(_mean_over_measures(splits, "stages"), _mean_over_measures(splits, "full"))
    )
    assert gains is not None
    error = "" if gains.error is None else f" ± {gains.error:.1f}"
    inner = {kind: np.mean(_mean_over_measures(splits, kind, "_error")) for kind in _KINDS}
    return [
        f"Two stages are {gains.mean:+.1f}{error} points of test accuracy from the full search, "
        f"over {len(splits)} splits and the three measures. On the rows held out for the choice "
        f"the full search finds an error of {inner['full']:.1f} %, two stages "
        f"{inner['stages']:.1f} %."
    ]

"""The fitted attributes of a RelevanceSVC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...kernels.pairwise import PairwiseKernel
from ..base.weight_learning import LearnedWeights, histories
from ..paths.path import Path
from .columns import ColumnLayout
from .members import UsedColumns, has_equal_share, shares_of
from .mixing import MixedParts

_PATH_COLUMNS = ("factor", "C", "loo_error", "score", "n_iter", "seconds", "solved", "converged")


def weight_attributes(
    learned: Mapping[str, LearnedWeights],
    sources: Mapping[str, PairwiseKernel],
    columns: UsedColumns,
) -> dict[str, Any]:
    """Return the learned weights, and the evaluations of the bound as a table."""
    shares = shares_of(sources, columns)
    table = histories(list(learned.values()), "kernel", list(learned))
    rows = zip(table["kernel"], table["weights"], strict=True)
    kernels = [columns.kernel(name, weights) for name, weights in rows]
    comparable = np.array([columns.comparable(kernel) for kernel in kernels])
    return {
        "feature_importances_": shares / shares.sum(),
        "selected_features_": has_equal_share(shares),
        "history_": table | {"weights": comparable},
        "n_iter_": len(table["value"]),
    }


def path_attributes(
    paths: Mapping[str, Path], kernels: Sequence[Any], columns: UsedColumns, ensemble: bool
) -> dict[str, Any]:
    """Return the selected width and C of each member, and the points that were tried."""
    costs, gammas = [path.best.C for path in paths.values()], [k.gamma for k in kernels]
    weights = [columns.comparable(path.kernel) for path in paths.values()]
    tables = [path.table() for path in paths.values()]
    member = np.repeat(list(paths), [len(path.points) for path in paths.values()])
    points = {name: np.concatenate([table[name] for table in tables]) for name in _PATH_COLUMNS}
    return {
        "members_": list(paths),
        "kernel_": list(kernels) if ensemble else kernels[0],
        "C_": np.array(costs) if ensemble else costs[0],
        "gamma_": np.array(gammas) if ensemble else gammas[0],
        "feature_weights_": np.mean(weights, axis=0),
        "path_": {"member": member} | points,
    }


def part_attributes(mixed: MixedParts, layout: ColumnLayout) -> dict[str, Any]:
    """Return the names, weights and importances of the parts."""
    return {
        "parts_": [part.name for part in mixed.parts],
        "mixture_weights_": mixed.mixture.weights,
        "part_importances_": layout.to_source(np.array([part.importances for part in mixed.parts])),
    }


def count_solves(
    learned: Mapping[str, LearnedWeights], paths: Mapping[str, Path], n_machines: int
) -> int:
    """Return the number of machines and balls that were solved for weights, width and C."""
    n_evaluations = sum(each.minimum.n_evaluations for each in learned.values())
    n_balls = n_evaluations  # one per evaluation
    return n_balls + n_evaluations * n_machines + sum(path.n_solves for path in paths.values())

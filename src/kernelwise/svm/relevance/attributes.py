"""The fitted attributes of a RelevanceSVC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._typing import Array
from ...kernels.pairwise import PairwiseKernel
from ..base.conformal import ConformalHalf, class_scores
from ..base.feature_weights import varying_columns
from ..base.weight_learning import LearnedWeights, histories
from ..paths.path import Path
from .columns import ColumnEncoding, ColumnLayout
from .members import UsedColumns, has_equal_share, shares_of
from .mixing import Half, LargerMixture, MixedParts, SmallMixture
from .parts.rows import PartRows

if TYPE_CHECKING:
    from .parts.cells import CellsPart

_PATH_COLUMNS = ("factor", "C", "loo_error", "score", "n_iter", "seconds", "solved", "converged")


def weight_attributes(
    learned: Mapping[str, LearnedWeights],
    sources: Mapping[str, PairwiseKernel],
    columns: UsedColumns,
) -> dict[str, Any]:
    """Return the learned weights, and the evaluations of the bound as a table."""
    shares = shares_of(sources, columns)
    table = histories(list(learned.values()), "kernel", list(learned))
    comparable = np.empty((len(table["value"]), len(shares)))
    for name, each in learned.items():
        own = table["kernel"] == name
        comparable[own] = columns.comparable(each.kernel, table["weights"][own])
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


def rows_used(mixed: MixedParts, n_rows: int, weight_rows: int) -> dict[str, int]:
    """Return how many of n different rows each step of a fit has used."""
    if isinstance(mixed, SmallMixture):
        n_path = len(mixed.machines.path_rows)
        used = {"weights": min(n_path, weight_rows), "width and C": n_path}
        return used | {"the machines": n_rows}
    from .large import LargeMixture  # small tables do not need these imports
    from .parts.evidence import N_ROWS
    from .parts.evidence_hinge import PATH_ROWS

    if isinstance(mixed, LargeMixture):
        n_some, cells = len(mixed.some), {} if mixed.cells is None else {"the cells": n_rows}
        return {"weights": min(n_some, N_ROWS), "the joint part": n_some} | cells
    used = {"weights": min(n_rows, N_ROWS), "the joint part": n_rows}
    has_machines = any(part.name == "hinge" for part in mixed.parts)
    return used | ({"C": min(n_rows, PATH_ROWS), "the machines": n_rows} if has_machines else {})


def larger_attributes(mixed: LargerMixture, X: Array) -> dict[str, Any]:
    """Return what describes the kernel of a larger table, and the machine that may use it.

    X has the encoded rows of the fit, or some of them where it has cells.
    """
    from .parts.joint import kernel_shares  # small tables do not need its imports

    learned, layout = mixed.learned, mixed.rows.layout
    shares = layout.to_source(kernel_shares(mixed.rows, learned))
    shares = shares / shares.sum() if shares.any() else np.full(len(shares), 1 / len(shares))
    varying = layout.to_source(varying_columns(X).astype(np.float64)) > 0
    n_varying = max(1, int(np.count_nonzero(varying)))
    hinges: list[Any] = [part for part in mixed.parts if part.name == "hinge"]
    support = [hinge.predictor.vectors.support for hinge in hinges]
    empty = {name: np.empty(0) for name in _PATH_COLUMNS}
    return {
        "feature_importances_": shares,
        "feature_weights_": n_varying * shares,
        "selected_features_": has_equal_share(n_varying * shares),
        "members_": ["evidence"] * len(hinges),
        "kernel_": [hinge.predictor.kernels[0] for hinge in hinges] or [learned.kernel],
        "C_": np.array([hinge.C for hinge in hinges]),
        "gamma_": np.array([hinge.predictor.kernels[0].gamma for hinge in hinges]),
        "path_": {"member": np.empty(0, dtype=str)} | empty,
        "history_": {
            "kernel": np.repeat("laplacian", len(learned.history)),
            "value": np.array(learned.history),
        },
        "n_iter_": len(learned.history),
        "n_solves_": sum(hinge.predictor.n_machines for hinge in hinges),
        "support_vectors_": X[support[0]] if support else X[:0],
    }


def cell_attributes(cells: CellsPart) -> dict[str, Any]:
    """Return the kernel and the cost of each tree."""
    kernels: list[Any] = [member.kernel for member in cells.members]
    return {
        "members_": [cells.name] * len(kernels),
        "kernel_": kernels,
        "C_": np.array([member.C for member in cells.members]),
        "gamma_": np.array([kernel.gamma for kernel in kernels]),
        "n_solves_": sum(tree.intercepts.size for tree in cells.forest.trees),
        "fit_status_": int(cells.n_not_converged > 0),
    }


def count_solves(
    learned: Mapping[str, LearnedWeights], paths: Mapping[str, Path], n_machines: int
) -> int:
    """Return the number of machines and balls that were solved for weights, width and C."""
    n_evaluations = sum(each.minimum.n_evaluations for each in learned.values())
    n_balls = n_evaluations  # one per evaluation
    return n_balls + n_evaluations * n_machines + sum(path.n_solves for path in paths.values())


def conformal_halves(
    halves: Sequence[Half] | None, rows: PartRows, encoding: ColumnEncoding
) -> tuple[ConformalHalf, ...] | None:
    """Return the halves for prediction sets of rows as the user gives them."""
    if halves is None:
        return None
    return tuple(
        ConformalHalf.of(
            replace(half.predictor, before=(encoding,)),
            class_scores(half.decisions, None),
            rows.classes[half.decided],
            rows.count[half.decided],
        )
        for half in halves
    )

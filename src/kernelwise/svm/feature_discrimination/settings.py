"""The eta, C, measure and kernel of a fit: as the parameters say, or chosen by held-out rows."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from ..._typing import Index
from ...discrimination.scales import MEASURES
from ...kernels import Kernel, Linear
from ..base.task import FitTask
from ..paths.kernel_grid import KernelGrid
from ..paths.rows import TrainingRows
from ..paths.selection import deal
from ..paths.solvers import PathSolvers
from .choice import ChoiceGrid, HeldOutSearch, ParameterChoice
from .folds import Fold
from .space import ScaleRule, SpaceRule

_WITHOUT_LIMIT = 500  # rows up to which machines of the search have no limit on their steps
_WITH_WIDTHS = ("rbf", "laplacian", "matern32", "matern52")


def settings_of(model: Any, task: FitTask, space: SpaceRule, scales: ScaleRule) -> dict[str, Any]:
    """Return the settings of a fit as attributes.

    ``space``: which features are weighted. ``scales``: how they are measured and scaled. Returns
    ``attributes``: "eta_", "C_", "gamma_", "measure_", "path_" and "kernel_", the kernel before it
    is weighted.
    """
    measures = _measures(model)
    found: dict[str, Any] = {
        "eta_": model.eta,
        "C_": model.C,
        "measure_": measures[0],
        "path_": None,
        "kernel_": task.kernel,
    }
    if model.eta == "cv":
        with task.progress.task("choice"):
            choice = _choice(model, measures, task, space, scales)
        names = [m if isinstance(m, str) else "given" for m in measures]
        found = {
            "eta_": choice.point.eta,
            "C_": choice.point.C,
            "measure_": measures[choice.point.importance],
            "path_": choice.table(names),
            "kernel_": choice.kernel,
        }
    kernel = found["kernel_"]
    is_linear = isinstance(kernel, Linear)
    gamma = float("nan") if is_linear else float(getattr(kernel, "gamma", np.nan))
    task.progress.line(
        f"eta={found['eta_']:g}, C={found['C_']:g}, gamma={gamma:.4g}, "
        f"{len((found['path_'] or {}).get('C', ()))} points tried"
    )
    return found | {"gamma_": gamma}


def _measures(model: Any) -> list[Any]:
    """Return the measures there are to choose from."""
    given = model.importance
    if not isinstance(given, list | tuple) or not all(isinstance(m, str) for m in given):
        return [given]
    if not given or not set(given) <= set(MEASURES):
        raise ValueError(f"importance must be of {sorted(MEASURES)}; got {given!r}.")
    if model.eta != "cv" and len(given) > 1:
        raise ValueError("several measures are a choice, which eta='cv' makes; give one.")
    return list(given)


def _choice(
    model: Any, measures: list[Any], task: FitTask, space: SpaceRule, scales: ScaleRule
) -> ParameterChoice:
    """Choose the width, C, eta and measure by held-out rows."""
    random_state, splits = check_random_state(model.random_state), _splits(model, task)
    rows = TrainingRows.of(task, merge=splits is None)
    if splits is None:
        rows = rows.sample(model.max_rows, random_state)
        held = deal(rows.classes, min(int(model.cv), len(rows)), random_state)
        folds = [Fold(rows, each) for each in held]
    else:
        folds = [Fold(rows, each, train) for train, each in splits]
    kernels: tuple[Kernel, ...] = (task.kernel,)
    named = isinstance(model.kernel, str) and isinstance(model.gamma, str)
    if named and model.kernel in _WITH_WIDTHS:
        kernels = KernelGrid.of(task.kernel, rows, "gamma", widths=model.widths).kernels
    solver = PathSolvers(tol=model.tol, max_iter=model.max_iter).on_path(len(rows), C=1.0)
    if len(rows) <= _WITHOUT_LIMIT:  # where steps crawl, another method finishes the machine
        solver = replace(solver, max_iter=model.max_iter)
    search = HeldOutSearch(
        rows,
        task.labels.names,
        folds,
        ChoiceGrid.of(measures, model.etas, model.costs),
        space,
        scales,
        solver,
        task.threads,
    )
    return search.jointly(kernels) if model.search == "joint" else search.in_stages(kernels)


def _splits(model: Any, task: FitTask) -> list[list[Index]] | None:
    """Return the splits of a splitter, which sees the rows as given, in the task's numbers."""
    if isinstance(model.cv, Integral):
        return None
    X, y, _ = task.given
    place = np.full(X.shape[0], -1)
    place[task.labels.rows] = np.arange(len(task.labels.rows))
    splits = check_cv(model.cv, y, classifier=True).split(X, y)
    parts = [[place[part] for part in split] for split in splits]
    return [[np.sort(own[own >= 0]) for own in split] for split in parts]

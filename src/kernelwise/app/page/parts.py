"""The parts of a fitted RelevanceSVC or RelevanceSVR as plain data, from encoded rows to answers.

Additive columns of a bin or level become what they add to the decision; kernels keep the rows that
they compare with. The page rounds to float32 where Python does: scores, lines, additive columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import Array
from ...svm.relevance.cells import Squared
from ...svm.relevance.fitting import ClassModel
from ...svm.relevance.joint import Joint
from ...svm.relevance.levels import KEY, Family
from ...svm.relevance.losses import Several
from ...svm.relevance.machine import CLIP, Machine
from ...svm.relevance.number_model import NumberEnsemble, NumberModel
from ...svm.relevance.prior import CONSTANT, Prior
from ...svm.relevance.rows import CUT, SCORE, TRACE, ModelColumns, Rows, step_matrix
from ...svm.relevance.target import QUANTILES, ROOM, Target
from ...svm.relevance.trees import Tree
from .arrays import Arrays, DistinctRows

HIT = float(np.float32(np.sqrt(0.5)))  # of a level in the Gaussian kernel
CONSTANTS = {"score": float(SCORE), "cut": CUT, "hit": HIT, "clip": CLIP, "key": KEY}


class ModelParts:
    """Describes the models of an estimator; their arrays go to a common store."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self.n_rows = 0  # training rows that kernels compare with, of the member with most

    # --- Estimators -----------------------------------------------------------------------

    def of_classes(self, model: ClassModel) -> dict[str, Any]:
        """Return a member of a classifier."""
        member = _Member(self._arrays, model.columns)
        parts = [
            {
                "model": member.part(part.model),
                "slope": slope.tolist(),
                "pairs": None
                if part.pairs is None
                else {
                    "slope": part.pairs.slope.tolist(),
                    "intercept": part.pairs.intercept.tolist(),
                    "classes": part.pairs.n_classes,
                },
            }
            for part, slope in zip(model.parts, model.mixture.slopes, strict=True)
            if slope.any()
        ]
        own = {"parts": parts, "offset": model.mixture.offset.tolist()}
        return self._finished(member, model, own)

    def of_numbers(self, model: NumberEnsemble) -> dict[str, Any]:
        """Return the model of one target."""
        local = model.deviation
        return {
            "members": [self._number_member(member) for member in model.members],
            "slope": model.slope,
            "shift": model.shift,
            "floor": None if np.isinf(model.floor) else model.floor,
            "ratios": self._arrays.add(model.ratios),
            "deviation": {
                "columns": local.columns.tolist(),
                "mean": self._arrays.add(local.mean),
                "deviation": self._arrays.add(local.deviation),
                "coefficients": self._arrays.add(local.coefficients),
                "centre": local.centre,
                "limits": list(local.limits),
                "range": [local.low, local.high],
            },
        }

    def _number_member(self, model: NumberModel) -> dict[str, Any]:
        member, k = _Member(self._arrays, model.columns), len(model.transforms)
        parts = []
        for p, (_, part) in enumerate(model.parts):
            weights = model.weights[p * k : (p + 1) * k]
            if not weights.any():
                continue
            residuals = model.residuals[p * k : (p + 1) * k]
            targets = [_target(t, r) for t, r in zip(model.transforms, residuals, strict=True)]
            own = {"model": member.part(part), "weights": weights.tolist(), "targets": targets}
            parts.append(own)
        return self._finished(member, model, {"parts": parts})

    def _finished(
        self, member: _Member, model: ClassModel | NumberModel, own: dict[str, Any]
    ) -> dict[str, Any]:
        self.n_rows = max(self.n_rows, member.n_rows)
        families = [member.family(each) for each in model.families]
        encoded = self._arrays.add(model.encoded, "i4")
        return own | {"families": families, "encoded": encoded, **member.finished()}


def _target(target: Target, residuals: Array) -> dict[str, Any]:
    """Return the way back to the units of the user."""
    own = {"power": target.power, "centre": target.centre, "scale": target.scale}
    if target.power is None:
        return own
    room = ROOM * (target.high - target.low)
    return own | {
        "shift": target.shift,
        "limits": [target.low - room, target.high + room],
        "quantiles": np.quantile(residuals, QUANTILES).tolist(),
    }


# --- Members --------------------------------------------------------------------------------------


class _Member:
    """Describes the columns and parts of one member."""

    def __init__(self, arrays: Arrays, columns: ModelColumns) -> None:
        self._arrays, self._columns = arrays, columns
        self._numbers = np.flatnonzero(~columns.is_category)
        self._scores, self._lines = DistinctRows(), DistinctRows()

    @property
    def n_rows(self) -> int:
        """The number of training rows, each counted once."""
        return max(len(self._scores), len(self._lines))

    def finished(self) -> dict[str, Any]:
        """Return the columns, and the rows of all parts."""
        columns, add = self._columns, self._arrays.add
        sizes, n_knots = np.ones(len(columns.group)), np.zeros(len(columns.group), dtype=int)
        knots, bins, tops = columns.scores.knots, columns.bins, columns.tops
        sizes[self._numbers] = columns.scores.sizes
        n_knots[self._numbers] = np.diff(knots.stops)
        return {
            "columns": {
                "category": add(columns.is_category, "u1"),
                "means": add(columns.means),
                "deviations": add(columns.deviations),
                "sizes": add(sizes),
                "knots": add(knots.values),
                "scores": add(knots.scores),
                "stops": add(np.cumsum([0, *n_knots]), "i4"),
                "cuts": add(bins.cuts),
                "cutStops": add(bins.cut_stops, "i4"),
                "levels": add(bins.levels, "i4"),
                "levelStops": add(bins.level_stops, "i4"),
                "starts": add(bins.starts, "i4"),
                "tops": add(np.concatenate([np.zeros(0), *tops]), "i4"),
                "topStops": add(np.cumsum([0, *map(len, tops)]), "i4"),
            },
            "Z": add(self._scores.matrix(), "f4") if len(self._scores) else None,
            "lines": add(self._lines.matrix(), "f4") if len(self._lines) else None,
        }

    # --- Parts ----------------------------------------------------------------------------

    def part(self, model: Any) -> dict[str, Any]:
        """Return what a part needs to decide."""
        if isinstance(model, Several):
            return {"kind": "several", "models": [self.part(each) for each in model.models]}
        if isinstance(model, Joint):
            near = model.near
            return {
                "kind": "joint",
                "additive": self._additive(model.prior, model.additive),
                "kernel": None if near is None else self._kernel(model.prior, near, model.weights),
            }
        if isinstance(model, Machine):
            own = self._rows(model.rows)
            return {
                "kind": "machine",
                "kernel": {**own, **self._laplacian(model.u, 1.0), **self._coefs(model.beta)},
                "intercept": model.intercept.tolist(),
            }
        if isinstance(model, Squared):
            trees = [self._tree(model, tree, cells) for tree, cells in model.trees]
            return {"kind": "squared", "trees": trees}
        raise TypeError(f"a part of type {type(model).__name__} is not known")

    def _tree(self, model: Squared, tree: Tree, cells: Any) -> dict[str, Any]:
        prior, near = model.prior, model.near
        own: list[dict[str, Any]] = []
        for cell in cells:
            kernels = []
            if prior.has_kernel:
                kernels = [self._kernel(prior, cell.rows, cell.alpha)]
                kernels += [] if near is None else [self._kernel(prior, near, cell.shared)]
            own.append({"additive": self._additive(prior, cell.additive), "kernels": kernels})
        out: dict[str, Any] = {"cells": own}
        if len(cells) > 1:
            weights = prior.w[self._columns.group].astype(np.float32)
            out["route"] = {
                **self._gaussian_columns(prior.v > 0),
                "weights": self._arrays.add(weights, "f4"),
                "directions": self._arrays.add(tree.directions, "f4"),
                "cuts": self._arrays.add(tree.cuts),
                "children": self._arrays.add(tree.children, "i4"),
            }
        return out

    def _additive(self, prior: Prior, coefficients: Array) -> dict[str, Any]:
        """Return what lines, scores, bins and levels add; the columns as `Rows.additive` has."""
        columns, add = self._columns, self._arrays.add
        kept, steps = prior.v > 0, prior.tau > 0
        numbers = self._numbers[kept[columns.group[self._numbers]]]
        binned, sizes = columns.binned(kept, steps=steps), np.diff(columns.bins.starts)
        m, at = len(numbers), 1 + 2 * len(numbers)
        scale = np.sqrt(prior.v[columns.group]).astype(np.float32)
        tables = []
        for j in binned:
            heights: Array = np.eye(sizes[j])
            factor = scale[j]
            if not columns.is_category[j]:
                heights = step_matrix(int(sizes[j]))
                factor = np.float32(np.sqrt(prior.v[columns.group[j]] * prior.tau))
            root = heights.astype(np.float32) * factor
            tables.append(root @ coefficients[at : at + root.shape[1]])
            at += root.shape[1]
        return {
            "constant": (np.float32(np.sqrt(CONSTANT)) * coefficients[0]).tolist(),
            "numbers": add(numbers, "i4"),
            "scales": add(scale[numbers], "f4"),
            "lines": add(coefficients[1 : 1 + m]),
            "scores": add(coefficients[1 + m : 1 + 2 * m]),
            "binned": add(binned, "i4"),
            "starts": add(np.cumsum([0, *sizes[binned]]), "i4"),
            "tables": add(np.vstack(tables) if tables else np.zeros(0)),
        }

    # --- Kernels --------------------------------------------------------------------------

    def _kernel(self, prior: Prior, rows: Rows, coefs: Array) -> dict[str, Any]:
        """Return the covariances with rows, times coefficients."""
        own = self._rows(rows)
        if prior.s2 > 0:
            own |= self._laplacian(prior.w, prior.s2)
        if prior.r2 > 0:
            kept = prior.w > TRACE * prior.w.max(initial=0.0)
            own["gaussian"] = {
                **self._gaussian_columns(kept),
                "weights": self._arrays.add(prior.w[self._columns.group]),
                "amplitude": prior.r2,
                "rho": prior.rho,
            }
        return {**own, **self._coefs(coefs)}

    def _coefs(self, coefs: Array) -> dict[str, Any]:
        """Return coefficients; without the zeros of rows outside the pairs of many classes."""
        own = coefs != 0
        if 2 * np.count_nonzero(own) > own.size:
            return {"coefs": self._arrays.add(coefs), "starts": None}
        return {
            "coefs": self._arrays.add(coefs[own]),
            "starts": self._arrays.add(np.cumsum([0, *own.sum(axis=1)]), "i4"),
            "outputs": self._arrays.add(np.nonzero(own)[1], "i4"),
        }

    def _rows(self, rows: Rows) -> dict[str, Any]:
        own = {"Z": self._arrays.add(self._scores.add(rows.Z), "i4"), "lines": None}
        if rows.lines.shape[1]:
            own["lines"] = self._arrays.add(self._lines.add(rows.lines), "i4")
        return own

    def _laplacian(self, w: Array, amplitude: float) -> dict[str, Any]:
        each = w[self._columns.group]
        kept = np.flatnonzero(each > TRACE * each.max(initial=0.0))
        own = {"columns": self._arrays.add(kept, "i4"), "weights": self._arrays.add(each[kept])}
        return {"laplacian": {**own, "amplitude": amplitude}}

    def _gaussian_columns(self, kept: Any) -> dict[str, Any]:
        columns = self._columns
        own = np.asarray(kept)[columns.group]
        return {
            "numbers": self._arrays.add(np.flatnonzero(own & ~columns.is_category), "i4"),
            "categories": self._arrays.add(np.flatnonzero(own & columns.is_category), "i4"),
        }

    # --- Levels ---------------------------------------------------------------------------

    def family(self, family: Family) -> dict[str, Any]:
        """Return shifts by levels."""
        return {
            "first": family.first,
            "second": family.second,
            "cuts": None if family.cuts is None else self._arrays.add(family.cuts),
            "keys": self._arrays.add(family.keys),
            "shifts": self._arrays.add(family.shifts),
        }

"""RelevanceSVC and RelevanceSVR as ONNX nodes, from encoded rows to scores or predictions.

The nodes compute in float64. Scores of columns are rounded to float32, as the models round them, so
that a value on the edge of a cell of levels stays on its side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import Array, Index
from ...svm.relevance.cells import Cell, Squared, Tree
from ...svm.relevance.fitting import ClassModel
from ...svm.relevance.joint import Joint
from ...svm.relevance.levels import _KEY, Family
from ...svm.relevance.losses import Several
from ...svm.relevance.machine import Machine
from ...svm.relevance.number_model import NumberModel
from ...svm.relevance.prior import Prior
from ...svm.relevance.rows import _CUT, _SCORE, _TRACE, ModelColumns, Rows
from ...svm.relevance.settings import Settings
from ...svm.relevance.target import _QUANTILES, _ROOM, Target
from ._onnx_cells import cell_decisions
from ._onnx_coupling import coupled_log_odds
from ._onnx_graph import Graph, Tensor
from ._onnx_kernels import no_distances, summed_distances

_HIT = float(np.float32(np.sqrt(0.5)))  # of a level in the Gaussian kernel
_LEAST_POWER = 1e-3  # power of a target below which it is the logarithm


# --- Estimators -------------------------------------------------------------------------------


def class_scores(models: tuple[ClassModel, ...], graph: Graph, E: Tensor) -> Tensor:
    """Add the mean over members of the log-odds of two classes, or of one score per class."""
    return _mean(graph, [_scores_of_member(graph, model, E) for model in models])


def predictions(models: tuple[NumberModel, ...], graph: Graph, E: Tensor) -> Tensor:
    """Add the mean over members of the predictions of a number, as one column."""
    return _mean(graph, [_numbers_of_member(graph, model, E) for model in models])


def _mean(graph: Graph, parts: list[Tensor]) -> Tensor:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total if len(parts) == 1 else total / np.full((1, 1), float(len(parts)))


def _scores_of_member(graph: Graph, model: ClassModel, E: Tensor) -> Tensor:
    rows = GraphRows(graph, model.columns, E.columns(model.encoded), model.settings)
    out = graph.constant(model.mixture.offset[None])
    for part, slope in zip(model.parts, model.mixture.slopes, strict=True):
        decisions = _decisions(rows, part.model)
        if part.pairs is not None:
            decisions = coupled_log_odds(graph, part.pairs, decisions)
        out = decisions * slope[None] + out
    for family in model.families:
        out = out + rows.shift(family)
    return out


def _numbers_of_member(graph: Graph, model: NumberModel, E: Tensor) -> Tensor:
    rows = GraphRows(graph, model.columns, E.columns(model.encoded), model.settings)
    out, k = graph.constant(np.zeros((1, 1))), len(model.transforms)
    for p, (_, part) in enumerate(model.parts):
        own = slice(p * k, (p + 1) * k)
        if not model.weights[own].any():
            continue
        D = _decisions(rows, part)
        targets = zip(model.transforms, model.residuals[own], model.weights[own], strict=True)
        for j, (target, residuals, weight) in enumerate(targets):
            back = _back(graph, target, D.columns(np.array([j])), residuals)
            out = back * np.full((1, 1), weight) + out
    for family in model.families:
        out = out + rows.shift(family)
    return out


def _back(graph: Graph, target: Target, t: Tensor, residuals: Array) -> Tensor:
    """Add the way back to the units of the target."""
    if target.power is None:
        return t * np.full((1, 1), target.scale) + np.full((1, 1), target.centre)
    quantiles, room = np.quantile(residuals, _QUANTILES), _ROOM * (target.high - target.low)
    count = len(quantiles)
    z = (t + quantiles[None]).clipped(target.low - room, target.high + room)
    z = z * np.full((1, count), target.scale) + np.full((1, count), target.centre)
    if abs(target.power) < _LEAST_POWER:
        y = graph.node("Exp", z)
    else:
        base = z * np.full((1, count), target.power) + np.ones((1, count))
        y = graph.node("Pow", graph.node("Max", base, 1e-12), 1 / target.power)
    return y @ np.full((count, 1), 1 / count) + np.full((1, 1), target.shift)


# --- Parts ------------------------------------------------------------------------------------


def _decisions(rows: GraphRows, model: Any) -> Tensor:
    """Add the decisions of a part."""
    if isinstance(model, Several):
        return rows.graph.joined([_decisions(rows, each) for each in model.models])
    if isinstance(model, Joint):
        out = rows.additive(model.prior, model.additive)
        return (
            out if model.near is None else out + rows.kernel(model.prior, model.near, model.weights)
        )
    if isinstance(model, Machine):
        return rows.laplacian(model.rows, model.u) @ model.beta + model.intercept[None]
    if isinstance(model, Squared):
        parts = [_of_tree(rows, model, tree, cells) for tree, cells in model.trees]
        return _mean(rows.graph, parts)
    raise TypeError(f"a part of type {type(model).__name__} cannot be exported to ONNX.")


def _of_tree(rows: GraphRows, model: Squared, tree: Tree, cells: tuple[Cell, ...]) -> Tensor:
    """Add the decisions of one partition."""
    prior, near = model.prior, model.near
    if len(cells) > 1 or near is not None:
        return cell_decisions(rows, model, tree, cells)
    (cell,) = cells
    return rows.additive(prior, cell.additive) + rows.kernel(prior, cell.rows, cell.alpha)


# --- Rows -------------------------------------------------------------------------------------


class GraphRows:
    """Rows as a model reads them, as nodes.

    Parameters
    ----------
    graph : Graph
        The graph.
    columns : ModelColumns
        What the columns of the model are.
    E : Tensor
        The encoded columns of the model.
    settings : Settings
        The constants of the model.
    """

    def __init__(self, graph: Graph, columns: ModelColumns, E: Tensor, settings: Settings) -> None:
        self.graph, self.columns, self.E, self.settings = graph, columns, E, settings
        self.Z = self._scores()

    def _scores(self) -> Tensor:
        """Add Z: the heights of numbers on the lines between knots, over their sizes, and codes."""
        knots, sizes = self.columns.scores.knots, self.columns.scores.sizes
        number, found = 0, []
        for j, category in enumerate(self.columns.is_category):
            x = self.E.columns(np.array([j]))
            if category:
                found.append(x)
                continue
            own = slice(knots.stops[number], knots.stops[number + 1])
            height = _on_lines(self.graph, x, knots.values[own], knots.scores[own])
            found.append(self.graph.rounded(height / np.full((1, 1), sizes[number])))
            number += 1
        return self.graph.joined(found)

    def code(self, j: int) -> Tensor:
        """Add the codes of a category, as int64 of shape (n,)."""
        x = self.graph.as_integer(self.E.columns(np.array([j])))
        return self.graph.node("Reshape", x, np.array([-1]))

    # --- Additive columns -----------------------------------------------------------------

    def root(self, prior: Prior) -> Tensor:
        """Add the additive columns times the prior deviations of their coefficients."""
        graph, columns, kept = self.graph, self.columns, prior.v > 0
        own, bins = kept[columns.group], columns.bins
        numbers = np.flatnonzero(own & ~columns.is_category)
        parts = [self._ones()]
        if len(numbers):
            lines = self.E.columns(numbers) - columns.means[numbers][None]
            lines = lines / columns.deviations[numbers][None]
            parts.append(lines.clipped(-_CUT, _CUT))
            parts.append(self.Z.columns(numbers) * np.full((1, len(numbers)), float(_SCORE)))
        sizes = np.diff(bins.starts)
        for j in np.flatnonzero(own & (sizes > 1)).tolist():
            if columns.is_category[j]:
                parts.append(self._levels(j, int(sizes[j])))
            elif prior.tau > 0:
                cuts = bins.cuts_of(j)[None]
                above = graph.as_double(self.E.columns(np.array([j])) > cuts)
                parts.append(above * np.full(cuts.shape, 2 / np.sqrt(cuts.size)))
        probe = columns.rows(np.zeros((1, len(columns.group)))).additive(kept, steps=prior.tau > 0)
        scale = np.sqrt(prior.variances(probe, self.settings))
        return graph.joined(parts) * scale[None]

    def additive(self, prior: Prior, coefficients: Array) -> Tensor:
        """Add the additive columns times coefficients."""
        return self.root(prior) @ coefficients

    def _ones(self) -> Tensor:
        return self.graph.node("Expand", 1.0, self.graph.shape(self.E, 1))

    def _levels(self, j: int, size: int) -> Tensor:
        """Add one column per place of a category."""
        levels = self.columns.bins.levels_of(j)
        places = np.full(max(self._n_codes(j), len(levels)), size - 1)
        places[: len(levels)] = levels
        return self.graph.node("Gather", np.eye(size)[places], self.code(j), axis=0)

    # --- Kernels --------------------------------------------------------------------------

    def gaussian(self, kept: Any) -> Tensor:
        """Add the columns that the Gaussian kernel reads, of groups that a mask keeps."""
        columns, own = self.columns, np.asarray(kept)[self.columns.group]
        numbers = np.flatnonzero(own & ~columns.is_category)
        parts = [self.Z.columns(numbers)] if len(numbers) else []
        for j in np.flatnonzero(own & columns.is_category):
            tops = columns.tops[j].astype(np.float64)[None]
            hits = self.graph.as_double(self.Z.columns(np.array([j])).equals(tops))
            parts.append(hits * np.full(tops.shape, _HIT))
        return self.graph.joined(parts)

    def traced(self, w: Array) -> Array:
        """Return weights with zeros for those too small to count."""
        return np.where(w > _TRACE * w.max(initial=0.0), w, 0.0)

    def distance_weights(self, w: Array) -> tuple[Index, Array]:
        """Return the columns of Z that count in distances, and their weights."""
        each = self.traced(w[self.columns.group])
        kept = np.flatnonzero(each)
        return kept, each[kept]

    def laplacian(self, other: Rows, w: Array) -> Tensor:
        """Add exp(-sum_j w_j d_j) between rows."""
        kept, weights = self.distance_weights(w)
        if not len(kept):
            return self.graph.node("Exp", no_distances(self.graph, self.E, len(other)))
        X = self.Z.columns(kept) * weights[None]
        Z = other.Z[:, kept].astype(np.float64) * weights
        most = self.columns.limits[kept].astype(np.float64) * weights
        return self.graph.node("Exp", -summed_distances(self.graph, X, Z, most, squared=False))

    def squares(self, other: Rows, w: Array) -> Tensor:
        """Add sum_j (w_j d_j)^2 between rows."""
        kept = self.traced(w) > 0
        B, group = other.gaussian(kept)
        B = B.astype(np.float64) * w[group]
        A = self.gaussian(kept) * w[group][None]
        t = (A * A) @ np.ones((B.shape[1], 1)) + (B**2).sum(axis=1)[None] + A @ (-2 * B.T)
        return self.graph.node("Max", t, 0.0)

    def kernel(self, prior: Prior, other: Rows, coefficients: Array) -> Tensor:
        """Add the covariances of the Gaussian process with other rows times coefficients."""
        out = []
        if prior.s2 > 0:
            out.append(self.laplacian(other, prior.w) @ (prior.s2 * coefficients))
        if prior.r2 > 0:
            half = np.full((1, len(other)), -prior.rho / 2)
            K = self.graph.node("Exp", self.squares(other, prior.w) * half)
            out.append(K @ (prior.r2 * coefficients))
        return out[0] if len(out) == 1 else out[0] + out[1]

    # --- Levels ---------------------------------------------------------------------------

    def shift(self, family: Family) -> Tensor:
        """Add the shifts of rows by their levels; new cells have none."""
        k = family.shifts.shape[1]
        if family.first == family.second:
            table = np.vstack([family.shifts, np.zeros((1, k))])
            return self.graph.node("Gather", table, self._place(family.first, family.keys), axis=0)
        first, second = np.divmod(family.keys, _KEY)
        rows = np.unique(first)
        place = self._place(family.first, rows)
        if family.cuts is None:
            columns = np.unique(second)
            other, width = self._place(family.second, columns), len(columns) + 1
        else:
            columns = np.arange(len(family.cuts) + 1)
            other, width = self._bin(family.second, family.cuts), len(columns)
        table = np.zeros((len(rows) + 1, width, k))
        table[np.searchsorted(rows, first), np.searchsorted(columns, second)] = family.shifts
        cell = self.graph.node("Add", self.graph.node("Mul", place, np.array([width])), other)
        return self.graph.node("Gather", table.reshape(-1, k), cell, axis=0)

    def _place(self, j: int, levels: Index) -> Tensor:
        """Add the number of each row's level among some levels; the next number for others."""
        places = np.full(self._n_codes(j), len(levels), dtype=np.int64)
        places[levels] = np.arange(len(levels))
        return self.graph.node("Gather", places, self.code(j), axis=0)

    def _bin(self, j: int, cuts: Array) -> Tensor:
        """Add the number of cuts below each value of Z, as int64 of shape (n,)."""
        above = self.Z.columns(np.array([j])) > cuts.astype(np.float64)[None]
        count = self.graph.as_double(above) @ np.ones((len(cuts), 1))
        return self.graph.node("Reshape", self.graph.as_integer(count), np.array([-1]))

    def _n_codes(self, j: int) -> int:
        encoding = self.columns.encoding
        source = int(encoding.layout.source[j])
        return next(each.n_codes for each in encoding.categories if each.column == source)


def _on_lines(graph: Graph, x: Tensor, knots: Array, heights: Array) -> Tensor:
    """Add the height of a column on the lines between knots; that of the end beyond both ends."""
    slopes = np.append(np.diff(heights) / np.diff(knots), 0.0)
    x = graph.node("Max", x, knots[0])
    above = graph.as_double(x < knots[None]) @ np.ones((len(knots), 1))
    last = np.array([len(knots) - 1])
    place = graph.node("Sub", last, graph.node("Reshape", graph.as_integer(above), np.array([-1])))
    slope, knot, height = (
        graph.node("Gather", values[:, None], place, axis=0) for values in (slopes, knots, heights)
    )
    return slope * (x - knot) + height

"""RelevanceSVC and RelevanceSVR as ONNX nodes, from encoded rows to scores or predictions.

The nodes compute in float64. Scores of columns are rounded to float32, as the models round them, so
that a value on the edge of a cell of levels stays on its side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import Array, Index
from ...svm.relevance.cells import Cell, Squared
from ...svm.relevance.columns.scores import Knots
from ...svm.relevance.fitting import ClassModel
from ...svm.relevance.joint import Joint
from ...svm.relevance.levels import KEY, Family
from ...svm.relevance.losses import Several
from ...svm.relevance.machine import Machine
from ...svm.relevance.number_model import NumberModel
from ...svm.relevance.prior import Prior
from ...svm.relevance.rows import CUT, SCORE, TRACE, ModelColumns, Rows, step_size
from ...svm.relevance.target import QUANTILES, ROOM, Target
from ...svm.relevance.trees import Tree
from ._onnx_cells import cell_decisions
from ._onnx_coupling import coupled_log_odds
from ._onnx_graph import Graph, Tensor
from ._onnx_kernels import no_distances, summed_distances
from ._onnx_tables import numbered

_HIT = float(np.float32(np.sqrt(0.5)))  # of a level in the Gaussian kernel
_Name = tuple[str, int, int]  # of an additive column: what it is, of which column, which bin
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
    rows = GraphRows(graph, model.columns, E.columns(model.encoded))
    out = graph.constant(model.mixture.offset[None])
    parts = list(zip(model.parts, model.mixture.slopes, strict=True))
    # Parts of no weight are left out; without any, the output still needs one value per row.
    for part, slope in [each for each in parts if each[1].any()] or parts[:1]:
        decisions = _decisions(rows, part.model)
        if part.pairs is not None:
            decisions = coupled_log_odds(graph, part.pairs, decisions)
        out = decisions * slope[None] + out
    for family in model.families:
        out = out + rows.shift(family)
    return out


def _numbers_of_member(graph: Graph, model: NumberModel, E: Tensor) -> Tensor:
    rows = GraphRows(graph, model.columns, E.columns(model.encoded))
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
    quantiles, room = np.quantile(residuals, QUANTILES), ROOM * (target.high - target.low)
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
        if model.near is not None:
            out = rows.kernel(model.prior, model.near) @ model.weights + out
        return out
    if isinstance(model, Machine):
        return rows.laplacian(model.rows, model.u) @ model.beta + model.intercept[None]
    if isinstance(model, Squared):
        parts = [_of_tree(rows, model, tree, cells) for tree, cells in model.trees]
        return _mean(rows.graph, parts)
    raise TypeError(f"a part of type {type(model).__name__} cannot be exported to ONNX.")


def _of_tree(rows: GraphRows, model: Squared, tree: Tree, cells: tuple[Cell, ...]) -> Tensor:
    """Add the decisions of one partition."""
    if len(cells) > 1 or model.near is not None:
        return cell_decisions(rows, model, tree, cells)
    (cell,) = cells
    return rows.kernel(model.prior, cell.rows) @ cell.alpha + rows.additive(
        model.prior, cell.additive
    )


# --- Rows -------------------------------------------------------------------------------------


class GraphRows:
    """Rows as a model reads them, as nodes, whose number does not depend on that of the columns.

    ``columns``: what the columns of the model are. ``E``: the encoded columns of the model.
    """

    def __init__(self, graph: Graph, columns: ModelColumns, E: Tensor) -> None:
        self.graph, self.columns, self.E = graph, columns, E
        self.numbers = np.flatnonzero(~columns.is_category)
        self.categories = np.flatnonzero(columns.is_category)
        self.Z = self._scores()
        self._levels_of: Tensor | None = None
        self._all_additive: tuple[Tensor, dict[_Name, int]] | None = None

    def _scores(self) -> Tensor:
        """Add Z: the heights of numbers on the lines between knots, over their sizes, and codes."""
        parts = []
        if len(self.numbers):
            scores = self.columns.scores
            heights = _on_lines(self.graph, self.E.columns(self.numbers), scores.knots)
            parts.append(self.graph.rounded(heights / scores.sizes[None]))
        if not len(self.categories):
            return parts[0]
        parts.append(self.E.columns(self.categories))
        order = np.argsort(np.append(self.numbers, self.categories))
        return self.graph.joined(parts).columns(order)

    def _codes(self, columns: Index) -> Tensor:
        """Add the codes of categories, as int64."""
        return self.graph.as_integer(self.E.columns(columns))

    # --- Additive columns -----------------------------------------------------------------

    def additive(self, prior: Prior, coefficients: Array) -> Tensor:
        """Add the additive columns times coefficients."""
        A, scale = self.root(prior)
        return A @ (scale[:, None] * coefficients)

    def root(self, prior: Prior) -> tuple[Tensor, Array]:
        """Add the additive columns of a prior; return them, and the deviations of coefficients."""
        kept, steps = prior.v > 0, prior.tau > 0
        probe = self.columns.rows(np.zeros((1, len(self.columns.group))))
        scale = np.sqrt(prior.variances(probe.additive(kept, steps=steps)))
        if self._all_additive is None:
            self._all_additive = self._additive_columns()
        A, place = self._all_additive
        own = np.array([place[name] for name in self._names(kept, steps)])
        return (
            A if len(own) == len(place) and (np.diff(own) == 1).all() else A.columns(own)
        ), scale

    def _names(self, kept: Any, steps: bool) -> list[_Name]:
        """Return the names of additive columns, in the order of `Rows.additive`."""
        columns = self.columns
        numbers = self.numbers[np.asarray(kept)[columns.group[self.numbers]]].tolist()
        sizes = np.diff(columns.bins.starts)
        names: list[_Name] = [("constant", 0, 0)]
        names += [(kind, j, 0) for kind in ("line", "score") for j in numbers]
        for j in columns.binned(kept, steps=steps).tolist():
            names += [("bin", j, b) for b in range(sizes[j] - (not columns.is_category[j]))]
        return names

    def _lines(self, numbers: Index) -> Tensor:
        """Add standardised numbers, cut off."""
        lines = self.E.columns(numbers) - self.columns.means[numbers][None]
        return (lines / self.columns.deviations[numbers][None]).clipped(-CUT, CUT)

    def _additive_columns(self) -> tuple[Tensor, dict[_Name, int]]:
        """Add the constant, lines, scores, steps and levels; return them, and their places."""
        columns, numbers, bins = self.columns, self.numbers, self.columns.bins
        parts = [self.graph.node("Expand", 1.0, self.graph.shape(self.E, 1))]
        names: list[_Name] = [("constant", 0, 0)]
        if len(numbers):
            parts.append(self._lines(numbers))
            parts.append(self.Z.columns(numbers) * np.full((1, len(numbers)), float(SCORE)))
            names += [(kind, j, 0) for kind in ("line", "score") for j in numbers.tolist()]
        sizes = np.diff(bins.starts)
        binned = np.flatnonzero(sizes > 1)
        stepped, levelled = (binned[columns.is_category[binned] == c] for c in (False, True))
        if len(stepped):
            repeated = np.repeat(stepped, sizes[stepped] - 1)
            cuts = np.concatenate([bins.cuts_of(j) for j in stepped])[None]
            above = self.graph.as_double(self.E.columns(repeated) > cuts)
            parts.append(above * step_size(sizes[repeated])[None])
            names += [("bin", j, b) for j in stepped.tolist() for b in range(sizes[j] - 1)]
        if len(levelled):
            places = numbered(
                self.graph, self._codes(levelled), [self._places(j) for j in levelled]
            )
            names += [("bin", j, b) for j in levelled.tolist() for b in range(sizes[j])]
            repeated = np.repeat(np.arange(len(levelled)), sizes[levelled])
            own = np.concatenate([np.arange(size) for size in sizes[levelled]])[None]
            parts.append(self.graph.as_double(places.columns(repeated).equals(own)))
        return self.graph.joined(parts), {name: place for place, name in enumerate(names)}

    def _places(self, j: int) -> Index:
        """Return the place of each code of a category; the last one is for unknown codes."""
        levels = self.columns.bins.levels_of(j)
        last = int(np.diff(self.columns.bins.starts)[j]) - 1
        out = np.full(max(self._n_codes(j), len(levels)), last)
        out[: len(levels)] = levels
        return out

    # --- Kernels --------------------------------------------------------------------------

    def gaussian(self, kept: Any) -> Tensor:
        """Add the columns that the Gaussian kernel reads, of groups that a mask keeps."""
        columns, own = self.columns, np.asarray(kept)[self.columns.group]
        numbers = self.numbers[own[self.numbers]]
        parts = []
        if len(numbers):
            parts.append(self._lines(numbers) * np.full((1, len(numbers)), float(SCORE)))
        tops = [columns.tops[j] for j in self.categories[own[self.categories]]]
        if tops:
            repeated = np.repeat(self.categories[own[self.categories]], [len(t) for t in tops])
            levels = np.concatenate(tops).astype(np.float64)[None]
            hits = self.graph.as_double(self.Z.columns(repeated).equals(levels))
            parts.append(hits * np.full(levels.shape, _HIT))
        return self.graph.joined(parts)

    def traced(self, w: Array) -> Array:
        """Return weights with zeros for those too small to count."""
        return np.where(w > TRACE * w.max(initial=0.0), w, 0.0)

    def distance_weights(self, w: Array) -> tuple[Index, Array]:
        """Return the columns of Z that count in distances, and their weights."""
        each = self.traced(w[self.columns.group])
        kept = np.flatnonzero(each)
        return kept, each[kept]

    def laplacian(self, other: Rows, w: Array, amplitude: float = 1.0) -> Tensor:
        """Add amplitude exp(-sum_j w_j d_j) between rows."""
        kept, weights = self.distance_weights(w)
        if len(kept):
            X = self.Z.columns(kept) * weights[None]
            Z = other.Z[:, kept].astype(np.float64) * weights
            most = self.columns.limits[kept].astype(np.float64) * weights
            t = summed_distances(self.graph, X, Z, most, squared=False)
        else:
            t = no_distances(self.graph, self.E, len(other))
        return self._exponential(-t, amplitude)

    def _exponential(self, t: Tensor, amplitude: float) -> Tensor:
        """Add amplitude exp(t), without a product that onnxruntime would round to float32."""
        return self.graph.node("Exp", t if amplitude == 1 else t + float(np.log(amplitude)))

    def squares(self, other: Rows, w: Array) -> Tensor:
        """Add sum_j (w_j d_j)^2 between rows."""
        kept = self.traced(w) > 0
        B, group = other.gaussian(kept)
        B = B.astype(np.float64) * w[group]
        A = self.gaussian(kept) * w[group][None]
        t = (A * A) @ np.ones((B.shape[1], 1)) + (B**2).sum(axis=1)[None] + A @ (-2 * B.T)
        return self.graph.node("Max", t, 0.0)

    def kernel(self, prior: Prior, other: Rows) -> Tensor:
        """Add the covariances of the Gaussian process with other rows."""
        out = []
        if prior.s2 > 0:
            out.append(self.laplacian(other, prior.w, prior.s2))
        if prior.r2 > 0:
            half = np.full((1, len(other)), -prior.rho / 2)
            out.append(self._exponential(self.squares(other, prior.w) * half, prior.r2))
        return out[0] if len(out) == 1 else out[0] + out[1]

    # --- Levels ---------------------------------------------------------------------------

    def shift(self, family: Family) -> Tensor:
        """Add the shifts of rows by their levels; new cells have none."""
        alone, keys = family.first == family.second, family.keys
        first, second = (np.zeros_like(keys), keys) if alone else np.divmod(keys, KEY)
        if family.cuts is None:
            columns = np.unique(second)
            place, width = self._place(family.second, columns), len(columns) + 1
        else:
            columns = np.arange(len(family.cuts) + 1)
            place, width = self._bin(family.second, family.cuts), len(columns)
        rows = np.unique(first)
        table = np.zeros((len(rows) + 1, width, family.shifts.shape[1]))
        table[np.searchsorted(rows, first), np.searchsorted(columns, second)] = family.shifts
        if not alone:
            above = self.graph.node("Mul", self._place(family.first, rows), np.array([width]))
            place = self.graph.node("Add", above, place)
        return self.graph.node("Gather", table.reshape(-1, table.shape[2]), place, axis=0)

    def _place(self, j: int, levels: Index) -> Tensor:
        """Add the number of each row's level among some levels; the next number for others."""
        places = np.full(self._n_codes(j), len(levels), dtype=np.int64)
        places[levels] = np.arange(len(levels))
        return self._flat(numbered(self.graph, self._codes(np.array([j])), [places]))

    def _bin(self, j: int, cuts: Array) -> Tensor:
        """Add the number of cuts below each value of Z, as int64 of shape (n,)."""
        above = self.Z.columns(np.array([j])) > cuts.astype(np.float64)[None]
        count = self.graph.as_double(above) @ np.ones((len(cuts), 1))
        return self._flat(self.graph.as_integer(count))

    def _flat(self, x: Tensor) -> Tensor:
        return self.graph.node("Reshape", x, np.array([-1]))

    def _n_codes(self, j: int) -> int:
        encoding = self.columns.encoding
        source = int(encoding.layout.source[j])
        return next(each.n_codes for each in encoding.categories if each.column == source)


def _on_lines(graph: Graph, X: Tensor, knots: Knots) -> Tensor:
    """Add the height of each column on the lines between its knots; beyond both ends, of the end.

    The last knot that is not above a value is found by halves, for all columns at once.
    """
    first, last = knots.stops[:-1], knots.stops[1:] - 1
    X = graph.node("Max", X, knots.values[first][None])
    place = graph.node("Expand", first[None], graph.shape(X, len(first)))
    half = 1 << int(np.max(last - first, initial=0)).bit_length()
    while half := half // 2:
        ahead = graph.node("Min", graph.node("Add", place, np.array([[half]])), last[None])
        above = graph.node("Gather", knots.values, ahead, axis=0) > X
        place = graph.node("Where", above, place, ahead)
    slopes = np.zeros(len(knots.values))
    inner = np.setdiff1d(np.arange(len(slopes)), last)
    slopes[inner] = (np.diff(knots.scores)[inner]) / np.diff(knots.values)[inner]
    slope, knot, height = (
        graph.node("Gather", values, place, axis=0)
        for values in (slopes, knots.values, knots.scores)
    )
    return slope * (X - knot) + height

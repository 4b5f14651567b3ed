"""The parts of a mixture as ONNX nodes, from encoded rows to their decisions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np

from .._typing import Array, Index
from ..scale.bins import ColumnBins
from ..svm.base.predictor import Predictor
from ..svm.relevance.parts.additive import LARGEST, AdditiveColumns, AdditivePart
from ..svm.relevance.parts.crossed import CrossedPart
from ..svm.relevance.parts.evidence_hinge import EvidenceHingePart
from ..svm.relevance.parts.hinge import HingePart
from ..svm.relevance.parts.indicators import IndicatorPart
from ..svm.relevance.parts.joint import JointPart
from ..svm.relevance.parts.linear import LinearPart
from ..svm.relevance.parts.metric import MetricColumns
from ..svm.relevance.parts.normal_scores import NormalScores
from ..svm.relevance.parts.ridge import RidgePart
from ..svm.relevance.predictor import MixturePredictor
from ._onnx_graph import Graph, Tensor
from ._onnx_kernels import matrix

Machines = Callable[[Graph, Predictor, Tensor], Tensor]  # adds the nodes of machines


def mixed(graph: Graph, predictor: MixturePredictor, X: Tensor, machines: Machines) -> Tensor:
    """Add the log-odds of a mixture on encoded rows; return their name."""
    factor, total = _calibration(predictor)
    out = graph.constant((predictor.mixture.offset * factor + total)[None])
    for part, own in zip(predictor.parts, predictor.mixture.factors, strict=True):
        decisions = _decisions(part, graph, X, machines)
        out = decisions @ (own * factor) + out
    return out


def _calibration(predictor: MixturePredictor) -> tuple[Array, Array]:
    """Return the factor of the log-odds in a calibration, and the term that it adds."""
    zeros = np.zeros((1, len(predictor.mixture.offset)))
    if predictor.calibration is None:
        return np.ones_like(zeros[0]), zeros[0]
    total: Array = predictor.calibration.scores(zeros)[0]
    factor: Array = predictor.calibration.scores(zeros + 1)[0] - total
    return factor, total


@singledispatch
def _decisions(part: Any, graph: Graph, X: Tensor, machines: Machines) -> Tensor:
    """Add the decisions of a part; return their name."""
    raise ValueError(
        f"The {part.name!r} part of the mixture cannot be exported to ONNX: it is not supported. "
        'Save the model with kernelwise.io.save, or fit with large="exact", or ensemble=False.'
    )


@_decisions.register
def _(part: HingePart, graph: Graph, X: Tensor, machines: Machines) -> Tensor:
    return machines(graph, part.predictor, X)


@_decisions.register
def _(part: RidgePart, graph: Graph, X: Tensor, machines: Machines) -> Tensor:
    Z = _normal_scores(graph, part.scores, X, part.columns)
    return matrix(graph, part.kernel, Z, part.rows) @ part.coef + part.intercept[None]


@_decisions.register
def _(part: LinearPart, graph: Graph, X: Tensor, machines: Machines) -> Tensor:
    features = part.features
    scores = _normal_scores(graph, features.scores, X, features.columns)
    coef = part.coef / np.sqrt(len(part.coef))
    own, other = coef[: len(coef) // 2] / features.spread[:, None], coef[len(coef) // 2 :]
    linear = (X.columns(features.columns) - features.centre[None]) @ own
    return linear + scores @ other + part.intercept[None]


@_decisions.register
def _(part: IndicatorPart, graph: Graph, X: Tensor, machines: Machines) -> Tensor:
    own = part.indicators
    found = []
    if len(own.numbers):
        found.append(X.columns(own.numbers))
    if len(own.columns):
        found.append(_equal(graph, X, own.columns, own.codes))
    return _decisions(part.part, graph, graph.joined(found), machines)


@_decisions.register
def _(part: AdditivePart, graph: Graph, X: Tensor, machines: Machines) -> Tensor:
    return _additive(graph, part.columns, part.coefficients, X)


@_decisions.register
def _(part: JointPart, graph: Graph, X: Tensor, machines: Machines) -> Tensor:
    near = part.landmarks
    Z = _metric_columns(graph, near.columns, X)
    K = matrix(graph, near.kernel, Z, near.rows.astype(np.float64))
    by_kernel = K @ part.kernel_coefficients
    return _additive(graph, part.additive, part.coefficients, X) + by_kernel


@_decisions.register
def _(part: CrossedPart, graph: Graph, X: Tensor, machines: Machines) -> Tensor:
    out = _decisions(part.joint, graph, X, machines)
    columns = X.columns(part.columns)
    for q, start in enumerate(part.starts[:-1]):
        first, second = (_place(graph, part.bins, columns, j) for j in (2 * q, 2 * q + 1))
        row = graph.scaled(first, 1, float(part.strides[q]))
        cell = row + second + float(start)
        number = graph.node("Reshape", graph.as_integer(cell), np.array([-1]))
        out = out + graph.node("Gather", part.shifts, number, axis=0)
    return out


@_decisions.register
def _(part: EvidenceHingePart, graph: Graph, X: Tensor, machines: Machines) -> Tensor:
    columns: Any = part.predictor.before[0]
    predictor = replace(part.predictor, before=())
    return machines(graph, predictor, _metric_columns(graph, columns, X))


def _additive(graph: Graph, columns: AdditiveColumns, coefficients: Array, X: Tensor) -> Tensor:
    """Add the decisions of an additive regression: lines, staircases and levels."""
    bins, q = columns.bins, 1 + len(columns.numbers)
    heights = columns.steps.at_places(coefficients[q:])
    is_category = np.asarray(bins.is_category)
    constant = coefficients[0] + heights[bins.starts[:-1][~is_category]].sum(axis=0)
    constant += heights[bins.starts[1:][is_category] - 1].sum(axis=0)  # unknown levels
    out = X @ np.zeros((len(is_category), coefficients.shape[1])) + constant[None]
    if len(columns.numbers):
        scaled = (X.columns(columns.numbers) - columns.means[None]) / columns.deviations[None]
        out = scaled.clipped(-LARGEST, LARGEST) @ coefficients[1:q] + out
    if len(bins.cuts):
        owner = np.repeat(np.arange(len(is_category)), np.diff(bins.cut_stops))
        below = bins.starts[owner] + np.arange(len(owner)) - bins.cut_stops[owner]
        above = graph.as_double(X.columns(owner) > bins.cuts[None])
        out = above @ (heights[below + 1] - heights[below]) + out
    if len(bins.levels):
        owner = np.repeat(np.arange(len(is_category)), np.diff(bins.level_stops))
        codes = np.arange(len(owner)) - bins.level_stops[owner]
        own = heights[bins.starts[owner] + bins.levels] - heights[bins.starts[owner + 1] - 1]
        equal = _equal(graph, X, owner, codes.astype(np.float64))
        out = equal @ own + out
    return out


def _place(graph: Graph, bins: ColumnBins, X: Tensor, j: int) -> Tensor:
    """Add the place of each value of a column, counted from the column's first place."""
    if not bins.is_category[j]:
        cuts = bins.cuts_of(j)
        above = graph.as_double(X.columns(np.array([j])) > cuts[None])
        return above @ np.ones((len(cuts), 1))
    levels = bins.levels_of(j)
    unknown = bins.starts[j + 1] - bins.starts[j] - 1
    codes = np.arange(len(levels), dtype=np.float64)
    equal = _equal(graph, X, np.full(len(levels), j), codes)
    return equal @ (levels - unknown).astype(np.float64)[:, None] + float(unknown)


def _equal(graph: Graph, X: Tensor, columns: Index, codes: Array) -> Tensor:
    """Add columns that are one where an encoded column has a code, else zero."""
    return graph.as_double(X.columns(columns).equals(codes[None]))


def _metric_columns(graph: Graph, columns: MetricColumns, X: Tensor) -> Tensor:
    """Add rows in the units in which they are compared."""
    is_category = np.asarray(columns.is_category)
    numbers, categories = np.flatnonzero(~is_category), np.flatnonzero(is_category)
    found = []
    if len(numbers):
        scores = _normal_scores(graph, columns.scores, X, numbers)
        found.append(scores / columns.sizes[None])
    if len(categories):
        found.append(X.columns(categories))
    if len(found) == 1:
        return found[0]
    order = np.argsort(np.append(numbers, categories))
    return graph.node("Concat", *found, axis=1).columns(order)


def _normal_scores(graph: Graph, scores: NormalScores, X: Tensor, columns: Index) -> Tensor:
    """Add the normal scores of some columns, each the sum of its steps between training values.

    A step is s * clip((x - a) / (b - a), 0, 1) from the value a to the next value b.
    """
    found = []
    for j, column in enumerate(columns):
        own = slice(scores.stops[j], scores.stops[j + 1])
        values, heights = scores.values[own], scores.scores[own]
        x = X.columns(np.array([column]))
        if len(values) == 1:
            found.append(x @ np.zeros((1, 1)))
            continue
        part = ((x - values[None, :-1]) / np.diff(values)[None]).clipped(0.0, 1.0)
        found.append(part @ np.diff(heights)[:, None] + heights[None, :1])
    return graph.joined(found)

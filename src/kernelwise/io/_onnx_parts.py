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
from ._onnx_graph import Graph
from ._onnx_kernels import matrix

Machines = Callable[[Graph, Predictor, str], str]  # adds the nodes of machines


def mixed(graph: Graph, predictor: MixturePredictor, X: str, machines: Machines) -> str:
    """Add the log-odds of a mixture on encoded rows; return their name."""
    factor, total = _calibration(predictor)
    out = graph.constant((predictor.mixture.offset * factor + total)[None])
    for part, own in zip(predictor.parts, predictor.mixture.factors, strict=True):
        decisions = _decisions(part, graph, X, machines)
        out = graph.node("Add", graph.node("MatMul", decisions, own * factor), out)
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
def _decisions(part: Any, graph: Graph, X: str, machines: Machines) -> str:
    """Add the decisions of a part; return their name."""
    raise ValueError(
        f"The {part.name!r} part of the mixture cannot be exported to ONNX: it is not supported. "
        'Save the model with kernelwise.io.save, or fit with large="exact", or ensemble=False.'
    )


@_decisions.register
def _(part: HingePart, graph: Graph, X: str, machines: Machines) -> str:
    return machines(graph, part.predictor, X)


@_decisions.register
def _(part: RidgePart, graph: Graph, X: str, machines: Machines) -> str:
    Z = _normal_scores(graph, part.scores, X, part.columns)
    values = graph.node("MatMul", matrix(graph, part.kernel, Z, part.rows), part.coef)
    return graph.node("Add", values, part.intercept[None])


@_decisions.register
def _(part: LinearPart, graph: Graph, X: str, machines: Machines) -> str:
    features = part.features
    columns = graph.node("Gather", X, features.columns, axis=1)
    scores = _normal_scores(graph, features.scores, X, features.columns)
    coef = part.coef / np.sqrt(len(part.coef))
    own, other = coef[: len(coef) // 2] / features.spread[:, None], coef[len(coef) // 2 :]
    linear = graph.node("MatMul", graph.node("Sub", columns, features.centre[None]), own)
    values = graph.node("Add", linear, graph.node("MatMul", scores, other))
    return graph.node("Add", values, part.intercept[None])


@_decisions.register
def _(part: IndicatorPart, graph: Graph, X: str, machines: Machines) -> str:
    own = part.indicators
    found = []
    if len(own.numbers):
        found.append(graph.node("Gather", X, own.numbers, axis=1))
    if len(own.columns):
        found.append(_equal(graph, X, own.columns, own.codes))
    numbers = found[0] if len(found) == 1 else graph.node("Concat", *found, axis=1)
    return _decisions(part.part, graph, numbers, machines)


@_decisions.register
def _(part: AdditivePart, graph: Graph, X: str, machines: Machines) -> str:
    return _additive(graph, part.columns, part.coefficients, X)


@_decisions.register
def _(part: JointPart, graph: Graph, X: str, machines: Machines) -> str:
    near = part.landmarks
    Z = _metric_columns(graph, near.columns, X)
    K = matrix(graph, near.kernel, Z, near.rows.astype(np.float64))
    by_kernel = graph.node("MatMul", K, part.kernel_coefficients)
    return graph.node("Add", _additive(graph, part.additive, part.coefficients, X), by_kernel)


@_decisions.register
def _(part: CrossedPart, graph: Graph, X: str, machines: Machines) -> str:
    out = _decisions(part.joint, graph, X, machines)
    columns = graph.node("Gather", X, part.columns, axis=1)
    for q, start in enumerate(part.starts[:-1]):
        first, second = (_place(graph, part.bins, columns, j) for j in (2 * q, 2 * q + 1))
        row = graph.scaled(first, 1, float(part.strides[q]))
        cell = graph.node("Add", graph.node("Add", row, second), graph.number(float(start)))
        number = graph.node("Reshape", graph.as_integer(cell), np.array([-1]))
        out = graph.node("Add", out, graph.node("Gather", part.shifts, number, axis=0))
    return out


@_decisions.register
def _(part: EvidenceHingePart, graph: Graph, X: str, machines: Machines) -> str:
    columns: Any = part.predictor.before[0]
    predictor = replace(part.predictor, before=())
    return machines(graph, predictor, _metric_columns(graph, columns, X))


def _additive(graph: Graph, columns: AdditiveColumns, coefficients: Array, X: str) -> str:
    """Add the decisions of an additive regression: lines, staircases and levels."""
    bins, q = columns.bins, 1 + len(columns.numbers)
    heights = columns.steps.at_places(coefficients[q:])
    is_category = np.asarray(bins.is_category)
    constant = coefficients[0] + heights[bins.starts[:-1][~is_category]].sum(axis=0)
    constant += heights[bins.starts[1:][is_category] - 1].sum(axis=0)  # unknown levels
    out = graph.node("MatMul", X, np.zeros((len(is_category), coefficients.shape[1])))
    out = graph.node("Add", out, constant[None])
    if len(columns.numbers):
        x = graph.node("Gather", X, columns.numbers, axis=1)
        scaled = graph.node("Sub", x, columns.means[None])
        scaled = graph.node("Div", scaled, columns.deviations[None])
        least, most = graph.number(-LARGEST), graph.number(LARGEST)
        scaled = graph.node("Max", graph.node("Min", scaled, most), least)
        out = graph.node("Add", graph.node("MatMul", scaled, coefficients[1:q]), out)
    if len(bins.cuts):
        owner = np.repeat(np.arange(len(is_category)), np.diff(bins.cut_stops))
        below = bins.starts[owner] + np.arange(len(owner)) - bins.cut_stops[owner]
        x = graph.node("Gather", X, owner, axis=1)
        above = graph.as_double(graph.node("Greater", x, bins.cuts[None]))
        rises = heights[below + 1] - heights[below]
        out = graph.node("Add", graph.node("MatMul", above, rises), out)
    if len(bins.levels):
        owner = np.repeat(np.arange(len(is_category)), np.diff(bins.level_stops))
        codes = np.arange(len(owner)) - bins.level_stops[owner]
        own = heights[bins.starts[owner] + bins.levels] - heights[bins.starts[owner + 1] - 1]
        equal = _equal(graph, X, owner, codes.astype(np.float64))
        out = graph.node("Add", graph.node("MatMul", equal, own), out)
    return out


def _place(graph: Graph, bins: ColumnBins, X: str, j: int) -> str:
    """Add the place of each value of a column, counted from the column's first place."""
    if not bins.is_category[j]:
        cuts = bins.cuts_of(j)
        x = graph.node("Gather", X, np.array([j]), axis=1)
        above = graph.as_double(graph.node("Greater", x, cuts[None]))
        return graph.node("MatMul", above, np.ones((len(cuts), 1)))
    levels = bins.levels_of(j)
    unknown = bins.starts[j + 1] - bins.starts[j] - 1
    codes = np.arange(len(levels), dtype=np.float64)
    equal = _equal(graph, X, np.full(len(levels), j), codes)
    beyond = graph.node("MatMul", equal, (levels - unknown).astype(np.float64)[:, None])
    return graph.node("Add", beyond, graph.number(float(unknown)))


def _equal(graph: Graph, X: str, columns: Index, codes: Array) -> str:
    """Add columns that are one where an encoded column has a code, else zero."""
    x = graph.node("Gather", X, columns, axis=1)
    return graph.as_double(graph.node("Equal", x, codes[None]))


def _metric_columns(graph: Graph, columns: MetricColumns, X: str) -> str:
    """Add rows in the units in which they are compared."""
    is_category = np.asarray(columns.is_category)
    numbers, categories = np.flatnonzero(~is_category), np.flatnonzero(is_category)
    found = []
    if len(numbers):
        scores = _normal_scores(graph, columns.scores, X, numbers)
        found.append(graph.node("Div", scores, columns.sizes[None]))
    if len(categories):
        found.append(graph.node("Gather", X, categories, axis=1))
    if len(found) == 1:
        return found[0]
    order = np.argsort(np.append(numbers, categories))
    return graph.node("Gather", graph.node("Concat", *found, axis=1), order, axis=1)


def _normal_scores(graph: Graph, scores: NormalScores, X: str, columns: Index) -> str:
    """Add the normal scores of some columns, each the sum of its steps between training values.

    A step is s * clip((x - a) / (b - a), 0, 1) from the value a to the next value b.
    """
    found = []
    for j, column in enumerate(columns):
        own = slice(scores.stops[j], scores.stops[j + 1])
        values, heights = scores.values[own], scores.scores[own]
        x = graph.node("Gather", X, np.array([column]), axis=1)
        if len(values) == 1:
            found.append(graph.node("MatMul", x, np.zeros((1, 1))))
            continue
        above = graph.node("Sub", x, values[None, :-1])
        part = graph.node("Div", above, np.diff(values)[None])
        part = graph.node("Max", graph.node("Min", part, graph.number(1.0)), graph.number(0.0))
        steps = graph.node("MatMul", part, np.diff(heights)[:, None])
        found.append(graph.node("Add", steps, heights[None, :1]))
    return found[0] if len(found) == 1 else graph.node("Concat", *found, axis=1)

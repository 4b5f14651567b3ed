"""The parts of a mixture as ONNX nodes, from encoded rows to their decisions."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np

from .._typing import Array, Index
from ..svm.base.predictor import Predictor
from ..svm.relevance.parts.hinge import HingePart
from ..svm.relevance.parts.linear import LinearPart
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
    """Return what the calibration multiplies the log-odds by, and what it adds."""
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
        "Save the model with kernelwise.io.save, or fit with ensemble=False."
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

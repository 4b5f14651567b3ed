"""Log-odds of classes from decisions of pairs of classes, as ONNX nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...svm.relevance.machine import CLIP, PairSigmoids
from ._onnx_graph import Graph, Tensor, inner

_RIDGE = 1e-9  # added to the diagonal of the system, as `couple` does
_LEAST = 1e-7  # probability of a class before the last normalisation, as in `couple`


def coupled_log_odds(graph: Graph, pairs: PairSigmoids, decisions: Tensor) -> Tensor:
    """Add the log-odds of each class against all others; see `PairSigmoids.log_odds`.

    The minimum of sum_ab (P_ba p_a - P_ab p_b)^2 among p of sum one is H^-1 1 over its sum, with
    H_aa = sum_b P_ba^2 and H_ab = -P_ba P_ab.
    """
    k = pairs.n_classes
    first, second = np.triu_indices(k, 1)
    log_odds = decisions * pairs.slope[None] + pairs.intercept[None]
    own = graph.node("Sigmoid", log_odds).clipped(CLIP, 1 - CLIP)
    other, none = -own + np.ones((1, len(first))), own.columns(np.array([0])) * np.zeros((1, 1))
    place = np.full((k, k), 2 * len(first))  # of each pair in [own, other, none]
    place[first, second] = np.arange(len(first))
    place[second, first] = len(first) + np.arange(len(first))
    P, back = (
        graph.node("Reshape", graph.joined([own, other, none]).columns(at.ravel()), shape)
        for at, shape in ((place, np.array([-1, k, k])), (place.T, np.array([-1, k, k])))
    )
    sums = graph.node("ReduceSum", back * back, np.array([2]), keepdims=1)
    H = (sums + _RIDGE) * np.eye(k)[None] - P * back
    p = _solved_for_ones(graph, H, k)
    p = graph.node("Max", p / (p @ np.ones((k, 1))), _LEAST)
    p = (p / (p @ np.ones((k, 1)))).clipped(CLIP, 1 - CLIP)
    return graph.node("Log", p) - graph.node("Log", -p + np.ones((1, k)))


def _solved_for_ones(graph: Graph, H: Tensor, k: int) -> Tensor:
    """Add H^-1 1 for positive definite matrices H (n, k, k), by Gauss-Jordan elimination.

    Row i of M = [H, 1] is divided by its pivot and subtracted from the others, for each i in turn.
    """
    ones = graph.node("Slice", H, *(np.array([each]) for each in (0, 1, 2)))  # the first column
    ones = ones * np.zeros((1, 1, 1)) + np.ones((1, 1, 1))
    M = graph.node("Concat", H, ones, axis=2)
    steps, units = np.arange(k)[:, None], np.eye(k)[:, :, None]
    M = graph.node("Scan", M, steps, units, num_scan_inputs=2, body=_elimination_step(k))
    last = np.zeros((k + 1, 1))
    last[k] = 1
    return graph.node("Reshape", M @ last, np.array([-1, k]))


def _elimination_step(k: int) -> Any:
    """Return the graph of a step, which reads M (n, k, k + 1), its number i and e_i (k, 1)."""
    from onnx import TensorProto, helper

    M, i, e_i, row, pivot, unit, column, rest, change, after = map(
        inner, ("M", "i", "e_i", "row", "pivot", "unit", "column", "rest", "change", "M_after")
    )
    nodes = [
        helper.make_node("Gather", [M, i], [row], axis=1),
        helper.make_node("Gather", [row, i], [pivot], axis=2),
        helper.make_node("Div", [row, pivot], [unit]),
        helper.make_node("Gather", [M, i], [column], axis=2),
        helper.make_node("Sub", [column, e_i], [rest]),
        helper.make_node("Mul", [rest, unit], [change]),
        helper.make_node("Sub", [M, change], [after]),
    ]
    tensor, shape = helper.make_tensor_value_info, [None, k, k + 1]
    given = [
        tensor(M, TensorProto.DOUBLE, shape),
        tensor(i, TensorProto.INT64, [1]),
        tensor(e_i, TensorProto.DOUBLE, [k, 1]),
    ]
    made = [tensor(after, TensorProto.DOUBLE, shape)]
    return helper.make_graph(nodes, "elimination", given, made)

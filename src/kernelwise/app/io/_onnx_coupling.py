"""Log-odds of classes from decisions of pairs of classes, as ONNX nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...svm.relevance.machine import _CLIP, PairSigmoids
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
    own = graph.node("Sigmoid", log_odds).clipped(_CLIP, 1 - _CLIP)
    m = len(first)
    above, below = np.zeros((m, k * k)), np.zeros((m, k * k))
    above[np.arange(m), first * k + second] = 1
    below[np.arange(m), second * k + first] = 1
    other = -own + np.ones((1, m))
    P, back = own @ above + other @ below, own @ below + other @ above
    on_diagonal = np.zeros((k * k, k * k))  # sums each row of a flat matrix into its diagonal
    on_diagonal[np.arange(k * k), np.repeat(np.arange(k) * (k + 1), k)] = 1
    H = (back * back) @ on_diagonal + _RIDGE * np.eye(k).reshape(1, -1) - P * back
    p = _solved_for_ones(graph, graph.node("Reshape", H, np.array([-1, k, k])), k)
    p = graph.node("Max", p / (p @ np.ones((k, 1))), _LEAST)
    p = (p / (p @ np.ones((k, 1)))).clipped(_CLIP, 1 - _CLIP)
    return graph.node("Log", p) - graph.node("Log", -p + np.ones((1, k)))


def _solved_for_ones(graph: Graph, H: Tensor, k: int) -> Tensor:
    """Add H^-1 1 for positive definite matrices H (n, k, k), by Gauss-Jordan elimination.

    Row i of M = [H, 1] is divided by its pivot and subtracted from the others, for each i in turn.
    """
    eye = np.eye(k)
    ones = graph.node("Add", graph.node("Mul", graph.node("Slice", H, *_first_column()), 0.0), 1.0)
    M = graph.node("Concat", H, ones, axis=2)
    columns = np.vstack([eye, np.zeros((1, k))]).T[:, :, None]
    M = graph.node(
        "Scan", M, eye[:, None, :], columns, num_scan_inputs=2, body=_elimination_step(k)
    )
    last = np.zeros((k + 1, 1))
    last[k] = 1
    return graph.node("Reshape", M @ last, np.array([-1, k]))


def _first_column() -> tuple[Any, Any, Any]:
    """Return start, end and axis of the first column of matrices."""
    return np.array([0]), np.array([1]), np.array([2])


def _elimination_step(k: int) -> Any:
    """Return the graph of one step, which reads M (n, k, k + 1), e_i (1, k) and e_i (k + 1, 1)."""
    from onnx import TensorProto, helper

    M, as_row, as_column = inner("M"), inner("e_row"), inner("e_column")
    row, pivot, unit, column, one, rest, change, after = map(
        inner, ("row", "pivot", "unit", "column", "one", "rest", "change", "M_after")
    )

    def tensor(name: str, shape: list[Any]) -> Any:
        return helper.make_tensor_value_info(name, TensorProto.DOUBLE, shape)

    nodes = [
        helper.make_node("MatMul", [as_row, M], [row]),
        helper.make_node("MatMul", [row, as_column], [pivot]),
        helper.make_node("Div", [row, pivot], [unit]),
        helper.make_node("MatMul", [M, as_column], [column]),
        helper.make_node("Transpose", [as_row], [one], perm=[1, 0]),
        helper.make_node("Sub", [column, one], [rest]),
        helper.make_node("Mul", [rest, unit], [change]),
        helper.make_node("Sub", [M, change], [after]),
    ]
    given = [
        tensor(M, [None, k, k + 1]),
        tensor(as_row, [1, k]),
        tensor(as_column, [k + 1, 1]),
    ]
    return helper.make_graph(nodes, "elimination", given, [tensor(after, [None, k, k + 1])])

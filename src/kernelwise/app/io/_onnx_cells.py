"""Cells of many rows as ONNX nodes: each row is sent to its cell, which decides it alone.

A loop over the rows reads the training rows of one cell at a time, so that time and memory depend
on the size of a cell, not on that of the training table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._typing import Array
from ...svm.relevance.cells import Cell, Squared
from ...svm.relevance.trees import Tree
from ._onnx_graph import Graph, Tensor, inner

if TYPE_CHECKING:
    from ._onnx_relevance import GraphRows


def cell_decisions(rows: GraphRows, model: Squared, tree: Tree, cells: tuple[Cell, ...]) -> Tensor:
    """Add the decisions of one partition of the training rows.

    A row's covariances with its cell, its additive columns and its covariances with the landmarks
    are multiplied by the coefficients of the cell.
    """
    graph, prior = rows.graph, model.prior
    A, scale = rows.root(prior)
    coefficients = [np.vstack([scale[:, None] * cell.additive, cell.shared]) for cell in cells]
    shared = [A] if model.near is None else [A, rows.kernel(prior, model.near)]
    columns, weights = rows.distance_weights(prior.w)
    codes = [cell.rows.gaussian(prior.v > 0) for cell in cells]
    group = codes[0][1]
    constants = {
        "stops": np.cumsum([0, *(len(cell.rows) for cell in cells)]),
        "rows": np.vstack([cell.rows.Z[:, columns] for cell in cells]),
        "limits": rows.columns.limits[columns].astype(np.float64)[None],
        "weights": weights[:, None],
        "codes": np.vstack([own for own, _ in codes]),
        "squares": (-prior.rho / 2 * rows.traced(prior.w)[group] ** 2)[:, None],
        "amplitudes": np.array([[prior.s2], [prior.r2]]),
        "alpha": np.vstack([cell.alpha for cell in cells]).astype(np.float64),
        "shared": np.stack(coefficients),
    }
    graph.count(sum(value.nbytes for value in constants.values()))
    gaussian = rows.gaussian(prior.v > 0)
    P = gaussian * prior.w[group][None]
    cell_of_row = _routed(graph, tree, P)
    return graph.node(
        "Scan",
        cell_of_row,
        rows.Z.columns(columns),
        gaussian,
        graph.joined(shared),
        num_scan_inputs=4,
        body=_decision_of_row(constants),
    )


def _routed(graph: Graph, tree: Tree, P: Tensor) -> Tensor:
    """Add the number of the cell of each row, as int64 of shape (n,).

    Cells are nodes behind the inner ones, from which a row goes nowhere else.
    """
    m = len(tree.cuts)
    if not m:
        zeros = P @ np.zeros((tree.directions.shape[1], 1))
        return graph.node("Reshape", graph.as_integer(zeros), np.array([-1]))
    children = np.where(tree.children < 0, m - 1 - tree.children, tree.children)
    stay = np.repeat(np.arange(m, 2 * m + 1)[:, None], 2, axis=1)
    children = np.vstack([children, stay]).ravel()
    directions = np.vstack([tree.directions, np.zeros((m + 1, tree.directions.shape[1]))])
    cuts = np.append(tree.cuts, np.zeros(m + 1))[:, None]
    zeros = graph.as_integer(P @ np.zeros((directions.shape[1], 1)))
    node = graph.node("Reshape", zeros, np.array([-1]))
    for _ in range(_depth(tree)):
        along = P * graph.node("Gather", directions.astype(np.float64), node, axis=0)
        value = along @ np.ones((directions.shape[1], 1))
        right = graph.as_integer(value > graph.node("Gather", cuts, node, axis=0))
        right = graph.node("Reshape", right, np.array([-1]))
        edge = graph.node("Add", graph.node("Mul", node, np.array([2])), right)
        node = graph.node("Gather", children, edge, axis=0)
    return graph.node("Sub", node, np.array([m]))


def _depth(tree: Tree) -> int:
    """Return the number of cuts on the longest way to a cell."""
    level, depth = [0], 0
    while level:
        depth += 1
        level = [int(child) for node in level for child in tree.children[node] if child >= 0]
    return depth


def _decision_of_row(constants: dict[str, Array]) -> Any:
    """Return the graph of a loop's step, which decides one row.

    It reads the number of the row's cell, its columns of Z and of the Gaussian kernel, and its
    shared columns.
    """
    from onnx import TensorProto, helper, numpy_helper

    nodes: list[Any] = []

    def name(value: str) -> str:
        return inner(f"cell_{value}")

    def node(out: str, op: str, *inputs: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(op, [name(i) for i in inputs], [name(out)], **attributes))
        return out

    own = constants | {"one": np.array([1]), "first_axis": np.array([0])}
    own |= {"s2": constants["amplitudes"][:1, :1], "r2": constants["amplitudes"][1:, :1]}
    own |= {"row_of_all": np.array([1, -1])}
    own.pop("amplitudes")
    node("cell_1", "Reshape", "cell", "one")
    node("start", "Gather", "stops", "cell_1")
    node("next", "Add", "cell_1", "one")
    node("stop", "Gather", "stops", "next")
    for array in ("rows", "codes", "alpha"):
        node(f"{array}_some", "Slice", array, "start", "stop", "first_axis")
    for array in ("rows", "codes"):
        node(f"{array}_own", "Cast", f"{array}_some", to=TensorProto.DOUBLE)
    node("gap", "Sub", "rows_own", "z")
    node("size", "Abs", "gap")
    node("limited", "Min", "size", "limits")
    node("distance", "MatMul", "limited", "weights")
    node("minus", "Neg", "distance")
    node("laplacian", "Exp", "minus")
    node("K_laplacian", "Mul", "laplacian", "s2")
    node("difference", "Sub", "codes_own", "code")
    node("squared", "Mul", "difference", "difference")
    node("exponent", "MatMul", "squared", "squares")
    node("gaussian", "Exp", "exponent")
    node("K_gaussian", "Mul", "gaussian", "r2")
    node("K", "Add", "K_laplacian", "K_gaussian")
    node("K_row", "Reshape", "K", "row_of_all")
    node("by_rows", "MatMul", "K_row", "alpha_some")
    node("of_cell_3", "Gather", "shared", "cell_1", axis=0)
    node("of_cell", "Squeeze", "of_cell_3", "first_axis")
    node("shared_row", "Reshape", "u", "row_of_all")
    node("by_shared", "MatMul", "shared_row", "of_cell")
    node("both", "Add", "by_rows", "by_shared")
    node("out", "Squeeze", "both", "first_axis")

    def tensor(value: str, kind: int, shape: list[Any]) -> Any:
        return helper.make_tensor_value_info(name(value), kind, shape)

    double, widths = TensorProto.DOUBLE, {"z": len(constants["weights"])}
    widths |= {"code": len(constants["squares"]), "u": constants["shared"].shape[1]}
    given = [tensor("cell", TensorProto.INT64, [])]
    given += [tensor(value, double, [width]) for value, width in widths.items()]
    return helper.make_graph(
        nodes,
        "decision of a row",
        given,
        [tensor("out", double, [constants["alpha"].shape[1]])],
        [numpy_helper.from_array(np.ascontiguousarray(v), name(key)) for key, v in own.items()],
    )

"""Kernels as ONNX nodes: k(X, rows) for the name X of an input and an array of support rows.

To support another kernel, add it to `KERNELS`, and to `DIAGONALS` for use inside `Normalized`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..._typing import Array
from ...kernels import (
    RBF,
    FunctionKernel,
    Kernel,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Normalized,
    Polynomial,
    Precomputed,
    Product,
    Ridge,
    Scaled,
    Sigmoid,
    Sum,
)
from ._onnx_graph import Graph, Tensor, inner

_TINY = float(np.finfo(np.float64).tiny)


def matrix(graph: Graph, kernel: Kernel, X: Tensor, rows: Array) -> Tensor:
    """Add the nodes of k(X, rows); return the name of the matrix."""
    return _entry(KERNELS, kernel)(graph, kernel, X, rows)


def _diagonal(graph: Graph, kernel: Kernel, X: Tensor, d: int) -> Tensor:
    """Add the nodes of k(x, x), as one column or as one number for all rows."""
    return _entry(DIAGONALS, kernel)(graph, kernel, X, d)


def _entry(table: dict[type, Callable[..., Tensor]], kernel: Kernel) -> Callable[..., Tensor]:
    if type(kernel) in table:
        return table[type(kernel)]
    if isinstance(kernel, FunctionKernel):
        why = "it is a Python function, which a graph cannot hold"
    elif isinstance(kernel, Precomputed):
        why = "its rows are kernel values, which the caller would have to compute"
    else:
        why = f"it is not supported; these are: {sorted(t.__name__ for t in table)}"
    raise ValueError(f"{kernel!r} cannot be exported to ONNX: {why}.")


# --- The weighted sum t over the features -----------------------------------------------------


def _scales(kernel: Any, d: int) -> Array:
    """Return gamma times the feature weights."""
    weights = np.ones(d) if kernel.weights is None else kernel.weights
    return np.asarray(kernel.gamma * weights, dtype=np.float64)


def _squared_distances(graph: Graph, kernel: Any, X: Tensor, rows: Array) -> Tensor:
    scales, centre = _scales(kernel, rows.shape[1]), rows.mean(axis=0)
    A, B = X - centre, rows - centre
    t = (A * A) @ scales[:, None] + (B**2 @ scales)[None] + A @ (-2 * (B * scales).T)
    return graph.node("Max", t, 0.0)  # rounding may go below zero


def _products(graph: Graph, kernel: Any, X: Tensor, rows: Array) -> Tensor:
    return X @ (rows * _scales(kernel, rows.shape[1])).T


def _l1_distances(graph: Graph, kernel: Any, X: Tensor, rows: Array) -> Tensor:
    """Add t of the Laplacian.

    Codes of categories are whole numbers: a distance of at most one tells whether they differ.
    """
    d = rows.shape[1]
    scales, category = _scales(kernel, d), kernel.categories(d)
    kept = np.flatnonzero(scales > 0)
    if not len(kept):
        return no_distances(graph, X, len(rows))
    scaled = X.columns(kept) * scales[kept][None]
    most = np.where(category, scales, np.inf)[kept]
    return summed_distances(graph, scaled, rows[:, kept] * scales[kept], most, squared=False)


def no_distances(graph: Graph, X: Tensor, m: int) -> Tensor:
    """Add zeros of shape (n, m), for any number n of rows of X."""
    return graph.node("Expand", 0.0, graph.shape(X, m))


def summed_distances(
    graph: Graph, X: Tensor, rows: Array, most: Array | None = None, *, squared: bool
) -> Tensor:
    """Add the sum over features k of min((x_k - z_k)^2, most_k), or of min(|x_k - z_k|, most_k).

    A Scan holds only a few (n, m) matrices at a time, and equal rows are at a distance of exactly
    zero.
    """
    m, d = rows.shape
    most = np.full(d, np.inf) if most is None else most
    columns = graph.node("Transpose", X, perm=[1, 0])
    columns = graph.node("Reshape", columns, np.array([d, -1, 1]))
    others = np.ascontiguousarray(rows.T)[:, None, :]
    zeros, body = no_distances(graph, X, len(rows)), _adding_a_distance(m, squared)
    return graph.node(
        "Scan", zeros, columns, others, most[:, None, None], num_scan_inputs=3, body=body
    )


def _adding_a_distance(width: int, squared: bool) -> Any:
    """Return the graph of a Scan step of `summed_distances`.

    It reads t (n, m), x_k (n, 1), z_k (1, m) and most_k (1, 1).
    """
    from onnx import TensorProto, helper

    before, x, z, most, gap, size, distance, after = map(
        inner, ("t", "x_k", "z_k", "most_k", "gap", "size", "distance", "t_after")
    )

    def tensor(name: str, shape: list[Any]) -> Any:
        return helper.make_tensor_value_info(name, TensorProto.DOUBLE, shape)

    nodes = [
        helper.make_node("Sub", [x, z], [gap]),
        helper.make_node(*(("Mul", [gap, gap]) if squared else ("Abs", [gap])), [size]),
        helper.make_node("Min", [size, most], [distance]),
        helper.make_node("Add", [before, distance], [after]),
    ]
    given = [
        tensor(before, [None, width]),
        tensor(x, [None, 1]),
        tensor(z, [1, width]),
        tensor(most, [1, 1]),
    ]
    return helper.make_graph(nodes, "distances", given, [tensor(after, [None, width])])


# --- From t to the kernel ---------------------------------------------------------------------


def _itself(graph: Graph, kernel: Any, t: Tensor) -> Tensor:
    return t


def _exponential(graph: Graph, kernel: Any, t: Tensor) -> Tensor:
    return graph.node("Exp", -t)


def _power(graph: Graph, kernel: Any, t: Tensor) -> Tensor:
    return graph.node("Pow", t + kernel.coef0, kernel.degree)


def _tanh(graph: Graph, kernel: Any, t: Tensor) -> Tensor:
    return graph.node("Tanh", t + kernel.coef0)


def _matern(factor: float, square: float, graph: Graph, kernel: Any, t: Tensor) -> Tensor:
    """Add (1 + u + square u^2) exp(-u) with u = sqrt(factor t)."""
    u = graph.node("Sqrt", t * factor)
    return (u + 1.0 + u * (u * square)) * _exponential(graph, kernel, u)


def _pairwise(
    terms: Callable[..., Tensor],
    profile: Callable[..., Tensor],
    graph: Graph,
    kernel: Any,
    X: Tensor,
    rows: Array,
) -> Tensor:
    return profile(graph, kernel, terms(graph, kernel, X, rows))


# --- Kernels made of kernels ------------------------------------------------------------------


def _pair(op: str, graph: Graph, kernel: Any, X: Tensor, rows: Array) -> Tensor:
    return graph.node(op, *(matrix(graph, own, X, rows) for own in (kernel.left, kernel.right)))


def _scaled(graph: Graph, kernel: Any, X: Tensor, rows: Array) -> Tensor:
    return graph.scaled(matrix(graph, kernel.kernel, X, rows), len(rows), kernel.scale)


def _zeros(graph: Graph, kernel: Any, X: Tensor, rows: Array) -> Tensor:
    return X @ np.zeros(rows.shape[::-1])  # a ridge is zero for new rows


def _normalized(graph: Graph, kernel: Any, X: Tensor, rows: Array) -> Tensor:
    squares = _diagonal(graph, kernel.kernel, X, rows.shape[1])
    root = graph.node("Sqrt", graph.node("Max", squares, _TINY))
    left = graph.node("Where", squares > 0.0, graph.node("Reciprocal", root), 0.0)
    own = kernel.kernel.diag(rows)
    right = np.divide(1, np.sqrt(own), out=np.zeros_like(own), where=own > 0)
    return matrix(graph, kernel.kernel, X, rows) * left * right


# --- Diagonals --------------------------------------------------------------------------------


def _one(graph: Graph, kernel: Any, X: Tensor, d: int) -> Tensor:
    return graph.constant(np.ones((1, 1)))


def _level(graph: Graph, kernel: Any, X: Tensor, d: int) -> Tensor:
    return graph.constant(np.full((1, 1), kernel.level))


def _squares(
    profile: Callable[..., Tensor], graph: Graph, kernel: Any, X: Tensor, d: int
) -> Tensor:
    return profile(graph, kernel, (X * X) @ _scales(kernel, d)[:, None])


def _pair_diagonal(op: str, graph: Graph, kernel: Any, X: Tensor, d: int) -> Tensor:
    return graph.node(op, *(_diagonal(graph, own, X, d) for own in (kernel.left, kernel.right)))


def _scaled_diagonal(graph: Graph, kernel: Any, X: Tensor, d: int) -> Tensor:
    return graph.scaled(_diagonal(graph, kernel.kernel, X, d), 1, kernel.scale)


def _normalized_diagonal(graph: Graph, kernel: Any, X: Tensor, d: int) -> Tensor:
    return graph.as_double(_diagonal(graph, kernel.kernel, X, d) > 0.0)


KERNELS: dict[type, Callable[..., Tensor]] = {
    Linear: partial(_pairwise, _products, _itself),
    Polynomial: partial(_pairwise, _products, _power),
    Sigmoid: partial(_pairwise, _products, _tanh),
    RBF: partial(_pairwise, _squared_distances, _exponential),
    Matern32: partial(_pairwise, _squared_distances, partial(_matern, 3.0, 0.0)),
    Matern52: partial(_pairwise, _squared_distances, partial(_matern, 5.0, 1 / 3)),
    Laplacian: partial(_pairwise, _l1_distances, _exponential),
    Sum: partial(_pair, "Add"),
    Product: partial(_pair, "Mul"),
    Scaled: _scaled,
    Ridge: _zeros,
    Normalized: _normalized,
}

DIAGONALS: dict[type, Callable[..., Tensor]] = {
    Linear: partial(_squares, _itself),
    Polynomial: partial(_squares, _power),
    Sigmoid: partial(_squares, _tanh),
    **dict.fromkeys((RBF, Matern32, Matern52, Laplacian), _one),
    Sum: partial(_pair_diagonal, "Add"),
    Product: partial(_pair_diagonal, "Mul"),
    Scaled: _scaled_diagonal,
    Ridge: _level,
    Normalized: _normalized_diagonal,
}

"""`GeodesicNeighborFeatures` as ONNX nodes: paths of a new row over its nearest nodes."""

from __future__ import annotations

import numpy as np

from ...transform import GeodesicNeighborFeatures
from ...transform.neighbor_tables import NeighborTables
from ._onnx_graph import Graph, Tensor
from ._onnx_kernels import summed_distances
from ._onnx_models import columns


@columns.register
def _(model: GeodesicNeighborFeatures, graph: Graph, X: Tensor) -> Tensor:
    tables = NeighborTables.of(model)
    squares = summed_distances(graph, X, tables.nodes, squared=True)
    nearest = graph.node("ArgMin", squares, axis=1, keepdims=1)
    least = graph.node("GatherElements", squares, nearest, axis=1)
    place = graph.node("Reshape", nearest, np.array([-1]))
    at_node = graph.node("Gather", tables.marks_of_node, place, axis=0)
    return graph.node("Where", ~(least > 0.0), at_node, _of_new_rows(graph, tables, squares))


def _of_new_rows(graph: Graph, tables: NeighborTables, squares: Tensor) -> Tensor:
    """Add the marks of rows that are not nodes: the classes of the ends of the shortest paths."""
    rows, lengths = _candidates(graph, tables, squares)
    (wide_rows, wide_lengths), (tall_rows, tall_lengths) = (
        tuple(graph.node("Unsqueeze", each, np.array([axis])) for each in (rows, lengths))
        for axis in (1, 2)
    )
    shorter = wide_lengths < tall_lengths
    equally_long = wide_lengths.equals(tall_lengths)
    same = wide_rows.equals(tall_rows)
    m = tables.nearest.shape[1] * tables.n_edges
    earlier = graph.constant(np.arange(m)[None, None, :] < np.arange(m)[None, :, None])
    # A path loses to a shorter one with the same end, and among equals to the first.
    loses = shorter | (equally_long & earlier)
    is_longer = _any(graph, same & loses)
    counts = ~(is_longer | (rows < 0.0))
    ahead = shorter | (equally_long & (wide_rows < tall_rows))
    ahead = ahead & graph.node("Unsqueeze", counts, np.array([1]))
    rank = graph.node("ReduceSum", graph.as_double(ahead), np.array([2]), keepdims=0)
    chosen = graph.as_double(counts & (rank < tables.n_neighbors))
    places = graph.node("Max", rows, 0.0)
    marks = graph.node("Gather", tables.marks_of_row, graph.as_integer(places), axis=0)
    weighted = marks * graph.node("Unsqueeze", chosen, np.array([2]))
    total = graph.node("ReduceSum", weighted, np.array([1]), keepdims=0)
    return graph.as_double(total > 0.5)


def _candidates(graph: Graph, tables: NeighborTables, squares: Tensor) -> tuple[Tensor, Tensor]:
    """Add the ends and lengths of the paths over the nearest nodes, of shape (n, m)."""
    n_edges, width = tables.n_edges, tables.nearest.shape[1]
    near, nodes = graph.node_of_two("TopK", squares, np.array([n_edges]), largest=0, axis=1)
    steps = graph.node("Unsqueeze", graph.node("Sqrt", near), np.array([2]))
    lengths = graph.node("Gather", tables.lengths, nodes, axis=0) + steps
    rows = graph.node("Gather", tables.nearest.astype(np.float64), nodes, axis=0)
    flat = np.array([-1, n_edges * width])
    return graph.node("Reshape", rows, flat), graph.node("Reshape", lengths, flat)


def _any(graph: Graph, mask: Tensor) -> Tensor:
    """Add whether any entry along the last axis is true."""
    count = graph.node("ReduceSum", graph.as_double(mask), np.array([2]), keepdims=0)
    return count > 0.5

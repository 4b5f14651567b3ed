"""A fitted GeodesicNeighborFeatures as plain tables, for use outside Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import Array, Index
from .geodesic import NOBODY, GeodesicNeighborFeatures


@dataclass(frozen=True)
class NeighborTables:
    """The graph of the rows as tables."""

    nodes: Array  # (n_nodes, d)
    # (n_nodes, m), the rows that may be neighbours and are nearest to each node; -1 where there is
    # none
    nearest: Index
    lengths: Array  # (n_nodes, m), their distances along the graph
    # (n_rows, n_classes), the class of each row that may be a neighbour, as zeros and ones; zeros
    # without a label
    marks_of_row: Array
    marks_of_node: Array  # (n_nodes, n_classes), what a row that equals a node becomes
    n_edges: int  # how many nodes a new row is connected with
    n_neighbors: int  # how many neighbours of a new row count

    @classmethod
    def of(cls, model: GeodesicNeighborFeatures) -> NeighborTables:
        """Return the tables, or raise a ValueError that says why they do not suffice."""
        reason = _refusal(model)
        if reason:
            raise ValueError(f"GeodesicNeighborFeatures cannot be exported: {reason}")
        n_rows = len(model._sources)
        marks = np.zeros((n_rows, len(model.classes_)))
        marks[np.arange(len(model._codes)), model._codes] = 1.0
        return cls(
            nodes=model._nodes,
            nearest=model._nearest,
            lengths=model._lengths,
            marks_of_row=marks,
            marks_of_node=model.transform(model._nodes),
            n_edges=min(model.graph_neighbors, len(model._nodes)),
            n_neighbors=min(model.n_neighbors, model._nearest.shape[1]),
        )


def _refusal(model: Any) -> str:
    """Return why tables do not suffice; empty where they do."""
    if sp.issparse(model._nodes):
        return "it was fitted to sparse rows; fit it to dense ones."
    if model.metric != "euclidean":
        return f"its distances are metric={model.metric!r}; only Euclidean ones can be exported."
    if model.disconnected != "never" and (model._nearest == NOBODY).any():
        return (
            f"its rows form {model.n_connected_components_} separate components, and neighbours in "
            "other components are searched anew; raise graph_neighbors until there is one "
            'component, or set disconnected="never".'
        )
    return ""

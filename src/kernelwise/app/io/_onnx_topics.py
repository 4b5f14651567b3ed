"""`TopicFeatures` as ONNX nodes: a loop of multiplicative updates with the topics fixed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...transform import TopicFeatures
from ._onnx_graph import Graph, Tensor, inner
from ._onnx_models import columns

_LEAST = float(np.finfo(np.float32).eps)  # floor of expected counts, as in scikit-learn's NMF


@columns.register
def _(model: TopicFeatures, graph: Graph, X: Tensor) -> Tensor:
    topics = np.asarray(model.components_, dtype=np.float64)
    n_topics, width = topics.shape
    means = X @ np.full((width, 1), 1 / width)
    rows = X / graph.node("Where", means > 0.0, means, 1.0)
    # The start of scikit-learn's NMF for rows of mean one.
    start = graph.node("Expand", np.sqrt(1 / n_topics), graph.shape(X, n_topics))
    body = _update(
        *(each.name for each in (rows, graph.constant(topics), *_divided(graph, topics)))
    )
    steps, go = np.array(model.max_iter), np.array(True)
    amounts = graph.node("Loop", steps, go, start, body=body) * means
    if not model.normalize:
        return amounts
    totals = amounts @ np.ones((n_topics, 1))
    known = totals > 0.0
    shares = amounts / graph.node("Where", known, totals, 1.0)
    return graph.node("Where", known, shares, 1 / n_topics)


def _divided(graph: Graph, topics: Any) -> tuple[Tensor, Tensor]:
    """Add the transposed topics, each divided by its sum, and the least expected count."""
    totals = topics.sum(axis=1)
    totals = np.where(totals == 0, _LEAST, totals)
    return graph.constant(np.ascontiguousarray((topics / totals[:, None]).T)), graph.constant(
        _LEAST
    )


def _update(rows: str, topics: str, divided: str, least: str) -> Any:
    """Return the graph of an update, W * ((X / WH) H' / sum H), inside the outer graph."""
    from onnx import TensorProto, helper

    step, go, go_on, before, all_expected, expected, ratio, factor, after = map(
        inner,
        ("step", "go", "go_on", "w", "all_expected", "expected", "ratio", "factor", "w_after"),
    )
    tensor, amounts = helper.make_tensor_value_info, [None, None]
    nodes = [
        helper.make_node("MatMul", [before, topics], [all_expected]),
        helper.make_node("Max", [all_expected, least], [expected]),
        helper.make_node("Div", [rows, expected], [ratio]),
        helper.make_node("MatMul", [ratio, divided], [factor]),
        helper.make_node("Mul", [before, factor], [after]),
        helper.make_node("Identity", [go], [go_on]),
    ]
    given = [
        tensor(step, TensorProto.INT64, []),
        tensor(go, TensorProto.BOOL, []),
        tensor(before, TensorProto.DOUBLE, amounts),
    ]
    made = [tensor(go_on, TensorProto.BOOL, []), tensor(after, TensorProto.DOUBLE, amounts)]
    return helper.make_graph(nodes, "update", given, made)

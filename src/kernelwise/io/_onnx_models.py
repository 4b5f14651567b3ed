"""Estimators and transformers as ONNX nodes, from the input X to decisions or columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import PolynomialFeatures

from .._typing import Array
from ..kernels import EmpiricalMap
from ..svm.base.estimator import BaseLearnedSVC
from ..svm.base.predictor import Predictor, kernel_groups, predictor_of
from ..svm.base.steps import (
    ColumnFeatures,
    Columns,
    MeanFill,
    Products,
    RowStep,
    TransformerFeatures,
    UnitNorm,
)
from ..svm.cell_svc import CellPredictor
from ..svm.relevance.columns import GAP, OTHER, CategoryCodes, ColumnEncoding
from ..svm.relevance.predictor import MixturePredictor
from ..transform import EmpiricalKernelMap, FeatureDiscriminationScaler, RelevanceSelector
from ._onnx_graph import Graph
from ._onnx_kernels import matrix
from ._onnx_parts import mixed
from ._onnx_tables import Rows, TensorColumn, TensorTable, codes, column_of, numbers_of

# --- Decision values, one column per machine --------------------------------------------------


def decisions(model: BaseLearnedSVC, graph: Graph, X: Rows) -> str:
    """Add the nodes of a classifier's machines; return the name of their decision values."""
    predictor: Any = predictor_of(model)
    if isinstance(X, TensorTable) and not _reads_words(predictor):
        raise ValueError(
            f"{type(model).__name__} reads numbers, and the graph would give it words; encode them "
            "in a step before it, such as OneHotEncoder or kernelwise.tabular.TableEncoder."
        )
    if isinstance(predictor, MixturePredictor):
        X = _after_steps(graph, predictor.before, X, model.n_features_in_)
        return mixed(graph, predictor, X, _machines)
    if isinstance(predictor, CellPredictor):
        raise ValueError(
            "CellSVC cannot be exported to ONNX: it has no operator that sends rows to cells. Save "
            "the model with kernelwise.io.save."
        )
    return _machines(graph, predictor, X)


def _reads_words(predictor: Any) -> bool:
    """Return whether the first step of a predictor reads tables."""
    return bool(predictor.before) and isinstance(predictor.before[0], ColumnEncoding)


def _machines(graph: Graph, predictor: Predictor, X: Rows) -> str:
    """Add the nodes of machines; return the name of their decision values."""
    n_members = predictor.n_members
    own = np.eye(predictor.n_machines // n_members)
    mixing = np.tile(own, (n_members, 1)) / n_members
    total = graph.constant((predictor.intercept @ mixing)[None])
    if predictor.linear is not None:
        features = _after_steps(graph, predictor.features, X, len(predictor.linear))
        total = graph.node("Add", graph.node("MatMul", features, predictor.linear @ mixing), total)
    if not predictor.kernels:
        return total
    Z = _after_steps(graph, predictor.before, X, predictor.vectors.rows.shape[1])
    return _kernel_part(graph, predictor, Z, mixing, total)


def _kernel_part(graph: Graph, predictor: Predictor, Z: str, mixing: Array, total: str) -> str:
    """Add the sum over kernels of k(Z, rows) @ (coef @ mixing) to ``total``."""
    vectors = predictor.vectors
    rows = vectors.rows.toarray() if sp.issparse(vectors.rows) else vectors.rows
    if not vectors.coef.any():  # the output still needs one value per row
        zeros = graph.node("MatMul", Z, np.zeros((rows.shape[1], mixing.shape[1])))
        return graph.node("Add", zeros, total)
    for kernel, machines in kernel_groups(predictor.kernels):
        coef = vectors.coef[:, machines] @ mixing[machines]
        used = np.flatnonzero(coef.any(axis=1))
        if len(used):
            # Without rows the kernel is precomputed, which `matrix` refuses.
            K = matrix(graph, kernel, Z, rows[used] if len(rows) else rows)
            total = graph.node("Add", graph.node("MatMul", K, coef[used]), total)
    return total


def _after_steps(graph: Graph, steps: Sequence[RowStep], X: Any, width: int) -> str:
    """Add the steps that turn the rows X into the input of a part of a machine."""
    for step in steps:
        if isinstance(step, MeanFill):
            X = graph.filled(X, step.means)
        elif isinstance(step, ColumnEncoding):
            X = _encoded(graph, step, X)
        elif isinstance(step, Columns | ColumnFeatures):
            X = graph.node("Gather", X, step.columns, axis=1)
        elif isinstance(step, EmpiricalMap):
            X = _components(graph, step, X)
        elif isinstance(step, Products | TransformerFeatures):
            X = columns(step.transformer, graph, X)
        elif isinstance(step, UnitNorm):
            X = _of_unit_norm(graph, X, width)
        else:
            raise ValueError(
                "bias_features cannot be exported to ONNX: it is a Python function, which a graph "
                "cannot hold; use columns or a transformer instead."
            )
    made: str = X
    return made


def _encoded(graph: Graph, step: ColumnEncoding, X: Rows) -> str:
    """Add the filling of gaps, their marks, and the codes of categories."""
    words = [step.names[own.column] for own in step.categories if _has_words(own)]
    if words and not isinstance(X, TensorTable):
        raise ValueError(
            f"the columns {words} are categories of words, and one matrix of numbers cannot hold "
            "them; give some rows as example, and the graph has one input per column."
        )
    numbers = [j for j in range(len(step.names)) if step.layout.is_category[j] == 0]
    parts = [_codes(graph, own, column_of(graph, X, own.column)) for own in step.categories]
    if numbers:
        known = numbers_of(graph, X, numbers, step.names)
        parts.append(graph.filled(known, step.medians[numbers]) if step.fills else known)
    order = np.argsort([own.column for own in step.categories] + numbers)
    if len(step.marked):
        marked = graph.node("IsNaN", numbers_of(graph, X, step.marked, step.names))
        parts.append(graph.scaled(graph.as_double(marked), len(step.marked), GAP))
        order = np.append(order, len(order) + np.arange(len(step.marked)))
    joined = graph.node("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]
    return graph.node("Gather", joined, order, axis=1) if step.categories else joined


def _has_words(own: CategoryCodes) -> bool:
    return any(isinstance(level, str) for level in own.levels)


def _codes(graph: Graph, own: CategoryCodes, column: TensorColumn) -> str:
    """Add the code of each value in a column: zero for other levels, the last one for gaps."""
    code_of = {level: 1.0 + k for k, level in enumerate(own.levels)}
    gap = own.n_codes - 1 if own.knows_missing else OTHER
    return codes(graph, column, code_of, other=OTHER, gap=gap)


def _components(graph: Graph, map: EmpiricalMap, X: str) -> str:
    # Without rows the kernel is precomputed, which `matrix` refuses.
    rows: Any = np.empty((0, 0)) if map.rows is None else map.rows
    K = matrix(graph, map.kernel, X, rows.toarray() if sp.issparse(rows) else rows)
    return graph.node("MatMul", K, map.vectors / np.sqrt(map.eigenvalues))


def _of_unit_norm(graph: Graph, X: str, width: int) -> str:
    squares = graph.node("MatMul", graph.node("Mul", X, X), np.ones((width, 1)))
    norms = graph.node("Sqrt", squares)
    positive = graph.node("Greater", norms, graph.number(0.0))
    return graph.node("Div", X, graph.node("Where", positive, norms, graph.number(1.0)))


# --- Classes ----------------------------------------------------------------------------------


def class_scores(model: Any, graph: Graph, values: str) -> str:
    """Add the calibration of machine values: log-odds of two classes, or scores in a softmax."""
    predictor: Any = predictor_of(model)
    calibration = predictor.calibration
    if isinstance(predictor, MixturePredictor):  # its values are calibrated already
        return values
    slope, intercept = calibration.sigmoid.slope, calibration.sigmoid.intercept
    scores = graph.node("Add", graph.node("MatMul", values, np.diag(slope)), intercept[None])
    if calibration.pairs is not None:
        scores = _coupled(graph, scores, calibration.pairs)
    if len(model.classes_) == 2:
        return scores
    t, width = calibration.temperature, len(model.classes_)
    offsets = np.zeros(width) if calibration.offsets is None else calibration.offsets
    return graph.node("Add", graph.node("MatMul", scores, t * np.eye(width)), offsets[None])


def _coupled(graph: Graph, log_odds: str, pairs: Array) -> str:
    """Add one score per class from log-odds of pairs; see `svm.base.calibration.coupled`."""
    scores = []
    for signs in pairs.T:
        own = np.flatnonzero(signs)
        against = np.zeros((len(pairs), 1 + len(own)))
        against[own, 1 + np.arange(len(own))] = -signs[own]
        values = graph.node("MatMul", log_odds, against)
        place = graph.node("ArgMax", values, axis=1, keepdims=1)
        most = graph.node("GatherElements", values, place, axis=1)
        total = graph.node("MatMul", graph.node("Exp", graph.node("Sub", values, most)),
                           np.ones((1 + len(own), 1)))  # fmt: skip
        scores.append(graph.node("Neg", graph.node("Add", most, graph.node("Log", total))))
    return graph.node("Concat", *scores, axis=1)


def class_probabilities(model: Any, graph: Graph, scores: str) -> str:
    """Add the probabilities of the classes, with the shares that they have in the table."""
    logs = np.log(model.class_weight_)
    if len(model.classes_) > 2:
        return graph.node("Softmax", graph.node("Sub", scores, logs[None]), axis=1)
    log_odds = graph.node("Sub", scores, np.array([[logs[1] - logs[0]]]))
    second = graph.node("Sigmoid", log_odds)
    first = graph.node("Sigmoid", graph.node("Neg", log_odds))
    return graph.node("Concat", first, second, axis=1)


def classes_and_scores(model: Any, graph: Graph, values: str) -> tuple[str, str]:
    """Add the nodes that turn machine values into class numbers and decision values."""
    n_classes = len(model.classes_)
    if model._decides_by_scores():
        scores = class_scores(model, graph, values)
        if n_classes > 2:
            by_pairs = getattr(model, "decision_function_shape", "ovr") == "ovo"
            return _largest(graph, scores), values if by_pairs else scores
        values = scores
    if n_classes == 2:
        positive = graph.node("Greater", values, graph.number(0.0))
        number = graph.node("Reshape", graph.as_integer(positive), np.array([-1]))
        return number, graph.node("Reshape", values, np.array([-1]))
    if predictor_of(model).multiclass == "ovr":
        return _largest(graph, values), values
    scores = _scores_of_pairs(graph, values, n_classes)
    if getattr(model, "break_ties", False):
        number = graph.node("ArgMax", scores, axis=1, keepdims=0)
    else:
        first = graph.node("Greater", values, graph.number(0.0))
        votes = _votes(graph, first, n_classes)
        number = graph.node("ArgMax", votes, axis=1, keepdims=0)
    return number, values if model.decision_function_shape == "ovo" else scores


def _largest(graph: Graph, values: str) -> str:
    """Add the column of the largest value, the first on ties; see `svm.base.multiclass.largest`."""
    place = graph.node("ArgMax", values, axis=1, keepdims=1)
    most = graph.node("GatherElements", values, place, axis=1)
    size = graph.node("Add", graph.node("Abs", most), graph.number(1.0))
    least = graph.node("Sub", most, graph.node("Mul", size, graph.number(1e-9)))
    below = graph.as_double(graph.node("Less", values, least))
    return graph.node("ArgMin", below, axis=1, keepdims=0)


def _pairs(n_classes: int) -> tuple[Array, Array]:
    """Return the first and the second class of each pair, as one-hot rows."""
    first, second = np.triu_indices(n_classes, 1)
    one = np.eye(n_classes)
    return one[first], one[second]


def _votes(graph: Graph, first_wins: str, n_classes: int) -> str:
    """Add the votes per class: each pair votes for its first class if it wins, else its second."""
    first, second = _pairs(n_classes)
    moved = graph.node("MatMul", graph.as_double(first_wins), first - second)
    return graph.node("Add", moved, second.sum(axis=0)[None])


def _scores_of_pairs(graph: Graph, values: str, n_classes: int) -> str:
    """Add votes plus the sum of the pairs' values, squashed to less than half a vote."""
    first, second = _pairs(n_classes)
    wins = graph.node("Not", graph.node("Less", values, graph.number(0.0)))
    sums = graph.node("MatMul", values, first - second)
    size = graph.node("Add", graph.node("Abs", sums), graph.number(1.0))
    squashed = graph.node("Div", sums, graph.node("Mul", size, graph.number(3.0)))
    return graph.node("Add", _votes(graph, wins, n_classes), squashed)


# --- Transformers -----------------------------------------------------------------------------


@singledispatch
def columns(model: Any, graph: Graph, X: str) -> str:
    """Add the nodes of a transformer; return the name of its columns."""
    raise ValueError(f"{model!r} cannot be exported to ONNX: it is not supported.")


@columns.register
def _(model: EmpiricalKernelMap, graph: Graph, X: str) -> str:
    return _components(graph, model.map_, X)


@columns.register
def _(model: FeatureDiscriminationScaler, graph: Graph, X: str) -> str:
    return graph.node("Mul", X, model.scale_[None])


@columns.register
def _(model: RelevanceSelector, graph: Graph, X: str) -> str:
    return graph.node("Gather", X, np.flatnonzero(model.selected_features_), axis=1)


@columns.register
def _(model: PolynomialFeatures, graph: Graph, X: str) -> str:
    powers = model.powers_
    d, degree = powers.shape[1], int(powers.sum(axis=1).max(initial=1))
    ones = graph.node("Add", graph.node("MatMul", X, np.zeros((d, 1))), graph.number(1.0))
    padded = graph.node("Concat", X, ones, axis=1)
    # Column numbers of the factors of each product, padded with that of the ones.
    factors = np.full((degree, len(powers)), d)
    for column, row in enumerate(powers):
        own = np.repeat(np.arange(d), row)
        factors[: len(own), column] = own
    out = graph.node("Gather", padded, factors[0], axis=1)
    for more in factors[1:]:
        out = graph.node("Mul", out, graph.node("Gather", padded, more, axis=1))
    return out

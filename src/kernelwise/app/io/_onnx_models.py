"""Estimators and transformers as ONNX nodes, from the input X to decisions or columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import PolynomialFeatures

from ..._typing import Array
from ...calibration.conformal import Ranking
from ...kernels import EmpiricalMap
from ...svm.base.estimator import KernelMachine
from ...svm.base.outlier_detector import ROUNDING
from ...svm.base.predictor import Predictor, kernel_groups, predictor_of
from ...svm.base.steps import (
    ColumnFeatures,
    Columns,
    Products,
    RowStep,
    TransformerFeatures,
    UnitNorm,
)
from ...svm.relevance.columns.encoding import GAP, OTHER, CategoryCodes, ColumnEncoding
from ...transform import EmpiricalKernelMap, FeatureDiscriminationScaler, RelevanceSelector
from ...values.reading import DATE, TEXT
from ._onnx_graph import Graph, Tensor
from ._onnx_kernels import matrix
from ._onnx_tables import (
    NO_TEXT,
    NUMBERS,
    Rows,
    TensorColumn,
    TensorTable,
    codes,
    column_of,
    date_parts,
    numbers_of,
)

# --- Decision values, one column per machine --------------------------------------------------


def decisions(model: KernelMachine, graph: Graph, X: Rows) -> Tensor:
    """Add the nodes of a model's machines; return the name of their decision values."""
    predictor: Any = predictor_of(model)
    if isinstance(X, TensorTable):
        raise ValueError(
            f"{type(model).__name__} reads numbers, and the graph would give it words; encode them "
            "in a step before it, such as OneHotEncoder or kernelwise.app.tabular.TableEncoder."
        )
    total = graph.constant(predictor.intercept[None])
    if predictor.linear is not None:
        features = _after_steps(graph, predictor.features, X, len(predictor.linear))
        total = features @ predictor.linear + total
    if not predictor.kernels:
        return total
    Z = _after_steps(graph, predictor.before, X, predictor.vectors.rows.shape[1])
    return _kernel_part(graph, predictor, Z, total)


def _kernel_part(graph: Graph, predictor: Predictor, Z: Tensor, total: Tensor) -> Tensor:
    """Add the sum over kernels of k(Z, rows) @ coef to ``total``."""
    vectors = predictor.vectors
    rows = vectors.rows.toarray() if sp.issparse(vectors.rows) else vectors.rows
    if not vectors.coef.any():  # the output still needs one value per row
        return Z @ np.zeros((rows.shape[1], predictor.n_machines)) + total
    for kernel, machines in kernel_groups(predictor.kernels):
        coef = np.zeros(vectors.coef.shape)
        coef[:, machines] = vectors.coef[:, machines]
        used = np.flatnonzero(coef.any(axis=1))
        if len(used):
            # Without rows the kernel is precomputed, which `matrix` refuses.
            K = matrix(graph, kernel, Z, rows[used] if len(rows) else rows)
            total = K @ coef[used] + total
    return total


def _after_steps(graph: Graph, steps: Sequence[RowStep], X: Any, width: int) -> Tensor:
    """Add the steps that turn the rows X into the input of a part of a machine."""
    for step in steps:
        if isinstance(step, Columns | ColumnFeatures):
            X = X.columns(step.columns)
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
    made: Tensor = X
    return made


# --- Columns of tables ------------------------------------------------------------------------


def encoded(graph: Graph, model: Any, X: Rows, width: int | None) -> Tensor:
    """Add the encoded columns that RelevanceSVC or RelevanceSVR reads.

    X has these columns alone, or all columns of the training table; so has a matrix of unknown
    width.
    """
    step: ColumnEncoding = model.columns_
    read = np.flatnonzero(model.selected_features_)
    if width == len(read):
        return _encoded(graph, step, X)
    if isinstance(X, TensorTable):
        return _encoded(graph, step, TensorTable(tuple(X.columns[j] for j in read)))
    return _encoded(graph, step, X.columns(read))


def _encoded(graph: Graph, step: ColumnEncoding, X: Rows) -> Tensor:
    """Add the filling of gaps, their marks, and the codes of categories."""
    names = tuple(step.names[j] for j in step.layout.source)
    words = [names[own.column] for own in step.categories if _has_words(own)]
    if words and not isinstance(X, TensorTable):
        raise ValueError(
            f"the columns {words} are categories of words, and one matrix of numbers cannot hold "
            "them; give some rows as example, and the graph has one input per column."
        )
    if step.readings:
        texts = [n for n, how in zip(step.names, step.readings, strict=True) if how.kind == TEXT]
        if texts:
            raise ValueError(f"the columns {texts} are {NO_TEXT}")
        X = _read(graph, step, X)
    numbers = [j for j in range(len(step.medians)) if step.layout.is_category[j] == 0]
    parts = [_codes(graph, own, column_of(graph, X, own.column)) for own in step.categories]
    if numbers:
        known = numbers_of(graph, X, numbers, names)
        parts.append(graph.filled(known, step.medians[numbers]))
    order = np.argsort([own.column for own in step.categories] + numbers)
    if len(step.marked):
        marked = graph.node("IsNaN", numbers_of(graph, X, step.marked, names))
        parts.append(graph.scaled(graph.as_double(marked), len(step.marked), GAP))
        order = np.append(order, len(order) + np.arange(len(step.marked)))
    joined = graph.joined(parts)
    return joined.columns(order) if step.categories else joined


def _read(graph: Graph, step: ColumnEncoding, X: Rows) -> TensorTable:
    """Add the columns that dates, given as days since 1970, become; others are what they are."""
    columns: list[TensorColumn] = []
    for j, how in enumerate(step.readings):
        own = column_of(graph, X, j)
        if how.kind == DATE:
            parts = date_parts(graph, graph.as_double(own.value), how.first, timed=how.timed)
            columns += [TensorColumn(part, NUMBERS) for part in parts]
        else:
            columns.append(own)
    return TensorTable(tuple(columns))


def _has_words(own: CategoryCodes) -> bool:
    return any(isinstance(level, str) for level in own.levels)


def _codes(graph: Graph, own: CategoryCodes, column: TensorColumn) -> Tensor:
    """Add the code of each value in a column: zero for other levels, the last one for gaps."""
    code_of = {level: 1.0 + k for k, level in enumerate(own.levels)}
    gap = own.n_codes - 1 if own.knows_missing else OTHER
    return codes(graph, column, code_of, other=OTHER, gap=gap)


def _components(graph: Graph, map: EmpiricalMap, X: Tensor) -> Tensor:
    # Without rows the kernel is precomputed, which `matrix` refuses.
    rows: Any = np.empty((0, 0)) if map.rows is None else map.rows
    K = matrix(graph, map.kernel, X, rows.toarray() if sp.issparse(rows) else rows)
    return K @ (map.vectors / np.sqrt(map.eigenvalues))


def _of_unit_norm(graph: Graph, X: Tensor, width: int) -> Tensor:
    norms = graph.node("Sqrt", (X * X) @ np.ones((width, 1)))
    return X / graph.node("Where", norms > 0.0, norms, 1.0)


# --- Classes ----------------------------------------------------------------------------------


def class_scores(model: Any, graph: Graph, values: Tensor) -> Tensor:
    """Add the calibration of machine values: log-odds of two classes, or scores in a softmax."""
    calibration: Any = predictor_of(model).calibration
    slope, intercept = calibration.sigmoid.slope, calibration.sigmoid.intercept
    scores = values @ np.diag(slope) + intercept[None]
    if calibration.pairs is not None:
        scores = _coupled(graph, scores, calibration.pairs)
    if len(model.classes_) == 2:
        return scores
    t, width = calibration.temperature, len(model.classes_)
    offsets = np.zeros(width) if calibration.offsets is None else calibration.offsets
    return scores @ (t * np.eye(width)) + offsets[None]


def _coupled(graph: Graph, log_odds: Tensor, pairs: Array) -> Tensor:
    """Add one score per class from log-odds of pairs; see `calibration.scores.coupled`."""
    scores = []
    for signs in pairs.T:
        own = np.flatnonzero(signs)
        against = np.zeros((len(pairs), 1 + len(own)))
        against[own, 1 + np.arange(len(own))] = -signs[own]
        values = log_odds @ against
        place = graph.node("ArgMax", values, axis=1, keepdims=1)
        most = graph.node("GatherElements", values, place, axis=1)
        total = graph.node("Exp", values - most) @ np.ones((1 + len(own), 1))
        scores.append(-(most + graph.node("Log", total)))
    return graph.joined(scores)


def class_probabilities(model: Any, graph: Graph, scores: Tensor) -> Tensor:
    """Add the probabilities of the classes, with the shares that they have in the table."""
    logs = np.log(model.class_weight_)
    if len(model.classes_) > 2:
        return graph.node("Softmax", scores - logs[None], axis=1)
    log_odds = scores - np.array([[logs[1] - logs[0]]])
    return graph.joined([graph.node("Sigmoid", each) for each in (-log_odds, log_odds)])


def classes_and_scores(model: Any, graph: Graph, values: Tensor) -> tuple[Tensor, Tensor]:
    """Add the nodes that turn machine values into class numbers and decision values."""
    n_classes = len(model.classes_)
    if model._decides_by_scores():
        scores = class_scores(model, graph, values)
        if n_classes > 2:
            by_pairs = getattr(model, "decision_function_shape", "ovr") == "ovo"
            return _largest(graph, scores), values if by_pairs else scores
        values = scores
    if n_classes == 2:
        number = graph.node("Reshape", graph.as_integer(values > 0.0), np.array([-1]))
        return number, graph.node("Reshape", values, np.array([-1]))
    if predictor_of(model).multiclass == "ovr":
        return _largest(graph, values), values
    scores = _scores_of_pairs(graph, values, n_classes)
    if getattr(model, "break_ties", False):
        number = graph.node("ArgMax", scores, axis=1, keepdims=0)
    else:
        votes = _votes(graph, values > 0.0, n_classes)
        number = graph.node("ArgMax", votes, axis=1, keepdims=0)
    return number, values if model.decision_function_shape == "ovo" else scores


def _largest(graph: Graph, values: Tensor) -> Tensor:
    """Add the column of the largest value, the first on ties; see `svm.base.multiclass.largest`."""
    place = graph.node("ArgMax", values, axis=1, keepdims=1)
    most = graph.node("GatherElements", values, place, axis=1)
    least = most - (graph.node("Abs", most) + 1.0) * 1e-9
    below = graph.as_double(values < least)
    return graph.node("ArgMin", below, axis=1, keepdims=0)


def _pairs(n_classes: int) -> tuple[Array, Array]:
    """Return the first and the second class of each pair, as one-hot rows."""
    first, second = np.triu_indices(n_classes, 1)
    one = np.eye(n_classes)
    return one[first], one[second]


def _votes(graph: Graph, first_wins: Tensor, n_classes: int) -> Tensor:
    """Add the votes per class: each pair votes for its first class if it wins, else its second."""
    first, second = _pairs(n_classes)
    return graph.as_double(first_wins) @ (first - second) + second.sum(axis=0)[None]


def _scores_of_pairs(graph: Graph, values: Tensor, n_classes: int) -> Tensor:
    """Add votes plus the sum of the pairs' values, squashed to less than half a vote."""
    first, second = _pairs(n_classes)
    sums = values @ (first - second)
    squashed = sums / ((graph.node("Abs", sums) + 1.0) * 3.0)
    return _votes(graph, ~(values < 0.0), n_classes) + squashed


# --- One class --------------------------------------------------------------------------------


def at_boundary(model: Any, graph: Graph, values: Tensor) -> Tensor:
    """Add zeros in place of decision values that are rounding."""
    limit = ROUNDING * abs(float(model.offset_[0]))
    inside = graph.node("Abs", values) > limit
    return graph.node("Where", inside, values, 0.0)


def ranks(model: Any, graph: Graph, values: Tensor) -> Tensor:
    """Add the shares of held-out rows whose decision value is larger, and at most as large."""
    held: Ranking = model._ranks_
    weight, total = np.diff(held.weight)[:, None], 1 + held.weight[-1]
    above = graph.as_double(values < held.values[None]) @ (weight / total)
    return graph.joined([above, -above + 1.0])


# --- Transformers -----------------------------------------------------------------------------


@singledispatch
def columns(model: Any, graph: Graph, X: Tensor) -> Tensor:
    """Add the nodes of a transformer; return the name of its columns."""
    raise ValueError(f"{model!r} cannot be exported to ONNX: it is not supported.")


@columns.register
def _(model: EmpiricalKernelMap, graph: Graph, X: Tensor) -> Tensor:
    return _components(graph, model.map_, X)


@columns.register
def _(model: FeatureDiscriminationScaler, graph: Graph, X: Tensor) -> Tensor:
    return X * model.scale_[None]


@columns.register
def _(model: RelevanceSelector, graph: Graph, X: Tensor) -> Tensor:
    return X.columns(np.flatnonzero(model.selected_features_))


@columns.register
def _(model: PolynomialFeatures, graph: Graph, X: Tensor) -> Tensor:
    powers = model.powers_
    d, degree = powers.shape[1], int(powers.sum(axis=1).max(initial=1))
    ones = X @ np.zeros((d, 1)) + 1.0
    padded = graph.node("Concat", X, ones, axis=1)
    # Column numbers of the factors of each product, padded with that of the ones.
    factors = np.full((degree, len(powers)), d)
    for column, row in enumerate(powers):
        own = np.repeat(np.arange(d), row)
        factors[: len(own), column] = own
    out = padded.columns(factors[0])
    for more in factors[1:]:
        out = out * padded.columns(more)
    return out

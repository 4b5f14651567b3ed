"""Parsers, shape calculators and converters with which skl2onnx exports kernelwise models.

They are passed with each call, so that nothing is registered globally.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.validation import check_is_fitted

from ...svm import (
    SVC,
    SVR,
    AdaptiveKernelSVC,
    DualObjectiveSVC,
    FeatureDiscriminationSVC,
    GeneralizedBiasSVC,
    MarginRadiusSVC,
    NuSVC,
    NuSVR,
    OneClassSVM,
    RelevanceSVC,
    RelevanceSVR,
    SVCSearchCV,
    SVRSearchCV,
)
from ...svm.base.regressor import KernelRegressor
from ...transform import (
    EmpiricalKernelMap,
    FeatureDiscriminationScaler,
    GeodesicNeighborFeatures,
    RelevanceSelector,
    TopicFeatures,
)
from ..tabular import TableEncoder
from . import _onnx_geodesic as _onnx_geodesic  # registers its columns
from . import _onnx_topics as _onnx_topics  # the same
from ._onnx_graph import Graph, Tensor
from ._onnx_models import (
    at_boundary,
    class_probabilities,
    class_scores,
    classes_and_scores,
    columns,
    decisions,
    encoded,
    ranks,
)
from ._onnx_relevance import class_scores as scores_of_mixture
from ._onnx_relevance import predictions
from ._onnx_tables import (
    WORDS,
    Rows,
    TensorColumn,
    TensorTable,
    encoded_columns,
    encoder_output_types,
    kind_of,
)

_CLASSIFIERS = (
    SVC,
    NuSVC,
    AdaptiveKernelSVC,
    DualObjectiveSVC,
    FeatureDiscriminationSVC,
    GeneralizedBiasSVC,
    MarginRadiusSVC,
)
_MACHINES = SVR, NuSVR
_TRANSFORMERS = (
    EmpiricalKernelMap,
    FeatureDiscriminationScaler,
    GeodesicNeighborFeatures,
    RelevanceSelector,
    TopicFeatures,
)


@cache
def parsers() -> dict[type, Callable[..., Any]]:
    """Return, by type of model, the function that declares its outputs."""
    return (
        dict.fromkeys((*_CLASSIFIERS, RelevanceSVC), _parse_classifier)
        | dict.fromkeys(_TRANSFORMERS, _parse_transformer)
        | dict.fromkeys((SVCSearchCV, SVRSearchCV), _parse_search)
        | {TableEncoder: _parse_encoder}
        | dict.fromkeys((*_MACHINES, RelevanceSVR), _parse_regressor)
        | {OneClassSVM: _parse_detector}
    )


@cache
def shapes() -> dict[type, Callable[..., Any]]:
    """Return, by type of model, the function that sets the types and shapes of its outputs."""
    return (
        dict.fromkeys((*_CLASSIFIERS, RelevanceSVC), _shape_classifier)
        | dict.fromkeys(_TRANSFORMERS, _shape_transformer)
        | dict.fromkeys((*_MACHINES, RelevanceSVR), _shape_regressor)
        | {TableEncoder: _shape_encoder, OneClassSVM: _shape_detector}
    )


@cache
def converters() -> dict[type, Callable[..., Any]]:
    """Return, by type of model, the function that adds its nodes.

    Two types of scikit-learn are included, to compute in float64.
    """
    return (
        dict.fromkeys(_CLASSIFIERS, _convert_classifier)
        | dict.fromkeys((*_TRANSFORMERS, PolynomialFeatures), _convert_transformer)
        | {SimpleImputer: _convert_imputer, TableEncoder: _convert_encoder}
        | dict.fromkeys(_MACHINES, _convert_machines)
        | {RelevanceSVC: _convert_mixture, RelevanceSVR: _convert_regressor}
        | {OneClassSVM: _convert_detector}
    )


def _declared(scope: Any, model: Any, inputs: Any, outputs: Iterable[tuple[str, Any]]) -> Any:
    """Declare the operator of a model, with its outputs by name and type."""
    operator = scope.declare_local_operator(f"Kernelwise{type(model).__name__}", model)
    operator.inputs = list(inputs)
    for name, kind in outputs:
        operator.outputs.append(scope.declare_local_variable(name, kind))
    return operator.outputs


def _parse_classifier(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    from skl2onnx.common.data_types import DoubleTensorType

    outputs = [("label", _label_type(model)), ("decision", DoubleTensorType())]
    if hasattr(model, "predict_proba"):
        outputs.append(("probabilities", DoubleTensorType()))
    return _declared(scope, model, inputs, outputs)


def _parse_regressor(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    from skl2onnx.common.data_types import DoubleTensorType

    return _declared(scope, model, inputs, [("prediction", DoubleTensorType())])


def _parse_detector(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    from skl2onnx.common.data_types import DoubleTensorType, Int64TensorType

    outputs = [("label", Int64TensorType()), ("decision", DoubleTensorType())]
    if hasattr(model, "predict_proba"):
        outputs.append(("probabilities", DoubleTensorType()))
    return _declared(scope, model, inputs, outputs)


def _parse_transformer(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    from skl2onnx.common.data_types import DoubleTensorType

    return _declared(scope, model, inputs, [("columns", DoubleTensorType())])


def _parse_search(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    check_is_fitted(model, "best_estimator_")
    parse = _parse_regressor if isinstance(model, SVRSearchCV) else _parse_classifier
    return parse(scope, model.best_estimator_, inputs)


def _parse_encoder(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    types = encoder_output_types(model, [kind_of(variable) for variable in inputs])
    return _declared(scope, model, inputs, [("columns", each) for each in types])


def _shape_encoder(operator: Any) -> None:
    """Leave the types as they were declared: they follow from the inputs alone."""


def _shape_classifier(operator: Any) -> None:
    from skl2onnx.common.data_types import DoubleTensorType

    model = operator.raw_operator
    operator.outputs[0].type = _label_type(model)
    operator.outputs[1].type = DoubleTensorType([None] * (1 if len(model.classes_) == 2 else 2))
    for each in operator.outputs[2:]:
        each.type = DoubleTensorType([None, len(model.classes_)])


def _shape_regressor(operator: Any) -> None:
    from skl2onnx.common.data_types import DoubleTensorType

    model = operator.raw_operator
    is_machine = isinstance(model, KernelRegressor)
    n_targets = len(model.intercept_ if is_machine else model._models_)
    operator.outputs[0].type = DoubleTensorType([None] if model._is_flat_ else [None, n_targets])


def _shape_detector(operator: Any) -> None:
    from skl2onnx.common.data_types import DoubleTensorType, Int64TensorType

    operator.outputs[0].type = Int64TensorType([None])
    operator.outputs[1].type = DoubleTensorType([None])
    for each in operator.outputs[2:]:
        each.type = DoubleTensorType([None, 2])


def _shape_transformer(operator: Any) -> None:
    from skl2onnx.common.data_types import DoubleTensorType

    width = len(operator.raw_operator.get_feature_names_out())
    operator.outputs[0].type = DoubleTensorType([None, width])


def _label_type(model: Any) -> Any:
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType

    return (Int64TensorType if model.classes_.dtype.kind in "biu" else StringTensorType)([None])


def _labels(model: Any) -> Any:
    whole = model.classes_.dtype.kind in "biu"
    return model.classes_.astype(np.int64) if whole else model.classes_.astype(str)


def _rows(graph: Graph, operator: Any) -> Rows:
    """Add nodes that cast the inputs to float64 and join their columns; words stay columns."""
    if any(kind_of(each) == WORDS for each in operator.inputs):
        return TensorTable(_columns(graph, operator))
    return graph.joined([graph.as_double(each.full_name) for each in operator.inputs])


def _width(operator: Any) -> int | None:
    """Return the number of columns of the inputs; None if unknown."""
    widths = [each.type.shape[1] for each in operator.inputs]
    return None if None in widths else int(sum(widths))


def _columns(graph: Graph, operator: Any) -> tuple[TensorColumn, ...]:
    inputs = operator.inputs
    return tuple(TensorColumn(Tensor(graph, each.full_name), kind_of(each)) for each in inputs)


def _convert_encoder(scope: Any, operator: Any, container: Any) -> None:
    graph = Graph(scope, container)
    made = encoded_columns(graph, operator.raw_operator, _columns(graph, operator))
    for output, name in zip(operator.outputs, made, strict=True):
        graph.node_to(output.full_name, "Identity", name)


def _convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    graph, model = Graph(scope, container), operator.raw_operator
    values = decisions(model, graph, _rows(graph, operator))
    number, scores = classes_and_scores(model, graph, values)
    label, decision, *probabilities = (each.full_name for each in operator.outputs)
    graph.node_to(label, "Gather", _labels(model), number, axis=0)
    graph.node_to(decision, "Identity", scores)
    for name in probabilities:
        found = class_probabilities(model, graph, class_scores(model, graph, values))
        graph.node_to(name, "Identity", found)


def _convert_mixture(scope: Any, operator: Any, container: Any) -> None:
    graph, model = Graph(scope, container), operator.raw_operator
    E = encoded(graph, model, _rows(graph, operator), _width(operator))
    scores = scores_of_mixture(model._models_, graph, E)
    label, decision, probability = (each.full_name for each in operator.outputs)
    if len(model.classes_) == 2:
        number = graph.node("Reshape", graph.as_integer(scores > 0.0), np.array([-1]))
        graph.node_to(decision, "Reshape", scores, np.array([-1]))
    else:
        number = graph.node("ArgMax", scores, axis=1, keepdims=0)
        graph.node_to(decision, "Identity", scores)
    graph.node_to(label, "Gather", _labels(model), number, axis=0)
    graph.node_to(probability, "Identity", class_probabilities(model, graph, scores))


def _convert_regressor(scope: Any, operator: Any, container: Any) -> None:
    graph, model = Graph(scope, container), operator.raw_operator
    E = encoded(graph, model, _rows(graph, operator), _width(operator))
    means = [(each, predictions(each.members, graph, E)) for each in model._models_]
    pulled = [(each, f * np.full((1, 1), each.slope) + each.shift) for each, f in means]
    found = [graph.node("Max", f, each.floor) for each, f in pulled]
    out = operator.outputs[0].full_name
    if model._is_flat_:
        graph.node_to(out, "Reshape", found[0], np.array([-1]))
    else:
        graph.node_to(out, "Identity", graph.joined(found))


def _convert_machines(scope: Any, operator: Any, container: Any) -> None:
    graph, model = Graph(scope, container), operator.raw_operator
    values, out = decisions(model, graph, _rows(graph, operator)), operator.outputs[0].full_name
    if model._is_flat_:
        graph.node_to(out, "Reshape", values, np.array([-1]))
    else:
        graph.node_to(out, "Identity", values)


def _convert_detector(scope: Any, operator: Any, container: Any) -> None:
    graph, model = Graph(scope, container), operator.raw_operator
    values = at_boundary(model, graph, decisions(model, graph, _rows(graph, operator)))
    label, decision, *probabilities = (each.full_name for each in operator.outputs)
    outside = graph.node("Reshape", values < 0.0, np.array([-1]))
    graph.node_to(label, "Where", outside, np.array([-1]), np.array([1]))
    graph.node_to(decision, "Reshape", values, np.array([-1]))
    for name in probabilities:
        graph.node_to(name, "Identity", ranks(model, graph, values))


def _convert_transformer(scope: Any, operator: Any, container: Any) -> None:
    graph = Graph(scope, container)
    rows = _rows(graph, operator)
    if isinstance(rows, TensorTable):
        raise ValueError(
            f"{type(operator.raw_operator).__name__} cannot be exported to ONNX for columns of "
            "words; encode them in a step before it."
        )
    _store(graph, operator, columns(operator.raw_operator, graph, rows))


def _store(graph: Graph, operator: Any, out: Tensor) -> None:
    """Cast the result to its declared type, under its declared name."""
    from skl2onnx.common.data_types import guess_proto_type

    result = operator.outputs[0]
    graph.node_to(result.full_name, "Cast", out, to=guess_proto_type(result.type))


def _convert_imputer(scope: Any, operator: Any, container: Any) -> None:
    """Impute in float64, which skl2onnx's operator cannot do; leave other cases to skl2onnx."""
    from skl2onnx.common._registration import get_converter
    from skl2onnx.common.data_types import DoubleTensorType

    model = operator.raw_operator
    double = isinstance(operator.inputs[0].type, DoubleTensorType)
    is_nan = isinstance(model.missing_values, float) and np.isnan(model.missing_values)
    if model.add_indicator or not is_nan or not double:
        get_converter(operator.type)(scope, operator, container)
        return
    graph, means = Graph(scope, container), np.asarray(model.statistics_, dtype=np.float64)
    kept = np.flatnonzero(~np.isnan(means))
    X: Any = _rows(graph, operator)
    _store(graph, operator, graph.filled(X.columns(kept), means[kept]))

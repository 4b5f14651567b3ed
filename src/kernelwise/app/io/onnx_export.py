"""Export fitted models to ONNX graphs, for use without Python."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from ..._files import replacing
from ...svm import RelevanceSVC, RelevanceSVR, SVCSearchCV
from ...svm.base.estimator import KernelMachine
from ..tabular.encoder import table_encoder
from ._onnx_tables import encoder_inputs


def to_onnx(
    model: Any, example: Any = None, *, opset: int | None = None, dtype: str = "float64"
) -> Any:
    """Export a fitted model as an ONNX graph.

    The graph computes in float64. The outputs of a classifier are "label" (int64 or strings),
    "decision" (the values of `decision_function`) and, where it is calibrated, "probabilities", as
    are those of an outlier detector; the output of a regressor is "prediction", that of a
    transformer "columns". An output whose name is
    that of an input ends in "_".

    Parameters
    ----------
    model : estimator
        A classifier, regressor or transformer of kernelwise, or a pipeline whose other steps
        skl2onnx supports.
    example : DataFrame, default=None
        Some rows, for a model that starts from named columns: the graph then has one input per
        column, of shape (n, 1), which takes strings if the column is not numeric; an empty string
        is a missing word. With None the graph has one input "X" of shape (n, n_features). A
        pipeline that starts with a `TableEncoder` has one input per column in any case: numbers,
        dates as days since 1970, and words without surrounding blanks.
    opset : int, default=None
        Version of the ONNX operators; None selects the latest that skl2onnx is tested with.
    dtype : {"float64", "float32"}, default="float64"
        Type of the input numbers.

    Returns
    -------
    graph : onnx.ModelProto
        The graph.

    See Also
    --------
    save_onnx : Write the graph to a file.
    to_sklearn : Export to plain scikit-learn objects.

    Notes
    -----
    The kernel values between the input rows and the support vectors form one matrix: pass many rows
    in batches. The Laplacian kernel sums its distances feature by feature, so that no tensor of
    rows by support vectors by features is built.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernelwise import SVC
    >>> from kernelwise.app.io import to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> graph = to_onnx(SVC().fit(X, y)).graph
    >>> [each.name for each in graph.input], [each.name for each in graph.output]
    (['X'], ['label', 'decision'])
    """
    check_is_fitted(model)
    model = model.to_local() if hasattr(model, "to_local") else model
    if dtype not in ("float64", "float32"):
        raise ValueError(f'dtype must be "float64" or "float32"; got {dtype!r}.')
    try:
        import skl2onnx
    except ImportError as error:
        raise ImportError("ONNX export needs skl2onnx: pip install 'kernelwise[onnx]'.") from error
    from ._onnx_convert import converters, parsers, shapes

    final = _outputs(model.steps[-1][1] if hasattr(model, "steps") else model)
    inputs = _inputs(model, example, dtype)
    taken = {name for name, _ in inputs}
    try:
        graph = skl2onnx.convert_sklearn(
            model,
            name=type(model).__name__,
            initial_types=inputs,
            target_opset=opset,
            custom_conversion_functions=converters(),
            custom_shape_calculators=shapes(),
            custom_parsers=parsers(),
            final_types=[(f"{name}_" if name in taken else name, None) for name in final],
        )
    except (RuntimeError, NotImplementedError, KeyError) as error:  # a step has no converter
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"{type(model).__name__} cannot be exported to ONNX: skl2onnx says {reason!r}. Every "
            "classifier and transformer of kernelwise can be exported, and every step that "
            'skl2onnx knows. In place of CalibratedClassifierCV use calibration="halves" of the '
            "classifier; apply other steps before the graph, or keep the whole model with "
            "kernelwise.app.io.save."
        ) from error
    _restore_names(graph.graph, [name for name, _ in inputs])
    return graph


def _outputs(last: Any) -> list[str]:
    """Return the names of the outputs of a graph, by the last step of the model."""
    if is_regressor(last):
        return ["prediction"]
    if not hasattr(last, "predict"):
        return ["columns"]
    is_ours = isinstance(last, KernelMachine | RelevanceSVC | SVCSearchCV)
    has_probabilities = is_ours and hasattr(last, "predict_proba")
    return ["label", "decision", *(["probabilities"] if has_probabilities else [])]


def _restore_names(graph: Any, names: Sequence[str]) -> None:
    """Give the inputs the names of their columns, which skl2onnx makes identifiers of."""
    wanted = {
        given.name: name
        for given, name in zip(graph.input, names, strict=True)
        if given.name != name
    }
    for given in graph.input:
        given.name = wanted.get(given.name, given.name)
    _rename(graph, wanted)


def _rename(graph: Any, wanted: Mapping[str, str]) -> None:
    """Rename the inputs of the nodes of a graph, including those of loops."""
    for node in graph.node:
        node.input[:] = [wanted.get(name, name) for name in node.input]
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _rename(attribute.g, wanted)


def save_onnx(
    model: Any,
    path: str | os.PathLike[str],
    example: Any = None,
    *,
    opset: int | None = None,
    dtype: str = "float64",
) -> Path:
    """Export a fitted model to an ONNX file.

    Parameters
    ----------
    model : estimator
        The model; see `to_onnx`.
    path : path-like
        File to write, usually with the suffix ".onnx". It is written atomically.
    example : DataFrame, default=None
        Some rows, for a pipeline that starts from named columns; see `to_onnx`.
    opset : int, default=None
        Version of the ONNX operators; None selects the latest that skl2onnx is tested with.
    dtype : {"float64", "float32"}, default="float64"
        Type of the input numbers.

    Returns
    -------
    path : Path
        Path of the file.
    """
    path = Path(path)
    data = to_onnx(model, example, opset=opset, dtype=dtype).SerializeToString()
    with replacing(path) as draft:
        draft.write_bytes(data)
    return path


def _inputs(model: Any, example: Any, dtype: str) -> list[tuple[str, Any]]:
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, StringTensorType

    numbers: Callable[..., Any] = DoubleTensorType if dtype == "float64" else FloatTensorType
    encoder = table_encoder(model)
    if encoder is not None:
        return encoder_inputs(encoder, example, numbers)
    if example is None:
        return [("X", numbers([None, getattr(model, "n_features_in_", None)]))]
    if not hasattr(example, "columns"):
        raise ValueError("example must be a DataFrame; an array needs no example.")
    names = list(example.columns)
    words = set(names)
    if isinstance(model, RelevanceSVC | RelevanceSVR):
        names, step = _read_columns(model, names), model.columns_
        words = {names[step.layout.source[own.column]] for own in step.categories}
    types = [
        StringTensorType
        if name in words and not np.issubdtype(example[name].to_numpy().dtype, np.number)
        else numbers
        for name in names
    ]
    return [(str(name), make([None, 1])) for name, make in zip(names, types, strict=True)]


def _read_columns(model: Any, names: Sequence[Any]) -> list[Any]:
    """Return the columns that a model reads, as the example names them."""
    named = {str(name): name for name in names}
    missing = [name for name in model.columns_.names if name not in named]
    if missing:
        raise ValueError(f"example must have the columns that the model reads; it lacks {missing}.")
    return [named[name] for name in model.columns_.names]

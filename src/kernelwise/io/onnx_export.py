"""Export fitted models to ONNX graphs, for use without Python."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._files import replacing
from ..svm import SVCSearchCV
from ..svm.base.estimator import BaseLearnedSVC


def to_onnx(
    model: Any, example: Any = None, *, opset: int | None = None, dtype: str = "float64"
) -> Any:
    """Export a fitted model as an ONNX graph.

    The graph computes in float64. The outputs of a classifier are "label" (int64 or strings),
    "decision" (the values of `decision_function`) and, where it is calibrated, "probabilities"; the
    output of a transformer is "columns".

    Parameters
    ----------
    model : estimator
        A classifier or transformer of kernelwise, or a pipeline whose other steps skl2onnx
        supports.
    example : DataFrame, default=None
        Some rows, for a pipeline that starts from named columns: the graph then has one input per
        column, of shape (n, 1), which takes strings if the column is not numeric. With None the
        graph has one input "X" of shape (n, n_features).
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
    >>> from kernelwise.io import to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> graph = to_onnx(SVC().fit(X, y)).graph
    >>> [each.name for each in graph.input], [each.name for each in graph.output]
    (['X'], ['label', 'decision'])
    """
    check_is_fitted(model)
    if dtype not in ("float64", "float32"):
        raise ValueError(f'dtype must be "float64" or "float32"; got {dtype!r}.')
    try:
        import skl2onnx
    except ImportError as error:
        raise ImportError("ONNX export needs skl2onnx: pip install 'kernelwise[onnx]'.") from error
    from ._onnx_convert import converters, parsers, shapes

    final = ["label", "decision"] if hasattr(model, "classes_") else ["columns"]
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if isinstance(last, BaseLearnedSVC | SVCSearchCV) and hasattr(last, "predict_proba"):
        final.append("probabilities")
    try:
        return skl2onnx.convert_sklearn(
            model,
            name=type(model).__name__,
            initial_types=_inputs(model, example, dtype),
            target_opset=opset,
            custom_conversion_functions=converters(),
            custom_shape_calculators=shapes(),
            custom_parsers=parsers(),
            final_types=[(name, None) for name in final],
        )
    except (RuntimeError, NotImplementedError, KeyError) as error:  # a step has no converter
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"{type(model).__name__} cannot be exported to ONNX: skl2onnx says {reason!r}. Export "
            "only the steps that it supports, and apply the others beforehand."
        ) from error


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
    if example is None:
        return [("X", numbers([None, getattr(model, "n_features_in_", None)]))]
    if not hasattr(example, "columns"):
        raise ValueError("example must be a DataFrame; an array needs no example.")
    types = [
        numbers if np.issubdtype(example[name].to_numpy().dtype, np.number) else StringTensorType
        for name in example.columns
    ]
    return [(str(name), make([None, 1])) for name, make in zip(example.columns, types, strict=True)]

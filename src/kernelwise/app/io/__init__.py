"""Save fitted models to files, and export them to ONNX or plain scikit-learn objects."""

from ._container import ModelFileError
from ._trust import trusted_types
from .model_file import describe, load, save
from .onnx_export import save_onnx, to_onnx
from .to_sklearn import to_sklearn

__all__ = [
    "ModelFileError",
    "describe",
    "load",
    "save",
    "save_onnx",
    "to_onnx",
    "to_sklearn",
    "trusted_types",
]

"""A small writer of ONNX nodes, on top of the scope and the container of skl2onnx."""

from __future__ import annotations

from typing import Any

import numpy as np


class Graph:
    """Adds nodes and constants under names of their own.

    Parameters
    ----------
    scope, container : object
        What skl2onnx hands to a converter: the names in use, and the graph.
    """

    def __init__(self, scope: Any, container: Any) -> None:
        self._scope, self._container = scope, container

    def constant(self, value: Any) -> str:
        """Add a tensor, of float64 or int64 or of texts; return its name."""
        from onnx import TensorProto, numpy_helper

        name: str = self._scope.get_unique_variable_name("constant")
        value = np.asarray(value)
        if value.dtype.kind in "OUS":
            texts = [str(each).encode() for each in value.ravel()]
            self._container.add_initializer(name, TensorProto.STRING, list(value.shape), texts)
        else:
            tensor = numpy_helper.from_array(np.ascontiguousarray(value), name)
            self._container.add_initializer(name, tensor.data_type, list(value.shape), tensor)
        return name

    def node(self, op: str, *inputs: Any, **attributes: Any) -> str:
        """Add a node; inputs are names, or values that become constants. Return its output."""
        out: str = self._scope.get_unique_variable_name(op.lower())
        self.node_to(out, op, *inputs, **attributes)
        return out

    def node_to(self, out: str, op: str, *inputs: Any, **attributes: Any) -> None:
        """Add a node whose output has this name."""
        names = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        name = self._scope.get_unique_operator_name(op)
        self._container.add_node(op, names, [out], name=name, **attributes)

    def number(self, value: float) -> str:
        """Add a number of float64."""
        return self.constant(np.array(value, dtype=np.float64))

    def as_double(self, x: str) -> str:
        """Cast to float64."""
        from onnx import TensorProto

        return self.node("Cast", x, to=TensorProto.DOUBLE)

    def scaled(self, x: str, width: int, factor: float) -> str:
        """Multiply a matrix of this width by a number.

        onnxruntime would take a Mul by a scalar into the MatMul beside it, as a float32. It leaves
        a Mul by a row alone, and a MatMul is exact for one column.
        """
        if width == 1:
            return self.node("MatMul", x, np.array([[factor]]))
        return self.node("Mul", x, np.full((1, width), factor))

    def filled(self, x: str, values: Any) -> str:
        """Put a value a column in the place of NaN."""
        return self.node("Where", self.node("IsNaN", x), np.asarray(values, np.float64), x)

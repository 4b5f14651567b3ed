"""A small writer of ONNX nodes on top of skl2onnx's scope and container."""

from __future__ import annotations

from typing import Any

import numpy as np


def inner(name: str) -> str:
    """Return a name for the inside of a loop that no column of a table is likely to have."""
    return f"kernelwise:{name}"


class Graph:
    """Adds nodes and constants under unique names.

    Parameters
    ----------
    scope, container : object
        Arguments that skl2onnx passes to a converter: the names in use, and the graph.
    """

    def __init__(self, scope: Any, container: Any) -> None:
        self._scope, self._container = scope, container

    def constant(self, value: Any) -> str:
        """Add a tensor of float64, int64 or strings; return its name."""
        from onnx import TensorProto, numpy_helper

        name: str = self._scope.get_unique_variable_name("constant")
        value = np.asarray(value)
        if value.dtype.kind in "OUS":
            texts = [str(each).encode() for each in value.ravel()]
            self._container.add_initializer(name, TensorProto.STRING, list(value.shape), texts)
        else:
            tensor = numpy_helper.from_array(np.asarray(value, order="C"), name)
            self._container.add_initializer(name, tensor.data_type, list(value.shape), tensor)
        return name

    def node(self, op: str, *inputs: Any, **attributes: Any) -> str:
        """Add a node and return its output name; inputs are names, or values of constants."""
        out: str = self._scope.get_unique_variable_name(op.lower())
        self.node_to(out, op, *inputs, **attributes)
        return out

    def node_to(self, out: str, op: str, *inputs: Any, **attributes: Any) -> None:
        """Add a node whose output is named ``out``."""
        self._add(op, inputs, [out], attributes)

    def node_of_two(self, op: str, *inputs: Any, **attributes: Any) -> tuple[str, str]:
        """Add a node with two outputs; return their names."""
        first, second = (self._scope.get_unique_variable_name(op.lower()) for _ in range(2))
        self._add(op, inputs, [first, second], attributes)
        return first, second

    def _add(self, op: str, inputs: Any, outs: list[str], attributes: dict[str, Any]) -> None:
        names = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        name = self._scope.get_unique_operator_name(op)
        self._container.add_node(op, names, outs, name=name, **attributes)

    def number(self, value: float) -> str:
        """Add a float64 scalar; return its name."""
        return self.constant(np.array(value, dtype=np.float64))

    def as_double(self, x: str) -> str:
        """Add a cast to float64; return its output name."""
        from onnx import TensorProto

        return self.node("Cast", x, to=TensorProto.DOUBLE)

    def as_integer(self, x: str) -> str:
        """Add a cast to int64."""
        from onnx import TensorProto

        return self.node("Cast", x, to=TensorProto.INT64)

    def shape(self, x: str, width: int) -> str:
        """Add the shape of a matrix with as many rows as x, and so many columns."""
        height = self.node("Slice", self.node("Shape", x), np.array([0]), np.array([1]))
        return self.node("Concat", height, np.array([width]), axis=0)

    def scaled(self, x: str, width: int, factor: float) -> str:
        """Multiply a matrix with ``width`` columns by a number.

        onnxruntime would fuse a Mul by a scalar into the adjacent MatMul, as a float32. It does not
        fuse a Mul by a row, and for one column a MatMul is exact.
        """
        if width == 1:
            return self.node("MatMul", x, np.array([[factor]]))
        return self.node("Mul", x, np.full((1, width), factor))

    def filled(self, x: str, values: Any) -> str:
        """Replace NaN by the value of its column."""
        return self.node("Where", self.node("IsNaN", x), np.asarray(values, np.float64), x)

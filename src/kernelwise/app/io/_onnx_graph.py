"""A small writer of ONNX nodes on top of skl2onnx's scope and container."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np

_MAX_BYTES = 2e9  # of the constants of a graph; protobuf allows 2 GiB for all


def inner(name: str) -> str:
    """Return a name for the inside of a loop that no column of a table is likely to have."""
    return f"kernelwise:{name}"


def _operator(op: str) -> Callable[[Tensor, Any], Tensor]:
    """Return the method that adds a node of a tensor and another operand."""
    return lambda tensor, other: tensor.graph.node(op, tensor, other)


class Tensor:
    """A value in a graph, by its name; its operators add nodes.

    ``name``: the name of the value.
    """

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph, self.name = graph, name

    __add__, __sub__ = _operator("Add"), _operator("Sub")
    __mul__, __truediv__ = _operator("Mul"), _operator("Div")
    __matmul__ = _operator("MatMul")
    __and__, __or__ = _operator("And"), _operator("Or")
    __lt__, __gt__ = _operator("Less"), _operator("Greater")

    def __invert__(self) -> Tensor:
        return self.graph.node("Not", self)

    def __neg__(self) -> Tensor:
        return self.graph.node("Neg", self)

    def __floordiv__(self, other: Any) -> Tensor:
        return self.graph.node("Floor", self / other)

    def __mod__(self, other: Any) -> Tensor:
        return self - self // other * other

    def columns(self, places: Any) -> Tensor:
        """Add the columns of a matrix at some places."""
        return self.graph.node("Gather", self, places, axis=1)

    def equals(self, other: Any) -> Tensor:
        """Add which entries are equal."""
        return self.graph.node("Equal", self, other)

    def clipped(self, least: float, most: float) -> Tensor:
        """Add the entries, limited to an interval."""
        return self.graph.node("Max", self.graph.node("Min", self, most), least)


class Graph:
    """Adds nodes and constants under unique names.

    ``scope``, ``container``: arguments that skl2onnx passes to a converter: the names in use, and
    the graph.
    """

    def __init__(self, scope: Any, container: Any) -> None:
        self._scope, self._container = scope, container
        self._n_bytes = 0

    def count(self, n_bytes: int) -> None:
        """Count bytes of constants, and refuse a graph that no file can hold."""
        self._n_bytes += n_bytes
        if self._n_bytes > _MAX_BYTES:
            raise ValueError(
                "the model cannot be exported to ONNX: its training rows and coefficients take "
                f"more than {_MAX_BYTES / 1e9:g} GB, and an ONNX file has less. Fit it to fewer "
                "rows or columns, or keep it with kernelwise.app.io.save."
            )

    def constant(self, value: Any) -> Tensor:
        """Add a tensor of float64, int64 or strings; a number is a float64."""
        from onnx import TensorProto, numpy_helper

        name: str = self._scope.get_unique_variable_name("constant")
        value = np.asarray(value, np.float64 if isinstance(value, Real) else None)
        value = value.astype(np.float64) if value.dtype == np.float32 else value
        self.count(value.nbytes)
        if value.dtype.kind in "OUS":
            texts = [str(each).encode() for each in value.ravel()]
            self._container.add_initializer(name, TensorProto.STRING, list(value.shape), texts)
        else:
            tensor = numpy_helper.from_array(np.asarray(value, order="C"), name)
            self._container.add_initializer(name, tensor.data_type, list(value.shape), tensor)
        return Tensor(self, name)

    def node(self, op: str, *inputs: Any, **attributes: Any) -> Tensor:
        """Add a node and return its output; inputs are tensors, names, or values of constants."""
        out: str = self._scope.get_unique_variable_name(op.lower())
        self.node_to(out, op, *inputs, **attributes)
        return Tensor(self, out)

    def node_to(self, out: str, op: str, *inputs: Any, **attributes: Any) -> None:
        """Add a node whose output is named ``out``."""
        self._add(op, inputs, [out], attributes)

    def node_of_two(self, op: str, *inputs: Any, **attributes: Any) -> tuple[Tensor, Tensor]:
        """Add a node with two outputs."""
        first, second = (self._scope.get_unique_variable_name(op.lower()) for _ in range(2))
        self._add(op, inputs, [first, second], attributes)
        return Tensor(self, first), Tensor(self, second)

    def _add(self, op: str, inputs: Any, outs: list[str], attributes: dict[str, Any]) -> None:
        names = [self._name(each) for each in inputs]
        name = self._scope.get_unique_operator_name(op)
        self._container.add_node(op, names, outs, name=name, **attributes)

    def _name(self, value: Any) -> str:
        if isinstance(value, str):
            return value
        return value.name if isinstance(value, Tensor) else self.constant(value).name

    def joined(self, parts: Sequence[Tensor]) -> Tensor:
        """Add the columns of several matrices, side by side."""
        return parts[0] if len(parts) == 1 else self.node("Concat", *parts, axis=1)

    def as_double(self, x: Tensor | str) -> Tensor:
        """Add a cast to float64."""
        from onnx import TensorProto

        return self.node("Cast", x, to=TensorProto.DOUBLE)

    def rounded(self, x: Tensor) -> Tensor:
        """Add the values as float32 has them."""
        from onnx import TensorProto

        return self.as_double(self.node("Cast", x, to=TensorProto.FLOAT))

    def as_integer(self, x: Tensor) -> Tensor:
        """Add a cast to int64."""
        from onnx import TensorProto

        return self.node("Cast", x, to=TensorProto.INT64)

    def shape(self, x: Tensor, width: int) -> Tensor:
        """Add the shape of a matrix with as many rows as x, and so many columns."""
        height = self.node("Slice", self.node("Shape", x), np.array([0]), np.array([1]))
        return self.node("Concat", height, np.array([width]), axis=0)

    def scaled(self, x: Tensor, width: int, factor: float) -> Tensor:
        """Multiply a matrix with ``width`` columns by a number.

        onnxruntime would fuse a Mul by a scalar into the adjacent MatMul, as a float32. It does not
        fuse a Mul by a row, and for one column a MatMul is exact.
        """
        if width == 1:
            return x @ np.array([[factor]])
        return x * np.full((1, width), factor)

    def filled(self, x: Tensor, values: Any) -> Tensor:
        """Replace NaN by the value of its column."""
        return self.node("Where", self.node("IsNaN", x), np.asarray(values, np.float64), x)

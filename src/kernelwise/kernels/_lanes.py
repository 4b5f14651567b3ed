"""Vectors of 64 bytes as values of compiled code: 16 float32 or 8 float64, side by side.

LLVM's own vectoriser stops at 32 bytes and keeps the sums of a tile in memory; with these they stay
in registers. A processor with narrower registers takes two or four for one.
Import this module inside functions: it loads numba.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model

_BITS = 512


class Lanes(types.Type):
    """The type of a vector."""

    def __init__(self, dtype: types.Float) -> None:
        self.dtype = dtype
        super().__init__(f"lanes({dtype})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, lanes: Lanes) -> None:
        number = ir.FloatType() if lanes.dtype == types.float32 else ir.DoubleType()
        super().__init__(manager, lanes, ir.VectorType(number, _BITS // lanes.dtype.bitwidth))


def _place(context: Any, builder: Any, kind: Any, args: Any) -> Any:
    """Return where array[i, j] stands. No view of a row is made: it would count references."""
    array = context.make_array(kind)(context, builder, args[0])
    row = builder.mul(args[1], builder.extract_value(array.strides, 0))
    start = builder.gep(builder.bitcast(array.data, ir.IntType(8).as_pointer()), [row])
    return builder.gep(builder.bitcast(start, array.data.type), [args[2]])


def _vector_place(context: Any, builder: Any, kind: Any, args: Any) -> Any:
    vector = context.get_value_type(Lanes(kind.dtype))
    return builder.bitcast(_place(context, builder, kind, args), vector.as_pointer())


@intrinsic
def load(typingctx: Any, array: Any, i: Any, j: Any) -> Any:
    """Read lanes from array[i, j] along the row, which is contiguous; nothing checks its end."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[0]
        place = _vector_place(context, builder, kind, args)
        return builder.load(place, align=kind.dtype.bitwidth // 8)

    return Lanes(array.dtype)(array, types.intp, types.intp), codegen


@intrinsic
def store(typingctx: Any, lanes: Any, array: Any, i: Any, j: Any) -> Any:
    """Write lanes from array[i, j] along the row, which is contiguous; nothing checks its end."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[1]
        place = _vector_place(context, builder, kind, args[1:])
        builder.store(args[0], place, align=kind.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(lanes, array, types.intp, types.intp), codegen


def _splat(vector: Any, builder: Any, number: Any) -> Any:
    nothing = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, nothing, zeros)


@intrinsic
def spread(typingctx: Any, array: Any, i: Any, j: Any) -> Any:
    """Return lanes that all hold array[i, j], in an array whose rows are contiguous."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = context.get_value_type(signature.return_type)
        number = builder.load(_place(context, builder, signature.args[0], args))
        return _splat(vector, builder, number)

    return Lanes(array.dtype)(array, types.intp, types.intp), codegen


@intrinsic
def splat(typingctx: Any, number: Any) -> Any:
    """Return lanes that all hold the number."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _splat(context.get_value_type(signature.return_type), builder, args[0])

    return Lanes(number)(number), codegen


def _lane_by_lane(emit: Callable[..., Any]) -> Any:
    @intrinsic
    def combine(typingctx: Any, a: Any, b: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return emit(builder, *args)

        return a(a, b), codegen

    return combine


# "contract" lets a product and a sum become one instruction.
plus = _lane_by_lane(lambda builder, a, b: builder.fadd(a, b, flags=("contract",)))
minus = _lane_by_lane(lambda builder, a, b: builder.fsub(a, b, flags=("contract",)))
times = _lane_by_lane(lambda builder, a, b: builder.fmul(a, b, flags=("contract",)))
most = _lane_by_lane(lambda builder, a, b: builder.select(builder.fcmp_ordered(">", a, b), a, b))


@intrinsic
def accumulate(typingctx: Any, lanes: Any, array: Any, i: Any, j: Any) -> Any:
    """Add lanes, of whichever type, to float64 numbers from array[i, j] along the row."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = ir.VectorType(ir.DoubleType(), args[0].type.count)
        place = _place(context, builder, signature.args[1], args[1:])
        place = builder.bitcast(place, wide.as_pointer())
        single = signature.args[0].dtype == types.float32
        addend = builder.fpext(args[0], wide) if single else args[0]
        builder.store(builder.fadd(builder.load(place, align=8), addend), place, align=8)
        return context.get_dummy_value()

    return types.void(lanes, array, types.intp, types.intp), codegen


@intrinsic
def flip(typingctx: Any, source: Any, i: Any, j: Any, target: Any) -> Any:
    """Copy the square tile of ``source`` at (i, j) to (j, i) of ``target``, as many rows as lanes.

    Of two rows whose numbers differ in one bit, the halves that this bit tells apart change places;
    after all bits rows have become columns.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind, goal = signature.args[0], signature.args[3]
        count = _BITS // kind.dtype.bitwidth
        align, index = kind.dtype.bitwidth // 8, ir.VectorType(ir.IntType(32), count)

        def below(start: Any, step: int) -> Any:
            return builder.add(start, ir.Constant(start.type, step))

        rows = []
        for a in range(count):
            at = args[0], below(args[1], a), args[2]
            rows.append(builder.load(_vector_place(context, builder, kind, at), align=align))
        bit = count // 2
        while bit:
            low = [k if not k & bit else count + k - bit for k in range(count)]
            high = [k + bit if not k & bit else count + k for k in range(count)]
            for a in (a for a in range(count) if not a & bit):
                pair = rows[a], rows[a + bit]
                rows[a], rows[a + bit] = (
                    builder.shuffle_vector(*pair, ir.Constant(index, mask)) for mask in (low, high)
                )
            bit //= 2
        for a in range(count):
            at = args[3], below(args[2], a), args[1]
            builder.store(rows[a], _vector_place(context, builder, goal, at), align=align)
        return context.get_dummy_value()

    return types.void(source, types.intp, types.intp, target), codegen

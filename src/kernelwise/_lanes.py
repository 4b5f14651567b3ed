"""Vectors as values of compiled code: 64 bytes, 16 float32 or 8 float64 side by side.

LLVM's own vectoriser stops at 32 bytes, keeps the sums of a tile in memory and finds the place of
an extremum one number at a time; with these they stay in registers. A processor with narrower
registers takes two or four for one. For loops in which each vector waits for the one before there
are pairs, as long as two registers: two chains are then under way at once.

Nothing checks the ends of arrays, whose rows are contiguous: element (i, j) is row i, place j.
Import this module inside functions: it loads numba.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model

WIDE_REGISTERS = bool(get_host_cpu_features().get("avx512f"))  # 32 of them, of 64 bytes
BYTES = 64
PAIR_BYTES = 128 if WIDE_REGISTERS else 64

_INT32 = ir.IntType(32)
# "contract" lets a product and a sum become one instruction.
CONTRACT = ("contract",)


class Lanes(types.Type):
    """The type of a vector of ``count`` numbers."""

    def __init__(self, dtype: types.Float, count: int) -> None:
        self.dtype, self.count = dtype, count
        super().__init__(f"lanes({dtype} x {count})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, lanes: Lanes) -> None:
        number = ir.FloatType() if lanes.dtype == types.float32 else ir.DoubleType()
        super().__init__(manager, lanes, ir.VectorType(number, lanes.count))


def lanes_of(dtype: Any, n_bytes: int = BYTES) -> Lanes:
    """Return the type of vectors of so many bytes."""
    return Lanes(dtype, 8 * n_bytes // dtype.bitwidth)


def place(context: Any, builder: Any, kind: Any, args: Any) -> Any:
    """Return where array[i, j] stands. No view of a row is made: it would count references."""
    array = context.make_array(kind)(context, builder, args[0])
    row = builder.mul(args[1], builder.extract_value(array.strides, 0))
    start = builder.gep(builder.bitcast(array.data, ir.IntType(8).as_pointer()), [row])
    return builder.gep(builder.bitcast(start, array.data.type), [args[2]])


def vector_place(context: Any, builder: Any, kind: Any, args: Any, vector: Any) -> Any:
    """Return where array[i, j] stands, as the place of a vector."""
    return builder.bitcast(place(context, builder, kind, args), vector.as_pointer())


def read(context: Any, builder: Any, kind: Any, args: Any, n_bytes: int = BYTES) -> Any:
    """Read as many bytes from array[i, j] along the row."""
    vector = context.get_value_type(lanes_of(kind.dtype, n_bytes))
    return builder.load(
        vector_place(context, builder, kind, args, vector), align=kind.dtype.bitwidth // 8
    )


def write(context: Any, builder: Any, kind: Any, args: Any, lanes: Any) -> None:
    """Write lanes from array[i, j] along the row."""
    target = vector_place(context, builder, kind, args, lanes.type)
    builder.store(lanes, target, align=kind.dtype.bitwidth // 8)


def _loader(n_bytes: int) -> Any:
    @intrinsic
    def load_lanes(typingctx: Any, array: Any, i: Any, j: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind, vector = signature.args[0], context.get_value_type(signature.return_type)
            source = vector_place(context, builder, kind, args, vector)
            return builder.load(source, align=kind.dtype.bitwidth // 8)

        return lanes_of(array.dtype, n_bytes)(array, types.intp, types.intp), codegen

    return load_lanes


load = _loader(BYTES)
load_pair = _loader(PAIR_BYTES)


@intrinsic
def store(typingctx: Any, lanes: Any, array: Any, i: Any, j: Any) -> Any:
    """Write lanes from array[i, j] along the row."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        write(context, builder, signature.args[1], args[1:], args[0])
        return context.get_dummy_value()

    return types.void(lanes, array, types.intp, types.intp), codegen


def _inside(builder: Any, count: int, j: Any, end: Any) -> Any:
    """Return which lanes from column j on stand before the end."""
    numbers = ir.VectorType(_INT32, count)
    left = splat_value(numbers, builder, builder.trunc(builder.sub(end, j), _INT32))
    return builder.icmp_signed("<", ir.Constant(numbers, list(range(count))), left)


def _masked(builder: Any, name: str, result: Any, vector: Any, args: Any) -> Any:
    kind = "f32" if isinstance(vector.element, ir.FloatType) else "f64"
    name = f"llvm.masked.{name}.v{vector.count}{kind}.p0"
    signature = ir.FunctionType(result, [arg.type for arg in args])
    return builder.call(cgutils.get_or_insert_function(builder.module, signature, name), args)


def _part_loader(n_bytes: int) -> Any:
    @intrinsic
    def load_lanes(typingctx: Any, array: Any, i: Any, j: Any, end: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind, vector = signature.args[0], context.get_value_type(signature.return_type)
            source = vector_place(context, builder, kind, args[:3], vector)
            align = _INT32(kind.dtype.bitwidth // 8)
            mask = _inside(builder, vector.count, args[2], args[3])
            zeros = ir.Constant(vector, [0.0] * vector.count)
            return _masked(builder, "load", vector, vector, [source, align, mask, zeros])

        lanes = lanes_of(array.dtype, n_bytes)
        return lanes(array, types.intp, types.intp, types.intp), codegen

    return load_lanes


# The same, with zeros in place of what stands from column ``end`` on, which is not read.
load_part = _part_loader(BYTES)
load_pair_part = _part_loader(PAIR_BYTES)


@intrinsic
def store_part(typingctx: Any, lanes: Any, array: Any, i: Any, j: Any, end: Any) -> Any:
    """Write lanes from array[i, j] along the row, but nothing from column ``end`` on."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector, kind = args[0].type, signature.args[1]
        target = vector_place(context, builder, kind, args[1:4], vector)
        mask = _inside(builder, vector.count, args[3], args[4])
        align = _INT32(kind.dtype.bitwidth // 8)
        _masked(builder, "store", ir.VoidType(), vector, [args[0], target, align, mask])
        return context.get_dummy_value()

    return types.void(lanes, array, types.intp, types.intp, types.intp), codegen


@intrinsic
def await_store(typingctx: Any, array: Any, i: Any, j: Any) -> Any:
    """Have the memory of array[i, j] brought to the cache: it is going to be written soon."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target = place(context, builder, signature.args[0], args)
        target = builder.bitcast(target, ir.IntType(8).as_pointer())
        to_write, keep, data = _INT32(1), _INT32(3), _INT32(1)
        kind = ir.FunctionType(ir.VoidType(), [target.type, _INT32, _INT32, _INT32])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(prefetch, [target, to_write, keep, data])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), codegen


def splat_value(vector: Any, builder: Any, number: Any) -> Any:
    """Return a vector of this type that holds the number in every lane."""
    nothing = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, number, _INT32(0))
    zeros = ir.Constant(ir.VectorType(_INT32, vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, nothing, zeros)


@intrinsic
def spread(typingctx: Any, array: Any, i: Any, j: Any) -> Any:
    """Return lanes that all hold array[i, j]."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = context.get_value_type(signature.return_type)
        number = builder.load(place(context, builder, signature.args[0], args))
        return splat_value(vector, builder, number)

    return lanes_of(array.dtype)(array, types.intp, types.intp), codegen


def _splatter(n_bytes: int) -> Any:
    @intrinsic
    def splat_number(typingctx: Any, number: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return splat_value(context.get_value_type(signature.return_type), builder, args[0])

        return lanes_of(number, n_bytes)(number), codegen

    return splat_number


# Lanes that all hold the number.
splat = _splatter(BYTES)
splat_pair = _splatter(PAIR_BYTES)


def _lane_by_lane(emit: Callable[..., Any]) -> Any:
    @intrinsic
    def combine(typingctx: Any, a: Any, b: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return emit(builder, *args)

        return a(a, b), codegen

    return combine


plus = _lane_by_lane(lambda builder, a, b: builder.fadd(a, b, flags=CONTRACT))
minus = _lane_by_lane(lambda builder, a, b: builder.fsub(a, b, flags=CONTRACT))
times = _lane_by_lane(lambda builder, a, b: builder.fmul(a, b, flags=CONTRACT))
least = _lane_by_lane(lambda builder, a, b: builder.select(builder.fcmp_ordered("<", a, b), a, b))
most = _lane_by_lane(lambda builder, a, b: builder.select(builder.fcmp_ordered(">", a, b), a, b))


@intrinsic
def if_less(typingctx: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    """Return x in the lanes where a < b, else y."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        a, b, x, y = args
        return builder.select(builder.fcmp_ordered("<", a, b), x, y)

    return x(a, b, x, y), codegen


@intrinsic
def any_less(typingctx: Any, a: Any, b: Any) -> Any:
    """Tell whether a < b in any lane."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = ir.IntType(args[0].type.count)
        less = builder.bitcast(builder.fcmp_ordered("<", *args), bits)
        return builder.icmp_unsigned("!=", less, bits(0))

    return types.boolean(a, b), codegen


@intrinsic
def accumulate(typingctx: Any, lanes: Any, array: Any, i: Any, j: Any) -> Any:
    """Add lanes, of whichever type, to float64 numbers from array[i, j] along the row."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = ir.VectorType(ir.DoubleType(), args[0].type.count)
        target = vector_place(context, builder, signature.args[1], args[1:], wide)
        single = signature.args[0].dtype == types.float32
        addend = builder.fpext(args[0], wide) if single else args[0]
        builder.store(builder.fadd(builder.load(target, align=8), addend), target, align=8)
        return context.get_dummy_value()

    return types.void(lanes, array, types.intp, types.intp), codegen

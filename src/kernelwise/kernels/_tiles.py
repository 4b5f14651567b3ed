"""Tiles of a kernel matrix in registers: dot products, the exponential, and rows for columns.

Import this module inside functions: it loads numba.
"""

from collections.abc import Callable
from math import factorial
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kernelwise._lanes import (
    CONTRACT,
    WIDE_REGISTERS,
    lanes_of,
    place,
    read,
    splat_value,
    vector_place,
    write,
)

# Of a tile, as many sums as stay in registers and keep the processor's multipliers busy: there are
# 32 registers of 64 bytes, or 16 of 32 bytes, of which a vector takes two.
TILE_ROWS, TILE_VECTORS = (8, 2) if WIDE_REGISTERS else (6, 1)
FLIP_BYTES = 64 if WIDE_REGISTERS else 32  # of a row of a tile that becomes a column in registers


def _sum_tile(add: Callable[..., Any], context: Any, builder: Any, kinds: Any, args: Any) -> Any:
    """Sum over d features what some rows of the left make with some vectors of a panel.

    Returns a list of vectors for each row.
    """
    left, rows, panel, at, d = args
    left_kind, panel_kind = kinds
    vector = context.get_value_type(lanes_of(left_kind.dtype))
    align, zero = left_kind.dtype.bitwidth // 8, ir.Constant(at.type, 0)
    nothing = ir.Constant(vector, [0.0] * vector.count)
    starts = [place(context, builder, left_kind, (left, row, zero)) for row in rows]
    sums = [
        [cgutils.alloca_once_value(builder, nothing) for _ in range(TILE_VECTORS)] for _ in rows
    ]
    lines = vector_place(context, builder, panel_kind, (panel, at, zero), vector)
    with cgutils.for_range(builder, d) as loop:
        first = builder.mul(loop.index, ir.Constant(at.type, TILE_VECTORS))
        columns = [
            builder.load(
                builder.gep(lines, [builder.add(first, ir.Constant(at.type, v))]), align=align
            )
            for v in range(TILE_VECTORS)
        ]
        for start, own in zip(starts, sums, strict=True):
            x = splat_value(vector, builder, builder.load(builder.gep(start, [loop.index])))
            for column, total in zip(columns, own, strict=True):
                builder.store(add(builder, builder.load(total), x, column), total)
    return [[builder.load(total) for total in own] for own in sums]


def _tile_sums(add: Callable[..., Any]) -> Any:
    @intrinsic
    def sums_of_tile(
        typingctx: Any, left: Any, i: Any, last: Any, panel: Any, at: Any, d: Any, tile: Any
    ) -> Any:
        kinds, tile_kind = (left, panel), tile

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            left, i, last, panel, at, d, tile = args
            rows = [builder.add(i, ir.Constant(i.type, a)) for a in range(TILE_ROWS)]
            rows = [builder.select(builder.icmp_signed("<", row, last), row, last) for row in rows]
            sums = _sum_tile(add, context, builder, kinds, (left, rows, panel, at, d))
            for a, own in enumerate(sums):
                for v, total in enumerate(own):
                    line = tile, ir.Constant(i.type, a + v * TILE_ROWS), ir.Constant(i.type, 0)
                    write(context, builder, tile_kind, line, total)
            return context.get_dummy_value()

        where = types.intp
        return types.void(left, where, where, panel, where, where, tile), codegen

    return sums_of_tile


def _multiply_add(builder: Any, a: Any, b: Any, c: Any) -> Any:
    return builder.fadd(builder.fmul(a, b, flags=CONTRACT), c, flags=CONTRACT)


def _add_product(builder: Any, total: Any, x: Any, column: Any) -> Any:
    return _multiply_add(builder, x, column, total)


def _add_square(builder: Any, total: Any, x: Any, column: Any) -> Any:
    difference = builder.fsub(x, column, flags=CONTRACT)
    return _multiply_add(builder, difference, difference, total)


def _less_double(builder: Any, total: Any, x: Any) -> Any:
    return _multiply_add(builder, x, ir.Constant(x.type, [-2.0] * x.type.count), total)


@intrinsic
def less_double(typingctx: Any, total: Any, x: Any) -> Any:
    """Return total - 2 x."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _less_double(builder, *args)

    return total(total, x), codegen


# Both write to ``tile`` what rows of ``left``, from i on, make with the columns of a panel, which
# has a line of TILE_VECTORS vectors a feature, from line ``at`` on: dot products, or squared
# distances. The tile has the first vector of each row, then the second of each. The row ``last`` of
# the left is repeated where there is no other.
dots = _tile_sums(_add_product)
squares = _tile_sums(_add_square)


# exp(x) = 2^k exp(r), |r| <= log(2) / 2: log(2) in two parts, of which the first has so few bits
# that k times it is exact, and the polynomial for exp(r) - 1 - r over r^2, highest power first:
# that of least error in float32, 3e-9, the series in float64. Relative errors are at most 1e-7
# and 3e-16.
_HALVES = {32: (0.693359375, -2.12194440e-4), 64: (6.93145751953125e-1, 1.42860682030941723e-6)}
_POWERS = {
    32: (
        1.3814598787575960e-3,
        8.3687165752053261e-3,
        4.1668388992547989e-2,
        0.16666521131992340,
        0.49999994039535522,
    ),
    64: tuple(1 / factorial(k) for k in range(13, 1, -1)),
}
# Less is nothing beside a diagonal of one, but products of it would be subnormal numbers, with
# which a processor is up to a hundred times slower.
_MOST = {32: 60.0, 64: 600.0}
_MANTISSA = {32: (23, 127), 64: (52, 1023)}  # its bits, and the exponent's offset


def _exp_of_minus(builder: Any, t: Any) -> Any:
    bits = 32 if isinstance(t.type.element, ir.FloatType) else 64
    shift, offset = _MANTISSA[bits]
    whole = ir.VectorType(ir.IntType(bits), t.type.count)

    def every(number: float) -> Any:
        return ir.Constant(t.type, [number] * t.type.count)

    most, zero = every(_MOST[bits]), every(-0.0)  # from 0.0 LLVM makes two instructions for one
    t = builder.select(builder.fcmp_ordered("<", t, most), t, most)
    t = builder.select(builder.fcmp_ordered(">", t, zero), t, zero)
    # Beside so large a number the last bits are whole numbers: k and the offset stand in them.
    large = every(1.5 * 2**shift + offset)
    shifted = _multiply_add(builder, t, every(-1.4426950408889634), large)
    k = builder.fsub(shifted, large)
    r = builder.fneg(t)
    for part in _HALVES[bits]:
        r = _multiply_add(builder, k, every(-part), r)
    e = every(_POWERS[bits][0])
    for coefficient in _POWERS[bits][1:]:
        e = _multiply_add(builder, e, r, every(coefficient))
    e = _multiply_add(builder, builder.fmul(e, r), r, r)
    e = builder.fadd(e, every(1.0))  # last: the others round numbers that are smaller
    power = builder.shl(builder.bitcast(shifted, whole), ir.Constant(whole, [shift] * t.type.count))
    return builder.fmul(e, builder.bitcast(power, t.type))


@intrinsic
def exp_of_minus(typingctx: Any, t: Any) -> Any:
    """Return exp(-max(t, 0)), at least exp(-60) in float32 and exp(-600) in float64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _exp_of_minus(builder, args[0])

    return t(t), codegen


@intrinsic
def gauss_tile(
    typingctx: Any, left: Any, i: Any, panel: Any, at: Any, d: Any, out: Any, j: Any
) -> Any:
    """Write a whole tile of exp(-|x - z|^2) to ``out`` from (i, j) on, see `dots`.

    In one piece, so that the sums do not leave their registers before they are exponentials.
    """
    kinds, out_kind = (left, panel), out

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        left, i, panel, at, d, out, j = args
        vector = context.get_value_type(lanes_of(kinds[0].dtype))
        rows = [builder.add(i, ir.Constant(i.type, a)) for a in range(TILE_ROWS)]
        sums = _sum_tile(_add_product, context, builder, kinds, (left, rows, panel, at, d))
        last_line, places = builder.add(at, d), range(0, TILE_VECTORS * vector.count, vector.count)
        lengths = [
            read(context, builder, kinds[1], (panel, last_line, ir.Constant(i.type, v)))
            for v in places
        ]
        for row, own in zip(rows, sums, strict=True):
            square = builder.load(place(context, builder, kinds[0], (left, row, d)))
            square = splat_value(vector, builder, square)
            for total, length, v in zip(own, lengths, places, strict=True):
                both = builder.fadd(square, length)  # first: it is symmetric
                value = _exp_of_minus(builder, _less_double(builder, both, total))
                column = builder.add(j, ir.Constant(i.type, v))
                write(context, builder, out_kind, (out, row, column), value)
        return context.get_dummy_value()

    where = types.intp
    return types.void(left, where, panel, where, where, out, where), codegen


@intrinsic
def flip(typingctx: Any, source: Any, i: Any, j: Any, target: Any, a: Any, b: Any) -> Any:
    """Copy the square tile of ``source`` at (i, j) to (a, b) of ``target``, rows as columns.

    Of two rows whose numbers differ in one bit, the halves that this bit tells apart change places;
    after all bits rows have become columns.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind, goal = signature.args[0], signature.args[3]
        count = lanes_of(kind.dtype, FLIP_BYTES).count
        index = ir.VectorType(ir.IntType(32), count)

        def below(start: Any, step: int) -> Any:
            return builder.add(start, ir.Constant(start.type, step))

        rows = [
            read(context, builder, kind, (args[0], below(args[1], step), args[2]), FLIP_BYTES)
            for step in range(count)
        ]
        bit = count // 2
        while bit:
            low = [k if not k & bit else count + k - bit for k in range(count)]
            high = [k + bit if not k & bit else count + k for k in range(count)]
            for step in (step for step in range(count) if not step & bit):
                pair = rows[step], rows[step + bit]
                rows[step], rows[step + bit] = (
                    builder.shuffle_vector(*pair, ir.Constant(index, mask)) for mask in (low, high)
                )
            bit //= 2
        for step, row in enumerate(rows):
            write(context, builder, goal, (args[3], below(args[4], step), args[5]), row)
        return context.get_dummy_value()

    where = types.intp
    return types.void(source, where, where, target, where, where), codegen

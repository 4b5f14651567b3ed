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
# 32 registers of 64 bytes, or fewer and narrower ones of which a vector takes two or four.
TILE_ROWS, TILE_VECTORS = (8, 2) if WIDE_REGISTERS else (4, 1)


def _tile_sums(add: Callable[..., Any]) -> Any:
    @intrinsic
    def sums_of_tile(
        typingctx: Any, left: Any, i: Any, last: Any, panel: Any, at: Any, d: Any, tile: Any
    ) -> Any:
        left_kind, panel_kind, tile_kind = left, panel, tile

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            left, i, last, panel, at, d, tile = args
            vector = context.get_value_type(lanes_of(left_kind.dtype))
            align, zero = left_kind.dtype.bitwidth // 8, ir.Constant(i.type, 0)
            nothing = ir.Constant(vector, [0.0] * vector.count)

            def whole(number: int) -> Any:
                return ir.Constant(i.type, number)

            rows, sums = [], []
            for a in range(TILE_ROWS):
                row = builder.add(i, whole(a))
                row = builder.select(builder.icmp_signed("<", row, last), row, last)
                rows.append(place(context, builder, left_kind, (left, row, zero)))
                own = [cgutils.alloca_once_value(builder, nothing) for _ in range(TILE_VECTORS)]
                sums.append(own)
            lines = vector_place(context, builder, panel_kind, (panel, at, zero), vector)
            with cgutils.for_range(builder, d) as loop:
                first = builder.mul(loop.index, whole(TILE_VECTORS))
                columns = [
                    builder.load(builder.gep(lines, [builder.add(first, whole(v))]), align=align)
                    for v in range(TILE_VECTORS)
                ]
                for row, own in zip(rows, sums, strict=True):
                    number = builder.load(builder.gep(row, [loop.index]))
                    x = splat_value(vector, builder, number)
                    for column, total in zip(columns, own, strict=True):
                        builder.store(add(builder, builder.load(total), x, column), total)
            for a, own in enumerate(sums):
                for v, total in enumerate(own):
                    at_line = tile, whole(a + v * TILE_ROWS), zero
                    write(context, builder, tile_kind, at_line, builder.load(total))
            return context.get_dummy_value()

        where = types.intp
        return types.void(left, where, where, panel, where, where, tile), codegen

    return sums_of_tile


def _multiply_add(builder: Any, a: Any, b: Any, c: Any) -> Any:
    return builder.fadd(builder.fmul(a, b, flags=CONTRACT), c, flags=CONTRACT)


def _add_square(builder: Any, total: Any, x: Any, column: Any) -> Any:
    half = ir.Constant(column.type, [0.5] * column.type.count)
    difference = _multiply_add(builder, half, column, x)
    return _multiply_add(builder, difference, difference, total)


# Both write to ``tile`` what rows of ``left``, from i on, make with the columns of a panel. It has
# TILE_VECTORS lines a feature, from line ``at`` on; the tile has the first vector of each row, then
# the second of each. The row ``last`` of the left is repeated where there is no other.
#
# dots: the dot products. squares: the squared distances to columns of which the panel holds minus
# the double.
dots = _tile_sums(lambda builder, total, x, column: _multiply_add(builder, x, column, total))
squares = _tile_sums(_add_square)


# exp(x) = 2^k exp(r), |r| <= log(2) / 2: log(2) in two parts, of which the first has so few bits
# that k times it is exact, and the polynomial for exp(r) - 1 - r over r^2, highest power first:
# that of Cephes in float32, the series in float64. Relative errors are at most 1e-7
# and 3e-16.
_HALVES = {32: (0.693359375, -2.12194440e-4), 64: (6.93145751953125e-1, 1.42860682030941723e-6)}
_POWERS = {
    32: (
        1.98756915e-4,
        1.3981999507e-3,
        8.3334519073e-3,
        4.1665795894e-2,
        0.16666665459,
        0.50000001201,
    ),
    64: tuple(1 / factorial(k) for k in range(13, 1, -1)),
}
# Less is nothing beside a diagonal of one, but products of it would be subnormal numbers, with
# which a processor is up to a hundred times slower.
_LEAST = {32: -60.0, 64: -600.0}
_MANTISSA = {32: (23, 127), 64: (52, 1023)}  # its bits, and the exponent's offset


@intrinsic
def exp_of_minus(typingctx: Any, t: Any) -> Any:
    """Return exp(-max(t, 0)), at least exp(-60) in float32 and exp(-600) in float64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits, vector = t.dtype.bitwidth, args[0].type
        shift, offset = _MANTISSA[bits]
        whole = ir.VectorType(ir.IntType(bits), t.count)

        def every(number: float) -> Any:
            return ir.Constant(vector, [number] * t.count)

        x = builder.fneg(args[0])
        least, zero = every(_LEAST[bits]), every(0.0)
        x = builder.select(builder.fcmp_ordered(">", x, least), x, least)
        x = builder.select(builder.fcmp_ordered("<", x, zero), x, zero)
        # Beside so large a number the last bits are whole numbers: k stands in them.
        large = every(1.5 * 2**shift)
        shifted = _multiply_add(builder, x, every(1.4426950408889634), large)
        k = builder.fsub(shifted, large)
        r = x
        for part in _HALVES[bits]:
            r = _multiply_add(builder, k, every(-part), r)
        e = every(_POWERS[bits][0])
        for coefficient in _POWERS[bits][1:]:
            e = _multiply_add(builder, e, r, every(coefficient))
        e = _multiply_add(builder, builder.fmul(e, r), r, r)
        e = builder.fadd(e, every(1.0))  # last: the others round numbers that are smaller
        exponent = builder.add(
            builder.bitcast(shifted, whole), ir.Constant(whole, [offset] * t.count)
        )
        power = builder.shl(exponent, ir.Constant(whole, [shift] * t.count))
        return builder.fmul(e, builder.bitcast(power, vector))

    return t(t), codegen


@intrinsic
def flip(typingctx: Any, source: Any, i: Any, j: Any, target: Any, a: Any, b: Any) -> Any:
    """Copy the square tile of ``source`` at (i, j) to (a, b) of ``target``, rows as columns.

    Of two rows whose numbers differ in one bit, the halves that this bit tells apart change places;
    after all bits rows have become columns.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind, goal = signature.args[0], signature.args[3]
        count = lanes_of(kind.dtype).count
        index = ir.VectorType(ir.IntType(32), count)

        def below(start: Any, step: int) -> Any:
            return builder.add(start, ir.Constant(start.type, step))

        rows = [
            read(context, builder, kind, (args[0], below(args[1], step), args[2]))
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

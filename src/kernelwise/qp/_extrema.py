"""From lanes to one number: where the least value, or the largest ratio, of all lanes stands.

Of two lanes whose numbers differ in one bit the better stays; after all bits one is left. Places
are counted in the lanes' own type, which holds whole numbers up to 16 million even in float32.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def _best(builder: Any, lanes: tuple[Any, ...], better: Callable[..., Any]) -> list[Any]:
    """Return the numbers of the lane that is better than all others."""
    count = lanes[0].type.count
    best, distance = list(lanes), count // 2
    while distance:
        order = [lane ^ distance for lane in range(count)]
        index = ir.Constant(ir.VectorType(ir.IntType(32), count), order)
        others = [builder.shuffle_vector(each, each, index) for each in best]
        wins = better(others, best)
        best = [builder.select(wins, other, own) for other, own in zip(others, best, strict=True)]
        distance //= 2
    return [builder.extract_element(each, ir.IntType(32)(0)) for each in best]


def _place(builder: Any, starts: Any, lanes: tuple[Any, ...], better: Callable[..., Any]) -> Any:
    numbers = [float(lane) for lane in range(starts.type.count)]
    places = builder.fadd(starts, ir.Constant(starts.type, numbers))
    return builder.fptosi(_best(builder, (*lanes, places), better)[-1], ir.IntType(64))


@intrinsic
def place_of_least(typingctx: Any, values: Any, starts: Any) -> Any:
    """Return where the least value stands; a lane's place counts from its start."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _place(
            builder, args[1], args[:1], lambda a, b: builder.fcmp_ordered("<", a[0], b[0])
        )

    return types.intp(values, starts), codegen


@intrinsic
def place_of_largest_ratio(typingctx: Any, tops: Any, bottoms: Any, starts: Any) -> Any:
    """Return where the largest ratio of tops, not negative, to bottoms, positive, stands."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def larger(a: Any, b: Any) -> Any:
            return builder.fcmp_ordered(">", builder.fmul(a[0], b[1]), builder.fmul(b[0], a[1]))

        return _place(builder, args[2], args[:2], larger)

    return types.intp(tops, bottoms, starts), codegen


@intrinsic
def largest_of(typingctx: Any, values: Any) -> Any:
    """Return the largest value."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _best(builder, args, lambda a, b: builder.fcmp_ordered(">", a[0], b[0]))[0]

    return values.dtype(values), codegen

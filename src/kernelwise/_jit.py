"""Intrinsics that let numba vectorise reductions and read bits.

Import this module inside functions: numba is slow to load.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

# Fast-math flags that never assume infinities away: kernels may overflow and must say so.
FASTMATH = {"contract", "reassoc", "nsz", "arcp"}


def _select(operator: str) -> Any:
    # numba's own min and max carry NaN rules that keep LLVM from vectorising a reduction.
    @intrinsic
    def pick(typingctx: Any, a: Any, b: Any) -> Any:
        if a != b or not isinstance(a, types.Float):
            return None

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            first = builder.fcmp_ordered(operator, *args, flags=("fast",))
            return builder.select(first, *args, flags=("nnan", "ninf", "nsz"))

        return a(a, b), codegen

    return pick


smaller = _select("<")
larger = _select(">")


@intrinsic
def bits_as_float(typingctx: Any, bits: Any) -> Any:
    """Read 32 (64) bits of an integer as a float of the same size."""
    target = {types.int32: types.float32, types.int64: types.float64}.get(bits)
    if target is None:
        return None
    float_type = ir.FloatType() if target is types.float32 else ir.DoubleType()

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], float_type)

    return target(bits), codegen


@intrinsic
def contiguous(typingctx: Any, row: Any) -> Any:
    """Take a vector for contiguous: a row of a block of columns is, but its type does not say so.

    Without it numba steps by a stride that it reads at run time, and LLVM does not vectorise.
    """
    if not isinstance(row, types.Array) or row.ndim != 1:
        return None
    result = row.copy(layout="C")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return impl_ret_borrowed(context, builder, result, args[0])

    return result(row), codegen

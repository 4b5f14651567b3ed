"""Rows as numbers, compiled. Import this module inside functions: it loads numba."""

# mypy: ignore-errors

from numba import njit, uint64


@njit(cache=True, nogil=True)
def mix(bits, multipliers, out):
    """Write a number for each row of ``bits``, in which every bit of it counts.

    Small integers as floats differ in their high bits only, so those are folded onto the low ones.
    """
    fold = uint64(32)
    for i in range(bits.shape[0]):
        row, total = bits[i], uint64(0)
        for k in range(bits.shape[1]):
            total += (row[k] ^ (row[k] >> fold)) * multipliers[k]
        out[i] = total

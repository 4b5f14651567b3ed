"""Arrays with many zeros in less memory: one bit per entry, and the others as they are.

The coefficients of ten classes are mostly zero: a row is a support vector of few of them.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np


def without_zeros(state: dict[str, Any], name: str) -> dict[str, Any]:
    """Replace an array of a state by where its entries are not zero, and by these.

    Parameters
    ----------
    state : dict
        The state of an object.
    name : str
        The name of the array in it.

    Returns
    -------
    state : dict
        The state without the array, from which `with_zeros` makes it again.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.scale.packing import with_zeros, without_zeros
    >>> packed = without_zeros({"a": np.array([[0.0, 2.0], [3.0, 0.0]])}, "a")
    >>> packed["a_entries"].tolist(), with_zeros(packed, "a")["a"].tolist()
    ([2.0, 3.0], [[0.0, 2.0], [3.0, 0.0]])
    """
    array = state[name]
    is_used = array != 0
    return {key: value for key, value in state.items() if key != name} | {
        f"{name}_shape": tuple(array.shape),
        f"{name}_places": np.packbits(is_used),
        f"{name}_entries": array[is_used],
    }


def with_zeros(state: dict[str, Any], name: str) -> dict[str, Any]:
    """Make the array of a packed state again.

    Parameters
    ----------
    state : dict
        What `without_zeros` returned, or a state that still has the array, as in older files.
    name : str
        The name of the array.

    Returns
    -------
    state : dict
        The state with the array.
    """
    if name in state:
        return state
    state = dict(state)
    shape, places, entries = (
        state.pop(f"{name}_{what}") for what in ("shape", "places", "entries")
    )
    n_entries = prod(shape)
    # A forged shape must not make a huge array: it has one bit per entry in the file.
    if min(shape, default=0) < 0 or not 0 <= 8 * len(places) - n_entries < 8:
        raise ValueError(
            f"{name} of shape {shape} does not belong to {len(places)} bytes of places."
        )
    is_used = np.unpackbits(places, count=n_entries).view(bool).reshape(shape)
    array = np.zeros(shape, dtype=entries.dtype)
    array[is_used] = entries
    return state | {name: array}

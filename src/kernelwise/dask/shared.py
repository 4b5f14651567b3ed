"""Values that travel from one process to another, whose arrays arrive as compiled code needs them.

Dask hands over arrays as views of what came through a socket, at any address. Compiled code asks
for addresses that are multiples of the size of a number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._records import dataclass


@dataclass(frozen=True)
class Shared:
    """A value of which every worker has a copy.

    Parameters
    ----------
    value : object
        The value: arrays, and objects of kernelwise that hold them.
    """

    value: Any

    def __reduce__(self) -> Any:
        return _arrived, (self.value,)


def _arrived(value: Any) -> Shared:
    return Shared(aligned(value))


def aligned(value: Any) -> Any:
    """Return a value that has just arrived, with copies of the arrays that are not aligned.

    Parameters
    ----------
    value : object
        An array, a list, tuple or dict of such values, or an object of kernelwise, which is
        changed in place.

    Returns
    -------
    value : object
        The value.
    """
    if isinstance(value, np.ndarray):
        return value if value.flags.aligned else value.copy()
    if type(value) in (list, tuple):
        return type(value)(map(aligned, value))
    if type(value) is dict:
        return {key: aligned(each) for key, each in value.items()}
    if type(value).__module__.startswith("kernelwise.") and hasattr(value, "__dict__"):
        for name, old in list(vars(value).items()):
            new = aligned(old)
            if new is not old:
                object.__setattr__(value, name, new)
    return value

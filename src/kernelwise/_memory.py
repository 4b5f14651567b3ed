"""Memory that a fit may use, by the size of the machine."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

_UNLIMITED = 1e12  # megabytes that no machine has, and whose bytes are still a finite number
_MOST = 2e9  # largest default allowance, in bytes


@cache
def machine_memory() -> float:
    """Return the memory of this machine or container, in bytes."""
    sizes = []
    try:
        sizes.append(float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")))
    except (AttributeError, ValueError, OSError):  # not a POSIX system
        sizes.append(4 * _MOST)
    limit = Path("/sys/fs/cgroup/memory.max")
    if limit.is_file():
        text = limit.read_text().strip()
        if text.isdigit():
            sizes.append(float(text))
    return min(sizes)


def allowance(megabytes: float | None, workers: int = 1) -> float:
    """Return the bytes that each of ``workers`` may use for rows of a kernel matrix.

    Without ``megabytes`` the workers share a quarter of the machine's memory, at most 2 GB.
    """
    if megabytes is not None:
        return min(megabytes, _UNLIMITED) * 1e6
    return min(machine_memory() / 4, _MOST) / workers

"""Memory that a fit may use, by the size of the machine, and that this process has used."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

_UNLIMITED = 1e12  # megabytes that no machine has, and whose bytes are still a finite number
_MOST = 2e9  # largest default allowance, in bytes
_PROGRAM = 2.5e8  # bytes of Python with pandas, SciPy and scikit-learn


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


def peak_memory() -> float:
    """Return the most memory that this process has used so far, in bytes.

    Where the system does not tell, return that of Python with the packages of a fit.
    """
    try:
        import resource
    except ImportError:  # not a POSIX system
        return _PROGRAM
    peak = float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return peak if sys.platform == "darwin" else 1024 * peak

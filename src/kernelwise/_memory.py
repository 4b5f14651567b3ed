"""How much memory a fit may take: decided by the machine, not by what else runs on it."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

_MOST = 2e9


@cache
def machine_memory() -> float:
    """Return the bytes of memory of this machine, or of the container it is."""
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
    """Return the bytes one of ``workers`` may use for rows of a kernel matrix.

    None is a quarter of the machine's memory, at most 2 GB, shared among the workers.
    """
    if megabytes is not None:
        return megabytes * 1e6
    return min(machine_memory() / 4, _MOST) / workers

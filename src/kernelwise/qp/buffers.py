"""One large buffer that is kept from fit to fit.

The first access to fresh memory costs as much as computing a kernel row. Pages that are never
accessed take no memory, so that a buffer may be larger than its used part.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._threads import ForkSafeLock

_KEPT_BYTES = 512e6  # largest part of a kept buffer that may have been accessed
# Bytes from which NumPy asks for large pages, with which a matrix of 1000 rows is filled in three
# quarters of the time; bytes from which a smaller buffer is enlarged to get them; bytes of a page.
_NUMPY_ASKS, _WORTH_ASKING, _LARGE_PAGE = 2**22, 2**20, 2**21
_kept: list[tuple[Any, int]] = []  # a buffer, and how many of its bytes have been accessed
_kept_lock = ForkSafeLock()


class KeptBuffer:
    """A buffer of at least this many bytes, the kept one where it is large enough."""

    def __init__(self, n_bytes: int) -> None:
        self._n_bytes = n_bytes
        self._memory, self._touched = self._kept_one() or (self._new_one(), 0)

    def _kept_one(self) -> tuple[Any, int] | None:
        """Take the kept buffer; free it if it is too small, before a larger one is made."""
        with _kept_lock.current:
            found = _kept.pop() if _kept else None
        return found if found is not None and found[0].nbytes >= self._n_bytes else None

    def _new_one(self) -> Any:
        if self._n_bytes <= _WORTH_ASKING:
            return np.empty(self._n_bytes, dtype=np.uint8)
        n_bytes = max(self._n_bytes, _NUMPY_ASKS)
        buffer = np.empty(n_bytes + _LARGE_PAGE, dtype=np.uint8)
        start = -buffer.ctypes.data % _LARGE_PAGE  # a large page starts at a multiple of its size
        return buffer[start : start + n_bytes]

    def view(self, dtype: Any) -> Any:
        """Return the buffer as a vector of a type."""
        return self._memory[: self._n_bytes].view(dtype)

    def touch(self, n_bytes: int) -> None:
        """Say that the buffer was accessed up to this byte."""
        self._touched = max(self._touched, n_bytes)

    def close(self) -> None:
        """Keep the buffer for the next fit, if it is the larger one and not too much is in use."""
        if self._touched > _KEPT_BYTES:
            return
        with _kept_lock.current:
            if not _kept or _kept[0][0].nbytes < self._memory.nbytes:
                _kept[:] = [(self._memory, self._touched)]

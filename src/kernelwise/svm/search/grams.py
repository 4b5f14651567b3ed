"""The kernel matrices of a search: made from few, held while someone needs them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np

from ..._typing import Array
from ...kernels import Kernel, LazyGram, Precomputed
from ...kernels.family import KernelFamily, family_of
from ...kernels.pairwise import PairwiseKernel
from ...qp.precision import SMALL, largest_float32_bound
from ..base.grams import symmetric


def largest_coarse_bound(kernel: Kernel, X: Any, tol: float) -> float:
    """Return the bound of the coefficients up to which a float32 kernel will do."""
    if X.shape[0] <= SMALL or isinstance(kernel, Precomputed):
        return 0.0
    return largest_float32_bound(tol, float(np.abs(kernel.diag(X)).max(initial=0.0)))


def has_a_ridge(kernel: Kernel, X: Any) -> bool:
    """Tell whether K(X) is more than K(X, Z) at Z = X, so that it holds no kernel of new rows."""
    if isinstance(kernel, PairwiseKernel | Precomputed):
        return False
    one = X[:1]
    return not np.allclose(kernel.diag(one), kernel(one, one.copy())[0])


@dataclass
class _Slot:
    """The matrices of one kernel, by type, and how many uses are left."""

    kernel: Kernel
    X: Any
    left: int = 0
    precise: bool = False
    lock: Any = field(default_factory=Lock)
    made: dict[Any, Array] = field(default_factory=dict)


class SharedGrams:
    """Gives the matrices of kernels to those who asked for them in advance.

    Parameters
    ----------
    uses : iterable of (Kernel, {ndarray, sparse matrix}, bool)
        Each use that will be made: of which kernel, on which rows, the same ones for all of a
        kind, and whether it may need float64.
    threads : int
        Threads for what all kernels share.
    """

    def __init__(self, uses: Iterable[tuple[Kernel, Any, bool]], threads: int) -> None:
        self._slots: dict[Hashable, _Slot] = {}
        for kernel, X, precise in uses:
            slot = self._slots.setdefault(_key(kernel), _Slot(kernel, X))
            slot.left += 1
            slot.precise |= precise
        self._families = dict(self._shared(threads))

    def _shared(self, threads: int) -> Iterable[tuple[Hashable, KernelFamily]]:
        """Compute what several kernels share."""
        members: dict[Hashable, list[_Slot]] = {}
        for slot in self._slots.values():
            members.setdefault(family_of(slot.kernel), []).append(slot)
        for name, slots in members.items():
            if name is None or len(slots) == 1:
                continue
            kernels: list[Any] = [slot.kernel for slot in slots]
            widest = max(kernels, key=lambda kernel: kernel.gamma)
            dtype = np.float64 if any(slot.precise for slot in slots) else np.float32
            try:
                yield name, KernelFamily(widest, slots[0].X, dtype, threads)
            except ValueError:
                continue  # one of them overflows, and will say so by itself

    def take(self, kernel: Kernel, dtype: Any) -> Array:
        """Return the kernel matrix of all rows, made when first asked for."""
        slot = self._slots[_key(kernel)]
        with slot.lock:
            if dtype not in slot.made:
                slot.made[dtype] = self._make(kernel, slot.X, dtype)
            return slot.made[dtype]

    def _make(self, kernel: Kernel, X: Any, dtype: Any) -> Array:
        if isinstance(kernel, Precomputed):
            return symmetric(kernel(X))
        family = self._families.get(family_of(kernel))
        if family is not None and isinstance(kernel, PairwiseKernel):
            return family.gram(kernel, dtype)
        return LazyGram(kernel, X).dense(dtype)

    def release(self, kernel: Kernel) -> None:
        """Say that a use is over; after the last one the matrices are dropped."""
        slot = self._slots[_key(kernel)]
        with slot.lock:
            slot.left -= 1
            if slot.left == 0:
                slot.made.clear()


def _key(value: Any) -> Hashable:
    """Return what tells a kernel from others; its own hash is the same for all of its class."""
    if isinstance(value, Kernel):
        params = value.get_params(deep=False)
        return type(value), *(_key(each) for each in params.values())
    return value.tobytes() if isinstance(value, np.ndarray) else value

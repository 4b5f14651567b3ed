"""The one provider of kernel matrices, for machines on parts of the same rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..._blocks import square_block
from ..._typing import Array, Gram, Index
from ...kernels import FunctionKernel, Kernel, LazyGram, Precomputed
from ...kernels.family import KernelFamily, family_of
from ...kernels.pairwise import PairwiseKernel
from ...qp import SMO, DualQP, c_svc
from ...qp.gram import SMALL, KeptBuffer, as_gram, dtype_for


class Grams:
    """Gives machines the kernel matrix of their rows.

    ``X`` (n, d): all rows. ``tol``: the tolerance of the machines, which decides where float32 is
    precise enough. ``memory``: bytes for a matrix of all rows. ``threads``: threads that compute
    kernel values. ``kernels``: the kernels that are going to be asked for. Those that differ in
    gamma or profile alone are made from one matrix of distances or dot products. ``largest_bound``:
    the largest bound that is going to be asked for. ``n_machines``: machines that read them;
    several compute the rows that they need on one thread each. ``share``: whether machines read
    parts of one matrix of all rows, where that fits; else each computes the rows that it needs. A
    kernel that the user gave is evaluated once in any case. ``precise``: whether matrices are in
    float64 whatever the bound: a leave-one-out estimate takes the inverse of a part of them.
    ``small``: rows up to which matrices are in float64 as well.
    """

    def __init__(
        self,
        X: Any,
        *,
        tol: float,
        memory: float = np.inf,
        threads: int = 1,
        kernels: Sequence[Kernel] = (),
        largest_bound: float = np.inf,
        n_machines: int = 1,
        share: bool = True,
        precise: bool = False,
        small: int = SMALL,
    ) -> None:
        self.X, self.tol, self.memory = X, tol, memory
        self.threads, self.n_machines, self.share = threads, n_machines, share
        self.precise = precise or X.shape[0] <= small
        self._kernels, self._largest_bound = kernels, largest_bound
        self._keys: dict[int, tuple[Kernel, Hashable]] = {}
        self._sizes: dict[Hashable, float] = {}
        self._made: dict[Hashable, dict[Any, Array]] = {}
        self._families: dict[Hashable, KernelFamily] | None = None

    @classmethod
    def of_members(
        cls,
        X: Any,
        sizes: Sequence[int],
        solver: SMO,
        threads: int,
        *,
        one_kernel: bool = True,
    ) -> Grams:
        """Choose by the sizes of the machines: small ones with one kernel share one matrix.

        Large machines are faster with only the kernel rows that they need.
        """
        n_machines = len(sizes)
        share = one_kernel and n_machines > 1 and max(sizes) <= SMALL
        return cls(
            X,
            tol=solver.tol,
            memory=solver.memory,
            threads=threads,
            n_machines=n_machines,
            share=share,
        )

    def _key(self, kernel: Kernel) -> Hashable:
        """Return the key of a kernel, which takes longer to make than to look up."""
        if id(kernel) not in self._keys:
            self._keys[id(kernel)] = kernel, kernel_key(kernel)  # the kernel keeps its number
        return self._keys[id(kernel)][1]

    def dtype(self, kernel: Kernel, bound: float) -> Any:
        """Return the type that coefficients up to a bound need: float32 where it is enough."""
        if self.precise or isinstance(kernel, FunctionKernel | Precomputed):
            return np.dtype(np.float64)
        if kernel.has_unit_diagonal:
            return dtype_for(self.tol, 1.0, bound)
        key = self._key(kernel)
        if key not in self._sizes:
            self._sizes[key] = float(np.abs(kernel.diag(self.X)).max(initial=0.0))
        return dtype_for(self.tol, self._sizes[key], bound)

    def is_stored(self, kernel: Kernel, bound: float = np.inf) -> bool:
        """Return whether machines read parts of one matrix."""
        if isinstance(kernel, FunctionKernel | Precomputed):
            return True
        size = self.X.shape[0] ** 2
        return self.share and float(size * self.dtype(kernel, bound).itemsize) <= self.memory

    def stored(self, kernel: Kernel, bound: float = np.inf) -> Array:
        """Return the matrix of all rows, kept until it is forgotten.

        ``bound``: the largest coefficient of the machines that read it. Returns ``K`` (n, n): the
        matrix, in the precision that the bound needs.
        """
        made = self._made.setdefault(self._key(kernel), {})
        dtype = self.dtype(kernel, bound)
        if dtype not in made:
            made[dtype] = self._make(kernel, dtype)
        return made[dtype]

    def prepare(self, kernel: Kernel, bound: float = np.inf) -> None:
        """Compute the stored matrix, if there is one, before several threads ask for it."""
        if self.is_stored(kernel, bound):
            self.stored(kernel, bound)

    def machine(self, kernel: Kernel, rows: Index, bound: float = np.inf) -> Array | Gram:
        """Return the matrix of some rows: a part of the stored one, or rows as they are needed.

        ``rows`` (m,): the rows of the machine, ascending. Returns ``K`` (m, m).
        """
        whole = len(rows) == self.X.shape[0]
        if self.is_stored(kernel, bound):
            K = self.stored(kernel, bound)
            return K if whole else square_block(K, rows)
        threads = self.threads if self.n_machines == 1 else 1
        return LazyGram(kernel, self.X if whole else self.X[rows], threads)

    def c_svc(
        self,
        kernel: Kernel,
        rows: Index,
        y: Any,
        costs: Array,
        *,
        bias: bool = True,
        bound: float | None = None,
    ) -> DualQP:
        """Build the C-SVC of some rows, from the codes and costs of all rows.

        ``bound`` is the largest of the costs, where it is known.
        """
        K = self.machine(kernel, rows, float(costs.max()) if bound is None else bound)
        if len(rows) < len(y):
            y, costs = y[rows], costs[rows]
        return c_svc(as_gram(K, kernel.is_psd), y, costs, bias=bias)

    @contextmanager
    def lent(self, kernel: Kernel, bound: float) -> Iterator[Array]:
        """Give the matrix of all rows for a while, in memory that is kept from fit to fit.

        ``bound``: the largest coefficient of the machines that read it. Yields ``K`` (n, n): the
        matrix, which must not be read later.
        """
        if self._kernels or isinstance(kernel, FunctionKernel | Precomputed):
            yield self.stored(kernel, bound)
            return
        n, dtype = self.X.shape[0], self.dtype(kernel, bound)
        buffer = KeptBuffer(n * n * dtype.itemsize)
        try:
            K = buffer.view(dtype).reshape(n, n)
            buffer.touch(K.nbytes)
            yield LazyGram(kernel, self.X, self.threads).dense(dtype, out=K)
        finally:
            buffer.close()

    def forget(self, kernel: Kernel) -> None:
        """Give the memory of a kernel's matrices back."""
        self._made.pop(self._key(kernel), None)

    def _make(self, kernel: Kernel, dtype: Any) -> Array:
        if isinstance(kernel, FunctionKernel | Precomputed):
            return symmetric(kernel(self.X))
        if self._families is None:
            self._families = self._shared()
        family = self._families.get(family_of(kernel))
        if family is not None and isinstance(kernel, PairwiseKernel):
            return family.gram(kernel, dtype)
        return LazyGram(kernel, self.X, self.threads).dense(dtype)

    def _shared(self) -> dict[Hashable, KernelFamily]:
        """Compute the distances or dot products that several kernels share."""
        members: dict[Hashable, dict[Hashable, Any]] = {}
        for kernel in self._kernels:
            members.setdefault(family_of(kernel), {})[self._key(kernel)] = kernel
        families = {}
        for name, kernels in members.items():
            if name is None or len(kernels) == 1:
                continue
            own = list(kernels.values())
            narrowest = max(own, key=lambda kernel: kernel.gamma)
            dtype = max(self.dtype(kernel, self._largest_bound) for kernel in own)
            try:
                families[name] = KernelFamily(narrowest, self.X, dtype, self.threads)
            except ValueError:
                continue  # one of them overflows, which raises its own error
        return families


def kernel_key(value: Any) -> Hashable:
    """Return a key that tells kernels apart; their own hash is the same for all of a class."""
    if isinstance(value, Kernel):
        params = value.get_params(deep=False)
        return type(value), *(kernel_key(each) for each in params.values())
    if isinstance(value, np.ndarray):
        return value.tobytes()
    return value if isinstance(value, Hashable) else id(value)


def symmetric(K: Array) -> Array:
    """Refuse a given kernel matrix that is not symmetric."""
    if np.abs(K - K.T).max(initial=0.0) > 1e-5 * np.abs(K).max(initial=0.0):
        raise ValueError(
            "The kernel is not symmetric: kernel(X, X) must equal its transpose. Check the "
            "function given as kernel, or the matrix given as X with kernel='precomputed'."
        )
    return K

"""What a path walks over: the kernels from narrow to wide, the costs, and the distinct rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._typing import Array, Index
from ...kernels import RBF, FunctionKernel, Kernel, Laplacian, Precomputed
from ..base.feature_weights import column_variances

COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
N_WIDTHS = 11
_NARROWEST, _WIDEST = -2.0, 3.0  # as powers of two, times the spread of the rows


@dataclass(frozen=True)
class KernelGrid:
    """Kernels that differ in one parameter, in the order in which they are walked.

    Parameters
    ----------
    kernels : tuple of Kernel
        The kernels.
    name : str or None
        The parameter's name; None where there is one kernel only.
    values : ndarray of shape (n_kernels,)
        Its values.
    sigma : ndarray of shape (n_kernels,) or None
        The widths of Gaussian kernels.
    """

    kernels: tuple[Kernel, ...]
    name: str | None
    values: Any
    sigma: Array | None

    @classmethod
    def of(cls, svc: Any, kernel: Kernel, X: Any, counts: Array) -> KernelGrid:
        """Read the parameters of an estimator, for these rows and how often each counts."""
        name = svc.parameter
        if name is None:
            if svc.values is not None or svc.widths is not None:
                raise ValueError("parameter=None walks C alone; values and widths must be None.")
            return cls((kernel,), None, np.zeros(1), None)
        if name not in kernel.get_params():
            raise ValueError(
                f"kernel={kernel!r} has no parameter {name!r}; it has "
                f"{sorted(kernel.get_params())}. Give one of them as parameter, or "
                "parameter=None to walk C alone."
            )
        values, sigma = _values(svc, kernel, name, X, counts)
        kernels = tuple(kernel.with_params(**{name: value.item()}) for value in values)
        gaussian = isinstance(kernel, RBF) and name == "gamma"
        return cls(kernels, name, values, (sigma if gaussian else None))


def n_kernels(svc: Any) -> int:
    """Return how many kernels the parameters ask for."""
    if svc.parameter is None:
        return 1
    if svc.values is not None:
        return len(np.unique(np.asarray(svc.values)))
    if svc.widths is None:
        return N_WIDTHS
    return int(svc.widths) if np.ndim(svc.widths) == 0 else len(np.unique(svc.widths))


def _values(svc: Any, kernel: Kernel, name: str, X: Any, counts: Array) -> tuple[Any, Any]:
    """Return the values of the parameter in the order of the walk, and the widths if they have."""
    is_width = name.split("__")[-1] == "gamma"
    if svc.values is not None:
        if svc.widths is not None:
            raise ValueError("give values or widths, not both.")
        values = _numbers("values", svc.values)
        if not is_width:
            return values, None
        values = values[::-1]  # from narrow to wide
        with np.errstate(divide="ignore", invalid="ignore"):
            return values, (2 * values.astype(np.float64)) ** -0.5
    if not is_width:
        raise ValueError(f"give values to walk over the kernel's {name!r}; it has no default.")
    owner = kernel
    for part in name.split("__")[:-1]:
        owner = getattr(owner, part)
    plain = isinstance(owner, Laplacian)  # of plain differences, not of squares
    if svc.widths is None or np.ndim(svc.widths) == 0:
        sigma = _spread(owner, X, counts, plain) * 2.0 ** _exponents(svc.widths)
    else:
        sigma = _numbers("widths", svc.widths).astype(np.float64)
        if not (sigma > 0).all():
            raise ValueError("widths must be positive.")
    with np.errstate(over="ignore", divide="ignore"):
        values = 1 / sigma if plain else 0.5 / (sigma * sigma)
    if not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(
            f"widths from {sigma[0]:.3g} to {sigma[-1]:.3g} are beyond what a kernel can have; "
            "scale the columns of X first, for instance with StandardScaler."
        )
    return values, sigma


def _exponents(n_widths: Any) -> Array:
    n = N_WIDTHS if n_widths is None else int(n_widths)
    return np.zeros(1) if n == 1 else np.linspace(_NARROWEST, _WIDEST, n)


def _numbers(name: str, values: Any) -> Any:
    """Return finite numbers once each, in ascending order."""
    out = np.asarray(values)
    if out.ndim != 1 or len(out) == 0 or out.dtype.kind not in "iuf" or not np.isfinite(out).all():
        raise ValueError(f"{name} must be a list of finite numbers; got {values!r}.")
    return np.unique(out)


def _spread(kernel: Any, X: Any, counts: Array, plain: bool) -> float:
    """Return the root of the sum of the columns' variances; the sum of deviations if plain.

    Weights of the kernel's features multiply their terms; without any spread it is one.
    """
    variance = column_variances(X, counts)
    weights = getattr(kernel, "weights", None)
    weights = np.ones(len(variance)) if weights is None else weights
    with np.errstate(over="ignore", invalid="ignore"):
        spread = float(weights @ np.sqrt(variance)) if plain else float(weights @ variance) ** 0.5
    if not np.isfinite(spread):
        raise ValueError(
            "X holds values so large that its variance overflows; scale the columns of X first, "
            "for instance with StandardScaler, or give widths."
        )
    return spread if spread > 0 else 1.0


def costs(C: Any, hard: bool) -> Array:
    """Return the costs in ascending order; None is a hard margin, or the default grid."""
    if C is None:
        return np.array([np.inf]) if hard else np.array(COSTS)
    try:
        out = np.unique(np.atleast_1d(np.asarray(C, dtype=np.float64)))
    except (TypeError, ValueError):
        out = np.zeros(1)
    if np.ndim(C) > 1 or len(out) == 0 or not (out > 0).all():
        raise ValueError(f"C must be positive numbers, or inf for a hard margin; got {C!r}.")
    return out


@dataclass(frozen=True)
class DistinctRows:
    """The rows without their copies, in an order of their own.

    Rows of equal content and class count as one row with the sum of their weights. Their order
    depends on nothing but their content, so that neither the order of the table nor whether a row
    is given twice or with the weight two changes what is chosen.

    Parameters
    ----------
    first : ndarray of shape (m,)
        One row of each kind.
    kind : ndarray of shape (n,)
        The kind of each row; -1 where its kind was left out.
    counts : ndarray of shape (m,)
        The sum of the sample weights of each kind.
    """

    first: Index
    kind: Index
    counts: Array

    @classmethod
    def of(cls, kernel: Kernel, X: Any, classes: Index, counts: Array) -> DistinctRows:
        """Find the distinct rows; all of them, where the kernel is not one of features."""
        n = len(classes)
        if isinstance(kernel, FunctionKernel | Precomputed):
            return cls(np.arange(n), np.arange(n), counts)
        contents = _contents(X, classes)
        number = {content: i for i, content in enumerate(sorted(set(contents)))}
        kind = np.array([number[content] for content in contents])
        first = np.empty(len(number), dtype=np.intp)
        first[kind[::-1]] = np.arange(n)[::-1]
        return cls(first, kind, _sums(kind, counts, len(first)))

    def at_most(self, size: int, classes: Index, random_state: Any) -> DistinctRows:
        """Leave kinds out at random, in each class the same part, where there are too many."""
        m = len(self.first)
        if m <= size:
            return self
        own, kept = classes[self.first], []
        for label in np.unique(own):
            members = np.flatnonzero(own == label)
            quota = min(len(members), max(2, size * len(members) // m))
            kept.append(random_state.permutation(members)[:quota])
        chosen = np.sort(np.concatenate(kept))
        place = np.full(m, -1)
        place[chosen] = np.arange(len(chosen))
        return DistinctRows(self.first[chosen], place[self.kind], self.counts[chosen])

    def gather(self, beta: Array) -> Array:
        """Sum a vector over the rows of each kind."""
        used = self.kind >= 0
        return _sums(self.kind[used], beta[used], len(self.first))

    def spread(self, beta: Array, counts: Array) -> Array:
        """Share each kind's entry among its rows, by their weights; zero where left out."""
        used = self.kind >= 0
        out = np.zeros(len(self.kind))
        own = self.kind[used]
        out[used] = beta[own] * (counts[used] / self.counts[own])
        return out


def _sums(kind: Index, values: Array, n_kinds: int) -> Array:
    sums: Array = np.bincount(kind, weights=values, minlength=n_kinds).astype(np.float64)
    return sums


def _contents(X: Any, classes: Index) -> list[bytes]:
    """Return what to sort and compare each row by: its class, then its bytes."""
    labels = classes.astype(np.float64)[:, None]
    if sp.issparse(X):
        # Two projections tell sparse rows apart; a product row by row rounds equal rows alike.
        directions = np.random.default_rng(0).normal(size=(2, X.shape[1]))
        X = np.column_stack([X @ direction for direction in directions])
    return [row.tobytes() for row in np.hstack([labels, X]) + 0.0]  # minus zero is zero

"""The kernels of a path, from narrow to wide, and its costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array
from ...kernels import RBF, Kernel, Laplacian
from ..base.feature_weights import column_variances
from .rows import TrainingRows

COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
N_WIDTHS = 11
_NARROWEST, _WIDEST = -2.0, 3.0  # log2 of a width over the spread of the rows


@dataclass(frozen=True)
class KernelGrid:
    """Kernels that differ in one parameter, in the order in which they are walked."""

    kernels: tuple[Kernel, ...]
    name: str | None  # the parameter's name; None where there is one kernel only
    values: Any  # (n_kernels,)
    sigma: Array | None = None  # (n_kernels,), the widths of Gaussian kernels

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        rows: TrainingRows,
        parameter: str | None,
        *,
        values: Any = None,
        widths: Any = None,
    ) -> KernelGrid:
        """Vary one parameter of a kernel.

        Shapes: ``values`` (n_kernels,). ``rows``: the rows, whose spread is the middle of the
        default widths. ``parameter``: the name of the parameter; None is this kernel alone.
        ``widths`` (n_kernels,): widths, or their number, in place of values of gamma. Returns
        ``grid``: the kernels, from narrow to wide.
        """
        if parameter is None:
            if values is not None or widths is not None:
                raise ValueError("parameter=None walks C alone; values and widths must be None.")
            return cls((kernel,), None, np.zeros(1))
        if parameter not in kernel.get_params():
            raise ValueError(
                f"kernel={kernel!r} has no parameter {parameter!r}; it has "
                f"{sorted(kernel.get_params())}. Give one of them as parameter, or "
                "parameter=None to walk C alone."
            )
        sigma = None
        if values is None:
            values, sigma = _from_widths(kernel, rows, parameter, widths)
        elif widths is not None:
            raise ValueError("give values or widths, not both.")
        else:
            values = _numbers("values", values)
            if _is_width(parameter):
                values = values[::-1]  # from narrow to wide
                with np.errstate(divide="ignore", invalid="ignore"):
                    sigma = (2 * values.astype(np.float64)) ** -0.5
        kernels = tuple(kernel.with_params(**{parameter: value.item()}) for value in values)
        gaussian = isinstance(kernel, RBF) and parameter == "gamma"
        return cls(kernels, parameter, values, sigma if gaussian else None)

    def __len__(self) -> int:
        return len(self.kernels)


def n_kernels(parameter: str | None, values: Any, widths: Any) -> int:
    """Return the number of kernels that `KernelGrid.of` makes."""
    if parameter is None:
        return 1
    if values is not None:
        return len(np.unique(np.asarray(values)))
    if widths is None:
        return N_WIDTHS
    return int(widths) if np.ndim(widths) == 0 else len(np.unique(widths))


def _is_width(parameter: str) -> bool:
    return parameter.split("__")[-1] == "gamma"


def _from_widths(
    kernel: Kernel, rows: TrainingRows, parameter: str, widths: Any
) -> tuple[Array, Array]:
    """Return the values of a gamma from narrow to wide, and the widths."""
    if not _is_width(parameter):
        raise ValueError(f"give values to walk over the kernel's {parameter!r}; it has no default.")
    owner = kernel
    for part in parameter.split("__")[:-1]:
        owner = getattr(owner, part)
    plain = isinstance(owner, Laplacian)  # sums plain differences, not squares
    if widths is None or np.ndim(widths) == 0:
        sigma = _spread(owner, rows, plain) * 2.0 ** _exponents(widths)
    else:
        sigma = _numbers("widths", widths).astype(np.float64)
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


def _spread(kernel: Any, rows: TrainingRows, plain: bool) -> float:
    """Return the root of the sum of the columns' variances; the sum of deviations if plain.

    Feature weights of the kernel multiply their terms; without any spread it is one.
    """
    variance = column_variances(rows.X, rows.sample_weight)
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


def cost_grid(C: Any, *, hard: bool) -> Array:
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

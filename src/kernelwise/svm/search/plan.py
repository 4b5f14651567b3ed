"""The candidates of a search, grouped by kernel, and the names and defaults of a grid."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from traceback import format_exc
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from ..._parameters import InvalidParameterError, check_values
from ...kernels import Kernel, Linear
from ...kernels.pairwise import PairwiseKernel
from ..base.kernel_spec import resolve_gamma
from ..svc import SVC
from ..svr import SVR

# C = 1 and gamma="scale" are among them; where they end, accuracy has long stopped changing.
_COSTS = 10.0 ** np.arange(-1.5, 3.1, 0.75)
_GAMMA_MULTIPLES = 2.0 ** np.arange(-8, 5, 2)


@dataclass
class Group:
    """Candidates that differ in C alone: their kernel matrix is the same."""

    model: SVC | SVR  # the unfitted model of one of the candidates
    # C and the number of each candidate, ascending
    costs: list[tuple[float, int]] = field(default_factory=list)
    _checked: bool = False

    def check(self, cost: Any) -> None:
        """Refuse a C, or the parameters that all candidates share, as a fit would."""
        if not self._checked:
            others = self.model.get_params(deep=False)
            del others["C"]
            check_values(type(self.model), others)
            self._checked = True
        check_values(type(self.model), {"C": cost})


@dataclass(frozen=True)
class SearchPlan:
    """The candidates of a search."""

    params: list[dict[str, Any]]
    groups: list[Group]  # the valid ones, by kernel
    errors: dict[int, tuple[Exception, str]]  # why the others are not valid, by their number

    @classmethod
    def of(cls, estimator: SVC | SVR, grid: Any) -> SearchPlan:
        """Group the points of a grid; refuse names that the estimator does not have."""
        params = list(ParameterGrid(grid))
        known = estimator.get_params(deep=False)
        groups: dict[Hashable, Group] = {}
        errors: dict[int, tuple[Exception, str]] = {}
        for number, point in enumerate(params):
            key = _all_but_cost(point)
            if key not in groups:
                _check_names(type(estimator), known, point)
                groups[key] = Group(_candidate(estimator, point))
            cost = point.get("C", known["C"])
            try:
                groups[key].check(cost)
            except InvalidParameterError as error:
                errors[number] = (error, format_exc())
            else:
                groups[key].costs.append((float(cost), number))
        for group in groups.values():
            group.costs.sort()
        return cls(params, [group for group in groups.values() if group.costs], errors)


def _check_names(owner: type, known: dict[str, Any], point: dict[str, Any]) -> None:
    unknown = [name for name in point if name.partition("__")[0] not in known]
    if unknown:
        raise ValueError(
            f"param_grid names {unknown}, which {owner.__name__} does not have; its parameters are "
            f"{sorted(known)}, and those of a kernel object, as in 'kernel__gamma'."
        )


def _candidate(estimator: SVC | SVR, point: dict[str, Any]) -> SVC | SVR:
    model: SVC | SVR = clone(estimator)
    try:
        model.set_params(**clone(point, safe=False))
    except ValueError as error:
        raise ValueError(f"param_grid holds {point}, which cannot be set: {error}") from error
    return model


def _all_but_cost(point: dict[str, Any]) -> Hashable:
    """Return a key that is equal for points that differ in C alone."""
    return tuple((name, _key(point[name])) for name in sorted(point) if name != "C")


def _key(value: Any) -> Hashable:
    try:
        hash(value)
    except TypeError:  # a grid repeats the object itself from point to point
        return id(value)
    return type(value), value


def default_grid(estimator: SVC | SVR, X: Any) -> dict[str, Any]:
    """Return the grid of 7 values of C and, where the kernel has a gamma, 7 of gamma.

    ``estimator``: its own gamma is the middle of the grid, give or take. ``X`` (n, d): the checked
    training rows, for gamma="scale".
    """
    grid: dict[str, Any] = {"C": _COSTS}
    kernel = estimator.kernel
    if isinstance(kernel, Kernel):
        if isinstance(kernel, PairwiseKernel) and not isinstance(kernel, Linear):
            grid["kernel__gamma"] = kernel.gamma * _GAMMA_MULTIPLES
    elif isinstance(kernel, str) and kernel not in ("linear", "precomputed"):
        even = np.ones(X.shape[0])
        middle = resolve_gamma(estimator.gamma, X, even, of_squares=kernel != "laplacian")
        grid["gamma"] = [middle * multiple for multiple in _GAMMA_MULTIPLES]
    return grid

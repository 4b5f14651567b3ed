"""The criteria by name, and the parameters that each of them learns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from ... import criteria
from ...criteria import Alignment, Criterion, LeaveOneOut, RadiusMargin


@dataclass(frozen=True)
class Recipe:
    """A criterion and the parameters that are learned by it."""

    criterion: Callable[..., Criterion]  # makes the criterion from C, solver and threads
    # whether the sum of the weights is learned too. The dual objective falls with it without end,
    # so it is kept there
    free_scale: bool = True
    learns_C: bool = True  # whether C is learned too
    # whether the logarithm is minimised, of a criterion that spans orders of magnitude
    log: bool = False
    # whether the machines are solved exactly on the way: a derivative of their solutions, unlike
    # that of their objectives, feels what is left undone
    exact: bool = False

    @classmethod
    def of(cls, criterion: str | Criterion) -> Recipe:
        """Return the recipe of a name, or of a criterion that is used as it is."""
        if isinstance(criterion, str):
            return CRITERIA[criterion]

        def given(C: float, **settings: Any) -> Criterion:
            return criterion  # with its own C and solver

        return cls(given, not isinstance(criterion, criteria.DualObjective), learns_C=False)


def _on_first_use(name: str, *args: Any, **settings: Any) -> Criterion:
    """Make a criterion that the package imports when it is first asked for."""
    made: Criterion = getattr(criteria, name)(*args, **settings)
    return made


CRITERIA = {
    "dual": Recipe(partial(_on_first_use, "DualObjective"), free_scale=False, learns_C=False),
    "radius_margin": Recipe(RadiusMargin, log=True),
    "span": Recipe(LeaveOneOut, exact=True),
    "cv": Recipe(partial(_on_first_use, "CrossValidation"), learns_C=False, exact=True),
    "alignment": Recipe(Alignment, learns_C=False),
}

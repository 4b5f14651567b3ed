"""Deprecated name of `kernelwise.criteria`."""

from __future__ import annotations

import warnings
from typing import Any

from . import criteria

# Old pickles name modules below this one, which `_moved` finds: only a package may have such.
__path__: list[str] = []
_RENAMED = {"Evaluation": "CriterionValue"}


def __getattr__(name: str) -> Any:
    """Return what `kernelwise.criteria` has under this name, with a warning."""
    name = _RENAMED.get(name, name)
    if name not in criteria.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(
        f"kernelwise.bounds is deprecated: import {name} from kernelwise.criteria.",
        FutureWarning,
        stacklevel=2,
    )
    return getattr(criteria, name)

"""Versions for bug reports."""

from __future__ import annotations

import platform
import sys

from ._version import __version__

_PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl")


def show_versions() -> None:
    """Print the versions of Python and the packages, and the processor level of compiled code.

    Examples
    --------
    >>> import kernelwise
    >>> kernelwise.show_versions()  # doctest: +SKIP
    python         3.12.1
    system         Linux x86_64
    kernelwise     0.1.0
    ...
    compiled for   v4 (of v4, v3, v2; KERNELWISE_CPU picks another)
    """
    from importlib.metadata import version

    from ._native import level, levels

    facts = {"python": platform.python_version()}
    facts["system"] = f"{platform.system()} {platform.machine()}"
    facts["kernelwise"] = __version__
    facts |= {name: version(name) for name in _PACKAGES}
    facts["compiled for"] = f"{level} (of {', '.join(levels)}; KERNELWISE_CPU picks another)"
    for name, fact in facts.items():
        sys.stdout.write(f"{name:14s} {fact}\n")

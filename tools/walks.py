"""Count the modules that one call of fit goes through.

    python tools/walks.py [NAME ...] [--modules]

Prints for each walk the modules and functions of kernelwise that are called, and the upward calls:
pairs of a module and one in a folder above its own, the root of the package apart, whose modules
every folder may use. A part may call its parent through an object that it is given, such as a
method that a class overrides; what it may not do is import its parent, so these calls are counted
by themselves. Functions inside functions are callbacks, and do not count.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import sys
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from types import FrameType
from typing import Any

import numpy as np

import kernelwise

_PACKAGE = Path(kernelwise.__file__).parent


@dataclass
class Walk:
    """What a call went through.

    Parameters
    ----------
    functions : Counter of (module, function)
        How often each function was called.
    edges : Counter of (caller, callee)
        How often a module called each other one, directly or through a library.
    """

    functions: Counter[tuple[str, str]] = field(default_factory=Counter)
    edges: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def modules(self) -> list[str]:
        """The modules that were called, in alphabetical order."""
        return sorted({module for module, _ in self.functions})

    @property
    def upward(self) -> list[tuple[str, str]]:
        """The pairs of modules of which the first called the second, in a folder above its own."""
        return sorted(edge for edge in self.edges if is_upward(*edge))


def is_upward(caller: str, callee: str) -> bool:
    """Return whether a module lies in a folder above that of its caller, below the root."""
    above = PurePosixPath(callee).parent
    return above != PurePosixPath() and above in PurePosixPath(caller).parent.parents


def imports(caller: str, callee: str) -> bool:
    """Return whether a module imports another one, at its top or inside a function."""
    package = ("kernelwise", *PurePosixPath(caller).parent.parts)
    wanted = ("kernelwise", *PurePosixPath(callee).parts)
    tree = ast.parse((_PACKAGE / caller).with_suffix(".py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        base = package[: len(package) - node.level + 1] if node.level else ()
        base += tuple(node.module.split(".")) if node.module else ()
        if wanted in (base, *((*base, alias.name) for alias in node.names)):
            return True
    return False


def walk(call: Callable[[], Any]) -> Walk:
    """Run a call, and return what it went through on all its threads."""
    found = Walk()

    def on_event(frame: FrameType, event: str, argument: Any) -> None:
        if event != "call" or not _is_function(frame):
            return
        module = _module_of(frame)
        if module is None:
            return
        found.functions[module, frame.f_code.co_qualname] += 1
        caller = _caller_of(frame)
        if caller is not None and caller != module:
            found.edges[caller, module] += 1

    threading.setprofile(on_event)
    sys.setprofile(on_event)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


def _is_function(frame: FrameType) -> bool:
    """Return whether a frame is that of a function that stands in a module or a class."""
    code = frame.f_code
    return bool(code.co_flags & inspect.CO_NEWLOCALS) and "<" not in code.co_qualname


def _module_of(frame: FrameType) -> str | None:
    path = Path(frame.f_code.co_filename)
    if not path.is_relative_to(_PACKAGE):
        return None
    return path.relative_to(_PACKAGE).with_suffix("").as_posix()


def _caller_of(frame: FrameType) -> str | None:
    """Return the nearest module of kernelwise that a frame was called from."""
    above = frame.f_back
    while above is not None:
        if (module := _module_of(above)) is not None:
            return module
        above = above.f_back
    return None


# --- The walks ------------------------------------------------------------------------------


def _table(n: int, columns: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, columns))
    return X, X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n)


def _svc() -> Callable[[], Any]:
    (X, t), model = _table(300, 10), kernelwise.SVC()
    return lambda: model.fit(X, t > 0)


def _relevance(n: int, columns: int) -> Callable[[], Any]:
    (X, t), model = _table(n, columns), kernelwise.RelevanceSVC(verbose=False)
    return lambda: model.fit(X, t > 0)


def _relevance_mixed(n: int) -> Callable[[], Any]:
    import pandas

    X, t = _table(n, 6)
    rng, frame = np.random.default_rng(1), pandas.DataFrame(X, columns=list("abcdef"))
    frame["kind"], frame["place"] = rng.choice(list("uvwxyz"), n), rng.integers(200, size=n)
    frame["place"] = frame["place"].astype(str)
    y, model = t + (frame["kind"] == "u").to_numpy() > 0, kernelwise.RelevanceSVC(verbose=False)
    return lambda: model.fit(frame, y)


def _regression(n: int) -> Callable[[], Any]:
    (X, t), model = _table(n, 10), kernelwise.RelevanceSVR(verbose=False)
    return lambda: model.fit(X, t)


WALKS: dict[str, Callable[[], Callable[[], Any]]] = {
    "SVC.fit, 300 rows": _svc,
    "RelevanceSVC.fit, 300 rows": lambda: _relevance(300, 10),
    "RelevanceSVC.fit, 5,000 rows with categories": lambda: _relevance_mixed(5000),
    "RelevanceSVC.fit, 50,000 rows": lambda: _relevance(50_000, 5),
    "RelevanceSVC.fit, 60,000 rows, in cells": lambda: _relevance(60_000, 5),
    "RelevanceSVR.fit, 300 rows": lambda: _regression(300),
    "RelevanceSVR.fit, 5,000 rows": lambda: _regression(5000),
}


def main(arguments: list[str] | None = None) -> None:
    """Take the walks whose names contain one of the given words, and print their counts."""
    parser = argparse.ArgumentParser(description="Count the modules that a fit goes through.")
    parser.add_argument("names", nargs="*", help="parts of names of walks; all by default")
    parser.add_argument("--modules", action="store_true", help="list the modules, too")
    options = parser.parse_args(arguments)
    chosen = [n for n in WALKS if not options.names or any(part in n for part in options.names)]
    print(f"{'walk':46}{'modules':>9}{'functions':>11}{'upward':>8}{'by import':>11}")
    for name in chosen:
        call = WALKS[name]()
        _svc()()  # loads what every fit loads
        found = walk(call)
        modules, upward = found.modules, found.upward
        by_import = [edge for edge in upward if imports(*edge)]
        counts = f"{len(modules):>9}{len(found.functions):>11}{len(upward):>8}{len(by_import):>11}"
        print(f"{name:46}{counts}")
        for caller, callee in upward:
            how = "imports and calls" if (caller, callee) in by_import else "is given and calls"
            print(f"    {caller} {how} {callee}")
        if options.modules:
            print(*(f"    {module}" for module in modules), sep="\n")


if __name__ == "__main__":
    main()

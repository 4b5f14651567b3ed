"""Wrong calls, generated from the signatures of the public API.

Every public function, every public class and the methods that users call get one argument that is
wrong: of another kind, not finite, of another shape, or huge. A call holds where it returns, or
raises a documented error with a text. Anything else, and any hang, is broken. Each call runs in a
process of its own with a limit on memory, so that a crash or a hang is found for what it is.
"""

from __future__ import annotations

import importlib
import inspect
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from kernelwise import kernels, qp

from . import sound
from .child import in_child
from .tally import Tally

CORE_LAYERS = ("criteria", "discrimination", "kernels", "outer", "qp", "svm", "transform")
APPLICATION = ("evaluation", "inspection", "io", "report", "tabular")
LAYERS = (*CORE_LAYERS, *APPLICATION)
# What the library makes for authors of methods, who extend it.
FOR_AUTHORS = {"FitTask", "Fitted", "Predictor"}
# What users call of the objects of public classes.
METHODS = (
    "fit", "predict", "predict_proba", "predict_log_proba", "predict_set", "decision_function",
    "score", "transform", "inverse_transform", "fit_transform", "kneighbors", "C_path", "evaluate",
    "solve", "__call__", "diag", "from_estimator", "from_estimators", "from_results", "plot",
)  # fmt: skip
# ImportError: an optional package; OSError: a file that is not there.
DOCUMENTED = (
    ValueError, TypeError, OSError, ImportError, NotImplementedError
)  # fmt: skip
_SECONDS, _MEGABYTES = 60, 2000  # after which a call counts as one that hangs; what it may allocate


def wrong_values() -> list[Any]:
    """Return values that are wrong nearly everywhere."""
    n, y, K = sound.N, sound.Y, sound.K
    return [
        None, "abc", b"abc", "", np.nan, np.inf, -1, -1.5, 0, 1e308, 1j, True, [], [None], {},
        set(), object(), ["a"] * n, np.array(["a"] * n, dtype=object), np.full(n, np.nan),
        y[:5], y + 1j, np.zeros((n, n, 2)), K[:, :5], K + 1j, np.where(K > 2, np.nan, K),
        np.empty((0, 4)), np.empty((0, 0)), np.ones((3, 4)), np.full((n, 4), np.inf),
        slice(50, 60), range(3), lambda *arguments: None, int, pd.Series(["a", None] * (n // 2)),
        pd.DataFrame({"a": ["x"] * n}), np.datetime64("2020-01-01"), 10**400,
    ]  # fmt: skip


def huge_values() -> list[Any]:
    """Return values of huge shapes that take no memory themselves; running out of it is sound."""
    one = (np.ones(1), (np.zeros(1, dtype=int), np.zeros(1, dtype=int)))
    # A hundred million rows of the right width are no wrong call of a prediction, which decides
    # them block by block in bounded memory: the width is wrong as well.
    return [
        10**18, np.broadcast_to(1.0, (10**9,)), np.broadcast_to(1.0, (10**8, 7)),
        np.broadcast_to(0.5, (30000, 30000)), np.broadcast_to("a", (10**6,)), range(10**12),
        scipy.sparse.coo_array(one, shape=(2**30, 2**30)),
        scipy.sparse.csr_array((sound.N, 2**31 - 8)), pd.RangeIndex(10**12),
    ]  # fmt: skip


@dataclass(frozen=True)
class Callee:
    """Something public that is called with arguments by name."""

    name: str
    parameters: dict[str, Any]
    call: Callable[[dict[str, Any]], Any]
    what: Any  # the function, class or method


def callees() -> list[Callee]:
    """Return everything public that can be called, with sound arguments."""
    values, own = sound.by_name(), sound.for_one()
    found = {}
    for each in (each for layer in LAYERS for each in _of_layer(layer, values, own)):
        found.setdefault(each.what, each)  # some layers offer what another defines
    return list(found.values())


def _of_layer(layer: str, values: dict[str, Any], own: dict[str, Any]) -> Iterator[Callee]:
    floor = "kernelwise.app" if layer in APPLICATION else "kernelwise"
    module = importlib.import_module(f"{floor}.{layer}")
    for name in module.__all__:
        thing, path = getattr(module, name), f"{layer}.{name}"
        if name in FOR_AUTHORS or _is_abstract(thing) or _is_record(thing):
            continue
        parameters = _arguments(path, thing, values, own.get(path, {}))
        if parameters:
            yield Callee(path, parameters, partial(_make, thing, _data(path, values, own)), thing)
        if isinstance(thing, type):
            yield from _of_class(path, thing, parameters, values, own)


def _is_abstract(thing: Any) -> bool:
    error = isinstance(thing, type) and issubclass(thing, Exception)
    return error or inspect.isabstract(thing) or bool(getattr(thing, "_is_protocol", False))


def _is_record(thing: Any) -> bool:
    """Return whether a class only holds what it is given: results, which users read."""
    if not isinstance(thing, type) or hasattr(thing, "__post_init__"):
        return False
    holds = is_dataclass(thing) or issubclass(thing, tuple)
    own = {name for cls in thing.__mro__ for name in vars(cls)} - set(getattr(thing, "_fields", ()))
    return holds and not own & {*METHODS, "run", "project"}


def _of_class(
    path: str, cls: Any, made_of: dict[str, Any], values: dict[str, Any], own: dict[str, Any]
) -> Iterator[Callee]:
    """Yield the methods of a class, called on a new object that is fitted where it can be."""
    probe = cls(**made_of)
    if hasattr(probe, "fit"):
        probe.fit(**_data(path, values, own))
    for method in METHODS:
        bound = getattr(probe, method, None)  # a search offers what its estimator has
        if not callable(bound):
            continue
        name = f"{path}.{method}"
        parameters = _arguments(name, bound, values, own.get(name, {}))
        if parameters:
            yield Callee(name, parameters, partial(_call_method, probe, method), (cls, method))


def _call_method(probe: Any, method: str, given: dict[str, Any]) -> Any:
    return getattr(probe, method)(**given)


def _arguments(
    path: str, thing: Any, values: dict[str, Any], own: dict[str, Any]
) -> dict[str, Any]:
    """Return sound arguments by name: its own, then defaults, then what the name means."""
    found = {}
    for name, parameter in inspect.signature(thing).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if name in own:
            found[name] = own[name]
        elif parameter.default is not parameter.empty and name != "y":
            found[name] = parameter.default
        elif name in values:
            found[name] = values[name]
        else:
            raise LookupError(f"tests/chaos/sound.py has no value for {name} of {path}")
    return found


def _data(path: str, values: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return what an estimator is fitted to."""
    return {name: values[name] for name in ("X", "y")} | own.get(f"{path}.fit", {})


def _make(thing: Any, data: dict[str, Any], given: dict[str, Any]) -> None:
    """Call, and use what is made: estimators check their parameters only as they are fitted."""
    made = thing(**given)
    if not isinstance(thing, type):
        return
    if hasattr(made, "fit"):
        made.fit(**data)
    elif isinstance(made, kernels.Kernel):
        made(sound.X)
    elif hasattr(made, "evaluate"):
        made.evaluate(sound.K, sound.Y)
    elif hasattr(made, "solve"):
        made.solve(qp.c_svc(sound.K, sound.Y))


def wrong_calls(folder: Path, n: int, seed: int) -> Tally:
    """Make n wrong calls, each in a process of its own, in a folder where files may be written."""
    tally, rng = Tally("wrong calls"), np.random.default_rng(seed)
    before = Path.cwd()
    os.chdir(folder)
    try:
        known = callees()
        tally.facts["public names called"] = len(known)
        for callee in known:  # also imports what the calls need, so that children need not
            end = in_child(partial(_answer, callee, {}, False), _SECONDS, _MEGABYTES)
            if end != "accepted":
                tally.broke(f"the sound call of {callee.name}: {end}")
        for k in range(n):
            callee = known[(k + int(rng.integers(2))) % len(known)]
            _attack(callee, rng, tally)
    finally:
        os.chdir(before)
    return tally


def _attack(callee: Callee, rng: Any, tally: Tally) -> None:
    """Replace one argument of a callee, and count how the call ends."""
    names, wrong, huge = list(callee.parameters), wrong_values(), huge_values()
    name, place = names[rng.integers(len(names))], int(rng.integers(len(wrong) + len(huge)))
    value = (wrong + huge)[place]
    answer = partial(_answer, callee, {name: value}, place >= len(wrong))
    end = in_child(answer, _SECONDS, _MEGABYTES)
    if end in ("accepted", "refused with a reason", "refused: not enough memory"):
        tally.held(end)
    else:
        tally.broke(f"{callee.name}({name}={_text(value)}): {end}")


def _answer(callee: Callee, wrong: dict[str, Any], huge: bool) -> str:
    """Return how a call ends, in words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        try:
            callee.call(callee.parameters | wrong)
        except DOCUMENTED as error:
            if not str(error):
                return f"{type(error).__name__} without a text"
            return "refused with a reason" if wrong else f"{type(error).__name__}: {error}"
        except MemoryError as error:
            return "refused: not enough memory" if huge else f"MemoryError: {error}"
        except Exception as error:
            return f"{type(error).__name__}: {str(error)[:90]}"
    return "accepted"


def _text(value: Any) -> str:
    shape = getattr(value, "shape", None)
    if shape is not None:
        return f"{type(value).__name__} of shape {shape}"
    return " ".join(repr(value).split())[:40]

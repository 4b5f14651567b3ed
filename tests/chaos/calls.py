"""Wrong calls, generated from the signatures of the public API.

Every public function and class whose required parameters have a known sound value is called with
one of its arguments replaced by a wrong one. A call holds where it returns, or raises a documented
error: of value, type, file or missing package. Anything else, and any hang, is broken.
"""

from __future__ import annotations

import inspect
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache, partial
from io import StringIO
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd

import kernelwise
from kernelwise import kernels, qp

from .tally import Tally

# Layers with functions of numbers; the others draw, write files or run for minutes.
_LAYERS = ("criteria", "discrimination", "kernels", "outer", "qp", "svm", "tabular", "transform")
_LIMIT = 60  # seconds after which a call counts as one that hangs
# ImportError: an optional package; OSError: a file that is not there.
_DOCUMENTED = (ValueError, TypeError, OSError, ImportError, NotImplementedError)

_N = 12
_X = np.random.default_rng(0).normal(size=(_N, 4))
_K = _X @ _X.T + np.eye(_N)
_Y = np.where(np.arange(_N) % 2, 1.0, -1.0)


class HangError(Exception):
    """A call that does not end in time."""


@cache
def _sound() -> dict[str, Any]:
    """Return a sound value for each name of a parameter."""
    frame = pd.DataFrame(_X, columns=list("abcd")).assign(target=np.where(_Y > 0, "yes", "no"))
    terms = qp.Terms.c_svc(_Y)
    return {
        "K": _K, "gram": _K, "X": np.abs(_X), "y": _Y.astype(int), "Y": _Y, "beta": 0.1 * _Y,
        "decisions": 0.5 * _Y, "C": 1.0, "frame": frame, "target": "target", "p": _Y,
        "lo": -np.ones(_N), "hi": np.ones(_N), "terms": terms, "kernel": kernels.RBF(),
        "base": kernels.RBF(), "left": kernels.RBF(), "right": kernels.Linear(),
        "estimator": kernelwise.SVC(), "param_grid": {"C": [0.1, 1.0]}, "qp": qp.c_svc(_K, _Y),
        "model": _fitted(), "scale": 2.0, "cv": 2,
    }  # fmt: skip


@cache
def _fitted() -> Any:
    return kernelwise.SVC(kernel="linear").fit(np.abs(_X), _Y.astype(int))


def _wrong_values() -> list[Any]:
    return [
        None, "abc", b"abc", "", np.nan, np.inf, -1, -1.5, 0, 1e308, 1j, True, [], [None], {},
        set(), object(), ["a"] * _N, np.array(["a"] * _N, dtype=object), np.full(_N, np.nan),
        _Y[:5], _Y + 1j, np.zeros((_N, _N, 2)), _K[:, :5], _K + 1j, np.where(_K > 2, np.nan, _K),
        np.empty((0, 4)), np.empty((0, 0)), np.ones((3, 4)), np.full((_N, 4), np.inf),
        slice(50, 60), range(3), lambda *arguments: None, int, pd.Series(["a", None] * 6),
        pd.DataFrame({"a": ["x"] * _N}), np.datetime64("2020-01-01"), 10**400,
    ]  # fmt: skip


@dataclass(frozen=True)
class Callee:
    """Something public that is called with arguments by name, and then used."""

    name: str
    parameters: dict[str, Any]
    call: Callable[[dict[str, Any]], Any]


def callees() -> list[Callee]:
    """Return everything public whose required parameters have a sound value."""
    found = (each for layer in _LAYERS for each in _of_layer(getattr(kernelwise, layer)))
    return [each for each in found if each.parameters]


def _of_layer(layer: Any) -> Iterator[Callee]:
    for name in layer.__all__:
        thing = getattr(layer, name)
        if not callable(thing) or inspect.isabstract(thing) or _is_protocol(thing):
            continue
        parameters = _arguments(thing)
        if parameters is None:
            continue
        path = f"{layer.__name__}.{name}"
        yield Callee(path, parameters, lambda given, thing=thing: _used(thing(**given)))
        if isinstance(thing, type) and hasattr(thing, "fit"):
            data = {"X": _sound()["X"], "y": _sound()["y"]}
            if "sample_weight" in inspect.signature(thing.fit).parameters:
                data["sample_weight"] = np.ones(_N)
            yield Callee(f"{path}.fit", data, partial(_fit, thing, _required(thing, parameters)))


def _fit(estimator: Any, required: dict[str, Any], data: dict[str, Any]) -> Any:
    return estimator(**required).fit(**data)


def _is_protocol(thing: Any) -> bool:
    return bool(getattr(thing, "_is_protocol", False))


def _required(thing: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    signature = inspect.signature(thing).parameters
    return {k: v for k, v in parameters.items() if signature[k].default is inspect.Parameter.empty}


def _arguments(thing: Any) -> dict[str, Any] | None:
    """Return sound arguments by name; None where a required one has no known value."""
    try:
        signature = inspect.signature(thing)
    except ValueError:
        return None
    found = {}
    for name, parameter in signature.parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.kind is parameter.POSITIONAL_ONLY:
            return None
        if name == "cv" or (name in _sound() and parameter.default is parameter.empty):
            found[name] = _sound()[name]
        elif parameter.default is not parameter.empty:
            found[name] = parameter.default
        else:
            return None
    return found


def _used(made: Any) -> Any:
    """Use what a constructor made: estimators check their parameters only as they are fitted."""
    if hasattr(made, "fit") and not inspect.isclass(made):
        made.fit(_sound()["X"], _sound()["y"])
    elif isinstance(made, kernels.Kernel):
        made(_X)
    elif hasattr(made, "evaluate"):
        made.evaluate(_K, _Y)
    elif hasattr(made, "solve"):
        made.solve(_sound()["qp"])
    return made


def wrong_calls(n: int, seed: int) -> Tally:
    """Make n wrong calls."""
    tally, rng, known = Tally("wrong calls"), np.random.default_rng(seed), callees()
    tally.facts["public names called"] = len(known)
    previous = signal.signal(signal.SIGALRM, _hang)
    try:
        for _ in range(n):
            callee = known[rng.integers(len(known))]
            names = list(callee.parameters)
            name, values = names[rng.integers(len(names))], _wrong_values()
            value = values[rng.integers(len(values))]
            _call(callee, {name: value}, tally)
    finally:
        signal.signal(signal.SIGALRM, previous)
    return tally


def _hang(number: int, frame: FrameType | None) -> None:
    raise HangError(f"no end within {_LIMIT} s")


def _call(callee: Callee, wrong: dict[str, Any], tally: Tally) -> None:
    signal.alarm(_LIMIT)
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            callee.call(callee.parameters | wrong)
    except _DOCUMENTED:
        tally.held("refused with a reason")
    except Exception as error:
        ((name, value),) = wrong.items()
        text = " ".join(repr(value).split())[:40]
        tally.broke(f"{callee.name}({name}={text}): {type(error).__name__}: {str(error)[:90]}")
    else:
        tally.held("accepted")
    finally:
        signal.alarm(0)

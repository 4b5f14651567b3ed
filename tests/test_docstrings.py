"""Every public object has a docstring that numpydoc accepts."""

import importlib
import inspect
import re
import tomllib
from pathlib import Path

from numpydoc.validate import ERROR_MSGS, validate

import kernelwise

LAYERS = [name for name in kernelwise._LAYERS if name != "app"]
APPLICATION = ("tabular", "io", "evaluation", "inspection", "report", "page", "cli")
LAYERS += [f"app.{name}" for name in APPLICATION]
MODULES = ["kernelwise", *(f"kernelwise.{layer}" for layer in LAYERS)]

# The checks that are off, each with its reason, stand in pyproject.toml.
_CONFIG = Path(__file__).resolve().parents[1] / "pyproject.toml"
CHECKS = tomllib.loads(_CONFIG.read_text(encoding="utf-8"))["tool"]["numpydoc_validation"]["checks"]
IGNORED = set(CHECKS) - {"all"}


def is_documented_by_a_base(cls, name):
    """Return whether the method has no text of its own and overrides one that has."""
    own = vars(cls)[name].__doc__
    return not own and any(
        getattr(vars(base).get(name), "__doc__", None) for base in cls.__mro__[1:]
    )


def public_methods(cls):
    """Yield the names of the public methods and properties that the class itself defines."""
    for name, raw in vars(cls).items():
        if name.startswith("_") or re.fullmatch(r"set_\w+_request", name):
            continue  # scikit-learn writes the set_*_request methods
        is_method = isinstance(raw, property) or inspect.isroutine(getattr(cls, name))
        if is_method and not is_documented_by_a_base(cls, name):
            yield name


def own_bases(cls):
    """Return the class and its bases, as far as they are ours."""
    return [base for base in cls.__mro__ if base.__module__.partition(".")[0] == "kernelwise"]


def public_objects():
    """Return the import path of each public object, once, and of each public method."""
    paths = {}
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in module.__all__:
            obj = getattr(module, name)
            if inspect.isclass(obj):
                paths[f"{obj.__module__}.{obj.__qualname__}"] = None
                for base in own_bases(obj):
                    prefix = f"{base.__module__}.{base.__qualname__}"
                    paths.update((f"{prefix}.{method}", None) for method in public_methods(base))
            elif inspect.isroutine(obj):
                paths[f"{obj.__module__}.{obj.__qualname__}"] = None
    return list(paths)


def test_ignored_checks_exist():
    assert set(ERROR_MSGS) >= IGNORED


def test_every_docstring_is_valid():
    found = [
        f"{path}: {code} {text}"
        for path in public_objects()
        for code, text in validate(path)["errors"]
        if code not in IGNORED
    ]
    assert not found, "\n".join(found)


def test_every_module_says_what_it_is_for():
    assert [name for name in MODULES if not importlib.import_module(name).__doc__] == []

"""Frozen dataclasses that are cheap to define.

The decorator of the standard library compiles six methods for every frozen class, which takes half
a millisecond: for the hundred classes behind a fit, more than all other work of their import. Here
``__init__`` alone is compiled, and all classes share the other methods.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        *, frozen: bool, init: bool = True, repr: bool = True, eq: bool = True
    ) -> Callable[[type], type]:
        """Return a decorator like that of the standard library, for frozen classes only.

        Classes for users to extend have that of the standard library, as a frozen dataclass of the
        standard library cannot extend one of these.
        """
        if not frozen:
            raise TypeError("a dataclass that is not frozen is one of the standard library")
        shared = {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
        shared |= {"__repr__": _repr} if repr else {}
        shared |= {"__eq__": _eq, "__hash__": _hash} if eq else {}

        def decorate(cls: type) -> type:
            own = vars(cls)
            missing = [name for name in shared if own.get(name) is None]
            cls = dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
            if init:
                cls.__init__ = _initialiser(cls)
            for name in missing:
                setattr(cls, name, shared[name])
            return cls

        return decorate


def changed(record: T, **values: Any) -> T:
    """Return a copy of a frozen record with other values of some fields.

    A record that was checked when it was made is not checked again, so that this takes a fifth of
    the time of ``dataclasses.replace``.
    """
    cls: Any = type(record)
    made: T = object.__new__(cls)
    own, fields = vars(record), cls.__dataclass_fields__
    made.__dict__.update({name: own[name] for name in fields if name in own}, **values)
    return made


class _Factory:
    """The default of a parameter whose value is made anew for each object."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


def _initialiser(cls: type) -> Callable[..., None]:
    """Compile ``__init__``, which writes the fields past the refusing ``__setattr__``."""
    names: dict[str, Any] = {"_FACTORY": _FACTORY, "_set": object.__setattr__}
    parameters: list[str] = ["self"]
    body: list[str] = []
    for field in dataclasses.fields(cls):
        name, parameter, value = field.name, field.name, field.name
        if field.default is not dataclasses.MISSING:
            names[f"_default_{name}"] = field.default
            parameter = f"{name}=_default_{name}"
        elif field.default_factory is not dataclasses.MISSING:
            names[f"_make_{name}"] = field.default_factory
            parameter = f"{name}=_FACTORY"
            value = f"_make_{name}() if {name} is _FACTORY else {name}"
        parameters.append(parameter)
        body.append(f"_set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(body or ["pass"]), names)
    made: Callable[..., None] = names["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {field.name: field.type for field in dataclasses.fields(cls)}
    made.__annotations__["return"] = None
    return made


def _refuse_to_set(self: Any, name: str, value: Any) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


@recursive_repr()
def _repr(self: Any) -> str:
    shown = [field.name for field in dataclasses.fields(self) if field.repr]
    return f"{type(self).__qualname__}({', '.join(f'{n}={getattr(self, n)!r}' for n in shown)})"


def _compared(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, field.name) for field in dataclasses.fields(self) if field.compare)


def _eq(self: Any, other: object) -> bool:
    return _compared(self) == _compared(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_compared(self))

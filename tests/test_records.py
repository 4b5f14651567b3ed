"""Frozen dataclasses of our own behave like those of the standard library."""

import dataclasses
import inspect
import pickle
from copy import deepcopy
from dataclasses import field
from functools import cached_property

import pytest

from kernelwise._records import changed, dataclass


def point(decorator):
    """Return a class with every kind of field that ours may have, and one that extends it."""

    @decorator(frozen=True)
    class Point:
        """A point."""

        x: float
        y: float = 2.0
        tags: list = field(default_factory=list)
        note: str = field(default="", repr=False, compare=False)

        @cached_property
        def sum(self):
            return self.x + self.y

    @decorator(frozen=True)
    class Mass(Point):
        """A point with a mass."""

        mass: float = 1.0

        def __post_init__(self):
            if self.mass < 0:
                raise ValueError("mass must not be negative")

    return Point, Mass


@dataclass(frozen=True)
class Pair:
    """A pair, which a pickle finds by its name."""

    first: int
    second: int = 0


OURS, STANDARD = point(dataclass), point(dataclasses.dataclass)


@pytest.mark.parametrize(("ours", "standard"), [*zip(OURS, STANDARD, strict=True)])
def test_signature_repr_and_fields_are_those_of_the_standard_library(ours, standard):
    assert str(inspect.signature(ours)) == str(inspect.signature(standard))
    assert repr(ours(1.0, note="seen")) == repr(standard(1.0, note="seen"))
    assert dataclasses.asdict(ours(1.0)) == dataclasses.asdict(standard(1.0))
    assert ours.__match_args__ == standard.__match_args__


@pytest.mark.parametrize("cls", OURS)
def test_objects_are_equal_by_the_fields_that_count(cls):
    assert cls(1.0, note="a") == cls(1.0, note="b")
    assert cls(1.0) != cls(2.0)
    assert OURS[0](1.0) != OURS[1](1.0)
    assert hash(cls(1.0, 2.0, ())) == hash(cls(1.0, tags=()))


@pytest.mark.parametrize("cls", OURS)
def test_objects_cannot_be_changed(cls):
    one = cls(1.0)
    with pytest.raises(dataclasses.FrozenInstanceError, match="assign to field 'x'"):
        one.x = 3.0
    with pytest.raises(dataclasses.FrozenInstanceError, match="delete field 'x'"):
        del one.x
    assert (one.x, one.sum) == (1.0, 3.0)


@pytest.mark.parametrize("cls", OURS)
def test_factories_make_a_new_value_for_each_object(cls):
    first, second = cls(1.0), cls(1.0)
    first.tags.append("mine")
    assert second.tags == []
    assert cls(1.0, tags=["given"]).tags == ["given"]


def test_changes_go_through_the_checks():
    mass = OURS[1](1.0, mass=3.0)
    assert dataclasses.replace(mass, x=5.0) == OURS[1](5.0, mass=3.0)
    with pytest.raises(ValueError, match="negative"):
        dataclasses.replace(mass, mass=-1.0)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        OURS[1]()


@pytest.mark.parametrize("cls", OURS)
def test_a_changed_copy_has_other_values_and_computes_anew(cls):
    one = cls(1.0, tags=["kept"], note="kept")
    assert one.sum == 3.0
    other = changed(one, x=5.0)
    assert dataclasses.asdict(other) == dataclasses.asdict(one) | {"x": 5.0}
    assert (one.x, one.sum, other.sum) == (1.0, 3.0, 7.0)
    assert type(other) is cls


def test_objects_can_be_copied_and_pickled():
    pair = Pair(1, 2)
    assert pickle.loads(pickle.dumps(pair)) == pair
    assert deepcopy(pair) == pair


def test_methods_of_a_class_are_kept():
    @dataclass(frozen=True, eq=False)
    class Named:
        """A class with a text and an equality of its own."""

        name: str

        def __repr__(self):
            return self.name

    one = Named("one")
    assert repr(one) == "one"
    assert one == one
    assert one != Named("one")  # equality is identity


def test_only_frozen_classes_are_ours():
    with pytest.raises(TypeError, match="not frozen"):
        dataclass(frozen=False)

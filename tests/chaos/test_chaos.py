"""A small part of the attacks of ``make chaos``, and the page that is made from its counts."""

import inspect
import os

import pytest

import kernelwise

from . import page
from .calls import CORE_LAYERS, LAYERS, callees, wrong_calls
from .files import damaged_files, forged_files
from .interrupts import ESTIMATORS, LONG_FITS, interrupted_fits, interrupted_long_fits
from .kills import killed_saves
from .processes import forks, memory_limits
from .tally import Tally

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="signals and forks of POSIX")

ATTACKS = {
    "damaged files": lambda folder: damaged_files(folder, 20, 1),
    "forged files": lambda folder: forged_files(folder, 15, 1),
    "wrong calls": lambda folder: wrong_calls(folder, 80, 1),
    "interrupts": lambda folder: interrupted_fits(
        3, 1, ["SVC", "GeneralizedBiasSVC", "DualObjectiveSVC", "EmpiricalKernelMap"]
    ),
    "long fits": lambda folder: interrupted_long_fits(1, 1, ["pairs", "many small pairs"]),
    "kills": lambda folder: killed_saves(folder, 4, 1),
    "forks": lambda folder: forks(4, ["SVC"]),
    "memory": lambda folder: memory_limits([("SVC", 2000, 10)]),
}


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_nothing_breaks(attack, tmp_path):
    tally = attack(tmp_path)
    assert tally.broken == []
    assert tally.ends.total() > 0
    assert tally.facts.get("growth of memory, MB", 0) < 200


def test_calls_are_made_of_every_layer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {callee.name for callee in callees()}  # raises where something public has no value
    assert {name.partition(".")[0] for name in names} == set(LAYERS)
    assert {"svm.SVC", "svm.RelevanceSVC.fit", "qp.SMO.solve", "criteria.span"} <= names


def test_every_package_is_a_layer_of_the_calls():
    packages = {name for name in kernelwise.__all__ if inspect.ismodule(getattr(kernelwise, name))}
    assert packages == {*CORE_LAYERS, "app"}


def test_every_estimator_is_interrupted():
    public = {name for name, thing in vars_of(kernelwise) if hasattr(thing, "fit")}
    small = {type(model).__name__ for model in ESTIMATORS.values()}
    assert public <= small
    long = {type(model).__name__ for model, *_ in LONG_FITS.values()}
    assert {name for name in public if name.endswith(("SVC", "SVR", "CV", "Selector"))} <= long


def vars_of(module):
    return [(name, getattr(module, name)) for name in module.__all__]


def test_the_page_shows_the_counts():
    tally = Tally("forged files")
    tally.held("refused with a reason")
    tally.broke("what broke")
    text = page.render({tally.name: tally.as_dict()})
    assert "| forged files | 2 | refused with a reason: 1 | 1 |" in text
    assert "- **forged files**: The schema" in text
    zoo = {"ends": {"held": 3, "refused": 1}, "worst": 0.9, "slowest": 4.0}
    text = page.render({tally.name: tally.as_dict()}, zoo)
    assert "fits 4 seeded problems" in text
    assert "3 held, 1 were refused" in text


def test_the_page_is_made_from_the_stored_counts():
    counts, zoo = page.stored()
    assert page.PAGE.read_text(encoding="utf-8") == page.render(counts, zoo)

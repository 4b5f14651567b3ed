"""A small part of the attacks of ``make chaos``, and the page that is made from its counts."""

import os

import pytest

from . import page
from .calls import callees, wrong_calls
from .files import damaged_files, forged_files
from .interrupts import interrupted_fits
from .processes import forks, killed_saves, memory_limits
from .tally import Tally

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="signals and forks of POSIX")

ATTACKS = {
    "damaged files": lambda folder: damaged_files(folder, 20, 1),
    "forged files": lambda folder: forged_files(folder, 15, 1),
    "wrong calls": lambda folder: wrong_calls(folder, 80, 1),
    "interrupts": lambda folder: interrupted_fits(
        3, 1, ["SVC", "GeneralizedBiasSVC", "DualObjectiveSVC", "EmpiricalKernelMap"]
    ),
    "kills": lambda folder: killed_saves(folder, 4, 1),
    "forks": lambda folder: forks(4),
    "memory": lambda folder: memory_limits([("SVC", 2000, 10)]),
}


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_nothing_breaks(attack, tmp_path):
    tally = attack(tmp_path)
    assert tally.broken == []
    assert tally.ends.total() > 0
    assert tally.facts.get("growth of memory, MB", 0) < 200


def test_calls_are_made_of_every_estimator():
    names = {callee.name.rpartition("kernelwise.")[2] for callee in callees()}
    assert {"svm.SVC", "svm.RelevanceSVC.fit", "qp.SMO", "criteria.span", "kernels.RBF"} <= names


def test_the_page_shows_the_counts():
    tally = Tally("forged files")
    tally.held("refused with a reason")
    tally.broke("what broke")
    text = page.render({tally.name: tally.as_dict()})
    assert "| forged files | 2 | refused with a reason: 1 | 1 |" in text
    assert "- **forged files**: The schema" in text

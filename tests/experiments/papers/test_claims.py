"""The list of what is reproduced, and the claims that open the page of the reproduction."""

import re

import pytest

from kernelwise.experiments import experiments
from kernelwise.experiments.engine.tables import Claim
from kernelwise.experiments.engine.terminal import list_facts

# Every table and figure of the five papers with numbers or drawings, and the counts of their texts.
PRINTED = {
    "adaptive-kernel": ["Figure 1", "Figure 2", "Figure 3", "186", "4895", "110", "2624"],
    "dual-objective": [
        "Table 1",
        "Figure 1",
        "Figure 2",
        "z = -5.05",
        "r = 0.646",
        "4200",
        "0.0001",
    ],
    "feature-discrimination": [
        *(f"Table {k}" for k in (2, 3, 4, 5)),
        *(f"Figure {k}" for k in (1, 2, 3)),
        "MEAN and CASE",
        "training times",
    ],
    "generalized-bias": ["Figure 1", "Figure 2", "Figure 3"],
    "margin-radius": [
        "Table 1",
        "Table 2",
        "68.6 %",
        "better on 7 sets, worse on 2",
        "Algorithm 1",
    ],
}


@pytest.mark.parametrize("paper", PRINTED)
def test_list_names_everything_that_the_papers_print(paper):
    own = [each for name, each in experiments().items() if name.startswith(f"{paper}-")]
    text = " ".join(line for each in own for line in list_facts(each)["reproduces"])
    for wanted in PRINTED[paper]:
        assert re.search(rf"{re.escape(wanted)}(?!\d)", text), wanted


def test_verdicts_name_the_readings_under_which_a_claim_holds():
    ours = {"A": "1", "B": "2"}
    assert Claim("x", "1", ours, {"A": True, "B": True}).verdict == "holds"
    assert Claim("x", "1", ours, {"A": False, "B": True}).verdict == "holds under B"
    assert Claim("x", "1", ours, {"A": False, "B": False}).verdict == "does not hold"
    assert Claim("x", "1", ours, {}).measured == "A: 1; B: 2"
    assert Claim("x", "1", {"": "1"}, {"": True}).measured == "1"

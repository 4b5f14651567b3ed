"""Each mutation has its place in the code, and tests that exist; ``make mutants`` runs them."""

from .__main__ import ROOT
from .mutations import MUTATIONS


def test_each_mutation_has_its_place():
    for mutation in MUTATIONS:
        path = ROOT / "src" / "kernelwise" / mutation.path
        assert mutation.applied(path.read_text(encoding="utf-8"))
        assert [test for test in mutation.tests.split() if not (ROOT / test).exists()] == []


def test_names_are_unique():
    assert len({mutation.name for mutation in MUTATIONS}) == len(MUTATIONS) == 32

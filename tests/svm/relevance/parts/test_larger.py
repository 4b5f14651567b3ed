"""The parts of larger tables: which there are, and that none of them has seen what it decides."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelwise.svm.relevance.parts import larger
from kernelwise.svm.relevance.parts.larger import larger_table_parts

from .mixed_tables import mixed_rows


def parts_of(rows):
    return {part.name: part for part in larger_table_parts(rows, np.random.RandomState(0))[0]}


def test_ridge_and_linear_machines_stand_beside_the_others_below_a_number_of_rows(monkeypatch):
    rows = mixed_rows(300)
    monkeypatch.setattr(larger, "BESIDE", 301)
    assert {"kernel", "linear"} < set(parts_of(rows))
    monkeypatch.setattr(larger, "BESIDE", 300)
    assert not {"kernel", "linear"} & set(parts_of(rows))


@pytest.mark.parametrize("groups", [None, np.arange(300) // 3], ids=["rows", "groups"])
def test_a_ridge_machine_of_some_rows_decides_the_others(monkeypatch, groups):
    monkeypatch.setattr(larger, "_RIDGE_ROWS", 120)
    rows = mixed_rows(300, groups=groups)
    part = parts_of(rows)["kernel"]
    fitted = len(part.part.rows)
    assert 100 < fitted <= 121
    unseen = np.isclose(part.left_out, part.decision_values(rows.X)).all(axis=1)
    assert np.count_nonzero(unseen) == 300 - fitted
    if groups is not None:  # a group is seen as a whole, or not at all
        by_group = unseen.reshape(-1, 3)
        assert_allclose(by_group.all(axis=1), by_group.any(axis=1))

"""Which parts of large tables are fitted, and when."""

import numpy as np
import pytest

from kernelwise.svm.relevance import large
from kernelwise.svm.relevance.large import fit_large
from kernelwise.svm.relevance.parts.cells import CellOptions, CellPlan

from .parts.mixed_tables import mixed_rows

N_ROWS = 1500


@pytest.fixture(autouse=True)
def judged_rows_suffice(monkeypatch):
    monkeypatch.setattr(large, "_FEW_JUDGED", 200)


def fit(monkeypatch, n_trees=1, **problem):
    """Fit a table, and return the mixture and how often trees were fitted."""
    asked = []
    fit_trees = CellPlan.fit
    monkeypatch.setattr(CellPlan, "fit", lambda *given: (asked.append(1), fit_trees(*given))[1])
    options = CellOptions(cell_size=500, n_trees=n_trees)
    rows, seed = mixed_rows(N_ROWS, **problem), np.random.RandomState(0)
    return fit_large(rows, np.arange(N_ROWS), options, seed), len(asked)


def test_cells_of_no_use_beside_categories_get_no_trees(monkeypatch):
    mixed, asked = fit(monkeypatch, signal=0.0)
    assert asked == mixed.n_trees == 0
    assert [part.name for part in mixed.parts] == ["pairs"]


def test_cells_get_trees_where_a_sample_finds_them_useful(monkeypatch):
    monkeypatch.setattr(large, "pays", lambda *given: True)
    mixed, asked = fit(monkeypatch)
    assert (asked, mixed.n_trees) == (1, 1)
    assert [part.name for part in mixed.parts] == ["pairs", "cells"]

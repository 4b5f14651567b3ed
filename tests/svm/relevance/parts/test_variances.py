from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.svm.relevance.parts import larger
from kernelwise.svm.relevance.parts.additive import fit_additive
from kernelwise.svm.relevance.parts.larger import begin_joint, larger_table_parts
from kernelwise.svm.relevance.parts.variances import prior_variances

from .mixed_tables import mixed_rows


@pytest.mark.parametrize("n_classes", [2, 3])
def test_columns_of_noise_have_small_variances(n_classes):
    found = prior_variances(mixed_rows(1500, n_classes))
    assert found[[2, 5]].min() > 5 * found[[0, 1, 3, 6]].max()  # a pair says nothing by itself
    assert found.max() == 1
    assert found.min() >= 0.03


def test_a_constant_column_keeps_its_variance_and_changes_no_other():
    rows = mixed_rows(800)
    found = prior_variances(rows)
    without = prior_variances(replace(rows, X=np.where(np.arange(7) == 4, 0.0, rows.X)))
    assert found[4] == without[4]
    assert_allclose(found, without)


def test_variances_do_not_depend_on_units_or_on_how_copies_are_written():
    rows = mixed_rows(400)
    scaled = rows.X * np.where(rows.layout.is_category, 1, 8)
    assert_allclose(prior_variances(replace(rows, X=scaled)), prior_variances(rows), rtol=1e-4)
    twice = rows.part(np.repeat(np.arange(400), 2))
    counted = replace(rows, count=2 * rows.count, price=2 * rows.price)
    assert_allclose(prior_variances(twice), prior_variances(counted), rtol=1e-3)


def test_rare_classes_and_noise_alone_have_finite_variances():
    rng = np.random.default_rng(0)
    rows = mixed_rows(400)
    for classes in (rng.integers(0, 2, 400), (np.arange(400) < 2).astype(np.intp)):
        found = prior_variances(replace(rows, classes=classes))
        assert ((found >= 0.03) & (found <= 1)).all()


def test_the_joint_part_shrinks_columns_by_their_variances():
    rows, random = mixed_rows(1200), np.random.RandomState
    noise = np.random.default_rng(1).normal(size=(1200, 1))

    def spread(own):
        joint = begin_joint(rows, random(0), own_variances=own)[1]()
        moved = rows.X.copy()
        moved[:, [3]] = np.exp(2 * noise)
        change = joint.additive.decisions(moved, joint.coefficients)
        return np.std(change - joint.additive.decisions(rows.X, joint.coefficients))

    assert spread(own=True) < 0.7 * spread(own=False)


def test_tables_of_few_rows_have_one_variance(monkeypatch):
    asked = []
    monkeypatch.setattr(larger, "prior_variances", lambda *given: asked.append(given))
    few, more = mixed_rows(1000), mixed_rows(1001)
    larger_table_parts(few, np.random.RandomState(0))
    assert not asked
    larger_table_parts(more, np.random.RandomState(0))
    assert len(asked) == 1


def test_equal_variances_are_none():
    rows = mixed_rows(300)
    ones = fit_additive(rows, np.ones(7), levels=300)
    assert_array_equal(ones.coefficients, fit_additive(rows, levels=300).coefficients)

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.svm.relevance.parts.additive import fit_additive
from kernelwise.svm.relevance.parts.evidence import learn_evidence, start_weights
from kernelwise.svm.relevance.parts.joint import fit_joint
from kernelwise.svm.relevance.parts.metric import MetricColumns

from .mixed_tables import log_loss, mixed_rows, rare_class


def joint(rows, seed=0):
    state, columns = np.random.RandomState(seed), MetricColumns.of(rows)
    learned = learn_evidence(rows, columns, start_weights(rows), state)
    additive = fit_additive(rows)
    return fit_joint(rows, additive, learned, state), additive


def test_interactions_are_found_beside_the_additive_part():
    rows, new = mixed_rows(1500), mixed_rows(3000, seed=1)
    part, additive = joint(rows)
    own, other = (log_loss(each.decision_values(new.X), new) for each in (part, additive))
    assert own < other - 0.1
    assert part.name == "joint"
    assert part.importances[[0, 1, 2, 5]].min() > 3 * part.importances[[3, 6]].max()
    assert_allclose(part.importances.sum(), 1)


def test_leave_one_out_decisions_are_as_good_as_on_new_rows():
    rows, new = mixed_rows(800), mixed_rows(4000, seed=1)
    part, _ = joint(rows)
    left_out, fresh = log_loss(part.left_out, rows), log_loss(part.decision_values(new.X), new)
    assert abs(left_out - fresh) < 0.05
    assert log_loss(part.decision_values(rows.X), rows) < left_out - 0.02


def test_leave_one_out_decisions_are_close_to_fits_without_a_row():
    rows = mixed_rows(250)
    state, columns = np.random.RandomState(0), MetricColumns.of(rows)
    learned = learn_evidence(rows, columns, start_weights(rows), state)
    part = fit_joint(rows, fit_additive(rows), learned, np.random.RandomState(0))
    seen = part.decision_values(rows.X)[:, 0]
    moved, expected = [], []
    for i in np.argsort(-np.abs(part.left_out[:, 0] - seen))[:60:6]:
        # A weight of almost nothing keeps bins, landmarks and ridges comparable.
        count = np.ones(250)
        count[i] = 1e-6
        less = replace(rows, count=count, price=count)
        again = fit_joint(less, fit_additive(less), learned, np.random.RandomState(0))
        expected.append(again.decision_values(rows.X[i : i + 1])[0, 0] - seen[i])
        moved.append(part.left_out[i, 0] - seen[i])
    assert np.abs(expected).min() > 0.3
    assert_allclose(moved, expected, rtol=0.35)


@pytest.mark.parametrize("n_classes", [3, 4])
def test_several_classes(n_classes):
    rows, new = mixed_rows(1000, n_classes), mixed_rows(1500, n_classes, seed=1)
    part, additive = joint(rows)
    assert part.left_out.shape == (1000, n_classes)
    accuracy, other = (
        np.mean(each.decision_values(new.X).argmax(axis=1) == new.classes)
        for each in (part, additive)
    )
    assert accuracy > other + 0.03


def test_a_class_of_three_rows_and_a_table_without_signal():
    rng = np.random.default_rng(0)
    for rows in (
        rare_class(mixed_rows(400)),
        replace(mixed_rows(400), classes=rng.integers(0, 2, 400)),
    ):
        part, _ = joint(rows)
        share = np.mean(rows.classes == 1)
        entropy = -share * np.log(share) - (1 - share) * np.log(1 - share)
        assert np.abs(part.left_out).max() <= 12
        assert log_loss(part.left_out, rows) < entropy + 0.06


def test_a_table_of_constant_columns_predicts_the_base_rate():
    rows = mixed_rows(60)
    flat = replace(rows, X=np.ones_like(rows.X))
    part, _ = joint(flat)
    share = np.mean(rows.classes == 1)
    assert_allclose(part.decision_values(flat.X), np.log(share / (1 - share)), atol=1e-3)
    assert_array_equal(part.importances, 0)


def test_weights_are_copies_and_the_state_decides():
    rows = mixed_rows(300, count=np.random.default_rng(0).integers(1, 4, 300))
    part, again, other = joint(rows)[0], joint(rows)[0], joint(mixed_rows(300))[0]
    assert_array_equal(part.left_out, again.left_out)
    assert np.abs(part.left_out - other.left_out).max() > 0.1
    copies = np.repeat(np.arange(300), rows.count.astype(int))
    state, columns = np.random.RandomState(0), MetricColumns.of(rows)
    learned = learn_evidence(rows, columns, start_weights(rows), state)
    few = fit_joint(rows, fit_additive(rows), learned, np.random.RandomState(0))
    ones = np.ones(len(copies))
    many = replace(rows.part(copies), count=ones, price=ones, groups=copies)
    assert_allclose(fit_additive(rows).left_out[copies], fit_additive(many).left_out, atol=1e-2)
    assert np.isfinite(few.left_out).all()

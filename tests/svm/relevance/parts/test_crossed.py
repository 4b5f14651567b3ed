"""Shifts of the joint part in the cells of two columns: found where they pay, left out exactly."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

from kernelwise.svm.relevance.columns import ColumnLayout
from kernelwise.svm.relevance.parts import crossed
from kernelwise.svm.relevance.parts.crossed import CrossedPart, cross_columns
from kernelwise.svm.relevance.parts.larger import begin_joint
from kernelwise.svm.relevance.parts.logistic import targets_of
from kernelwise.svm.relevance.parts.rows import PartRows

N_PEOPLE = 250


def answers(m, seed=0, slope=2.0):
    """Return questions to people, who differ in their answers to each of three kinds."""
    people = np.random.default_rng(0).normal(size=(N_PEOPLE, 3))
    rng = np.random.default_rng(1 + seed)
    person, kind, trait = rng.integers(0, N_PEOPLE, m), rng.integers(0, 3, m), rng.normal(size=m)
    chance = expit(slope * people[person, kind] + trait)
    layout = ColumnLayout(np.array([False, True, True]), np.arange(3), np.arange(3), 3)
    X, one = np.column_stack([trait, person, kind]), np.ones(m)
    return PartRows(X, layout, (rng.random(m) < chance).astype(np.intp), 2, one, one)


def joint_of(rows):
    return begin_joint(rows, np.random.RandomState(0))[1]()


def log_loss(decisions, rows):
    return float(np.mean(np.logaddexp(0, -rows.codes[:, 0] * decisions[:, 0])))


@pytest.fixture(scope="module")
def problem():
    rows = answers(3500)
    joint = joint_of(rows)
    return rows, joint, cross_columns(rows, joint)


def test_the_pair_that_decides_is_found_and_lowers_the_loss(problem):
    rows, joint, part = problem
    assert isinstance(part, CrossedPart)
    assert part.name == "pairs"
    assert part.columns[:2].tolist() == [1, 2]
    new = answers(4000, seed=1)
    losses = [log_loss(each.decision_values(new.X), new) for each in (part, joint)]
    assert losses[0] < 0.93 * losses[1]
    assert_allclose(log_loss(part.left_out, rows), losses[0], rtol=0.05)


def test_shares_of_the_shifts_belong_to_their_columns(problem):
    _, joint, part = problem
    assert_allclose(part.importances.sum(), 1)
    assert part.importances[2] > joint.importances[2]
    assert part.importances[0] < joint.importances[0]


def test_no_pair_leaves_the_joint_part_as_it_is():
    rows = answers(1500, slope=0.0)
    joint = joint_of(rows)
    assert cross_columns(rows, joint) is joint


def test_a_rare_class_that_counts_more_does_not_make_pairs():
    rows = answers(1500, slope=0.0)
    rows = replace(rows, price=np.where(rows.classes == 1, 30.0, 1.0))
    joint = joint_of(rows)
    assert cross_columns(rows, joint) is joint


def test_unknown_levels_share_a_place(problem):
    part = problem[2]
    new = np.array([[0.0, 1000.0, 0.0], [0.0, N_PEOPLE, 0.0]])
    first, second = part.decision_values(new)
    assert_allclose(first, second)


def shifts_of(rows, ridge=2.0):
    """Return the pair (1, 2), and its shifts around given decisions."""
    decisions = 0.3 * rows.X[:, :1] - 0.1
    around = crossed._Around.of(decisions, targets_of(rows))
    cells = crossed._Cells((1, 2), (3 * rows.X[:, 1] + rows.X[:, 2]).astype(np.intp), 3 * N_PEOPLE)
    return cells, crossed.shift(cells, ridge, around, rows)


def test_a_left_out_row_has_no_part_in_its_shift():
    rows = answers(300)
    cells, found = shifts_of(rows)
    for i in (0, 17, 123):
        others = np.delete(np.arange(300), i)
        without = shifts_of(rows.part(others))[1].shifts[cells.cell[i]]
        assert_allclose(found.left_out[i], without, rtol=1e-9)


def test_a_left_out_copy_leaves_the_others():
    rows = answers(300)
    count = np.where(np.arange(300) % 3 == 0, 4.0, 1.0)
    rows = replace(rows, count=count, price=count, copy_weight=1.0)
    cells, found = shifts_of(rows)
    for i in (0, 1, 123):
        fewer = count - (np.arange(300) == i)
        without = shifts_of(replace(rows, price=fewer))[1].shifts[cells.cell[i]]
        assert_allclose(found.left_out[i], without, rtol=1e-9, atol=1e-12)


def test_a_group_is_left_out_together():
    rows = replace(answers(300), groups=np.arange(300) // 10)
    cells, found = shifts_of(rows)
    for i in (0, 17, 123):
        others = np.flatnonzero(rows.groups != rows.groups[i])
        without = shifts_of(rows.part(others))[1].shifts[cells.cell[i]]
        assert_allclose(found.left_out[i], without, rtol=1e-9, atol=1e-12)


def test_pairs_of_numbers_and_of_too_many_cells_are_no_candidates():
    rows = answers(600)
    layout = ColumnLayout(np.array([False, True, False]), np.arange(3), np.arange(3), 3)
    candidates = crossed._candidates(replace(rows, layout=layout), joint_of(rows))[1]
    assert sorted(each.pair for each in candidates) == [(0, 1), (1, 2)]
    few = rows.part(np.arange(40))
    candidates = crossed._candidates(few, joint_of(rows))[1]
    assert [each.pair for each in candidates] == [(0, 2)]
    assert_array_equal(candidates[0].sums(np.ones(40)).sum(), 40)


# --- A category alone ------------------------------------------------------------------------


def visits(m, seed=0, spread=3.0):
    """Return visits to people of whom most come once or twice, and who differ."""
    effects = np.random.default_rng(0).normal(size=2000)
    rng = np.random.default_rng(1 + seed)
    person, trait = rng.integers(0, 2000, m), rng.normal(size=m)
    chance = expit(spread * effects[person] + trait)
    layout = ColumnLayout(np.array([False, True]), np.arange(2), np.arange(2), 2)
    X, one = np.column_stack([trait, person]), np.ones(m)
    return PartRows(X, layout, (rng.random(m) < chance).astype(np.intp), 2, one, one)


@pytest.fixture(scope="module")
def alone():
    rows = visits(4000)
    joint = joint_of(rows)
    return rows, joint, cross_columns(rows, joint)


def test_levels_that_the_additive_part_merged_are_shifted_alone(alone):
    rows, joint, part = alone
    assert part.columns[:2].tolist() == [1, 1]
    assert part.strides[0] == 0
    new = visits(4000, seed=1)
    losses = [log_loss(each.decision_values(new.X), new) for each in (part, joint)]
    assert losses[0] < 0.97 * losses[1]
    assert_allclose(log_loss(part.left_out, rows), losses[0], rtol=0.05)
    assert part.importances[1] > joint.importances[1]


def test_a_person_never_seen_is_not_shifted(alone):
    _, joint, part = alone
    new = np.array([[0.5, 5000.0]])
    assert_allclose(part.decision_values(new), joint.decision_values(new), rtol=1e-6)


def test_a_category_of_noise_is_not_shifted():
    rows = visits(2000, spread=0.0)
    joint = joint_of(rows)
    assert cross_columns(rows, joint) is joint


def test_a_category_without_merged_levels_is_no_candidate_alone(problem):
    rows, joint, _ = problem
    pairs = [each.pair for each in crossed._candidates(rows, joint)[1]]
    assert sorted(pairs) == [(0, 1), (0, 2), (1, 2)]


def test_the_left_out_shift_of_a_level_is_that_of_a_fit_without_the_row():
    rows = visits(300)
    rows = replace(rows, X=np.column_stack([rows.X[:, 0], rows.X[:, 1] // 20]))

    def found(own):
        around = crossed._Around.of(0.3 * own.X[:, :1] - 0.1, targets_of(own))
        cells = crossed._Cells((1, 1), own.X[:, 1].astype(np.intp), 100)
        return crossed.shift(cells, 0.5, around, own)

    every = found(rows)
    for i in (0, 17, 123):
        others = np.delete(np.arange(300), i)
        without = found(rows.part(others)).shifts[int(rows.X[i, 1])]
        assert_allclose(every.left_out[i], without, rtol=1e-9, atol=1e-12)

"""The choice of members, widths and costs on held-out rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.kernels import RBF, Laplacian
from kernelwise.scale.cells import CellSettings
from kernelwise.scale.forest import CellTable, fit_forest
from kernelwise.scale.judge import held_out_score, judge_members, possible_votes, scaled


def checkerboard(n=1500, noise=0.05, seed=0):
    """Return rows whose class is the parity of the cell of a 4 x 4 board in 2 of 4 columns."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 4))
    codes = np.where(np.floor(4 * X[:, :2]).sum(axis=1) % 2, 1.0, -1.0)
    codes[rng.random(n) < noise] *= -1
    return CellTable(X, codes[:, None], np.ones(n), np.arange(n))


GOOD = CellSettings(RBF(20.0, np.array([1.0, 1.0, 0.0, 0.0])), 1.0)
BLIND = CellSettings(RBF(20.0, np.array([0.0, 0.0, 1.0, 1.0])), 1.0)
DULL = CellSettings(RBF(7.0, np.array([1.0, 1.0, 0.0, 0.0])), 0.1)


def test_the_score_is_the_error_and_its_smooth_form():
    rng = np.random.default_rng(0)
    decisions, weight = rng.normal(size=(50, 3)), rng.random(50)
    classes = rng.integers(0, 3, 50)
    codes = np.where(classes[:, None] == np.arange(3), 1.0, -1.0)
    total = 0.0
    for row, label, w in zip(decisions, classes, weight, strict=True):
        margin = (row[label] - np.delete(row, label).max()) / 2
        total += w * ((margin <= 0) + 1 / (1 + np.exp(5 * margin)))
    assert_allclose(held_out_score(decisions, codes, weight), total / weight.sum())
    # Two classes as one column, or as two columns of which one is the negative of the other.
    y, f = codes[:, :1], decisions[:, :1]
    both = held_out_score(np.hstack([f, -f]), np.hstack([y, -y]), weight)
    assert_allclose(held_out_score(f, y, weight), both)


def test_the_best_member_is_chosen():
    choice = judge_members(checkerboard(), [BLIND, GOOD], seed=0, cell_size=400)
    for member in choice.members:
        assert_array_equal(member.kernel.weights, GOOD.kernel.weights)
    assert choice.score < 0.4


def test_the_walk_finds_width_and_cost():
    table = checkerboard()
    walked = judge_members(table, [DULL], seed=0, cell_size=400)
    assert walked.members[0].kernel.gamma == pytest.approx(21.0)
    assert walked.members[0].C > DULL.C
    new = checkerboard(seed=1)
    errors = []
    for member in (DULL, walked.members[0]):
        forest, _ = fit_forest(table, [member] * 3, [0, 1, 2], 400)
        errors.append((np.sign(forest.decision_values(new.X)) != new.codes).mean())
    assert errors[1] < errors[0] - 0.02


def test_the_walk_stays_within_its_limits():
    # A kernel far too wide, with a cost far too small, takes all steps that there are.
    far = CellSettings(RBF(0.1, GOOD.kernel.weights), 1e-6)
    choice = judge_members(checkerboard(600), [far], seed=0, cell_size=300, n_trees=1)
    assert choice.members[0].kernel.gamma <= 0.3 * (1 + 1e-12)
    assert choice.members[0].C <= 1e-4 * (1 + 1e-12)


def test_held_out_decisions_are_those_of_trees_on_the_other_rows():
    table = checkerboard()
    choice = judge_members(table, [GOOD, DULL, BLIND], seed=3, cell_size=400)
    seen = np.setdiff1d(np.arange(1500), choice.held_out)
    assert 230 < len(choice.held_out) < 370
    forest, _ = fit_forest(table.part(seen), choice.members, [3, 4, 5], 400)
    held = table.part(choice.held_out)
    assert_allclose(choice.decisions, forest.decision_values(held.X), atol=1e-9)
    assert_allclose(choice.score, held_out_score(choice.decisions, held.codes, held.price))


def test_the_choice_depends_on_neither_threads_nor_the_order_of_the_rows():
    table = checkerboard(900)
    order = np.random.default_rng(0).permutation(900)
    options = {"seed": 1, "cell_size": 300, "max_rows": 700}
    choice = judge_members(table, [GOOD, DULL], **options)
    for other, places in (
        (judge_members(table, [GOOD, DULL], threads=2, **options), np.arange(900)),
        (judge_members(table.part(order), [GOOD, DULL], **options), order),
    ):
        assert_array_equal(places[other.held_out], choice.held_out)
        assert_array_equal(other.decisions, choice.decisions)
        assert [(m.kernel.gamma, m.C) for m in other.members] == [
            (m.kernel.gamma, m.C) for m in choice.members
        ]


def test_groups_are_held_out_whole():
    table, groups = checkerboard(900), np.arange(900) // 9
    choice = judge_members(table, [GOOD], seed=0, cell_size=300, groups=groups)
    assert 0 < len(choice.held_out) == 9 * len(np.unique(groups[choice.held_out]))


def test_rows_that_cannot_be_held_out_are_an_error():
    with pytest.raises(ValueError, match="different groups"):
        judge_members(
            checkerboard(100), [GOOD], seed=0, cell_size=50, groups=np.zeros(100, dtype=int)
        )


def test_votes_mix_up_to_three_members():
    a, b, c = GOOD, BLIND, DULL
    assert possible_votes([a, b, c], 3) == [
        [a, a, a],
        [a, a, b],
        [a, b, c],
    ]
    assert possible_votes([a], 2) == [[a, a]]
    assert possible_votes([a, b, c], 1) == [[a]]


def test_scaling_keeps_the_rest():
    member = scaled(CellSettings(Laplacian(2.0, [1.0, 3.0]), 5.0, "hinge", 1e-4), 3.0, 0.1)
    assert (member.kernel.gamma, member.C, member.loss, member.tol) == (6.0, 0.5, "hinge", 1e-4)
    assert_array_equal(member.kernel.weights, [1, 3])

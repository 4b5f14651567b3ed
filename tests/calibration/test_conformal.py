"""Prediction sets: leads of scores, and ranks among held-out rows, counted in a loop."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.calibration.conformal import Conformity, class_scores, conformities
from tests.loop import loop


def test_a_conformity_is_the_lead_over_the_best_other_score():
    scores = np.array([[3.0, 1.0, 2.0], [0.0, 0.0, -1.0], [-1.0, 4.0, 4.5]])
    expected = [
        [score - max(np.delete(row, c)) for c, score in enumerate(row.tolist())] for row in scores
    ]
    assert_allclose(conformities(scores), expected)


@loop("confidence_level", [0.5, 0.8, 0.95])
def test_sets_hold_the_classes_that_rank_above_the_tail(confidence_level):
    rng = np.random.default_rng(0)
    held, new = rng.normal(size=(40, 3)), rng.normal(size=(30, 3))
    classes, weight = rng.integers(3, size=40), rng.uniform(0.5, 2.0, 40)
    own = conformities(held)[np.arange(40), classes]
    found = Conformity.of_classes(held, classes, weight).sets(new, confidence_level)
    for row, leads in enumerate(conformities(new)):
        for c, lead in enumerate(leads):
            p = (1 + weight[own <= lead].sum()) / (1 + weight.sum())
            assert found[row, c] == (p > 1 - confidence_level)


@loop("level", [0, 1, -0.5, 2.0])
def test_levels_that_are_no_share_are_refused(level):
    conformity = Conformity.of_classes(np.eye(2), np.arange(2), np.ones(2))
    with pytest.raises(ValueError, match="confidence_level must be between 0 and 1"):
        conformity.sets(np.eye(2), level)


def test_two_classes_have_opposite_scores():
    assert_array_equal(class_scores(np.array([[2.0]]), None), [[-2.0, 2.0]])

"""DualObjectiveSVC(shrinkage=...): learned weights drawn towards equal ones by held-out rows."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.datasets import make_classification

from kernelwise import SVC, DualObjectiveSVC
from kernelwise.svm.base.held_out import held_out_loss, lowest
from kernelwise.svm.base.left_out import deal_task
from kernelwise.svm.dual_objective.shrinkage import SHARES
from tests.svm.problems import task_of


def problem(n_noise, n=120):
    X, y = make_classification(n, 4, n_informative=4, n_redundant=0, class_sep=1.5, random_state=0)
    return np.hstack([X, np.random.default_rng(0).normal(size=(n, n_noise))]), y


def test_a_given_share_mixes_learned_and_equal_weights():
    X, y = problem(4)
    learned = DualObjectiveSVC(shrinkage=0.0).fit(X, y)
    for share in (0.25, 1.0):
        model = DualObjectiveSVC(shrinkage=share).fit(X, y)
        expected = (1 - share) * learned.feature_weights_ + share
        assert_allclose(model.feature_weights_, expected, rtol=1e-9)
        assert_allclose(model.feature_importances_, learned.feature_importances_)
    assert_allclose(model.decision_function(X), SVC().fit(X, y).decision_function(X), atol=1e-6)


def test_the_share_is_that_of_the_lowest_loss_of_separate_fits():
    X, y = problem(2)
    codes, losses = np.where(y == 1, 1, -1)[:, None], []
    gamma = 1 / (X.shape[1] * X.var())
    for share in SHARES:
        lost = 0.0
        for fold in deal_task(task_of(X, y), 5):
            kept = np.setdiff1d(np.arange(len(y)), fold)
            own = DualObjectiveSVC(shrinkage=share, gamma=gamma, tol=1e-6).fit(X[kept], y[kept])
            decisions = own.decision_function(X[fold])[:, None]
            lost += len(fold) * held_out_loss(codes[fold], decisions, np.ones(len(fold)))
        losses.append(lost)
    model = DualObjectiveSVC(gamma=gamma, tol=1e-6).fit(X, y)
    assert SHARES[lowest(losses)] == model.shrinkage_


def test_weights_of_noise_are_kept_away_and_the_paper_is_not_shrunk():
    X, y = problem(40)
    assert DualObjectiveSVC().fit(X, y).shrinkage_ < 1
    for how in ({"optimizer": "paper"}, {"criterion": "radius_margin"}):
        assert DualObjectiveSVC(max_iter=3, **how).fit(X, y).shrinkage_ == 0


def test_several_classes_share_one_share():
    X, y = problem(4)
    y = y + (X[:, 0] > 1)
    for weights in ("shared", "per_class"):
        model = DualObjectiveSVC(weights=weights, max_iter=4).fit(X, y)
        assert model.shrinkage_ in SHARES

"""GeneralizedBiasSVC(bias_penalty="cv"): a ridge on the features by left-out decisions."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from kernelwise import SVC, GeneralizedBiasSVC
from kernelwise.svm.base.held_out import held_out_loss, lowest
from kernelwise.svm.base.left_out import deal_task
from kernelwise.svm.generalized_bias.estimator import PENALTIES
from tests.svm.problems import task_of


def rings(n=120, seed=0):
    """Return rings with a trend in the first column, which has a long range."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [3.0, 1.0, 1.0]
    return X, (X[:, 0] + (X[:, 1:] ** 2).sum(axis=1) > 2).astype(int)


def test_the_penalty_is_that_of_the_lowest_loss_of_separate_fits():
    X, y = rings()
    codes, losses = np.where(y == 1, 1, -1)[:, None], []
    for penalty in PENALTIES:
        how = {"bias_penalty": 0.0} if np.isinf(penalty) else {"bias_penalty": penalty}
        features = None if np.isinf(penalty) else [0]
        decisions = np.empty((len(y), 1))
        for fold in deal_task(task_of(X, y), 5):
            kept = np.setdiff1d(np.arange(len(y)), fold)
            own = GeneralizedBiasSVC(features, gamma=0.3, tol=1e-6, **how).fit(X[kept], y[kept])
            decisions[fold, 0] = own.decision_function(X[fold])
        losses.append(held_out_loss(codes, decisions, np.ones(len(y))))
    model = GeneralizedBiasSVC([0], gamma=0.3, tol=1e-6).fit(X, y)
    assert PENALTIES[lowest(losses)] == model.bias_penalty_
    given = GeneralizedBiasSVC([0], gamma=0.3, tol=1e-6, bias_penalty=model.bias_penalty_)
    assert_allclose(model.decision_function(X), given.fit(X, y).decision_function(X), atol=1e-6)


def test_features_of_noise_are_left_out():
    X, y = rings()
    noise = np.random.default_rng(1).normal(size=(len(y), 80))
    wide = np.hstack([X, noise])
    weights = np.append(np.ones(3), np.zeros(80))
    how = {"gamma": 0.3, "feature_weights": weights}
    model = GeneralizedBiasSVC(slice(3, None), **how).fit(wide, y)
    assert model.bias_penalty_ == np.inf
    assert not model.bias_coef_.any()
    plain = SVC(**how).fit(wide, y)
    assert_allclose(model.decision_function(wide), plain.decision_function(wide), atol=1e-3)


def test_the_paper_and_machines_without_features_have_no_penalty():
    X, y = rings(40)
    assert GeneralizedBiasSVC([0], solver="paper").fit(X, y).bias_penalty_ == 0
    assert GeneralizedBiasSVC().fit(X, y).bias_penalty_ == 0


def test_pairs_of_classes_share_one_penalty():
    X, y = load_iris(return_X_y=True)
    model = GeneralizedBiasSVC([0, 1]).fit(X, y)
    assert model.bias_penalty_ in PENALTIES
    assert model.bias_coef_.shape == (3, 2)
    assert model.score(X, y) > 0.9

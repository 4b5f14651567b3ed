from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.svm.relevance.columns import ColumnLayout
from kernelwise.svm.relevance.parts.evidence import (
    ClassTargets,
    EvidenceObjective,
    evidence,
    learn_evidence,
    shared,
    start_weights,
)
from kernelwise.svm.relevance.parts.metric import (
    Landmarks,
    MetricColumns,
    balanced_sample,
    mean_differences,
    thinned,
)
from kernelwise.svm.relevance.parts.normal_scores import NormalScores

from .mixed_tables import mixed_rows, rare_class


def learned(rows, seed=0):
    columns = MetricColumns.of(rows)
    return learn_evidence(rows, columns, start_weights(rows), np.random.RandomState(seed))


def matrices(n=60, m=8, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    K = np.exp(-rng.random((n, m)))
    Z = rng.normal(size=(m, m))
    M = Z @ Z.T / m + np.eye(m)
    count = rng.integers(1, 4, n).astype(float)
    known = ClassTargets.of(mixed_rows(n, n_classes, count=count))
    return K, M, known


def slow_evidence(K, M, known, ridge):
    """Return minus the logarithm of the density of the targets, up to a constant."""
    value = 0.0
    for W, r in zip(known.variance, known.targets.T, strict=True):
        weight = W * known.count
        centred = K - weight @ K / weight.sum()
        prior = centred @ np.linalg.solve(M, centred.T) / ridge
        C = prior + np.diag(1 / weight)
        value += 0.5 * (np.linalg.slogdet(C)[1] + np.log(weight).sum() + r @ np.linalg.solve(C, r))
    return value


@pytest.mark.parametrize("n_classes", [2, 4])
def test_evidence_is_the_density_of_the_targets(n_classes):
    K, M, known = matrices(n_classes=n_classes)
    assert_allclose(evidence(K, M, known, 0.8).value, slow_evidence(K, M, known, 0.8), rtol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_derivatives_by_differences(n_classes):
    K, M, known = matrices(n_classes=n_classes)
    found, h, rng = evidence(K, M, known, 0.8), 1e-5, np.random.default_rng(1)
    up, down = (evidence(K, M, known, 0.8 * np.exp(s)).value for s in (h, -h))
    assert_allclose(found.by_ridge, (up - down) / (2 * h), rtol=1e-6)
    move = rng.normal(size=K.shape)
    up, down = (evidence(K + s * move, M, known, 0.8).value for s in (h, -h))
    assert_allclose(np.sum(found.by_rows * move), (up - down) / (2 * h), rtol=1e-6)
    move = rng.normal(size=M.shape)
    move = move + move.T
    up, down = (evidence(K, M + s * move, known, 0.8).value for s in (h, -h))
    assert_allclose(np.sum(found.by_landmarks * move), (up - down) / (2 * h), rtol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_gradient_by_weights_and_ridge(n_classes):
    rows = mixed_rows(250, n_classes)
    columns = MetricColumns.of(rows)
    X = columns.apply(rows.X)
    landmarks = Landmarks.of(X[:40], columns.is_category)
    group = np.array([0, 1, 2, 2, 3, 4, 5])
    objective = EvidenceObjective(X, landmarks, ClassTargets.of(rows), group)
    theta = np.append(np.random.default_rng(0).normal(size=6) - 1.5, 0.3)
    _, gradient = objective(theta)
    h = 0.02  # the kernel is in float32
    for k in range(len(theta)):
        up, down = (objective(theta + s * np.eye(7)[k])[0] for s in (h, -h))
        assert_allclose(gradient[k], (up - down) / (2 * h), atol=5e-3 * np.abs(gradient).max())


def test_relevant_columns_win():
    found = learned(mixed_rows(2500))
    weights = found.weights
    assert weights[[0, 1, 2, 5]].min() > 8 * weights[[3, 6]].max()
    assert weights[4] == 0  # the constant column
    assert len(found.history) <= 12


def test_columns_that_matter_only_together_keep_their_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 8))
    f = 3 * X[:, 0] + 1.5 * X[:, 1] + 1.2 * np.sign(X[:, 2] * X[:, 3])
    y = (rng.random(2500) < 1 / (1 + np.exp(-1.5 * f))).astype(int)
    rows = replace(mixed_rows(2500), X=X, layout=ColumnLayout.plain(8), classes=y)
    weights = learned(rows).weights
    assert weights[[2, 3]].min() > 4 * weights[4:].max()


def test_the_value_falls():
    history = np.array(learned(mixed_rows(1200)).history)
    assert history.min() < history[0] - 10


def test_a_noise_category_of_thirty_values_stays_below_the_signal():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.normal(size=(400, 3)), rng.integers(0, 30, 400)])
        y = (X[:, 0] + 0.7 * rng.normal(size=400) > 0).astype(int)
        layout = ColumnLayout(np.arange(4) == 3, np.arange(4), np.arange(4), 4)
        rows = replace(mixed_rows(400), X=X, layout=layout, classes=y)
        assert learned(rows).weights.argmax() == 0


def test_columns_of_a_group_share_a_weight():
    rows = mixed_rows(400)
    layout = replace(rows.layout, group=np.array([0, 0, 1, 2, 3, 4, 4]))
    weights = learned(replace(rows, layout=layout)).weights
    assert weights[0] == weights[1]
    assert weights[5] == weights[6]
    assert weights[0] != weights[2]
    assert_array_equal(shared(np.array([1.0, 0, 3, 2]), np.array([0, 0, 1, 1])), [1, 0, 3, 3])


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_same_state_gives_the_same_weights(n_classes):
    rows = mixed_rows(1800, n_classes)
    assert_array_equal(learned(rows).weights, learned(rows).weights)
    assert (learned(rows).weights != learned(rows, seed=1).weights).any()


def test_tables_without_signal_and_a_class_of_three_rows():
    rng = np.random.default_rng(0)
    for rows in (
        replace(mixed_rows(500), classes=rng.integers(0, 2, 500)),
        rare_class(mixed_rows(500)),
    ):
        found = learned(rows)
        assert np.isfinite(found.weights).all()
        assert found.weights.max() > 0


def test_constant_columns_alone_have_no_weight():
    rows = mixed_rows(50)
    flat = replace(rows, X=np.ones((50, 3)), layout=ColumnLayout.plain(3))
    assert_array_equal(learned(flat).weights, 0)


def test_a_sample_has_the_classes_as_equal_as_can_be():
    classes = np.repeat([0, 1, 2], [1000, 30, 200])
    chosen = balanced_sample(classes, 330, np.random.RandomState(0))
    assert_array_equal(np.bincount(classes[chosen]), [150, 30, 150])
    assert (np.diff(chosen) > 0).all()
    assert_array_equal(balanced_sample(classes, 5000, None), np.arange(1230))
    again = balanced_sample(classes, 330, np.random.RandomState(0))
    assert_array_equal(chosen, again)


def test_mean_differences_of_weighted_rows():
    rng = np.random.default_rng(0)
    X, count = rng.normal(size=(30, 2)).round(1), rng.integers(1, 4, 30).astype(float)
    X[:, 1] = 4
    gaps = np.abs(X[:, None, 0] - X[None, :, 0])
    expected = count @ gaps @ count / count.sum() ** 2
    assert_allclose(mean_differences(X, count), [expected, 0], atol=1e-12)


def test_scores_between_the_stored_values_lie_on_lines():
    x = np.random.default_rng(0).lognormal(size=(5000, 2))
    x[:, 1] = x[:, 1].round()
    scores = NormalScores.of(x, np.ones(5000))
    few = thinned(scores, 100)
    assert len(few.values) <= 200
    assert np.abs(few.apply(x) - scores.apply(x)).max() < 0.1
    ends = x.min(axis=0), x.max(axis=0)
    assert_allclose(few.apply(np.array(ends)), scores.apply(np.array(ends)))


def test_numbers_are_one_unit_apart_and_codes_stay():
    rows = mixed_rows(300)
    X = MetricColumns.of(rows).apply(rows.X)
    assert_allclose(mean_differences(X[:, :4].astype(float), rows.count), 1, atol=1e-5)
    assert_array_equal(X[:, 4], 0)
    assert_array_equal(X[:, 5:], rows.X[:, 5:])

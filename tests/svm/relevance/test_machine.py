"""The support vector machines against scikit-learn's, and the coupling of their pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.svm import SVC

from kernelwise.svm.relevance.machine import (
    Machines,
    PairSigmoids,
    choose,
    couple,
    machine_weights,
    pair_tasks,
)

from .tables import SETTINGS, distances, mixed_frame, model_rows, some_prior

N = 140


def problem(n_classes, seed=0):
    frame = mixed_frame(N, seed)
    z = frame["a"] + 0.5 * np.random.default_rng(seed).normal(size=N)
    classes = np.digitize(z, np.quantile(z, np.arange(1, n_classes) / n_classes))
    weight = np.random.default_rng(1).uniform(0.3, 2, N)
    rows = model_rows(frame, weight)
    u = machine_weights(rows, some_prior(rows), 0.5, 2.0)
    return rows, classes, weight, u


@pytest.mark.parametrize("n_classes", [2, 3])
def test_machines_are_those_of_scikit_learn(n_classes):
    rows, classes, weight, u = problem(n_classes)
    machines = Machines(rows, classes, n_classes, weight, u, 1e9)
    K = np.exp(-distances(u, rows, rows))
    for C in (10.0, 1.0):  # the second starts from the first
        machine = machines.solve(C)
        assert all(solution.status == "converged" for solution in machine.solutions)
        found = machine.decide(rows)
        for j, (own, signs) in enumerate(pair_tasks(classes, n_classes)):
            other = SVC(C=C, kernel="precomputed", tol=1e-6)
            other.fit(K[np.ix_(own, own)], signs, sample_weight=weight[own])
            expected = other.decision_function(K[:, own])
            assert_allclose(found[:, j], expected, atol=0.03)
        assert len(machine.rows) == len(machine.support) < N


def test_weights_are_those_of_the_prior_at_a_typical_distance():
    rows = problem(2)[0]
    prior = some_prior(rows)
    for power, distance in ((0.0, 1.0), (0.5, 4.0), (1.0, 2.0)):
        u = machine_weights(rows, prior, power, distance)
        assert_allclose(u / u[0], (prior.w / prior.w[0]) ** power)
        D = distances(u, rows, rows)
        assert D.mean() == pytest.approx(distance, rel=0.05)


def test_a_pair_without_one_of_its_classes_decides_for_the_other():
    rows, classes, weight, u = problem(3)
    own = np.flatnonzero(classes != 2)
    machine = Machines(rows.part(own), classes[own], 3, weight[own], u, 1e9).solve(1.0)
    found = machine.decide(rows)
    assert_array_equal(found[:, 1:], 1.0)  # 0 against 2, and 1 against 2
    none = Machines(rows.part(own), np.zeros(len(own), int), 3, weight[own], u, 1e9).solve(1.0)
    assert_array_equal(none.intercept, [1, 1, 0])


def test_coupled_probabilities_are_the_minimum_of_wu_lin_and_weng():
    rng = np.random.default_rng(0)
    for k in (3, 5):
        r = np.triu(rng.uniform(0.05, 0.95, (k, k)), 1)
        P = r + np.tril(1 - r.T, -1)

        def value(z, P=P):
            p = np.exp(z) / np.exp(z).sum()
            return np.sum((P.T * p[:, None] - P * p) ** 2)

        best = minimize(value, np.zeros(k), method="BFGS", options={"gtol": 1e-12}).x
        found = couple(P[None])[0]
        assert_allclose(found, np.exp(best) / np.exp(best).sum(), atol=1e-4)
    p = np.array([0.5, 0.3, 0.2])  # pairs that agree with one another give them back
    P = p[:, None] / (p[:, None] + p)
    assert_allclose(couple((P * (1 - np.eye(3)))[None])[0], p, atol=1e-6)


def test_pairs_become_log_odds_of_classes():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], 4000)
    classes = (rng.random(4000)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    i, j = np.triu_indices(3, 1)
    decisions = 0.5 * (np.log(p[:, i]) - np.log(p[:, j])) + 0.3
    pairs = PairSigmoids.of(decisions, classes, 3, np.ones(4000))
    assert_allclose(pairs.slope, 2, rtol=0.15)
    error = np.abs(expit(pairs.log_odds(decisions)) - p)
    assert error.mean() < 0.02


def test_power_distance_and_cost_are_chosen_one_after_the_other():
    best = {"power": 1.0, "distance": 4.0, "C": 1.0}
    tried = []

    def decide(power, distance, C):
        tried.append((power, distance, C))
        miss = (power - best["power"]) ** 2 + np.log(distance / best["distance"]) ** 2
        return np.full((1, 1), 1 + miss + np.log(C / best["C"]) ** 2)

    def loss(parts):
        return float(parts[-1][0, 0])

    choice = choose(decide, loss, lambda own: own, [np.ones((1, 1))], SETTINGS)
    assert (choice.power, choice.distance, choice.C) == (1.0, 4.0, 1.0)
    assert choice.decisions[0, 0] == pytest.approx(1)
    assert len(tried) == len(set(tried)) == 3 + 4 + 2

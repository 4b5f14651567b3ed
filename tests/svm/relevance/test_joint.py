"""The linear models of the prior against scikit-learn, dense solves and refits without a row."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from kernelwise.svm.relevance.joint import Features, fit_joint, logistic_fit, squared_fit

from .tables import SETTINGS, covariance, mixed_frame, model_rows, some_prior

N = 110
SOME_LANDMARKS = replace(SETTINGS, landmarks=40)


def problem(n=N, seed=0):
    """Return rows, two columns of codes, weights of rows and a prior."""
    rng = np.random.default_rng(seed)
    frame = mixed_frame(n, seed)
    z = 1.5 * frame["a"] + (frame["words"] == "level 01")
    codes = (rng.random((n, 2)) < expit(np.column_stack([z, frame["b"]]))).astype(float)
    weight = rng.uniform(0.3, 2.5, n)
    rows = model_rows(frame, weight)
    return rows, codes, weight, some_prior(rows)


def features(rows, prior, settings):
    return Features.of(rows, prior, np.random.default_rng(0), settings).of_landmarks(rows)


def fits(rows, targets, weight, prior, loss, scales, settings, **options):
    rng = np.random.default_rng(0)
    return fit_joint(rows, targets, weight, prior, loss, scales, rng, settings, **options)


def test_features_span_the_prior():
    rows, _, _, prior = problem()
    U = features(rows, prior, SETTINGS)
    nugget = 1e-3 * (prior.s2 + prior.r2) * np.eye(N)
    assert_allclose(U @ U.T, covariance(prior, rows, rows) + nugget, rtol=1e-4, atol=1e-4)
    assert features(rows, prior, SOME_LANDMARKS).shape[1] == U.shape[1] - N + 40


def test_logistic_models_are_those_of_scikit_learn():
    rows, codes, weight, prior = problem()
    for kind in ("joint", "linear"):  # solved in the space of the rows, and of the coefficients
        for settings in (SETTINGS, SOME_LANDMARKS):
            own = prior.of_kind(kind)
            U = features(rows, own, settings)
            models = fits(rows, codes, weight, own, "log", (1.0, 16.0), settings)
            for model in models:
                decisions = model.decide(rows)
                for k in range(2):
                    other = LogisticRegression(
                        C=model.scale, fit_intercept=False, tol=1e-10, max_iter=10_000
                    ).fit(U, codes[:, k], weight)
                    expected = other.decision_function(U)
                    # a Newton step that moves log-odds by less than 0.05 is the last
                    assert_allclose(decisions[:, k], expected, atol=0.02)


def test_squared_models_are_ridge_regressions():
    rows, codes, weight, prior = problem()
    T = codes - 0.5
    for settings in (SETTINGS, SOME_LANDMARKS):
        U = features(rows, prior, settings)
        (model,) = fits(rows, T, weight, prior, "squared", (0.5,), settings)
        noise = prior.noise / (0.5 * weight)
        expected = U @ U.T @ np.linalg.solve(U @ U.T + np.diag(noise), T)
        assert_allclose(model.decide(rows), expected, atol=2e-3)


def test_left_out_decisions_of_ridge_regression_are_exact():
    rng = np.random.default_rng(0)
    noise, t = rng.uniform(0.2, 2, 40), rng.normal(size=(40, 2))
    for r in (8, 60):
        U = rng.normal(size=(40, r))
        b, out = squared_fit(U, t, noise)
        own = np.linalg.solve((U.T / noise) @ U + np.eye(r), (U.T / noise) @ t)
        assert_allclose(b, own)
        for i in range(0, 40, 7):
            keep = np.arange(40) != i
            without, _ = squared_fit(U[keep], t[keep], noise[keep])
            assert_allclose(out[i], U[i] @ without, atol=1e-10)


def test_left_out_decisions_of_logistic_regression_are_close_to_refits():
    rng = np.random.default_rng(0)
    n = 80
    weight = rng.uniform(0.5, 2, n)
    for r, scale in ((6, 1.0), (120, 0.05)):
        U = rng.normal(size=(n, r))
        t = (rng.random(n) < expit(2 * U[:, 0])).astype(float)

        def fit(own, U=U, t=t, scale=scale):
            X = U[own]
            G = X @ X.T if X.shape[1] >= len(X) else None
            zero = np.zeros(len(X))
            return logistic_fit(X, G, t[own], weight[own], scale, zero, left_out=True)

        out = fit(np.arange(n)).left_out
        refit = [U[i] @ fit(np.delete(np.arange(n), i)).coefficients for i in range(n)]
        inside = fit(np.arange(n)).decisions
        error, naive = np.abs(out - refit), np.abs(inside - refit)
        assert error.mean() < 0.1 * naive.mean()
        assert error.max() < 0.2 * naive.max()


def test_decisions_on_new_rows_are_those_of_the_gaussian_process():
    rows, codes, weight, prior = problem(150)
    old, new = rows.part(np.arange(110)), rows.part(np.arange(110, 150))
    T = codes[:110]
    (model,) = fits(old, T, weight[:110], prior, "squared", (1.0,), SETTINGS)
    C = covariance(prior, old, old) + np.diag(prior.noise / weight[:110])
    C += 1e-3 * (prior.s2 + prior.r2) * np.eye(110)  # the nugget of the landmarks
    expected = covariance(prior, new, old) @ np.linalg.solve(C, T)
    assert_allclose(model.decide(new), expected, atol=2e-3)


def test_a_row_of_weight_two_is_two_rows_and_fits_without_left_out_decisions_are_the_same():
    rows, codes, _, prior = problem(60)
    twice = np.r_[np.arange(60), np.arange(20)]
    weight = np.r_[np.full(20, 2.0), np.ones(40)]
    for loss, kind in (("log", "joint"), ("log", "additive"), ("squared", "joint")):
        own = prior.of_kind(kind)
        (model,) = fits(rows, codes, weight, own, loss, (2.0,), SETTINGS)
        (again,) = fits(rows.part(twice), codes[twice], np.ones(80), own, loss, (2.0,), SETTINGS)
        (bare,) = fits(rows, codes, weight, own, loss, (2.0,), SETTINGS, left_out=False)
        f = model.decide(rows)
        assert_allclose(f, again.decide(rows), atol=0.02)
        assert_allclose(f, bare.decide(rows), atol=0.02)

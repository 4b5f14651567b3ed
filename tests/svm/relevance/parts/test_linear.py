"""Linear ridge machines: primal and dual agree with each other and with refits."""

from dataclasses import replace

import numpy as np
import pytest

from kernelwise.svm.relevance.parts.linear import (
    LinearFeatures,
    feature_relevance,
    fit_linear,
)
from kernelwise.svm.relevance.parts.ridge import balanced_price, solve_ridge

from .problems import counts, part_rows

GROUPS = np.array([0, 1, 0, 2, 2, 2, *range(3, 37)])


def weighted_features(part, rows):
    """Return the features times the roots of their relevance, and these roots."""
    plain = part.features.apply(rows.X)
    roots = np.sqrt(feature_relevance(rows))
    return plain * roots, roots


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "how",
    [{}, {"count": counts()}, {"count": counts(), "copy": 1.0}, {"groups": GROUPS}],
    ids=["rows", "copies", "one copy", "groups"],
)
def test_the_primal_is_the_ridge_machine_on_the_kernel_of_the_features(n_classes, how):
    rows = part_rows(n_classes=n_classes, **how)
    part = fit_linear(rows, np.random.RandomState(0), costs=(3.0,))
    Z, roots = weighted_features(part, rows)
    assert 2 * Z.shape[1] < len(rows)
    dual = solve_ridge(Z @ Z.T, rows, balanced_price(rows), 3.0)
    np.testing.assert_allclose(part.left_out, dual.left_out, atol=1e-8)
    np.testing.assert_allclose(part.coef, roots[:, None] * (Z.T @ dual.coef), atol=1e-8)
    np.testing.assert_allclose(part.intercept, dual.intercept, atol=1e-8)


def test_many_columns_are_solved_in_the_dual():
    rows = part_rows(30, 25)
    part = fit_linear(rows, np.random.RandomState(0))
    price = balanced_price(rows)
    residual = rows.codes - part.decision_values(rows.X)
    Z, roots = weighted_features(part, rows)
    # the gradient of |w|^2 + C sum p (y - f)^2 with respect to w and the intercept is zero
    w = part.coef / roots[:, None]
    np.testing.assert_allclose(w, part.C * Z.T @ (price[:, None] * residual), atol=1e-8)
    np.testing.assert_allclose(price @ residual, 0, atol=1e-8)


def test_features_are_columns_and_scores_of_deviation_one():
    rows = part_rows(count=counts())
    Z = LinearFeatures.of(rows).apply(rows.X)
    share = rows.count / rows.count.sum()
    np.testing.assert_allclose(share @ Z, 0, atol=1e-12)
    np.testing.assert_allclose(share @ Z**2, 1 / 6)


def test_noise_has_little_relevance_and_groups_have_one():
    rows = part_rows(200, 6)
    own, again = feature_relevance(rows).reshape(2, -1)
    np.testing.assert_array_equal(own, again)
    assert own.mean() == pytest.approx(1)
    assert own.argmax() == 0
    assert (own[3:] < 0.2).all()
    grouped = replace(rows.layout, group=np.array([0, 0, 0, 1, 1, 1]))
    shared = feature_relevance(replace(rows, layout=grouped))
    assert len(np.unique(shared)) == 2


def test_the_relevant_column_has_the_largest_share():
    rows = part_rows(200)
    part = fit_linear(rows, np.random.RandomState(0))
    assert part.importances.argmax() == 0
    assert part.importances.sum() == pytest.approx(1)


def test_shares_are_deviations_of_the_terms_of_columns():
    rows = part_rows(n_classes=3, count=counts())
    part = fit_linear(rows, np.random.RandomState(0))
    Z, share = part.features.apply(rows.X), rows.count / rows.count.sum()
    terms = Z[:, :3, None] * part.coef[:3] + Z[:, 3:, None] * part.coef[3:]
    sizes = np.sqrt(np.einsum("i,ijc->jc", share, terms**2)).sum(axis=1)
    np.testing.assert_allclose(part.importances, sizes / sizes.sum())


def test_constant_columns_have_no_share():
    rows = part_rows(30)
    rows.X[:, 1] = 3.0
    assert fit_linear(rows, np.random.RandomState(0)).importances[1] == 0
    rows = replace(rows, X=np.ones_like(rows.X))
    part = fit_linear(rows, np.random.RandomState(0))
    assert part.importances.tolist() == [0, 0, 0]
    np.testing.assert_allclose(part.decision_values(rows.X), 0, atol=1e-9)

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.kernels import Laplacian
from kernelwise.qp import SMO, c_svc
from kernelwise.svm.relevance.parts import evidence_hinge
from kernelwise.svm.relevance.parts.evidence import learn_evidence, start_weights
from kernelwise.svm.relevance.parts.evidence_hinge import fit_evidence_hinge, half_of
from kernelwise.svm.relevance.parts.larger import larger_table_parts
from kernelwise.svm.relevance.parts.metric import MetricColumns
from kernelwise.svm.relevance.parts.mixture import mix, pays

from .mixed_tables import log_loss, mixed_rows, rare_class


def weights_of(rows):
    columns = MetricColumns.of(rows)
    start = start_weights(rows)
    return learn_evidence(rows, columns, start, np.random.RandomState(0))


class Nothing:
    """A part that knows nothing."""

    def __init__(self, rows):
        self.left_out = np.zeros(rows.codes.shape)


def hinge(rows, learned=None):
    learned = weights_of(rows) if learned is None else learned
    return fit_evidence_hinge(rows, learned, Nothing(rows), np.random.RandomState(0))


def refit(rows, learned, part, kept, price):
    """Return the decisions on all rows of a machine on some of them."""
    X = learned.columns.apply(rows.X).astype(np.float64)
    kernel = Laplacian(1.0, learned.weights, learned.columns.is_category)
    problem = c_svc(kernel(X[kept]), rows.codes[kept, 0], part.C * price[kept])
    solution = SMO(tol=1e-5).solve(problem)
    return kernel(X, X[kept]) @ solution.beta + solution.nu[0]


def test_the_machine_is_the_one_of_its_kernel_and_cost():
    rows = mixed_rows(300, count=np.random.default_rng(0).integers(1, 4, 300))
    learned = weights_of(rows)
    part = hinge(rows, learned)
    expected = refit(rows, learned, part, np.arange(300), rows.price)
    assert_allclose(part.decision_values(rows.X)[:, 0], expected, atol=0.03)
    assert part.name == "hinge"
    assert_allclose(part.importances.sum(), 1)
    assert part.importances[[0, 1, 2, 5]].min() > part.importances[[3, 4, 6]].max()


@pytest.mark.parametrize("copy", [np.inf, 1.0])
def test_decisions_of_left_out_rows_are_those_of_machines_without_them(copy):
    count = np.random.default_rng(0).integers(1, 4, 250)
    rows = mixed_rows(250, count=count, copy=copy)
    learned = weights_of(rows)
    part = hinge(rows, learned)
    seen = part.decision_values(rows.X)[:, 0]
    moved = np.flatnonzero(np.abs(part.left_out[:, 0] - seen) > 0.05)[::6]
    expected = []
    for i in moved:
        price = rows.price * np.where(np.arange(250) == i, 1 - rows.left_out_share, 1)
        expected.append(refit(rows, learned, part, np.flatnonzero(price), price)[i])
    assert len(moved) > 5
    change = np.array(expected) - seen[moved]
    assert_allclose(part.left_out[moved, 0] - seen[moved], change, atol=0.3 * np.abs(change).max())
    assert np.corrcoef(part.left_out[moved, 0] - seen[moved], change)[0, 1] > 0.9


@pytest.mark.parametrize("n_classes", [2, 3])
def test_left_out_rows_are_decided_as_well_as_new_ones(n_classes):
    rows, new = mixed_rows(700, n_classes), mixed_rows(3000, n_classes, seed=1)
    part = hinge(rows)
    assert part.left_out.shape == rows.codes.shape
    mixture = mix([part.left_out], rows)
    left_out = log_loss(mixture.decisions([part.left_out]), rows)
    fresh = log_loss(mixture.decisions([part.decision_values(new.X)]), new)
    assert abs(left_out - fresh) < 0.06


@pytest.mark.parametrize("n_classes", [2, 3])
def test_halves_decide_each_other_where_many_support_vectors_are_free(monkeypatch, n_classes):
    rows = mixed_rows(900, n_classes)
    learned = weights_of(rows)
    by_span = hinge(rows, learned)
    monkeypatch.setattr(evidence_hinge, "_MOST_FREE", 10)
    part = hinge(rows, learned)
    assert_array_equal(part.decision_values(rows.X), by_span.decision_values(rows.X))
    for own, other in zip(part.left_out.T, by_span.left_out.T, strict=True):
        assert 0.5 < np.corrcoef(own, other)[0, 1] < 0.999
    losses = [
        log_loss(mix([each.left_out], rows).decisions([each.left_out]), rows)
        for each in (part, by_span)
    ]
    assert abs(losses[0] - losses[1]) < 0.05


def test_many_rows_are_halved_first(monkeypatch):
    monkeypatch.setattr(evidence_hinge, "HALVED_ABOVE", 500)
    rows = mixed_rows(900)
    part = hinge(rows)
    assert len(part.predictor.vectors.support) > 100
    assert part.predictor.vectors.support.max() > 500  # rows of both halves
    mixture = mix([part.left_out], rows)
    assert log_loss(mixture.decisions([part.left_out]), rows) < 0.6


def test_a_machine_that_does_not_pay_is_skipped(monkeypatch):
    monkeypatch.setattr(evidence_hinge, "HALVED_ABOVE", 500)
    rng = np.random.default_rng(0)
    rows = replace(mixed_rows(900), classes=rng.integers(0, 2, 900))
    assert hinge(rows) is None
    parts = larger_table_parts(rows, np.random.RandomState(0))[0]
    assert [part.name for part in parts] == ["joint", "kernel", "linear"]


class Points:
    """Points of a path whose decisions without each row are given, cost by cost."""

    def __init__(self, left_out, asked):
        self.left_out, self.asked = left_out, asked

    def path(self, fit, rows, costs, start=None):
        self.asked.extend(costs)
        points = tuple(
            SimpleNamespace(C=C, left_out=self.left_out[C][rows.first], converged=True)
            for C in costs
        )
        beta = np.zeros(len(rows))
        return SimpleNamespace(
            points=points, best=points[0], best_index=0, solutions=[SimpleNamespace(beta=beta)]
        )


@pytest.mark.parametrize("known", [1.0, 10.0, 100.0])
def test_a_sample_takes_a_larger_cost_where_it_pays_in_the_mixture(monkeypatch, known):
    monkeypatch.setattr(evidence_hinge, "PATH_ROWS", 500)
    rows = mixed_rows(600)
    noise = np.random.default_rng(0).normal(size=(600, 1))
    quality = {1.0: 0.2, 10.0: 0.6, 100.0: 1.0}
    left_out = {C: min(q, quality[known]) * rows.codes + noise for C, q in quality.items()}
    asked = []
    points = Points(left_out, asked)
    monkeypatch.setattr(
        evidence_hinge._Fit, "_path", lambda fit, *given, **more: points.path(fit, *given, **more)
    )
    chosen = hinge(rows).C
    assert_array_equal(chosen, known)
    assert asked == [1.0, 10.0] + ([100.0] if known > 1 else [])


def test_groups_and_copies_do_not_ask_for_a_larger_cost(monkeypatch):
    monkeypatch.setattr(evidence_hinge, "PATH_ROWS", 200)
    rows = mixed_rows(600)
    noise = np.random.default_rng(0).normal(size=(600, 1))
    left_out = {C: C * rows.codes + noise for C in (1.0, 10.0, 100.0)}
    points = Points(left_out, [])
    monkeypatch.setattr(
        evidence_hinge._Fit, "_path", lambda fit, *given, **more: points.path(fit, *given, **more)
    )
    twice = replace(rows, count=np.full(600, 2.0), price=np.full(600, 2.0))
    assert hinge(twice).C == 1
    assert hinge(replace(twice, copy_weight=1.0)).C > 1
    in_groups = hinge(replace(rows, groups=np.arange(600) // 2))
    assert in_groups is None or in_groups.C == 1


def test_pays_compares_rows_that_the_machine_has_not_seen():
    rows = mixed_rows(600)
    seen, rng = np.arange(300), np.random.default_rng(0)
    noise = rng.normal(size=(600, 1))
    known = rows.codes + rng.normal(size=(600, 1))
    assert pays(noise, known, rows, seen)
    assert not pays(known, noise, rows, seen)
    only_seen = np.where(np.arange(600)[:, None] < 300, 5 * rows.codes, noise)
    assert not pays(known, only_seen, rows, seen)


def test_groups_are_decided_by_machines_of_other_groups():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 60, 600)
    rows = mixed_rows(600)
    # A column that names the group, and classes that follow it: only copies could use it.
    X = np.column_stack([rows.X[:, 3], groups])
    layout = replace(
        rows.layout,
        is_category=np.array([False, True]),
        source=np.arange(2),
        group=np.arange(2),
        n_source=2,
    )
    classes = rng.integers(0, 2, 60)[groups]
    alone = replace(rows, X=X, layout=layout, classes=classes)
    grouped = replace(alone, groups=groups)
    learned = weights_of(alone)
    assert hinge(grouped, learned) is None  # nothing is known of new groups
    part = hinge(alone, learned)
    assert log_loss(mix([part.left_out], alone).decisions([part.left_out]), alone) < 0.3


def test_a_half_keeps_groups_whole_and_classes_in_proportion():
    rows = mixed_rows(400, groups=np.random.default_rng(0).integers(0, 50, 400))
    half = half_of(rows, np.arange(400), np.random.RandomState(0))
    rest = np.setdiff1d(np.arange(400), half)
    assert not set(rows.groups[half]) & set(rows.groups[rest])
    assert 150 < len(half) < 250
    plain = replace(rows, groups=None)
    half = half_of(plain, np.arange(400), np.random.RandomState(0))
    assert_allclose(np.bincount(rows.classes[half]), np.bincount(rows.classes) / 2, atol=1)


def test_a_class_of_three_rows_and_columns_without_any_spread():
    part = hinge(rare_class(mixed_rows(400)))
    assert np.isfinite(part.left_out).all()
    rows = mixed_rows(100)
    assert hinge(replace(rows, X=np.ones_like(rows.X))) is None


@pytest.mark.parametrize("n_classes", [2, 4])
def test_both_parts_together(n_classes):
    rows, new = mixed_rows(1200, n_classes), mixed_rows(2000, n_classes, seed=1)
    parts = larger_table_parts(rows, np.random.RandomState(0))[0]
    again = larger_table_parts(rows, np.random.RandomState(0))[0]
    assert [part.name for part in parts] == ["joint", "hinge", "kernel", "linear"]
    for part, same in zip(parts, again, strict=True):
        assert part.left_out.shape == rows.codes.shape
        assert_array_equal(part.left_out, same.left_out)
    mixture = mix([part.left_out for part in parts], rows)
    both = log_loss(mixture.decisions([part.decision_values(new.X) for part in parts]), new)
    joint = mix([parts[0].left_out], rows)
    alone = log_loss(joint.decisions([parts[0].decision_values(new.X)]), new)
    assert both < alone + 0.01

"""The margin-radius experiments: their machines, their choice of C and their elimination."""

import numpy as np
import pytest
from sklearn.feature_selection import RFE
from sklearn.svm import LinearSVC

from kernelwise.svm import MarginRadiusSVC
from reproduction.experiment import experiments
from reproduction.papers.margin_radius.elimination import Training, sizes_of, strongest
from reproduction.papers.margin_radius.machines import (
    STD,
    columns_of,
    compare_right,
    errors,
    path,
    standard_columns,
    tuned,
)
from reproduction.papers.margin_radius.printed import PRINTED
from reproduction.papers.margin_radius.summary import least_p


def two_classes(n=80, d=12, seed=0, lift=1.0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, d))
    X[:, :3] += lift * y[:, None]
    return X, y


def test_the_svm_is_that_of_squared_slack_with_a_free_intercept():
    X, y = two_classes()
    for C, machine in zip((0.1, 10.0), path(STD, X, y, [0.1, 10.0]), strict=True):
        # LinearSVC has C sum xi^2, and no free intercept unless its column is very large
        other = LinearSVC(C=C / 2, dual=False, intercept_scaling=1e3, tol=1e-10).fit(X, y)
        assert machine.coef == pytest.approx(other.coef_[0], abs=1e-4)
        assert machine.intercept == pytest.approx(other.intercept_[0], abs=1e-4)


@pytest.mark.parametrize("space", ["linear", "quadratic"])
@pytest.mark.parametrize("radius", ["paper", "product"])
def test_a_space_is_that_of_the_estimator(space, radius):
    X, y = two_classes(d=4)
    columns = columns_of(space).fit(X)
    machine = path(radius, columns.transform(X), y, [0.1, 10.0])[-1]
    degree = {"linear": 1, "quadratic": 2}[space]
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    model = MarginRadiusSVC(radius=radius, C=10.0, degree=degree, unit_norm=True).fit(scaled, y)
    assert machine.coef == pytest.approx(model.column_coef_[0], abs=0.02)
    assert np.array_equal(machine.signs(columns.transform(X)), model.predict(scaled))


def test_rows_have_unit_norm_in_each_space():
    X, _ = two_classes(d=4)
    for space in ("linear", "quadratic", "kernel"):
        rows = columns_of(space).fit_transform(X)
        assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0)


def test_ties_go_to_the_smallest_cost():
    X, y = two_classes(lift=8.0)  # no C makes an error
    found = tuned(STD, standard_columns, X, y, [0.5, 1.0, 10.0], n_folds=4, seed=0)
    assert found.C == 0.5


def test_training_rows_alone_decide():
    X, y = two_classes()
    far = np.vstack([X, 1e6 * np.ones((1, X.shape[1]))])
    one, other = (
        tuned("product", lambda: columns_of("linear"), table[:80], y, [1.0], n_folds=3, seed=0)
        for table in (X, far)
    )
    assert np.array_equal(one.machine.coef, other.machine.coef)


@pytest.mark.parametrize(
    ("d", "sizes"), [(1, [1]), (6, [6, 4, 2, 1]), (8, [8, 4, 2, 1]), (9, [9, 8, 4, 2, 1])]
)
def test_sizes_are_powers_of_two(d, sizes):
    assert sizes_of(d) == sizes


def test_strongest_leaves_out_what_has_no_weight():
    assert strongest(np.array([0.0, 3.0, 1.0, 2.0]), 2).tolist() == [1, 3]
    assert strongest(np.array([0.0, 3.0, 0.0, 2.0]), 3).tolist() == [1, 3]


def test_elimination_keeps_what_scikit_learn_keeps(monkeypatch):
    X, y = two_classes(seed=1)
    monkeypatch.setattr("reproduction.papers.margin_radius.elimination._COSTS", (1.0,))
    stages = Training(X, y, 3, 0).eliminate(STD)
    assert [len(kept) for kept, _ in stages] == [12, 8, 4, 2, 1]
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    kept = np.arange(12)
    for size, (ours, _) in zip((8, 4, 2, 1), stages[1:], strict=True):
        machine = LinearSVC(C=0.5, dual=False, intercept_scaling=1e3, tol=1e-8)
        rfe = RFE(machine, n_features_to_select=size, step=len(kept) - size)
        kept = kept[rfe.fit(scaled[:, kept], y).support_]
        assert ours.tolist() == kept.tolist()


def test_a_sparse_machine_eliminates_its_zeros_at_once():
    X, y = two_classes(d=40)
    kept, model = Training(X, y, 3, 0).eliminate("product")[1]
    first = Training(X, y, 3, 0).fit("product", np.arange(40)).machine
    assert len(kept) == min(32, first.n_used) < 32
    assert len(model.machine.coef) == len(kept)


def test_elimination_fills_gaps():
    X, y = two_classes(d=4)
    X[::7, 1] = np.nan
    stages = Training(X, y, 3, 0).eliminate(STD)
    assert [len(kept) for kept, _ in stages] == [4, 2, 1]
    assert all(np.isfinite(model.machine.coef).all() for _, model in stages)


def test_errors_and_tests_pool_the_folds_of_a_repeat():
    rows = [
        {"repeat": r, "fold": f, "a": [1, 0], "b": [1, 1 if f < 6 else 0]}
        for r in range(2)
        for f in range(8)
    ]
    assert errors(rows, lambda row: row["a"]) == [50.0, 50.0]
    # six rows won and none lost in each repeat: p = 2 / 2^6, not that of twelve
    assert compare_right(rows, lambda row: row["a"], lambda row: row["b"]) == (6.0, 2 / 2**6)
    assert compare_right([], lambda row: row["a"], lambda row: row["b"]) is None


def test_none_of_the_printed_differences_can_be_significant():
    assert least_p(PRINTED["ionosphere"]) == 0.5  # 41.1 and 39.1 errors
    assert min(least_p(row) for row in PRINTED.values()) > 0.05


def test_folds_are_shared_by_spaces_and_cover_all_rows(data_dir):
    experiment = experiments()["margin-radius-table2"]
    full = experiment.tasks(experiment.scale())
    assert experiment.seed_keys == ("dataset", "repeat")
    assert {t["max_C"] for t in full if t["dataset"] == "leukemia"} == {100.0}
    assert {t["inner_folds"] for t in full if t["dataset"] == "bupa"} == {5}
    quick = experiment.tasks(experiment.scale("quick"))
    bupa = [t for t in quick if t["dataset"] == "bupa" and t["space"] == "linear"]
    assert [t["fold"] for t in bupa] == list(range(10))
    rows = [t | experiment.run(t, 0, data_dir) for t in bupa]
    assert sum(len(row["STD_right"]) for row in rows) == 345
    table = experiment.summarise(rows).tables[1]
    assert table.rows[0][1] == 32.35
    assert abs(table.rows[0][3]) < 6  # of 345 rows: the paper's error within its noise

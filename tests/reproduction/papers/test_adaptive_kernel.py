"""The adaptive-kernel experiments: splits, widths, and what the curves mean."""

import numpy as np
import pytest
from sklearn.svm import SVC

from kernelwise.svm import AdaptiveKernelSVC
from reproduction.papers.adaptive_kernel.iterations import (
    by_content,
    counts,
    margins_after_steps,
    sweeps,
)
from reproduction.papers.adaptive_kernel.selection import grid_of
from reproduction.papers.adaptive_kernel.tables import (
    PROBLEMS,
    chosen,
    split_of,
    walk,
    widths_of,
)
from reproduction.protocol import Split


@pytest.mark.parametrize(
    ("name", "n_train", "n_test"),
    [
        ("mirror", 200, 5000),
        ("sonar", 104, 104),
        ("breast_cancer_wisconsin", 342, 341),
        ("usps", 600, 525),
        ("usps_all", 1852, 525),
    ],
)
def test_splits_have_the_papers_sizes(name, n_train, n_test, data_dir):
    split = split_of(name, 3, data_dir)
    assert (len(split.X), len(split.X_test)) == (n_train, n_test)
    assert (len(split.y), len(split.y_test)) == (n_train, n_test)
    assert len(np.unique(split.y)) == 2
    assert np.isfinite(split.X).all()
    again = split_of(name, 3, data_dir)
    assert np.array_equal(split.X, again.X)
    assert not np.array_equal(split.X, split_of(name, 4, data_dir).X)


def test_widths_are_the_papers():
    assert widths_of("sonar") == pytest.approx(np.arange(1, 21) / 10)
    assert widths_of("sonar")[[9, 19]].tolist() == [1.0, 2.0]
    for name, problem in PROBLEMS.items():
        assert widths_of(name)[0] == problem.widths[0]
        assert widths_of(name)[-1] == problem.widths[1]


def small():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0, 1, -1)
    return Split(X[:60], y[:60], X[60:], y[60:])


def test_the_walk_is_a_series_of_hard_margins():
    split, widths = small(), np.array([0.3, 0.6, 1.2])
    found = walk(split, widths, "smo")
    for k, sigma in enumerate(widths):
        machine = SVC(C=1e7, gamma=0.5 / sigma**2, tol=1e-6).fit(split.X, split.y)
        assert found["bound"][k] == pytest.approx(np.abs(machine.dual_coef_).sum() / 60, rel=0.01)
        wrong = np.mean(machine.predict(split.X_test) != split.y_test)
        assert found["error"][k] == pytest.approx(100 * wrong, abs=2)
    assert found["converged"] == [1, 1, 1]
    assert np.less(found["radius_bound"], found["bound"]).all()  # the ball is below R = 1


def test_the_adatron_has_no_bias():
    split = small()
    model = AdaptiveKernelSVC(solver="adatron", criterion="radius", widths=[0.6])
    assert model.fit(split.X, split.y).intercept_.tolist() == [0.0]
    assert walk(split, np.array([0.6]), "adatron")["bound"][0] == pytest.approx(
        model.bound_ / model.radius_**2
    )


def test_what_did_not_converge_is_not_chosen():
    row = {"smo_bound": [0.9, 0.4, 0.2], "smo_converged": [1, 1, 0]}
    assert chosen(row, "smo", "bound") == 1


def test_counts_are_cumulative_on_the_path_and_single_when_cold():
    row = {"sigma": [0.1, 0.2, 0.3], "warm": [1, 2, 4], "cold": [1.0, 8.0, 16.0]}
    assert counts(row, 0.2) == (3.0, 8.0, 9.0)
    assert counts(row, 0.1 + 0.2) == (7.0, 16.0, 25.0)


@pytest.mark.parametrize("stop", ["tol", "margin"])
def test_a_width_alone_is_swept_from_nothing(stop):
    split, widths = small(), [0.3, 0.6, 1.2]
    warm = sweeps(split, widths, stop, 0.01)
    cold = [sweeps(split, [sigma], stop, 0.01)[0] for sigma in widths]
    assert warm[0] == cold[0]  # nothing comes before the first width
    assert (warm > 0).all()
    assert warm[1:].tolist() != cold[1:]


def test_rows_by_content_are_the_same_rows_in_an_order_of_their_own():
    split = small()
    turned = by_content(split._replace(X=split.X[::-1], y=split.y[::-1]))
    assert np.array_equal(turned.X, by_content(split).X)
    assert sorted(map(tuple, turned.X)) == sorted(map(tuple, split.X))
    assert (np.diff(turned.y) >= 0).all()


def test_a_small_step_of_the_width_keeps_the_margin_near_one():
    split = small()
    near = margins_after_steps(split, np.array([0.6, 0.61]), "tol", 1e-5)
    far = margins_after_steps(split, np.array([0.6, 1.2]), "tol", 1e-5)
    assert near == pytest.approx([1.0], abs=0.1)
    assert abs(far[0] - 1) > abs(near[0] - 1)


def test_the_grid_has_the_points_of_the_path():
    split = small()
    grid = grid_of(split.X)
    path = AdaptiveKernelSVC().fit(split.X, split.y).path_
    assert sorted(set(path["C"])) == grid["C"]
    assert np.unique(path["gamma"]) == pytest.approx(grid["gamma"])

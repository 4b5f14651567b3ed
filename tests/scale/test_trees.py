"""Random trees, and the ways of rows through them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.kernels import RBF, Laplacian
from kernelwise.scale import trees
from kernelwise.scale.metric import Metric
from kernelwise.scale.sampling import sample_rows
from kernelwise.scale.trees import cut_near, draw_directions, grow_tree

WEIGHTS = np.array([2.0, 0.5, 0.0, 1.0])
KERNELS = {
    "rbf": RBF(0.3, WEIGHTS),
    "laplacian": Laplacian(0.3, WEIGHTS),
    "categories": Laplacian(0.3, WEIGHTS, categorical=[False, True, False, True]),
}


def table(n=3000, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, [1, 3]] = rng.integers(0, 12, size=(n, 2))
    return X.astype(dtype)


def slow_leaf(tree, row):
    """Walk one row down the tree, in plain Python."""
    row = tree.metric.numbers(row[None])[0].astype(np.float64)
    node = 0 if len(tree.levels) else -1
    while node >= 0:
        projection = sum(
            u * x for u, x in zip(tree.directions[tree.levels[node]], row, strict=True)
        )
        node = tree.children[node, 0 if projection <= tree.thresholds[node] else 1]
    return -1 - node


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_routing_equals_the_slow_walk(kernel, dtype):
    X = table(dtype=dtype)
    tree, _ = grow_tree(X, np.arange(len(X)), kernel, 150, seed=1)
    new = table(400, seed=9, dtype=dtype)
    assert_array_equal(tree.route(new), [slow_leaf(tree, row) for row in new])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_training_rows_are_routed_to_their_leaves(kernel, dtype):
    X = table(dtype=dtype)
    tree, leaves = grow_tree(X, np.arange(len(X)), kernel, 150, seed=1)
    assert tree.n_leaves == len(leaves) > 20
    assert all(0 < len(own) <= 150 for own in leaves)
    assert_array_equal(np.sort(np.concatenate(leaves)), np.arange(len(X)))
    where = tree.route(X, threads=2)
    for leaf, own in enumerate(leaves):
        assert (where[own] == leaf).all()
        assert (np.diff(own) > 0).all()


def test_routing_does_not_depend_on_the_other_rows():
    X = table(20_000)
    tree, _ = grow_tree(X, np.arange(len(X)), KERNELS["rbf"], 2000, seed=0)
    some = np.random.default_rng(0).permutation(len(X))[:5000]
    assert_array_equal(tree.route(X)[some], tree.route(X[some]))


def test_threads_and_blocks_do_not_change_a_tree(monkeypatch):
    X, numbers = table(3000), np.arange(3000)
    tree, leaves = grow_tree(X, numbers, KERNELS["categories"], 150, seed=1)
    monkeypatch.setattr(trees, "_DIVIDED_ROWS", 700)
    other, others = grow_tree(X, numbers, KERNELS["categories"], 150, seed=1, threads=3)
    assert_array_equal(tree.thresholds, other.thresholds)
    assert_array_equal(tree.children, other.children)
    for own, same in zip(leaves, others, strict=True):
        assert_array_equal(own, same)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_a_tree_does_not_depend_on_the_order_of_the_rows(kernel):
    X, numbers = table(), np.arange(3000)
    order = np.random.default_rng(5).permutation(3000)
    tree, leaves = grow_tree(X, numbers, kernel, 150, seed=2)
    other, others = grow_tree(X[order], numbers[order], kernel, 150, seed=2)
    assert_array_equal(other.thresholds, tree.thresholds)
    assert_array_equal(other.children, tree.children)
    for own, same in zip(leaves, others, strict=True):
        assert_array_equal(order[same], own)


def test_the_first_levels_follow_from_a_sample():
    # The rows of the least keys of a node are those of the least keys of all rows in it.
    X, numbers = table(20_000), np.arange(20_000)
    some = sample_rows(numbers, 6000, seed=4)
    whole, _ = grow_tree(X, numbers, KERNELS["rbf"], 2000, seed=4)
    coarse, _ = grow_tree(X[some], numbers[some], KERNELS["rbf"], 1500, seed=4)
    assert_array_equal(coarse.directions, whole.directions)
    assert len(coarse.thresholds) >= 3
    assert_array_equal(coarse.thresholds[:3], whole.thresholds[:3])


def test_seeds_give_different_trees_and_one_seed_the_same():
    X, numbers = table(), np.arange(3000)
    first, again, other = (grow_tree(X, numbers, RBF(), 500, seed)[0] for seed in (0, 0, 1))
    assert_array_equal(first.thresholds, again.thresholds)
    assert not np.array_equal(first.directions, other.directions)


def test_cuts_are_near_the_middle():
    X = np.random.default_rng(0).normal(size=(4000, 3))
    _, leaves = grow_tree(X, np.arange(4000), RBF(), 2500, seed=0)
    assert len(leaves) == 2
    assert 0.3 < len(leaves[0]) / 4000 < 0.7


def test_directions_lose_three_quarters_of_the_variance():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(500, 6)) * np.array([5.0, 3, 2, 1, 1, 0])
    S = np.cov(Z.T, bias=True)
    directions = draw_directions(Z, 3, seed=8)
    assert_allclose(np.linalg.norm(directions, axis=1), 1)
    assert (directions[:, 5] == 0).all()
    # Drawn with the same normal numbers from the covariance itself, by its root anew each time.
    random = np.random.default_rng(8)
    root = None
    for direction in directions:
        if root is None:
            values, axes = np.linalg.eigh(S)
            root = axes @ np.diag(np.sqrt(np.maximum(values, 0))) @ axes.T
        drawn = root @ random.normal(size=6)
        assert_allclose(direction, drawn / np.linalg.norm(drawn), atol=1e-9)
        u = direction
        lost = 0.75 * np.outer(S @ u, S @ u) / (u @ S @ u)
        along = root.T @ u
        root = root - 0.5 * np.outer(root @ along, along) / (along @ along)
        assert_allclose(root @ root.T, S - lost, atol=1e-9)
        assert_allclose(u @ (S - lost) @ u, (u @ S @ u) / 4)
        S = S - lost


def test_directions_follow_the_covariance():
    Z = np.random.default_rng(0).normal(size=(500, 2)) * np.array([3.0, 1.0])
    drawn = np.array([draw_directions(Z, 1, seed)[0] for seed in range(300)])
    assert 0.7 < (np.abs(drawn[:, 0]) > np.abs(drawn[:, 1])).mean() < 0.9  # 2/pi arctan 3 = 0.795


def test_rows_that_cannot_be_told_apart_stay_in_one_leaf():
    X = np.repeat(table(5), 400, axis=0)
    tree, leaves = grow_tree(X, np.arange(2000), RBF(), 100, seed=0)
    assert len(leaves) == 5
    assert all(len(own) == 100 for own in leaves)
    for leaf, own in enumerate(leaves):
        assert (tree.route(X[own]) == leaf).all()
    constant, leaves = grow_tree(np.ones((300, 2)), np.arange(300), RBF(), 100, seed=0)
    assert constant.n_leaves == 1
    assert_array_equal(constant.route(np.zeros((7, 2))), np.zeros(7))


@pytest.mark.parametrize(
    ("values", "share", "cut"),
    [
        ([0.0, 1, 2, 3], 0.5, 1.5),
        ([0.0, 1, 2, 3], 0.26, 0.5),
        ([0.0, 0, 0, 3], 0.5, 1.5),
        ([1.0, 1, 1], 0.5, None),
        ([1.0, np.nextafter(1, 2)], 0.5, 1.0),
    ],
)
def test_cuts_lie_between_different_values(values, share, cut):
    assert cut_near(np.array(values), share) == cut


def test_distances_along_axes_are_those_of_the_kernel():
    X = table(2)
    for name in ("rbf", "laplacian"):
        metric = Metric.of(KERNELS[name], 4, seed=0)
        gaps = np.abs((X[0] - X[1]) * metric.factors)
        t = (gaps**2).sum() if name == "rbf" else gaps.sum()
        assert_allclose(np.exp(-t), KERNELS[name](X)[0, 1])


def test_equal_codes_have_equal_numbers_and_different_ones_do_not():
    metric = Metric.of(KERNELS["categories"], 4, seed=0)
    X = table(500)
    numbers = metric.numbers(X)
    assert_array_equal(numbers[:, [0, 2]], X[:, [0, 2]])
    for j in (1, 3):
        assert len(np.unique(numbers[:, j])) == len(np.unique(X[:, j]))
        assert len(np.unique(np.column_stack([numbers[:, j], X[:, j]]), axis=0)) == 12
    assert not np.array_equal(
        numbers[:, 1], Metric.of(KERNELS["categories"], 4, 1).numbers(X)[:, 1]
    )


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_rows_are_divided_by_their_projections_in_their_order(kernel):
    X, metric = table(500), Metric.of(kernel, 4, seed=0)
    rows, direction = np.random.default_rng(1).permutation(500)[:400], np.array([1, -0.5, 0.2, 0.1])
    heights = metric.project(X, rows, direction)
    threshold = float(np.sort(heights)[150])
    below, above = metric.divide(X, rows, direction, threshold)
    assert_array_equal(below, rows[heights <= threshold])
    assert_array_equal(above, rows[heights > threshold])

"""Trees that are joined from a trunk and its regions are those of the whole table."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelwise.kernels import RBF, Laplacian
from kernelwise.scale.regions import grow_region, grow_trunk, join, trunk_rows
from kernelwise.scale.sampling import sample_rows
from kernelwise.scale.trees import grow_tree

KERNELS = {
    "rbf": RBF(0.3, np.array([2.0, 0.5, 0.0, 1.0])),
    "categories": Laplacian(0.3, categorical=[False, True, False, True]),
}


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, [1, 3]] = rng.integers(0, 12, size=(n, 2))
    return X.astype(np.float32)


def grow_by_regions(X, numbers, kernel, cell_size, region_rows, seed):
    """Return the joined tree, and the numbers of the rows of each leaf."""
    some = sample_rows(numbers, trunk_rows(len(X), cell_size, region_rows), seed)
    trunk = grow_trunk(X[some], numbers[some], kernel, cell_size, seed)
    where = trunk.tree.route(X)
    trees, cells = [], []
    for region in range(trunk.n_regions):
        own = np.flatnonzero(where == region)
        tree, leaves = grow_region(X[own], numbers[own], trunk, region, cell_size, seed)
        trees.append(tree)
        cells += [numbers[own[leaf]] for leaf in leaves]
    return trunk, join(trunk, trees), cells


@pytest.mark.parametrize("region_rows", [500, 2000, 6000])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_regions_grow_the_cells_of_the_whole_table(kernel, region_rows):
    X, numbers = table(12_000), np.random.default_rng(1).permutation(20_000)[:12_000]
    whole, leaves = grow_tree(X, numbers, kernel, 300, seed=3)
    trunk, tree, cells = grow_by_regions(X, numbers, kernel, 300, region_rows, seed=3)
    assert trunk.n_regions > 1
    assert {tuple(numbers[own]) for own in leaves} == {tuple(own) for own in cells}
    new = table(3000, seed=9)
    cell_of = {tuple(numbers[own]): leaf for leaf, own in enumerate(leaves)}
    same = np.array([cell_of[tuple(own)] for own in cells])
    assert_array_equal(same[tree.route(new)], whole.route(new))


def test_a_small_table_is_one_region():
    X, numbers = table(900), np.arange(900)
    trunk, tree, cells = grow_by_regions(X, numbers, KERNELS["rbf"], 1000, 5000, seed=0)
    assert trunk.n_regions == tree.n_leaves == len(cells) == 1
    assert_array_equal(tree.route(X), np.zeros(900))


def test_rows_that_cannot_be_told_apart_keep_those_of_the_least_keys():
    X, numbers = np.repeat(table(5), 2000, axis=0), np.arange(10_000)
    _, leaves = grow_tree(X, numbers, RBF(), 300, seed=0)
    _, _, cells = grow_by_regions(X, numbers, RBF(), 300, 900, seed=0)
    assert {tuple(own) for own in leaves} == {tuple(own) for own in cells}


def test_regions_are_about_as_large_as_asked_for():
    X, numbers = table(40_000), np.arange(40_000)
    some = sample_rows(numbers, trunk_rows(40_000, 500, 5000), 2)
    trunk = grow_trunk(X[some], numbers[some], KERNELS["rbf"], 500, 2)
    sizes = np.bincount(trunk.tree.route(X))
    assert 1000 < sizes.min() <= sizes.max() < 6000

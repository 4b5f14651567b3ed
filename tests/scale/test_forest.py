"""Trees of cells: what their decisions do not depend on."""

from dataclasses import fields

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.kernels import RBF, Laplacian, Matern32
from kernelwise.scale.cells import CellSettings, HeldOut, fit_cell
from kernelwise.scale.forest import CellTable, CellTree, fit_forest

MEMBERS = [CellSettings(RBF(0.5), 3.0), CellSettings(Laplacian(0.4), 3.0)]
SEEDS = [0, 1]


def table(n=1200, k=1, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(dtype)
    score = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)
    if k == 1:
        codes = np.where(score > 0, 1.0, -1.0)[:, None]
    else:
        classes = np.searchsorted(np.quantile(score, np.arange(1, k) / k), score)
        codes = np.where(classes[:, None] == np.arange(k), 1.0, -1.0)
    return CellTable(X, codes, rng.uniform(0.5, 2, n), np.arange(n))


def folds(n=1200, n_folds=5):
    return HeldOut(np.arange(n) % n_folds, np.ones(n))


def fit(data, **options):
    return fit_forest(data, MEMBERS, SEEDS, 200, **options)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_one_cell_is_the_exact_machine(loss):
    data, new = table(150), table(40, seed=1).X
    member = CellSettings(RBF(0.5), 3.0, loss=loss)
    forest, left_out = fit_forest(data, [member], [0], 150)
    exact = fit_cell(data.X, data.codes, data.price, member)
    assert left_out is None
    assert_allclose(
        forest.decision_values(new), member.kernel(new, data.X) @ exact.coef + exact.intercept
    )


def test_a_stored_tree_has_no_zeros_and_reads_those_of_older_files():
    forest, _ = fit(table(k=5, dtype=np.float32))
    tree = forest.trees[0]
    state = tree.__getstate__()
    assert (tree.coef == 0).mean() > 0.2
    assert len(state["coef_entries"]) == np.count_nonzero(tree.coef)
    assert tree.__getstate__()["coef_entries"] is state["coef_entries"]  # a file has it once
    plain = {field.name: getattr(tree, field.name) for field in fields(CellTree)}
    for stored in (state, plain):  # and one that still has its zeros
        again = CellTree.__new__(CellTree)
        again.__setstate__(stored)
        assert vars(again).keys() == plain.keys()
        assert_array_equal(again.coef, tree.coef)
        assert again.coef.dtype == np.float32


def test_a_tree_of_one_machine_is_stored_as_it_is():
    tree = fit(table())[0].trees[0]
    assert tree.__getstate__()["coef"] is tree.coef


def test_the_decision_is_the_mean_of_the_cells_of_a_row():
    data, new = table(), table(60, seed=1).X
    forest, _ = fit(data)
    expected = np.zeros((60, 1))
    for each, member in zip(forest.trees, MEMBERS, strict=True):
        where, leaves = each.tree.route(data.X), each.tree.route(new)
        for i, leaf in enumerate(leaves):
            own = where == leaf
            cell = fit_cell(data.X[own], data.codes[own], data.price[own], member)
            expected[i] += (member.kernel(new[i : i + 1], data.X[own]) @ cell.coef)[0]
            expected[i] += cell.intercept
    assert_allclose(forest.decision_values(new), expected / 2, atol=1e-10)


@pytest.mark.parametrize("k", [1, 3])
def test_threads_do_not_change_the_result(k):
    data = table(k=k)
    (one, left_one), (two, left_two) = (
        fit(data, threads=threads, held_out=folds()) for threads in (1, 2)
    )
    assert_array_equal(left_one, left_two)
    for first, second in zip(one.trees, two.trees, strict=True):
        assert_array_equal(first.coef, second.coef)
        assert_array_equal(first.rows, second.rows)
    new = table(300, seed=1).X
    assert_array_equal(one.decision_values(new), two.decision_values(new, threads=2))


def test_the_order_of_the_rows_does_not_change_the_result():
    data, new = table(), table(300, seed=1).X
    order = np.random.default_rng(0).permutation(1200)
    held_out = folds()
    forest, left_out = fit(data, held_out=held_out)
    other, other_left_out = fit(data.part(order), held_out=held_out.part(order))
    assert_array_equal(other.decision_values(new), forest.decision_values(new))
    assert_array_equal(other_left_out, left_out[order])


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_size_of_blocks_does_not_change_the_decisions(dtype, k):
    forest, _ = fit(table(k=k, dtype=dtype))
    new = table(1000, seed=1, dtype=dtype).X
    new[3] *= 1e4  # which float32 has not enough digits for
    whole = forest.decision_values(new)
    for block_rows in (1, 7, 300):
        some = forest.decision_values(new[:100], block_rows=block_rows)
        assert_array_equal(some, whole[:100])


KERNELS = [
    RBF(0.5, weights=[1.0, 0.0, 2.0, 0.3]),
    Laplacian(0.4, weights=[1.0, 0.0, 2.0, 0.3]),
    Laplacian(0.4, weights=[1.0, 2.0, 0.0, 0.3], categorical=[False, True, True, False]),
    Matern32(0.5),  # which has no tiles
]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [1, 4])
def test_decisions_are_kernel_values_times_coefficients(kernel, dtype, k):
    data = table(700, k=k, dtype=dtype)
    data.X[:, 1:3] = np.round(data.X[:, 1:3])
    forest, _ = fit_forest(data, [CellSettings(kernel, 3.0)], [0], 600)
    new = table(500, seed=1, dtype=dtype).X
    new[:, 1:3] = np.round(new[:, 1:3])
    new[:2, 0] = 3e4, -3e4  # too long for float32
    (tree,) = forest.trees
    expected = tree.intercepts[tree.tree.route(new)]
    for leaf in range(len(tree.intercepts)):
        own = slice(tree.stops[leaf], tree.stops[leaf + 1])
        vectors = forest.stored[tree.rows[own]].astype(float)
        rows = tree.tree.route(new) == leaf
        expected[rows] += kernel(new[rows].astype(float), vectors) @ tree.coef[own].astype(float)
    atol = 1e-12 if dtype == np.float64 else 1e-6 * np.abs(tree.coef).sum()
    assert_allclose(forest.decision_values(new), expected, atol=atol)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e300])
def test_rows_without_a_distance_are_refused(wrong):
    forest, _ = fit(table(300))
    new = table(10, seed=1).X
    new[4, 0] = wrong
    with pytest.raises(ValueError, match="scale the columns"):
        forest.decision_values(new)


def test_single_precision_is_kept():
    data = table(dtype=np.float32)
    forest, _ = fit(data)
    assert forest.stored.dtype == np.float32
    assert all(each.coef.dtype == np.float32 for each in forest.trees)
    double, _ = fit(CellTable(data.X.astype(float), data.codes, data.price, data.numbers))
    new = table(300, seed=1, dtype=np.float32).X
    assert_allclose(forest.decision_values(new), double.decision_values(new), atol=1e-2)


def test_rows_are_stored_once():
    data = table()
    forest, _ = fit(data)
    assert len(np.unique(forest.stored, axis=0)) == len(forest.stored) <= 1200
    used = np.concatenate([each.rows for each in forest.trees])
    assert len(used) > len(forest.stored)
    assert_array_equal(np.unique(used), np.arange(len(forest.stored)))


def test_rows_of_no_price_take_no_part():
    data, new = table(), table(100, seed=1).X
    price = data.price.copy()
    price[::3] = 0
    kept = np.flatnonzero(price)
    forest, left_out = fit(CellTable(data.X, data.codes, price, data.numbers), held_out=folds())
    other, _ = fit(data.part(kept))
    assert_array_equal(forest.decision_values(new), other.decision_values(new))
    assert_allclose(left_out[::3], forest.decision_values(data.X[::3]), atol=1e-12)


def test_left_out_decisions_are_as_good_as_those_on_new_rows():
    data, new = table(), table(3000, seed=1)
    forest, left_out = fit(data, held_out=folds())
    wrong = (np.sign(left_out) != data.codes).mean()
    wrong_new = (np.sign(forest.decision_values(new.X)) != new.codes).mean()
    wrong_seen = (np.sign(forest.decision_values(data.X)) != data.codes).mean()
    assert abs(wrong - wrong_new) < 0.02
    assert wrong_seen < wrong - 0.02


def test_read_only_maps_are_taken(tmp_path):
    data = table(dtype=np.float32)
    stored = np.memmap(tmp_path / "rows", np.float32, "w+", shape=data.X.shape)
    stored[:] = data.X
    stored.flush()
    rows = np.memmap(tmp_path / "rows", np.float32, "r", shape=data.X.shape)
    mapped, _ = fit(CellTable(rows, data.codes, data.price, data.numbers))
    plain, _ = fit(data)
    new = table(50, seed=1, dtype=np.float32).X
    assert_array_equal(mapped.decision_values(new), plain.decision_values(new))


def test_kernels_without_a_metric_are_refused():
    with pytest.raises(TypeError, match="weighted sum"):
        fit_forest(table(50), [CellSettings(RBF() + RBF(), 1.0)], [0], 20)


def test_a_tree_tells_which_cells_did_not_converge():
    data = table(300)
    forest, _ = fit_forest(data, [CellSettings(RBF(0.5), 3.0)], [0], 100)
    assert forest.trees[0].converged.all()
    assert len(forest.trees[0].converged) == forest.trees[0].tree.n_leaves > 2
    hopeless = CellSettings(RBF(0.5), 1e9, loss="hinge", tol=0.0)  # rounding never reaches zero
    forest, _ = fit_forest(data, [hopeless], [0], 100)
    assert not forest.trees[0].converged.all()

"""Trees in a folder."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelwise.kernels import Laplacian
from kernelwise.scale.cells import CellSettings, HeldOut
from kernelwise.scale.checkpoint import TreeFolder
from kernelwise.scale.forest import CellTable, fit_tree, forest_of

KERNEL = Laplacian(weights=np.array([1.0, 0.5, 2.0]), categorical=np.array([False, False, True]))
MEMBER = CellSettings(KERNEL, 3.0)
N = 300


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(N, 2)), rng.integers(0, 3, N)]).astype(np.float32)
    codes = np.where(X[:, :1] > 0.3 * X[:, 2:], 1.0, -1.0)
    return CellTable(X, codes, rng.uniform(0.5, 1, N), np.arange(N))


@pytest.fixture(scope="module")
def held_out():
    return HeldOut(np.arange(N) % 5, np.ones(N))


@pytest.fixture
def store(tmp_path, table, held_out):
    folder = TreeFolder(tmp_path / "new" / "trees")
    folder.open(table, held_out)
    return folder


def fit(table, held_out):
    return fit_tree(table, MEMBER, 4, 100, held_out=held_out)


def test_a_tree_comes_back_bit_by_bit(store, table, held_out):
    fitted = fit(table, held_out)
    store.save(fitted, MEMBER, 4, 100)
    found = store.load(MEMBER, 4, 100)
    assert_array_equal(found.left_out, fitted.left_out)
    assert found.cells.coef.dtype == np.float32
    decisions = [forest_of(table, [each])[0].decision_values(table.X) for each in (found, fitted)]
    assert_array_equal(*decisions)
    assert store.others == 0
    assert [path.suffix for path in store.folder.iterdir()] == [".npz"]


def other_kernel(**changes):
    return replace(MEMBER, kernel=replace(KERNEL, **changes))


@pytest.mark.parametrize(
    "key",
    [
        (replace(MEMBER, C=1.0), 4, 100),
        (replace(MEMBER, tol=1e-4), 4, 100),
        (replace(MEMBER, loss="hinge"), 4, 100),
        (other_kernel(gamma=2.0), 4, 100),
        (other_kernel(weights=np.ones(3)), 4, 100),
        (other_kernel(categorical=np.array([False, True, False])), 4, 100),
        (MEMBER, 5, 100),
        (MEMBER, 4, 99),
    ],
)
def test_other_settings_do_not_find_it(store, table, held_out, key):
    store.save(fit(table, held_out), MEMBER, 4, 100)
    other = TreeFolder(store.folder)
    other.open(table, held_out)
    assert other.load(*key) is None
    assert other.others == 1


def test_other_rows_do_not_find_it(store, table, held_out):
    store.save(fit(table, held_out), MEMBER, 4, 100)
    X, price, fold = table.X.copy(), table.price.copy(), held_out.fold.copy()
    X[7, 1] += 1e-3
    price[7] *= 2
    fold[7] = -1
    changed = [
        (replace(table, X=X), held_out),
        (replace(table, codes=-table.codes), held_out),
        (replace(table, price=price), held_out),
        (replace(table, numbers=table.numbers + 1), held_out),
        (table, replace(held_out, fold=fold)),
    ]
    for rows, folds in changed:
        store.open(rows, folds)
        assert store.load(MEMBER, 4, 100) is None
    store.open(table, held_out)
    assert store.load(MEMBER, 4, 100) is not None


def test_a_damaged_file_is_a_missing_one(store, table, held_out):
    store.save(fit(table, held_out), MEMBER, 4, 100)
    (path,) = store.folder.iterdir()
    content = path.read_bytes()
    for damaged in (b"", content[: len(content) // 2], b"no archive"):
        path.write_bytes(damaged)
        assert store.load(MEMBER, 4, 100) is None

"""Training rows: copies are merged, samples keep the classes, coefficients find their rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise.kernels import RBF, FunctionKernel, Precomputed
from kernelwise.svm.paths.rows import TrainingRows
from kernelwise.svm.paths.selection import deal, hold_out
from tests.svm.problems import task_of


def table(n=30, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X, classes = rng.normal(size=(n, 2)).round(1), np.arange(n) % n_classes
    X, classes = np.vstack([X, X[:8]]), np.append(classes, classes[:8])
    return X, classes, rng.uniform(0.5, 2.0, len(classes))


def rows_of(X, classes, weight, class_weight=None, kernel=None):
    return TrainingRows.of(task_of(X, classes, weight, class_weight, kernel))


@pytest.mark.parametrize("sparse", [False, True])
def test_equal_rows_of_a_class_become_one_with_the_sum_of_their_weights(sparse):
    X, classes, weight = table()
    class_weight = np.array([1.0, 2.0, 3.0])
    rows = rows_of(sp.csr_array(X) if sparse else X, classes, weight, class_weight)
    contents = {(*row, label) for row, label in zip(X.tolist(), classes, strict=True)}
    assert len(rows) == len(contents)
    for place in range(len(rows)):
        copies = np.flatnonzero(rows.place == place)
        assert rows.first[place] == copies[0]
        assert len(np.unique(np.column_stack([X, classes])[copies], axis=0)) == 1
        assert rows.sample_weight[place] == pytest.approx(weight[copies].sum())
    assert_array_equal(rows.classes, classes[rows.first])
    assert_allclose(rows.cost_factor, rows.sample_weight * class_weight[rows.classes])
    own = rows.X.toarray() if sparse else rows.X
    assert_array_equal(own, X[rows.first])


def test_neither_their_order_nor_copies_change_the_rows():
    X, classes, weight = table()
    rows = rows_of(X, classes, weight)
    order = np.random.default_rng(1).permutation(len(classes))
    moved = rows_of(X[order], classes[order], weight[order])
    assert_array_equal(rows.X, moved.X)
    assert_allclose(rows.sample_weight, moved.sample_weight)


def test_minus_zero_is_zero():
    X, classes = np.array([[0.0], [-0.0], [1.0]]), np.array([0, 0, 1])
    assert len(rows_of(X, classes, np.ones(3))) == 2


@pytest.mark.parametrize("kernel", [FunctionKernel(RBF()), Precomputed()])
def test_rows_of_given_kernels_are_never_merged(kernel):
    X, classes, weight = table()
    X = X @ X.T
    rows = rows_of(X, classes, weight, kernel=kernel)
    assert_array_equal(rows.first, np.arange(len(classes)))
    assert_array_equal(rows.X, X)


def test_a_sample_of_a_precomputed_kernel_takes_rows_and_columns():
    X, classes, weight = table()
    rows = rows_of(X @ X.T, classes, weight, kernel=Precomputed()).sample(
        12, np.random.RandomState(0)
    )
    some = X[rows.first]
    assert_allclose(rows.X, some @ some.T)


def test_a_sample_takes_the_same_part_of_each_class():
    X = np.random.default_rng(0).normal(size=(100, 2))
    classes = (np.arange(100) >= 80).astype(int)
    rows = rows_of(X, classes, np.ones(100))
    some = rows.sample(20, np.random.RandomState(0))
    assert_array_equal(np.bincount(some.classes), [16, 4])
    assert_array_equal(some.X, X[some.first])
    assert (some.place[some.first] == np.arange(20)).all()
    assert np.count_nonzero(some.place >= 0) == 20
    assert rows.sample(100, np.random.RandomState(0)) is rows
    fewer = some.sample(10, np.random.RandomState(0))
    assert_array_equal(fewer.X, X[fewer.first])
    assert (fewer.place[fewer.first] == np.arange(len(fewer))).all()


def test_coefficients_are_shared_among_copies_and_summed_again():
    X, classes, weight = table()
    rows = rows_of(X, classes, weight).sample(20, np.random.RandomState(0))
    beta = np.random.default_rng(0).normal(size=len(rows))
    everywhere = rows.spread(beta)
    assert_allclose(rows.gather(everywhere), beta)
    assert_array_equal(everywhere[rows.place < 0], 0)
    i, j = np.flatnonzero(rows.place == np.bincount(rows.place[rows.place >= 0]).argmax())[:2]
    assert everywhere[i] / weight[i] == pytest.approx(everywhere[j] / weight[j])


def test_folds_hold_out_each_row_once_and_classes_evenly():
    classes = np.repeat([0, 1, 2], [50, 20, 3])
    folds = deal(classes, 5, np.random.RandomState(0))
    assert_array_equal(np.sort(np.concatenate(folds)), np.arange(73))
    for fold in folds:
        assert len(fold) in (14, 15)
        assert np.bincount(classes[fold], minlength=3)[0] == 10


def test_a_part_of_each_class_is_held_out():
    classes = np.repeat([0, 1, 2], [50, 20, 1])
    held = hold_out(classes, 0.2, np.random.RandomState(0))
    assert_array_equal(np.bincount(classes[held], minlength=3), [10, 4, 0])
    with pytest.raises(ValueError, match="two different rows"):
        hold_out(np.arange(3), 0.2, np.random.RandomState(0))

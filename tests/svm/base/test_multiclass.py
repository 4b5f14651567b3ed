"""Classes as numbers: in the order of scikit-learn, whatever type the labels have."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelwise.svm.base.multiclass import members_of, one_vs_one
from kernelwise.svm.base.task import Labels, _numbered

LABELS = {
    "two": np.array([1, 0, 0, 1]),
    "two-negative": np.array([-1, 1, -1], dtype=np.int8),
    "two-far": np.array([2**62, -(2**62), 2**62]),
    "unsigned": np.array([255, 3, 255], dtype=np.uint8),
    "bool": np.array([True, False, True]),
    "three": np.array([2, 0, 1, 2, 0]),
    "three-of-ends": np.array([5, -5, 0]),
    "words": np.array(["b", "a", "b"]),
    "objects": np.array(["b", "a", "c"], dtype=object),
    "floats": np.array([1.0, -1.0, 1.0]),
}


@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS.keys())
def test_classes_are_those_of_numpy(y):
    labels = Labels.of(y, None, None)
    classes, place = labels.names, labels.classes
    assert_array_equal(classes, np.unique(y))
    assert classes.dtype == y.dtype
    assert_array_equal(classes[place], y)
    assert place.dtype == np.intp


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_members_are_the_rows_of_a_code(n_classes):
    codes = one_vs_one(np.arange(20) % n_classes, n_classes)
    assert codes.dtype == np.int8
    for rows, column in zip(members_of(codes), codes.T, strict=True):
        assert_array_equal(rows, np.flatnonzero(column))


@pytest.mark.parametrize(
    "y",
    [
        np.array([3, 1, 1, 7, 3]),
        np.array([-128, 127, 0, -128] * 70, dtype=np.int8),
        np.tile(np.arange(-128, 128), 2).astype(np.int8),
        np.array([2**62, -(2**62), 5]),
        np.array([True, False, True]),
        np.array([4, 2, 2], dtype=np.uint64),
        np.array(["b", "a", "b"]),
        np.array([], dtype=int),
    ],
)
def test_classes_are_numbered_as_numpy_does(y):
    names, classes = np.unique(y, return_inverse=True)
    found_names, found_classes = _numbered(y)
    assert_array_equal(found_names, names)
    assert_array_equal(found_classes, classes)
    assert found_names.dtype == names.dtype

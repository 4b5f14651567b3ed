"""The rows that the parts read: codes, samples, and what is left out with a row."""

import numpy as np
import pytest

from kernelwise.svm.relevance.columns import ColumnLayout
from kernelwise.svm.relevance.parts.rows import PartRows, copy_weight


def rows_of(classes, count=None, groups=None, copy=np.inf):
    classes = np.asarray(classes)
    count = np.ones(len(classes)) if count is None else np.asarray(count, dtype=float)
    X = np.random.default_rng(0).normal(size=(len(classes), 3))
    n_classes = int(classes.max()) + 1
    layout = ColumnLayout.plain(3)
    return PartRows(X, layout, classes, n_classes, count, 2 * count, groups, copy)


def test_two_classes_have_one_column_of_codes_positive_for_the_second():
    assert rows_of([0, 1, 1, 0]).codes.tolist() == [[-1], [1], [1], [-1]]


def test_several_classes_have_one_column_each():
    codes = rows_of([0, 2, 1]).codes
    assert codes.tolist() == [[1, -1, -1], [-1, -1, 1], [-1, 1, -1]]


def test_a_part_keeps_everything_of_its_rows():
    rows = rows_of([0, 1, 2, 1], count=[1, 2, 3, 4], groups=np.array([5, 6, 5, 7]))
    part = rows.part(np.array([3, 0]))
    assert len(part) == 2
    assert part.n_classes == 3
    np.testing.assert_array_equal(part.X, rows.X[[3, 0]])
    assert part.count.tolist() == [4, 1]
    assert part.price.tolist() == [8, 2]
    assert part.groups.tolist() == [7, 5]
    np.testing.assert_array_equal(part.codes, rows.codes[[3, 0]])


def test_a_row_goes_with_its_copies_or_loses_one_of_them():
    assert rows_of([0, 1], count=[1, 4]).left_out_share.tolist() == [1, 1]
    assert rows_of([0, 1, 1], count=[0.5, 1, 4], copy=1.0).left_out_share.tolist() == [1, 1, 0.25]


@pytest.mark.parametrize(("count", "expected"), [([1, 1, 4], np.inf), ([1, 2, 4], 1.0)])
def test_one_copy_is_left_out_where_fewer_than_half_of_the_rows_are_distinct(count, expected):
    assert copy_weight(np.array(count, dtype=float)) == expected


def test_a_sample_of_groups_has_whole_groups():
    groups = np.repeat(np.arange(20), 5)
    rows = rows_of(np.arange(100) % 2, groups=groups)
    some = rows.sample_groups(42, np.random.RandomState(0))
    assert len(some) == 40
    assert not set(groups[some]) & set(np.delete(groups, some))
    np.testing.assert_array_equal(some, rows.sample_groups(42, np.random.RandomState(0)))
    assert len(rows.sample_groups(100, np.random.RandomState(0))) == 100
    alone = rows_of(np.arange(100) % 2)
    np.testing.assert_array_equal(
        alone.sample_groups(42, np.random.RandomState(0)),
        alone.sample(42, np.random.RandomState(0)),
    )

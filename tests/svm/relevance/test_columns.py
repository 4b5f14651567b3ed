"""Columns of a table: their layout and their encoding."""

from __future__ import annotations

import numpy as np

from kernelwise.svm.relevance.columns import ColumnLayout


def test_plain_layout_has_one_number_per_column():
    layout = ColumnLayout.plain(3)
    assert not layout.has_categories
    assert layout.n_source == 3
    np.testing.assert_array_equal(layout.source, [0, 1, 2])
    np.testing.assert_array_equal(layout.group, [0, 1, 2])
    np.testing.assert_array_equal(layout.to_source(np.array([3.0, 1.0, 2.0])), [3, 1, 2])


def test_values_of_encoded_columns_add_up_at_their_source():
    layout = ColumnLayout(
        is_category=np.array([False, True, False]),
        source=np.array([0, 3, 0]),  # the third column marks the gaps of the first
        group=np.array([0, 1, 2]),
        n_source=4,
    )
    assert layout.has_categories
    values = np.array([[1.0, 2.0, 4.0], [0.5, 0.25, 0.0]])
    np.testing.assert_array_equal(layout.to_source(values), [[5, 0, 0, 2], [0.5, 0, 0, 0.25]])

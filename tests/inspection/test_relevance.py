"""relevance_test: its table and its selections, for classes and numbers."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from kernelwise.app.inspection import relevance_test
from kernelwise.transform import RelevanceSelector

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(200, 6)), columns=list("abcdef"))
NUMBER = X["b"] + X["d"] ** 2 + RNG.normal(size=200)
CLASSES = np.where(NUMBER.median() < NUMBER, "high", "low")


def test_table_is_in_the_order_of_p_values():
    for y in (NUMBER, CLASSES):
        test = relevance_test(X, y)
        table = pd.DataFrame(test.table())
        assert list(table.columns) == [
            *("feature", "share", "p_alone", "p_together", "p_value", "p_fdr", "p_fwer")
        ]
        assert set(table["feature"][:2]) == {"b", "d"}
        assert table["p_value"].is_monotonic_increasing
        assert table["share"].sum() == pytest.approx(1)
        assert (table["p_value"] <= table["p_fdr"]).all()
        assert (table["p_fdr"] <= table["p_fwer"] + 1e-15).all()


def test_selections_are_those_of_the_selector():
    test = relevance_test(X, CLASSES, feature_groups=[["a", "b"]], random_state=3)
    for rate, alpha in (("fdr", 0.1), ("fwer", 0.01)):
        selector = RelevanceSelector(
            test=rate, alpha=alpha, feature_groups=[["a", "b"]], random_state=3
        )
        assert_array_equal(test.selected(rate, alpha), selector.fit(X, CLASSES).get_support())
    with pytest.raises(ValueError, match="error_rate must be"):
        test.selected("both")


def test_columns_without_names_and_whole_numbers_as_the_target():
    test = relevance_test(X.to_numpy(), np.round(20 * NUMBER), task="regression")
    assert test.feature_names == ("x0", "x1", "x2", "x3", "x4", "x5")
    assert_array_equal(test.selected("fwer", 0.01), np.isin(list("abcdef"), ["b", "d"]))

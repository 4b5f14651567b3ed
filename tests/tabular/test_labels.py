"""A column that cannot be the target is refused with the remedy."""

import numpy as np
import pandas as pd
import pytest

from kernelwise.tabular import TableError, check_target

N = 60
BAD = {
    "real numbers": (np.linspace(0, 1, N), "is a number with 60 different values"),
    "amounts": (np.arange(N) * 3, "is a number with 60 different values"),
    "amounts as text": ([f"{k / 7:.2f}" for k in range(N)], "turn it into classes first"),
    "dates": ([f"2024-01-{1 + k % 28}" for k in range(N)], "is a date"),
    "one class": (["a"] * N, "only one class, a"),
    "nothing": ([None] * N, "has no values"),
    "names": ([f"n{k}" for k in range(N)], "60 classes in 60 rows"),
    "rare": (["a", "b"] * (N // 2 - 1) + ["c", "a"], "classes of a single row: 'c'; correct"),
}


@pytest.mark.parametrize("name", list(BAD))
def test_refused_with_the_remedy(name):
    values, reason = BAD[name]
    with pytest.raises(TableError, match=reason):
        check_target(pd.DataFrame({"y": values}), "y")


def test_too_many_classes():
    frame = pd.DataFrame({"y": [f"n{k % 500}" for k in range(5000)]})
    with pytest.raises(TableError, match=r"500 classes in 5000 rows; .*at most 100"):
        check_target(frame, "y")


@pytest.mark.parametrize("target", [-1.5, float("inf"), 3])
def test_a_target_that_is_no_name_is_refused(target):
    with pytest.raises(TableError, match=r"the table has no column .*; it has 'age', 'outcome'"):
        check_target(pd.DataFrame({"age": [1], "outcome": [2]}), target)


def test_misspelt_name_suggests_the_nearest():
    with pytest.raises(TableError, match="no column 'outcom'; did you mean 'outcome'"):
        check_target(pd.DataFrame({"age": [1], "outcome": [2]}), "outcom")
    with pytest.raises(TableError, match="no column 'OUTCOME'; did you mean 'outcome'"):
        check_target(pd.DataFrame({"age": [1], "outcome": [2]}), "OUTCOME")
    with pytest.raises(TableError, match="it has 'age', 'size'"):
        check_target(pd.DataFrame({"age": [1], "size": [2]}), "outcome")
    with pytest.raises(TableError, match="it has 'age', 'income'"):  # nobody meant income
        check_target(pd.DataFrame({"age": [1], "income": [2]}), "nope")


def test_two_rows_are_too_few_whatever_their_classes():
    with pytest.raises(TableError, match="2 classes in 2 rows; at least two rows of each class"):
        check_target(pd.DataFrame({"y": ["a", "b"]}), "y")


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        ([0, 1, 1, 0, 1], (0, 1)),
        ([0.0, 1.0, np.nan, 0.0, 1.0], (0, 1)),
        (["2", "10", "2", "10", ""], (2, 10)),
        ([0.5, 1.5, 0.5, 1.5, 1.5], ("0.5", "1.5")),
        ([True, False, True, False, True], ("False", "True")),
        ([" a", "b", "a ", "b", None], ("a", "b")),
        (pd.Categorical(["u", "v", "v", "u", None]), ("u", "v")),
    ],
    ids=["whole", "whole with gaps", "whole as text", "halves", "truth", "text", "categories"],
)
def test_labels_are_whole_numbers_or_text(values, classes):
    target = check_target(pd.DataFrame({"y": values}), "y")
    assert target.classes == classes
    assert len(target.y) == len(target.rows) == sum(target.counts)
    lost = len(values) - len(target.y)
    assert target.notes == (("1 row without a class is left out",) if lost else ())


def test_positive_is_the_rarer_class_or_the_wanted_one():
    frame = pd.DataFrame({"y": [0, 0, 0, 1, 1], "z": [1, 1, 2, 2, 3]})
    assert check_target(frame, "y").positive == 1
    assert check_target(frame, "y", positive="0").positive == 0
    with pytest.raises(TableError, match="positive='2' is not one of the classes 0, 1"):
        check_target(frame, "y", positive="2")


def test_skewed():
    assert check_target(pd.DataFrame({"y": [0] * 30 + [1] * 10}), "y").skewed
    assert not check_target(pd.DataFrame({"y": [0] * 29 + [1] * 10}), "y").skewed


def test_an_array_is_no_table():
    with pytest.raises(TypeError, match=r"must be a data frame; got ndarray\. Give pandas"):
        check_target(np.zeros((4, 2)), "a")


def test_two_columns_of_the_target_s_name():
    frame = pd.DataFrame([[0, 1], [1, 0], [0, 1], [1, 0]], columns=["a", "a"])
    with pytest.raises(TableError, match="2 columns are called 'a'; rename them"):
        check_target(frame, "a")

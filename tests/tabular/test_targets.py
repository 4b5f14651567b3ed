"""A column that cannot be the target is refused with the remedy."""

import numpy as np
import pandas as pd
import pytest

from kernelwise.app.tabular import TableError, check_target

from ..loop import loop

N = 60


def test_a_target_that_cannot_be_predicted_is_refused_with_the_remedy():
    refused = {
        "dates": ([f"2024-01-{1 + k % 28}" for k in range(N)], "auto", "is a date"),
        "one class": (["a"] * N, "auto", "only one class, a"),
        "one number": ([1.5] * N, "regression", "only one value, 1.5"),
        "nothing": ([None] * N, "auto", "has no values"),
        "names": ([f"n{k}" for k in range(N)], "auto", "60 classes in 60 rows"),
        "words": (["a", "b"] * 30, "regression", "is not a number in most rows, .*'a'; choose"),
        "numbers as classes": (np.arange(N) / 7, "classification", "60 classes in 60 rows"),
        "three numbers": ([1.0, 2.0, 3.5], "regression", "has 3 numbers; at least 4"),
        "no such task": (["a", "b"] * 30, "sorting", "task='sorting' is not known"),
    }
    for name, (values, task, reason) in refused.items():
        with pytest.raises(TableError, match=reason):
            check_target(pd.DataFrame({name: values}), name, task=task)
    with pytest.raises(TableError, match="positive='1' is for classes, but the target 'y' is a"):
        check_target(pd.DataFrame({"y": np.arange(N) / 7}), "y", positive="1")


def test_numbers_are_predicted_as_numbers_with_the_reason():
    rng = np.random.default_rng(0)
    targets = {
        "amounts": (np.arange(N) * 3, "regression", "--task classification"),
        "amounts as text": ([f"{k / 7:.2f} EUR" for k in range(N)], "regression", ""),
        "years": (rng.integers(1000, 2000, 5000), "regression", ""),
        "ages": (rng.integers(18, 90, 5000), "regression", "--task classification"),
        "grades": (rng.integers(0, 10, N), "classification", "--task regression"),
        "halves": (rng.integers(0, 3, N) / 2, "classification", "--task regression"),
        "twelfths": (np.arange(N) % 12 / 12, "regression", "--task classification"),
    }
    for name, (values, task, option) in targets.items():
        target = check_target(pd.DataFrame({"y": values}), "y")
        assert target.task == task, name
        assert option in str(target.notes), name
        assert bool(option) == bool(target.notes), name
        asked = check_target(pd.DataFrame({"y": values}), "y", task="regression")
        assert (asked.y.dtype, asked.notes) == (np.float64, ()), name
        counts = np.bincount(asked.strata)
        assert counts.min() >= len(values) // len(counts), name
    gaps = check_target(pd.DataFrame({"y": [1.5, None, 2.5, np.inf, 3.0, 9.1]}), "y",
                        task="regression")  # fmt: skip
    assert gaps.notes == ("2 rows without a number are left out",)
    assert gaps.rows.tolist() == [0, 2, 4, 5]


def test_rare_classes_are_set_aside_unless_all_are_kept():
    frame = pd.DataFrame({"y": ["a"] * 30 + ["b"] * 20 + ["c"] * 4 + ["d"], "x": range(55)})
    target = check_target(frame, "y")
    assert (target.classes, target.counts, target.set_aside) == (("a", "b"), (30, 20), ("c", "d"))
    assert target.notes == (
        "2 classes of fewer than 5 rows are set aside: c (4), d (1); --min-class 1 keeps all "
        "classes",
    )
    assert len(target.rows_of(frame)) == 50
    assert check_target(frame, "y", min_class=1).counts == (30, 20, 4, 1)
    alone = check_target(frame[26:34], "y")  # nothing to tell apart without the rare class
    assert (alone.counts, alone.set_aside) == ((4, 4), ())


def test_too_many_classes():
    frame = pd.DataFrame({"y": [f"n{k % 500}" for k in range(5000)]})
    with pytest.raises(TableError, match=r"500 classes in 5000 rows; .*at most 100"):
        check_target(frame, "y")


@loop("target", [-1.5, float("inf"), 3])
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


@loop(
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

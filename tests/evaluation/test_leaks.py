"""Columns that predict the target by themselves."""

import numpy as np
import pandas as pd

from kernelwise.app.evaluation import evaluate, leaking_columns
from kernelwise.app.tabular import check_target, describe_columns

from ..loop import loop


def found_in(frame):
    columns = describe_columns(frame, "y")
    return [leak.column for leak in leaking_columns(frame, check_target(frame, "y"), columns)]


def noise(n, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    return rng, frame.assign(y=rng.integers(0, n_classes, n))


@loop("n", [60, 200, 8000])
@loop("n_classes", [2, 4])
def test_leaks_of_all_kinds_are_found(n, n_classes):
    rng, frame = noise(n, n_classes=n_classes)
    y = frame["y"]
    frame["number"] = 10 * y + rng.normal(size=n)
    frame["bent"] = (y - 0.6 * n_classes) ** 2 * 5 + 0.01 * rng.normal(size=n)
    frame["word"] = [f"{'xyzw'[label]}{k % 2}" for k, label in enumerate(y)]
    frame["gap"] = np.where(y == 0, np.nan, y + 0.1 * rng.normal(size=n))
    assert sorted(found_in(frame)) == ["bent", "gap", "number", "word"]


def test_strong_honest_columns_and_chance_are_not_leaks():
    rng, frame = noise(300)
    frame["strong"] = 2.5 * frame["y"] + rng.normal(size=300)  # an area of 0.96
    frame["words"] = rng.choice([f"w{k}" for k in range(100)], 300)  # separates rows it has seen
    assert found_in(frame) == []
    _, wide = noise(40)
    wide = pd.concat([wide, pd.DataFrame(rng.normal(size=(40, 2000))).add_prefix("g")], axis=1)
    assert found_in(wide) == []


def test_copies_of_rows_do_not_make_a_column_a_leak():
    _, frame = noise(60)
    assert found_in(pd.concat([frame] * 3, ignore_index=True)) == []


def test_few_rows_of_a_class_tell_nothing():
    _, frame = noise(30)
    frame["y"] = (np.arange(30) < 3).astype(int)
    assert found_in(frame.assign(same=frame["y"] + 0.1 * frame["a"])) == []


def test_columns_that_are_left_out_are_not_looked_at():
    _, frame = noise(100)
    frame["same"] = frame["y"] + 0.1 * frame["a"]
    columns = describe_columns(frame, "y", drop=["same"])
    assert leaking_columns(frame, check_target(frame, "y"), columns) == []


def test_copies_are_named_where_chance_does_not_explain_them():
    rng, frame = noise(60)
    three_times = pd.concat([frame] * 3, ignore_index=True)
    found = evaluate(three_times, "y", "svc", against=(), cv=2)
    assert any(note.startswith("120 of 180 rows are copies") for note in found.notes)
    words = pd.DataFrame({"a": rng.choice(["x", "y", "z"], 180), "b": rng.choice(["u", "v"], 180)})
    words["y"] = rng.integers(0, 2, 180)
    for table in (words, frame):
        found = evaluate(table, "y", "svc", against=(), cv=2)
        assert not any("copies" in note for note in found.notes)

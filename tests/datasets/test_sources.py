"""Sources of data sets without a folder, and errors where there is none."""

import sys
import warnings
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from kernelwise.datasets import list_datasets, load_dataset, where

from .tables import FACTS


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    monkeypatch.delenv("KERNELWISE_DATA", raising=False)


@pytest.fixture
def openml(monkeypatch):
    """Answer as OpenML does, and write down what is asked; without data it is out of reach."""
    service = SimpleNamespace(asked=[], data=None, target=None)

    def fetch(**asked):
        service.asked.append(asked)
        if service.data is None:
            warnings.warn("A network error occurred while downloading. Retrying...", stacklevel=2)
            raise URLError("no route to host")
        return SimpleNamespace(data=service.data, target=service.target)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    return service


def sonar_of_openml():
    """Return columns and classes of sonar's size, spelt as OpenML does."""
    X = pd.DataFrame(np.random.default_rng(0).random((208, 60)))
    X.columns = [f"attribute_{k}" for k in range(60)]
    return X, pd.Series(["Rock"] * 97 + ["Mine"] * 111, dtype="category", name="Class")


@pytest.mark.parametrize("name", ["iris", "wdbc", "wine", "digits"])
def test_scikit_learn_brings_sets_along(name, openml):
    rows, features, classes, _ = FACTS[name]
    found = load_dataset(name)
    assert found.X.shape == (rows, features)
    assert dict(zip(*np.unique(found.y, return_counts=True), strict=True)) == classes
    assert found.source == where(name)
    assert found.source.startswith("scikit-learn, load_")
    assert openml.asked == []


def test_values_of_scikit_learn_are_kept_exactly():
    X, y = sklearn.datasets.load_breast_cancer(return_X_y=True)
    found = load_dataset("wdbc")
    assert (found.X == X).all()
    assert ((found.y == "M") == (y == 0)).all()


def test_iris_differs_from_scikit_learns_as_described(data_dir):
    uci, fisher = load_dataset("iris", data_dir=data_dir), load_dataset("iris")
    assert (uci.X != fisher.X).sum() == 3
    assert "differs in 3 cells of 2 rows" in fisher.description
    bundled, file = load_dataset("wdbc"), load_dataset("wdbc", data_dir=data_dir)
    assert (bundled.X == file.X).all()
    assert (bundled.y == file.y).all()


def test_openml_is_asked_for_its_number(openml):
    openml.data, openml.target = sonar_of_openml()
    found = load_dataset("sonar")
    assert [asked["data_id"] for asked in openml.asked] == [40]
    assert found.source == where("sonar") == "OpenML, data_id=40"
    assert (openml.data.to_numpy() == found.X).all()
    assert found.feature_names[0] == "attribute_0"
    assert found.y.tolist() == ["R"] * 97 + ["M"] * 111  # spelt as in the folder


def test_words_and_missing_cells_of_openml(openml):
    rng = np.random.default_rng(0)
    X = rng.choice(["y", "n"], (435, 16)).astype(object)
    X.flat[rng.choice(X.size, 392, replace=False)] = None
    openml.data = pd.DataFrame(X, columns=[f"vote {k}" for k in range(16)], dtype="category")
    openml.target = pd.Series(["democrat"] * 267 + ["republican"] * 168)
    found = load_dataset("voting")
    assert found.categories == {f"vote {k}": ("n", "y") for k in range(16)}
    assert np.array_equal(np.isnan(found.X), openml.data.isna())
    assert np.array_equal(found.X == 1, openml.data == "y")


def test_sets_are_made_from_what_openml_has(openml):
    rng = np.random.default_rng(0)
    openml.data = pd.DataFrame(rng.random((506, 13)))
    openml.target = pd.Series(np.r_[np.full(48, 36.5), np.full(458, 35.0)])
    found = load_dataset("housing_medv35")
    assert (found.y == "medv_above_35").sum() == 48
    assert openml.asked[0]["data_id"] == 531
    assert (load_dataset("housing").y == openml.target).all()


def test_another_set_under_the_number_is_refused(openml):
    X, y = sonar_of_openml()
    openml.data, openml.target = X.iloc[:, 1:], y.cat.rename_categories({"Mine": "mine"})
    with pytest.raises(ValueError, match="OpenML, data_id=40 is not the data set 'sonar'") as told:
        load_dataset("sonar")
    assert "features: expected 60, found 59" in str(told.value)
    assert "classes: expected M 111, R 97, found R 97, mine 111" in str(told.value)


def test_leak_that_cannot_be_left_out_is_an_error(openml):
    rng = np.random.default_rng(0)
    X = rng.random((368, 22))
    X.flat[rng.choice(X.size, 1927, replace=False)] = np.nan
    openml.data = pd.DataFrame(X, columns=[f"c{k}" for k in range(22)])
    openml.target = pd.Series(["yes"] * 232 + ["no"] * 136)
    with pytest.raises(ValueError, match="has no column outcome, which must be left out"):
        load_dataset("horse_colic")
    assert load_dataset("horse_colic", drop_leaks=False).X.shape == (368, 22)


@pytest.mark.parametrize("name", ["sonar", "import_lowrisk"])
def test_without_a_network_one_error_tells_all_remedies(name, openml):
    file, number = {"sonar": ("sonar", 40), "import_lowrisk": ("automobile", 9)}[name]
    with pytest.raises(ConnectionError, match=f"'{file}' could not be fetched") as told:
        load_dataset(name)
    message = str(told.value)
    assert "no route to host" in message
    assert f"Put {file}.csv.gz into a folder" in message
    assert "set the environment variable KERNELWISE_DATA" in message
    assert "data_dir" not in message  # which the command line does not have
    assert "(iris, wdbc, wine, digits)" in message
    assert f"allow access to OpenML over the network (data_id={number})" in message


@pytest.mark.parametrize("name", ["musk1", "newsgroups20", "newsgroups20_text"])
def test_set_without_a_source_is_an_error(name, openml, tmp_path):
    assert where(name, data_dir=tmp_path) == "nowhere"
    with pytest.raises(FileNotFoundError, match=f"'{name}' was not found.*into a folder.*no such"):
        load_dataset(name, data_dir=tmp_path)
    assert openml.asked == []


def test_openml_needs_pandas(openml, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"needs pandas: pip install 'kernelwise\[cli\]'"):
        load_dataset("sonar")
    with pytest.raises(ImportError, match="a data frame needs pandas"):
        load_dataset("wine").to_frame()


def test_similar_names_are_suggested():
    with pytest.raises(ValueError, match=r"'sonnar' is not a data set; did you mean 'sonar'"):
        load_dataset("sonnar")
    with pytest.raises(ValueError, match=r"'newsgroups20' or 'newsgroups20_text'"):
        where("20newsgroups")
    with pytest.raises(ValueError, match=r"no name is similar; .*list_datasets"):
        load_dataset("zzz")


def test_the_list_tells_sizes_papers_and_sources():
    table = pd.DataFrame(list_datasets()).set_index("name")
    assert table.loc["sonar", ["rows", "features", "classes", "missing"]].tolist() == [
        208,
        60,
        2,
        0,
    ]
    assert table.loc["iris", "sources"] == ("folder", "scikit-learn", "OpenML")
    assert table.loc["import_lowrisk", "sources"] == ("folder", "OpenML")
    assert table.loc["wine", "sources"] == ("scikit-learn",)
    assert table.loc["housing", "classes"] == 0
    assert table.index.is_unique
    users = table["papers"].explode()
    assert set(users[users == "dual_objective"].index) == {
        "breast_cancer_wisconsin", "ecoli", "glass", "ionosphere", "iris", "pima", "voting",
    }  # fmt: skip
    assert (users == "feature_discrimination").sum() == 15  # two readings of echocardiogram

"""Data sets from a folder, scikit-learn and OpenML; noise columns and toy problems."""

import csv
import gzip
import warnings
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from reproduction.datasets import (
    Dataset,
    load_dataset,
    make_mirror_symmetry,
    make_noisy,
    make_sign_product,
    make_two_gaussians,
)
from reproduction.datasets.registry import REGISTRY
from reproduction.datasets.table import coded, labels_of


def sonar_rows(n_mines=111, n_rocks=97):
    """Return a header and rows that look like sonar."""
    rng = np.random.default_rng(0)
    header = [f"a{i:02d}" for i in range(1, 61)] + ["target"]
    labels = ["M"] * n_mines + ["R"] * n_rocks
    return header, [[f"{x:.4f}" for x in rng.random(60)] + [label] for label in labels]


def write(path, header, rows):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(",".join(cells) + "\n" for cells in [header, *rows])
    return path


def test_every_set_is_read_from_the_folder_and_has_its_known_facts(data_dir):
    for name, spec in REGISTRY.items():
        found = load_dataset(name, data_dir=data_dir, drop_leaks=False)
        assert len(found.y) == spec.rows, name  # sizes, classes and gaps are checked on loading
        honest = load_dataset(name, data_dir=data_dir)
        for column in spec.leaks:
            assert column not in honest.feature_names
            assert f"Left out: {column}," in honest.description
            assert f"Kept, though a leak: {column}," in found.description


def test_sets_made_from_others_equal_their_files(data_dir):
    for name in ("import_lowrisk", "housing_medv35", "echocardiogram_alive1"):
        made = load_dataset(name, data_dir=data_dir)
        with gzip.open(data_dir / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as lines:
            header, *rows = csv.reader(lines)
        assert made.feature_names == tuple(header[:-1])
        assert [str(label) for label in made.y] == [row[-1] for row in rows]
        for k, column in enumerate(made.feature_names):
            words = made.categories.get(column)
            for value, row in zip(made.X[:, k], rows, strict=True):
                assert (row[k] == "") == np.isnan(value)
                if row[k]:
                    assert row[k] == words[int(value)] if words else float(row[k]) == value


def test_word_counts_and_posts(data_dir):
    news = load_dataset("newsgroups20", data_dir=data_dir)
    assert (news.X.format, news.X.shape, news.X.nnz) == ("csr", (19997, 30772), 2539134)
    sciences = news.of_classes([group for group in news.target_names if group.startswith("sci.")])
    assert (sciences.X.shape, len(sciences.target_names)) == ((4000, 30772), 4)
    posts = load_dataset("newsgroups20_text", data_dir=data_dir)
    assert (posts.y == news.y).all()
    assert not any(text.startswith(("Xref:", "Path:", "Newsgroups:")) for text in posts.X[::50])
    with pytest.raises(ValueError, match="vectorizer"):
        posts.encoder()
    with pytest.raises(ValueError, match=r"labels=.* are not classes of newsgroups20"):
        news.of_classes(["sci.nothing"])


def test_folder_is_named_by_argument_or_environment(tmp_path, monkeypatch):
    path = write(tmp_path / "sonar.csv.gz", *sonar_rows())
    assert load_dataset("sonar", data_dir=tmp_path).source == str(path)
    monkeypatch.setenv("KERNELWISE_DATA", str(tmp_path))
    assert load_dataset("sonar").source == str(path)
    with pytest.raises(NotADirectoryError, match=r"data_dir names .*nowhere.* is not a folder"):
        load_dataset("sonar", data_dir=tmp_path / "nowhere")
    monkeypatch.setenv("KERNELWISE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(NotADirectoryError, match="KERNELWISE_DATA names"):
        load_dataset("wine")


def test_damaged_files_are_refused(tmp_path):
    header, rows = sonar_rows()
    path = write(tmp_path / "sonar.csv.gz", header, rows)
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"no archive", whole[:40] + b"\0" * 40 + whole[80:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"sonar\.csv\.gz cannot be read .* intact copy"):
            load_dataset("sonar", data_dir=tmp_path)
    with gzip.open(tmp_path / "newsgroups20.jsonl.gz", "wt") as file:
        file.write('{"text": "no group"}\n')
    with pytest.raises(ValueError, match=r"newsgroups20\.jsonl\.gz cannot be read"):
        load_dataset("newsgroups20_text", data_dir=tmp_path)
    for names, lines, said in [
        (header, [*rows[:5], rows[5][:-2], *rows[6:]], "line 7: 59 cells, expected 61"),
        (header[::-1], rows, "`target` last"),
        ([header[1], *header[1:]], rows, "two columns the same name"),
        (header, [], "rows: expected 208, found 0"),
        (header, rows[1:], "classes: expected M 111, R 97, found M 110, R 97"),
    ]:
        write(path, names, lines)
        with pytest.raises(ValueError, match=said):
            load_dataset("sonar", data_dir=tmp_path)


@pytest.fixture
def openml(monkeypatch):
    """Answer as OpenML does, and write down what is asked; without data it is out of reach."""
    monkeypatch.delenv("KERNELWISE_DATA", raising=False)
    service = SimpleNamespace(asked=[], data=None, target=None)

    def fetch(**asked):
        service.asked.append(asked)
        if service.data is None:
            warnings.warn("A network error occurred while downloading. Retrying...", stacklevel=2)
            raise URLError("no route to host")
        return SimpleNamespace(data=service.data, target=service.target)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    return service


def test_scikit_learn_brings_sets_along(openml):
    for name in ("iris", "wdbc", "wine", "digits"):
        assert load_dataset(name).source.startswith("scikit-learn, load_")
    assert openml.asked == []
    X, y = sklearn.datasets.load_breast_cancer(return_X_y=True)
    found = load_dataset("wdbc")
    assert (found.X == X).all()
    assert ((found.y == "M") == (y == 0)).all()


def test_openml_is_asked_for_its_number_and_checked(openml):
    openml.data = pd.DataFrame(np.random.default_rng(0).random((208, 60))).add_prefix("a")
    openml.target = pd.Series(["Rock"] * 97 + ["Mine"] * 111, dtype="category")
    found = load_dataset("sonar")
    assert found.source == "OpenML, data_id=40"
    assert [asked["data_id"] for asked in openml.asked] == [40]
    assert (openml.data.to_numpy() == found.X).all()
    assert found.y.tolist() == ["R"] * 97 + ["M"] * 111  # spelt as in the folder
    openml.data = openml.data.iloc[:, 1:]
    with pytest.raises(ValueError, match=r"OpenML, data_id=40 is not .* expected 60, found 59"):
        load_dataset("sonar")
    rng = np.random.default_rng(0)
    X = rng.choice(["y", "n"], (435, 16)).astype(object)
    X.flat[rng.choice(X.size, 392, replace=False)] = None
    openml.data = pd.DataFrame(X, dtype="category").add_prefix("vote ")
    openml.target = pd.Series(["democrat"] * 267 + ["republican"] * 168)
    found = load_dataset("voting")
    assert found.categories == {f"vote {k}": ("n", "y") for k in range(16)}
    assert np.array_equal(np.isnan(found.X), openml.data.isna())
    assert np.array_equal(found.X == 1, openml.data == "y")


def test_without_a_source_one_error_tells_all_remedies(openml, tmp_path):
    with pytest.raises(ConnectionError, match="'automobile' could not be fetched") as told:
        load_dataset("import_lowrisk")
    for said in ("no route to host", "Put automobile.csv.gz into a folder", "KERNELWISE_DATA",
                 "(iris, wdbc, wine, digits)", "OpenML over the network (data_id=9)"):  # fmt: skip
        assert said in str(told.value)
    with pytest.raises(FileNotFoundError, match=r"'musk1' was not found.*into a folder.*no such"):
        load_dataset("musk1", data_dir=tmp_path)
    with pytest.raises(ValueError, match=r"'sonnar' is not a data set; did you mean 'sonar'"):
        load_dataset("sonnar")


def test_words_and_missing_cells_become_numbers():
    nan = np.nan
    values, words = coded(("y", "n", "", "y"))
    assert (words, values.tolist()[:2]) == (("n", "y"), [1.0, 0.0])
    assert np.isnan(values[2])
    assert coded(("2", "", "-1e3"))[0][[0, 2]].tolist() == [2.0, -1000.0]
    assert labels_of(["2", "-1"]).tolist() == [2, -1]
    assert labels_of(["2", "a"]).tolist() == ["2", "a"]
    X = np.array([[1.0, 0, 2, 7], [nan, 1, nan, 8], [3, nan, 2, 9], [5, 0, 0, nan], [5, 0, 1, nan]])
    levels = {"b": ("no", "yes"), "c": ("p", "q", "r")}
    data = Dataset("mixed", X, np.arange(5), tuple("abcd"), (), levels, "", "")
    assert data.n_categories.tolist() == [0, 2, 3, 0]
    Z = data.encoder().fit(X[:3]).transform(X)
    assert Z[:, 0].tolist() == [1, 2, 3, 5, 5]  # mean 2 of 1 and 3
    assert Z[:, 1].tolist() == [0, 1, 0, 0, 0]  # two words are one column; a tie goes to the first
    assert Z[:, 2:5].tolist() == [[0, 0, 1]] * 3 + [[1, 0, 0], [0, 1, 0]]
    assert Z[:, 5].tolist() == [7, 8, 9, 8, 8]
    kept = data.encoder(missing="keep").fit(X[:3]).transform(X)
    assert np.array_equal(np.isnan(kept[:, [0, 5]]), np.isnan(X[:, [0, 3]]))
    assert data.encoder().fit(X[[3, 4]]).transform(X)[3:, 5].tolist() == [0, 0]  # none is known


def test_toy_problems():
    for make in (make_mirror_symmetry, make_two_gaussians, make_sign_product):
        (X, y), (same, _), (other, _) = (make(50, random_state=seed) for seed in (1, 1, 2))
        assert len(X) == len(y) == 50
        assert (same == X).all()
        assert (other != X).any()
    for n, p in ((201, 31), (2, 2), (100, 3)):
        X, y = make_mirror_symmetry(n, p, random_state=0)
        assert set(np.unique(X)) == {-1.0, 1.0}
        assert y.tolist() == [1 if row[::-1] == row else -1 for row in X.tolist()]
        assert (y == 1).sum() == n // 2
    X, y = make_two_gaussians(20_001, random_state=0)
    assert np.bincount(y).tolist() == [10_001, 10_000]
    for label, mean in ((0, [0, 0]), (1, [2, 1])):
        assert X[y == label].mean(axis=0) == pytest.approx(mean, abs=0.04)
        assert np.cov(X[y == label].T) == pytest.approx(np.eye(2), abs=0.06)
    for factors in (1, 2, 3):
        X, y = make_sign_product(4000, 5, n_factors=factors, random_state=0)
        assert (y == ((X[:, :factors] < 0).sum(axis=1) % 2 == 0)).all()


def test_noise_columns():
    X = np.full((5000, 3), np.nan)
    noise = make_noisy(X, n_noise=4, random_state=0)
    assert np.isnan(noise[:, :3]).all()
    assert np.cov(noise[:, 3:].T) == pytest.approx(np.eye(4), abs=0.06)
    assert make_noisy(X, random_state=0).shape == (5000, 6)
    source = np.arange(5.0) * 100 + np.arange(3.0)[:, None]
    source[0, 0] = np.nan
    drawn = make_noisy(np.zeros((50, 1)), n_noise=7, source=source, random_state=0)[:, 1:]
    features = (drawn // 100).astype(int)
    assert (features == features[0]).all()  # a column is tied to one feature
    assert sorted(features[0, :5]) == [0, 1, 2, 3, 4]
    assert len(set(features[0, 5:])) == 2  # none serves again while there is another
    assert not np.isnan(drawn).any()
    assert len({tuple(column) for column in (drawn % 100).T}) == 7  # drawn entry by entry
    for bad in (np.full((4, 1), np.nan), np.zeros((4, 0)), np.zeros(4)):
        with pytest.raises(ValueError, match="source must have two dimensions and a number"):
            make_noisy(np.zeros((4, 2)), source=bad)

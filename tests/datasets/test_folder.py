"""Every data set is read from the folder."""

import csv
import gzip

import numpy as np
import pytest

from kernelwise.datasets import list_datasets, load_dataset, where

from .tables import FACTS, sonar_rows, write


def counts(y):
    return dict(zip(*(part.tolist() for part in np.unique(y, return_counts=True)), strict=True))


@pytest.mark.parametrize("name", FACTS)
def test_a_set_has_the_size_that_is_written_down(name, data_dir):
    rows, features, classes, missing = FACTS[name]
    found = load_dataset(name, data_dir=data_dir, drop_leaks=False)
    assert found.X.shape == (rows, features)
    assert found.X.dtype == np.float64
    assert np.isnan(found.X).sum() == missing
    assert len(found.feature_names) == features
    if classes:
        assert counts(found.y) == classes
        assert found.target_names == tuple(map(str, sorted(classes)))
    else:
        assert found.y.dtype == np.float64
        assert found.target_names == ()


def test_no_set_is_forgotten():
    assert {one.name for one in list_datasets()} == {*FACTS, "newsgroups20", "newsgroups20_text"}


def cells_of(path):
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        header, *rows = csv.reader(lines)
    return header, rows


@pytest.mark.parametrize("name", ["import_lowrisk", "housing_medv35", "echocardiogram_alive1"])
def test_a_set_made_from_another_equals_the_file_of_it(name, data_dir):
    made = load_dataset(name, data_dir=data_dir)
    header, rows = cells_of(data_dir / f"{name}.csv.gz")
    assert made.feature_names == tuple(header[:-1])
    assert [str(label) for label in made.y] == [row[-1] for row in rows]
    for k, column in enumerate(made.feature_names):
        words = made.categories.get(column)
        for value, row in zip(made.X[:, k], rows, strict=True):
            cell = row[k]
            assert (cell == "") == np.isnan(value)
            if cell:
                assert cell == words[int(value)] if words else float(cell) == value


@pytest.mark.parametrize(
    ("name", "leaks"),
    [
        ("wpbc", ["time"]),
        ("horse_colic", ["outcome"]),
        ("echocardiogram", ["survival", "alive_at_1"]),
    ],
)
def test_leaks_are_left_out_and_named(name, leaks, data_dir):
    honest = load_dataset(name, data_dir=data_dir)
    whole = load_dataset(name, data_dir=data_dir, drop_leaks=False)
    kept = [k for k, column in enumerate(whole.feature_names) if column not in leaks]
    assert len(kept) == whole.X.shape[1] - len(leaks)
    assert np.array_equal(honest.X, whole.X[:, kept], equal_nan=True)
    assert set(leaks).isdisjoint(honest.feature_names)
    for column in leaks:
        assert f"Left out: {column}," in honest.description
        assert f"Kept, though a leak: {column}," in whole.description
    (info,) = [one for one in list_datasets() if one.name == name]
    assert list(info.leaks) == leaks


def test_word_counts(data_dir):
    news = load_dataset("newsgroups20", data_dir=data_dir)
    assert (news.X.format, news.X.shape, news.X.nnz) == ("csr", (19997, 30772), 2539134)
    assert len(news.feature_names) == 30772
    assert counts(news.y) == {
        group: 997 if group == "soc.religion.christian" else 1000 for group in news.target_names
    }
    assert (np.diff(news.X.indptr) == 0).sum() == 44  # 42 without a word, 2 with rare ones alone
    sciences = news.of_classes([group for group in news.target_names if group.startswith("sci.")])
    assert sciences.X.shape == (4000, 30772)
    assert len(sciences.target_names) == 4


def test_posts_begin_after_their_headers(data_dir):
    news = load_dataset("newsgroups20_text", data_dir=data_dir)
    counted = load_dataset("newsgroups20", data_dir=data_dir)
    assert news.X.shape == (19997,)
    assert (news.y == counted.y).all()
    assert not any(text.startswith(("Xref:", "Path:", "Newsgroups:")) for text in news.X[::50])
    row = counted.X[[0]].tocoo()
    word = counted.feature_names[row.col[row.data.argmax()]]
    assert word in news.X[0].lower()
    with pytest.raises(ValueError, match="vectorizer"):
        news.encoder()
    whole = load_dataset("newsgroups20_text", data_dir=data_dir, drop_leaks=False)
    assert "Newsgroups: alt.atheism" in whole.X[0]
    assert whole.X[0].endswith(news.X[0])


def test_rows_of_some_classes(data_dir):
    usps = load_dataset("usps_test", data_dir=data_dir).of_classes([0, 3])
    assert counts(usps.y) == {0: 359, 3: 166}
    assert (len(usps.X), usps.target_names) == (525, ("0", "3"))
    with pytest.raises(ValueError, match=r"labels=\[11\] are not classes of usps_test"):
        usps.of_classes([0, 11])


def test_the_environment_names_the_folder(tmp_path, monkeypatch):
    path = write(tmp_path / "sonar.csv.gz", *sonar_rows())
    monkeypatch.setenv("KERNELWISE_DATA", str(tmp_path))
    found = load_dataset("sonar")
    assert found.source == where("sonar") == str(path)
    assert found.X[0, 0] == float(sonar_rows()[1][0][0])
    other = tmp_path / "other"
    other.mkdir()
    assert where("sonar", data_dir=other) == "OpenML, data_id=40"  # the argument comes first


def test_path_that_is_not_a_folder_is_refused(tmp_path, monkeypatch):
    with pytest.raises(NotADirectoryError, match=r"data_dir names .*nowhere.* is not a folder"):
        load_dataset("sonar", data_dir=tmp_path / "nowhere")
    monkeypatch.setenv("KERNELWISE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(NotADirectoryError, match="KERNELWISE_DATA names"):
        load_dataset("wine")


def test_file_of_another_shape_is_refused(tmp_path):
    header, rows = sonar_rows(110, 97)
    rows[0][3] = ""
    path = write(tmp_path / "sonar.csv.gz", header, rows)
    with pytest.raises(ValueError, match="is not the data set 'sonar'") as told:
        load_dataset("sonar", data_dir=tmp_path)
    message = str(told.value)
    assert message.startswith(str(path))
    assert "rows: expected 208, found 207" in message
    assert "missing cells: expected 0, found 1" in message
    assert "classes: expected M 111, R 97, found M 110, R 97" in message
    assert "features" not in message


def test_damaged_files_are_refused(tmp_path):
    path = write(tmp_path / "sonar.csv.gz", *sonar_rows())
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"no archive", whole[:40] + b"\0" * 40 + whole[80:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"sonar\.csv\.gz cannot be read .* intact copy"):
            load_dataset("sonar", data_dir=tmp_path)
    (tmp_path / "newsgroups20_counts.npz").write_bytes(b"no archive")
    with pytest.raises(ValueError, match=r"newsgroups20_counts\.npz cannot be read"):
        load_dataset("newsgroups20", data_dir=tmp_path)
    with gzip.open(tmp_path / "newsgroups20.jsonl.gz", "wt") as file:
        file.write('{"text": "no group"}\n')
    with pytest.raises(ValueError, match=r"newsgroups20\.jsonl\.gz cannot be read"):
        load_dataset("newsgroups20_text", data_dir=tmp_path)


def test_files_that_are_not_tables_are_refused(tmp_path):
    header, rows = sonar_rows()
    path = tmp_path / "sonar.csv.gz"
    write(path, header, [*rows[:5], rows[5][:-2], *rows[6:]])
    with pytest.raises(ValueError, match="line 7: 59 cells, expected 61"):
        load_dataset("sonar", data_dir=tmp_path)
    write(path, header[::-1], rows)
    with pytest.raises(ValueError, match="`target` last"):
        load_dataset("sonar", data_dir=tmp_path)
    write(path, [header[1], *header[1:]], rows)
    with pytest.raises(ValueError, match="two columns the same name"):
        load_dataset("sonar", data_dir=tmp_path)
    path.write_bytes(gzip.compress(b""))
    with pytest.raises(ValueError, match="must name its columns"):
        load_dataset("sonar", data_dir=tmp_path)
    write(path, header, [])
    with pytest.raises(ValueError, match="rows: expected 208, found 0"):
        load_dataset("sonar", data_dir=tmp_path)

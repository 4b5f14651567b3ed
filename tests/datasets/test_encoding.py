"""Columns of words and missing cells as plain numbers."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelwise.datasets import Dataset, load_dataset
from kernelwise.datasets.table import coded, labels_of

NAN = np.nan


def mixed():
    """Return numbers, two words, three words, and numbers again."""
    X = np.array([[1.0, 0, 2, 7], [NAN, 1, NAN, 8], [3, NAN, 2, 9], [5, 0, 0, NAN], [5, 0, 1, NAN]])
    words = {"b": ("no", "yes"), "c": ("p", "q", "r")}
    return Dataset("mixed", X, np.arange(5), tuple("abcd"), (), words, "", "")


def test_cells_are_numbers_or_places_of_words():
    values, words = coded(("y", "n", "", "y"))
    assert words == ("n", "y")
    assert values.tolist()[:2] == [1.0, 0.0]
    assert np.isnan(values[2])
    values, words = coded(("2", "", "-1e3"))
    assert (words, values[0], values[2]) == ((), 2.0, -1000.0)
    assert np.isnan(values[1])
    assert labels_of(["2", "-1"]).tolist() == [2, -1]
    assert labels_of(["2", "a"]).tolist() == ["2", "a"]


def test_missing_cells_are_filled_by_the_rows_it_is_fitted_to():
    data = mixed()
    assert data.n_categories.tolist() == [0, 2, 3, 0]
    Z = data.encoder().fit(data.X[:3]).transform(data.X)
    assert Z[:, 0].tolist() == [1, 2, 3, 5, 5]  # mean 2 of 1 and 3
    assert Z[:, 1].tolist() == [0, 1, 0, 0, 0]  # two words are one column; a tie goes to the first
    assert Z[:, 2:5].tolist() == [[0, 0, 1]] * 3 + [[1, 0, 0], [0, 1, 0]]
    assert Z[:, 5].tolist() == [7, 8, 9, 8, 8]
    kept = data.encoder(missing="keep").fit(data.X[:3]).transform(data.X)
    assert np.array_equal(np.isnan(kept[:, [0, 5]]), np.isnan(data.X[:, [0, 3]]))
    assert (kept[:, 1:5] == Z[:, 1:5]).all()
    with pytest.raises(ValueError, match=r"missing='drop' must be \"mean\" or \"keep\""):
        data.encoder(missing="drop")


def test_columns_without_any_known_cell_do_not_break_a_fold():
    data = mixed()
    Z = data.encoder().fit(data.X[[3, 4]]).transform(data.X)
    assert Z.shape == (5, 6)
    assert Z[3:, 5].tolist() == [0, 0]
    Z = data.encoder().fit(data.X[[2]]).transform(data.X[[2]])
    assert Z.tolist() == [[3, 0, 0, 0, 1, 9]]


def test_encoder_in_a_pipeline(data_dir):
    colic = load_dataset("horse_colic", data_dir=data_dir)
    model = make_pipeline(colic.encoder(), StandardScaler(), SVC())
    assert cross_val_score(model, colic.X, colic.y).mean() > 0.78
    assert colic.encoder().fit_transform(colic.X).shape == (368, 57)


def test_encoder_leaves_counts_sparse(data_dir):
    news = load_dataset("newsgroups20", data_dir=data_dir)
    rows = news.X[:50]
    assert (news.encoder().fit_transform(rows) != rows).nnz == 0


def test_frames_have_words(data_dir):
    colic = load_dataset("horse_colic", data_dir=data_dir)
    frame = colic.to_frame()
    assert frame.shape == (368, 22)  # without the outcome, with the target
    assert frame.columns[-1] == "target"
    assert frame["temp_extremities"].iloc[0] == "cool"
    assert frame["pulse"].iloc[0] == 66
    assert frame.drop(columns="target").isna().to_numpy().sum() == np.isnan(colic.X).sum()


def test_frames_of_counts_and_of_texts():
    from scipy.sparse import csr_matrix

    y = np.array(["a", "b"])
    counts = Dataset("n", csr_matrix([[0.0, 2.0], [1.0, 0.0]]), y, ("p", "q"), (), {}, "", "")
    with pytest.raises(ValueError, match="n is a sparse matrix"):
        counts.to_frame()
    texts = Dataset("t", np.array(["one", "two"], object), y, ("text",), (), {}, "", "")
    assert texts.to_frame().to_numpy().tolist() == [["one", "a"], ["two", "b"]]

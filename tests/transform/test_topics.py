"""TopicFeatures: a fixed point of the EM of pLSA, and rows that are described one by one."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from kernelwise.transform import TopicFeatures
from tests.loop import loop


def corpus(n=60, d=40, topics=3, seed=0):
    """Return counts drawn from topics that share few words, and the shares of the topics."""
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(np.full(d, 0.1), topics)
    shares = rng.dirichlet(np.full(topics, 0.5), n)
    lengths = rng.integers(50, 300, n)
    pairs = zip(lengths, shares @ words, strict=True)
    return np.array([rng.multinomial(length, p) for length, p in pairs], dtype=float), shares


X, SHARES = corpus()
NEW, _ = corpus(seed=0, n=80)


def thorough(n_components=3, max_iter=1000, **settings):
    return TopicFeatures(n_components, max_iter=max_iter, tol=0.0, random_state=0, **settings)


@pytest.fixture(scope="module")
def fitted():
    return thorough().fit(X)


# --- Against the EM of pLSA ----------------------------------------------------------------------


def em_step(counts, words, shares):
    """Return p(word | topic) and p(topic | document) after a step of EM, in plain loops."""
    new_words, new_shares = np.zeros_like(words), np.zeros_like(shares)
    for i, j in zip(*np.nonzero(counts), strict=True):
        belongs = shares[i] * words[:, j]
        expected = counts[i, j] * belongs / belongs.sum()
        new_words[:, j] += expected
        new_shares[i] += expected
    return (
        new_words / new_words.sum(axis=1, keepdims=True),
        new_shares / new_shares.sum(axis=1, keepdims=True),
    )


def log_likelihood(counts, words, shares):
    chances = shares @ words
    seen = counts > 0
    return (counts[seen] * np.log(chances[seen])).sum()


def test_a_step_of_em_changes_nothing(fitted):
    shares = fitted.transform(X)
    words, after = em_step(X, fitted.components_, shares)
    assert_allclose(words, fitted.components_, atol=1e-5)
    assert_allclose(after, shares, atol=1e-5)
    # The step is able to tell: it moves what is not a solution.
    rough = TopicFeatures(3, max_iter=5, tol=0.0, random_state=0).fit(X)
    assert np.abs(
        em_step(X, rough.components_, rough.transform(X))[0] - rough.components_
    ).max() > (1e-3)


def test_more_iterations_are_more_likely():
    models = [thorough(max_iter=count).fit(X) for count in (1, 3, 10, 30, 100, 1000)]
    values = [log_likelihood(X, model.components_, model.transform(X)) for model in models]
    assert (np.diff(values) > 0).all()


def test_amounts_of_training_rows_are_those_of_the_factorisation():
    model = NMF(3, solver="mu", beta_loss="kullback-leibler", tol=0, max_iter=3000, random_state=0)
    amounts = model.fit_transform(X) * model.components_.sum(axis=1)
    topics = thorough(max_iter=3000, normalize=False)
    assert_allclose(topics.fit_transform(X), amounts, atol=1e-3)


def test_topics_are_found_again(fitted):
    shares = fitted.transform(X)
    match = np.corrcoef(SHARES.T, shares.T)[:3, 3:]
    assert (match.max(axis=1) > 0.97).all()
    assert len(set(match.argmax(axis=1))) == 3


def test_shares_are_the_most_likely_for_their_row(fitted):
    """The conditions of the best shares: no topic explains the words better than the mixture."""
    shares = fitted.transform(NEW)
    chances = shares @ fitted.components_
    ratio = np.divide(NEW, chances, out=np.zeros_like(NEW), where=NEW > 0)
    gains = ratio @ fitted.components_.T / NEW.sum(axis=1, keepdims=True)
    assert (gains < 1 + 1e-3).all()
    assert_allclose(gains[shares > 1e-3], 1.0, atol=1e-3)


# --- Shares and counts ---------------------------------------------------------------------------


def test_shares_and_words_sum_to_one(fitted):
    shares = fitted.transform(NEW)
    assert shares.min() >= 0
    assert_allclose(shares.sum(axis=1), 1.0)
    assert_allclose(fitted.components_.sum(axis=1), 1.0)
    assert fitted.components_.min() >= 0


def test_counts_of_topics_sum_to_the_counts(fitted):
    amounts = clone(fitted).set_params(normalize=False).fit(X).transform(NEW)
    assert_allclose(amounts.sum(axis=1), NEW.sum(axis=1))
    assert_allclose(amounts / amounts.sum(axis=1, keepdims=True), fitted.transform(NEW))


def test_length_does_not_matter_to_the_shares(fitted):
    factors = np.logspace(-6, 6, len(NEW))[:, None]
    assert_allclose(fitted.transform(factors * NEW), fitted.transform(NEW), atol=1e-6)


def test_rows_do_not_depend_on_each_other():
    model = TopicFeatures(3, random_state=0).fit(X)
    one_by_one = np.vstack([model.transform(row[None]) for row in NEW[:20]])
    assert_allclose(model.transform(NEW)[:20], one_by_one, rtol=1e-9, atol=1e-12)


def test_training_rows_are_described_like_new_ones():
    model = TopicFeatures(3, random_state=0)
    assert_array_equal(model.fit_transform(X), model.transform(X))


def test_rows_without_known_words():
    unseen = np.hstack([X, np.zeros((60, 2))])
    rows = np.zeros((4, 42))
    rows[1, 41] = 7.0  # a word of no topic
    rows[2, :40] = rows[3, :40] = X[0]
    rows[3, 41] = 7.0
    model = thorough(max_iter=300).fit(unseen)
    shares = model.transform(rows)
    assert_array_equal(shares[:2], np.full((2, 3), 1 / 3))
    assert_allclose(shares[3], shares[2], atol=1e-6)
    assert_array_equal(model.transform(rows[:1]), np.full((1, 3), 1 / 3))
    amounts = model.set_params(normalize=False).transform(rows)
    assert_array_equal(amounts[:2], 0.0)
    assert_allclose(amounts[3].sum(), X[0].sum())


def test_empty_training_rows_change_nothing():
    padded = np.vstack([X, np.zeros((5, 40))])
    full, plain = (thorough(n_components=1).fit(table) for table in (padded, X))
    assert_allclose(full.components_, plain.components_)
    assert_allclose(plain.components_[0], X.sum(axis=0) / X.sum())  # one topic is the mean


def test_more_topics_than_rows_or_words():
    model = TopicFeatures(9, tol=0.0, max_iter=500, random_state=0).fit(X[:5, :7])
    assert_allclose(model.transform(X[:5, :7]).sum(axis=1), 1.0)
    assert_allclose(model.components_.sum(axis=1), 1.0)


# --- Tables in and out ---------------------------------------------------------------------------


@loop("form", [sp.csr_array, sp.csr_matrix, sp.coo_array, sp.csc_matrix])
def test_sparse_counts(form):
    dense, sparse = (TopicFeatures(3, random_state=0).fit(table) for table in (X, form(X)))
    assert_allclose(sparse.components_, dense.components_, atol=1e-12)
    assert_allclose(sparse.transform(form(NEW)), dense.transform(NEW), atol=1e-12)


@loop(("name", "library"), [("pandas", pd), ("polars", pl)])
def test_frames_in_and_out(name, library):
    frame = library.DataFrame({f"word {j}": X[:, j] for j in range(40)})
    model = TopicFeatures(3, random_state=0).set_output(transform=name)
    out = model.fit_transform(frame)
    assert (
        list(out.columns)
        == list(model.get_feature_names_out())
        == ["topic_0", "topic_1", "topic_2"]
    )
    assert_array_equal(out.to_numpy(), TopicFeatures(3, random_state=0).fit_transform(X))


def test_whole_numbers_are_counts():
    whole = TopicFeatures(3, random_state=0).fit_transform(X.astype(np.int32))
    assert_array_equal(whole, TopicFeatures(3, random_state=0).fit_transform(X))


def test_one_seed_is_one_result():
    first, again = (TopicFeatures(50, random_state=5, tol=0.1).fit(X) for _ in range(2))
    other = TopicFeatures(50, random_state=6, tol=0.1).fit(X)
    assert_array_equal(first.components_, again.components_)
    assert np.abs(first.components_ - other.components_).max() > 1e-3


def test_clone_and_pickle(fitted):
    arrived = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(arrived.transform(NEW), fitted.transform(NEW))
    assert clone(fitted).get_params() == fitted.get_params()


# --- Messages ------------------------------------------------------------------------------------


def test_few_iterations_are_told_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = TopicFeatures(3, max_iter=10, tol=1e-8).fit(X)
        model.transform(NEW)
    assert model.n_iter_ == 10
    (warning,) = caught
    assert warning.category is ConvergenceWarning
    assert "max_iter=10" in str(warning.message)
    assert "tol=1e-08" in str(warning.message)


def test_learning_ends_at_tol():
    rough, fine = (TopicFeatures(3, tol=tol, random_state=0).fit(X) for tol in (1e-1, 1e-3))
    assert rough.n_iter_ < fine.n_iter_ < 200


@loop("form", [np.array, sp.csr_array], ids=["dense", "sparse"])
def test_negative_values(form, fitted):
    words = "Negative values.*TopicFeatures.*counts.*leave out"
    with pytest.raises(ValueError, match=words):
        TopicFeatures().fit(form(X - 1))
    with pytest.raises(ValueError, match=words):
        fitted.transform(form(X - 1))


def test_no_counts():
    with pytest.raises(ValueError, match="X has no counts above zero"):
        TopicFeatures().fit(np.zeros((3, 4)))


@loop(
    ("name", "value"),
    [
        *(("n_components", value) for value in (0, 0.5, None)),
        *(("max_iter", value) for value in (0, 1.5)),
        *(("tol", value) for value in (-1e-3, np.nan, None)),
        ("random_state", "seed"),
        ("normalize", "l1"),
    ],
)
def test_parameters_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=name):
        TopicFeatures(**{name: value}).fit(X)


def test_before_fit():
    with pytest.raises(NotFittedError):
        TopicFeatures().transform(X)

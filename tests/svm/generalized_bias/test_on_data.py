"""What topics in the bias are worth on the paper's newsgroups; docs/generalized_bias.md tells."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from kernelwise import SVC, TopicFeatures
from kernelwise.kernels import Linear, Normalized
from reproduction.datasets import load_dataset
from tests.loop import loop

from .oracles import unpenalised

N_WORDS, N_TOPICS, N_TEST, RUNS = 2000, 10, 1000, 3
# Documents: right of the plain machine, with free topics, with penalised ones.
RIGHT = {100: (0.572, 0.396, 0.629), 400: (0.790, 0.815, 0.837)}


def information(X, y):
    """Return the mutual information of each word, there or not, with the class."""
    there = (X > 0).astype(float)
    share = there.sum(axis=0) / X.shape[0]
    found = np.zeros(X.shape[1])
    for group in np.unique(y):
        own = np.mean(y == group)
        with_word = there[y == group].sum(axis=0) / X.shape[0]
        for joint, marginal in ((with_word, share), (own - with_word, 1 - share)):
            seen = joint > 1e-12
            found[seen] += joint[seen] * np.log(joint[seen] / (marginal[seen] * own))
    return found


@pytest.fixture(scope="module")
def science(data_dir):
    groups = load_dataset("newsgroups20", data_dir=data_dir)
    own = [str(name).startswith("sci.") for name in groups.y]
    return sp.csr_array(groups.X)[np.flatnonzero(own)].astype(float), np.asarray(groups.y)[own]


def one_run(X, y, n, seed):
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[:n], order[-N_TEST:]
    words = np.argsort(-information(X[train], y[train]), kind="stable")[:N_WORDS]
    topics = TopicFeatures(N_TOPICS, max_iter=100, tol=0.0, random_state=seed).fit(
        X[train][:, words]
    )
    rows, new = (
        sp.hstack([part, sp.csr_array(topics.transform(part))], format="csr")
        for part in (X[train][:, words], X[test][:, words])
    )
    cosine = Normalized(Linear())  # linear on rows of length one
    plain = SVC(kernel=cosine, C=10.0).fit(rows[:, :N_WORDS], y[train])
    scores = [plain.score(new[:, :N_WORDS], y[test])]
    for rho in (0.0, 1.0):
        model = unpenalised(
            slice(N_WORDS, None),
            exclude_bias_from_kernel=True,
            kernel=cosine,
            C=10.0,
            bias_penalty=rho,
        )
        scores.append(model.fit(rows, y[train]).score(new, y[test]))
    return scores


@loop("n", RIGHT)
def test_free_topics_harm_where_documents_are_few(science, n):
    plain, free, penalised = np.mean([one_run(*science, n, seed) for seed in range(RUNS)], axis=0)
    assert_allclose((plain, free, penalised), RIGHT[n], atol=0.02)
    assert (free < plain) == (n == 100)
    assert penalised > max(plain, free)

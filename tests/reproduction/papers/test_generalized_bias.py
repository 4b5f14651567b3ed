"""The experiments of the generalised-bias paper: protocols, and what their rows are made into."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import mutual_info_score

from kernelwise.kernels import RBF
from kernelwise.svm import SVC
from reproduction.papers.generalized_bias import newsgroups as news
from reproduction.papers.generalized_bias.images import images, near
from reproduction.papers.generalized_bias.machines import (
    CONTROL,
    FEATURES,
    GB,
    SVM,
    Contest,
    SplitRows,
    certified,
    tuned,
)
from reproduction.papers.generalized_bias.stability import FIXED, Stability
from reproduction.papers.generalized_bias.tables import NEIGHBOURS, Coil20, inner_parts
from reproduction.protocol import Split

COIL, STABILITY, NEWS = Coil20(), Stability(), news.Newsgroups()


def toy(seed=0, n=60):
    """Return three classes, by the first column of X and by a feature."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 2 * n)
    X = rng.normal(size=(2 * n, 3)) + y[:, None] * [1.0, 0.0, 0.0]
    F = rng.normal(size=(2 * n, 2)) + y[:, None] * [0.0, 1.0]
    return SplitRows(X[:n], F[:n], y[:n], X[n:], F[n:], y[n:])


@pytest.mark.parametrize("sparse", [False, True])
def test_the_control_is_svm_gb_with_a_penalty_of_one(sparse):
    part = toy()
    if sparse:
        part = part._replace(X=sp.csr_array(part.X), X_test=sp.csr_array(part.X_test))
    contest = Contest(part, RBF(gamma=0.3))
    control, penalised = contest.judge(CONTROL, 2.0), contest.judge_biased(2.0, 1.0)
    assert_array_equal(control.guesses, penalised.guesses)
    free = contest.judge(GB, 2.0)
    assert_array_equal(free.guesses, contest.judge_biased(2.0, 0.0).guesses)
    assert np.any(free.guesses != control.guesses)
    assert free.violation <= 1e-3
    assert free.n_unsolved == 0
    assert 0 < free.kernel_share < 1


def test_plain_machines_are_those_of_the_rows_and_of_the_features():
    part = toy()
    contest = Contest(part, RBF(gamma=0.3))
    rows = SVC(C=2.0, gamma=0.3).fit(part.X, part.y)
    features = SVC(C=2.0, kernel="linear").fit(part.F, part.y)
    assert_array_equal(contest.judge(SVM, 2.0).guesses, rows.predict(part.X_test))
    judged = contest.judge(FEATURES, 2.0)
    assert_array_equal(judged.guesses, features.predict(part.F_test))
    assert judged.accuracy == pytest.approx(100 * features.score(part.F_test, part.y_test))


def test_the_choice_has_most_rows_right_and_ties_go_to_the_first():
    parts, costs = [toy(seed) for seed in range(2)], (1e-4, 1.0, 10.0)
    kernels = [RBF(gamma=1e-6), RBF(gamma=0.3)]
    found = tuned(parts, kernels, costs, (SVM, GB)).choices
    right = np.array(
        [
            [sum(Contest(p, kernel).judge(SVM, C).right.sum() for p in parts) for C in costs]
            for kernel in kernels
        ]
    )
    best = np.unravel_index(right.argmax(), right.shape)
    assert found[SVM] == (best[0], costs[best[1]])
    assert found[SVM].kernel == 1
    same = tuned(parts, [kernels[1]] * 2, (1.0, 1.0), (SVM,)).choices[SVM]
    assert same == (0, 1.0)


def test_the_certificate_is_of_all_rows():
    rows = [{"violation": 1e-5, "n_unsolved": 0}, {"violation": 2e-3, "n_unsolved": 3}]
    assert [check.verdict for check in certified(rows[:1])] == ["met", "met"]
    assert [check.value for check in certified(rows)] == [2e-3, 3]
    assert [check.verdict for check in certified(rows)] == ["missed", "missed"]
    assert [check.verdict for check in certified([])] == ["open", "open"]


def test_the_first_images_are_for_training(data_dir):
    split = images(12, 20, data_dir)
    assert split.X.shape == (240, 1024)
    assert split.X_test.shape == (1200, 1024)
    assert_array_equal(np.unique(split.y, return_counts=True)[1], np.full(20, 12))
    assert 0 == split.X.min() < split.X.max() <= 1


@pytest.mark.parametrize(("joins", "accuracy"), [(3, 0.903), (2, 0.998)])
def test_the_vote_of_the_neighbours(data_dir, joins, accuracy):
    split = images(6, 20, data_dir)
    every = np.vstack([split.X, split.X_test])
    found = near(split, every, joins)
    assert np.mean(found.votes == split.y_test) == pytest.approx(accuracy, abs=1e-3)
    column = np.searchsorted(np.unique(split.y), found.votes)
    assert found.part.F_test[np.arange(len(column)), column].min() == 1  # among the near
    printed = near(split, every, joins, "paper")
    assert_array_equal(printed.votes, found.votes)
    # Most of the three nearest of all images are unlabelled: few test images have a feature.
    assert printed.part.F_test.sum() < 0.2 * found.part.F_test.sum()


def test_features_of_inner_folds_do_not_know_the_labels_held_out(data_dir):
    split = images(6, 4, data_dir)
    parts = inner_parts(split, 3, "training", seed=0)
    assert sum(len(part.y_test) for part in parts) == len(split.y)
    part, every = parts[0], np.vstack([split.X, split.X_test])
    wrong = Split(part.X, part.y, part.X_test, np.roll(part.y_test, 1))
    again = near(wrong, every, 3).part
    assert_array_equal(again.F, part.F)
    assert_array_equal(again.F_test, part.F_test)


def coil_rows(**gains):
    """Return rows of four sizes and two graphs, SVM having 80 per cent."""
    scores = {SVM: 80.0} | {kind: 80.0 + gains.get(kind, 0.0) for kind in (NEIGHBOURS, GB, CONTROL)}
    rest = {"n_islands": 2, "n_test": 100, "kernel_share": 0.01, "as_neighbours": 95.0}
    rest |= {"control_differs": 1, "violation": 1e-5, "n_unsolved": 0, "cpu": 1.0}
    rest |= {f"{kind}_{what}": 1.0 for kind in (SVM, GB, CONTROL) for what in ("gamma", "C")}
    return [
        {"m": m, "joins": joins, "rule": "training", "repeat": 0} | scores | rest
        for joins in (3, 5)
        for m in (6, 12, 24, 48)
    ]


def test_claims_on_figure_1_are_counted():
    rows = coil_rows(neighbours=5.0, GB=2.5, control=4.0)
    rows[0] |= {GB: 79.0}
    summary = COIL.summarise(rows)
    counts = {line[0].split(": ")[-1]: line[1:] for line in summary.tables[-1].rows}
    assert counts["3 neighbours better than SVM"] == ["4 of 4", "4 of 4"]
    assert counts["SVM-GB similar to 3 neighbours"] == ["0 of 4", "0 of 4"]
    assert counts["SVM-GB better than SVM"] == ["3 of 4", "4 of 4"]
    assert counts["SVM-GB better than control"] == ["0 of 4", "0 of 4"]
    assert "6 images per class: -1.0, -6.0, -5.0" in summary.remarks[0]
    assert "differ on 8 of 800" in summary.remarks[-1]
    assert len(COIL.figures(rows)[0].figure.axes) == 2


def stability_rows(svm, biased):
    rest = {CONTROL: 91.0, "kernel_share": 0.001, "violation": 1e-6, "n_unsolved": 0}
    return [
        {"gamma": gamma, "C": C, SVM: a, GB: b} | rest
        for (gamma, C), a, b in zip(FIXED, svm, biased, strict=True)
    ]


@pytest.mark.parametrize(
    ("svm", "biased", "verdict"),
    [
        ((70, 90, 90, 93, 10, 10), (91, 91, 91, 91, 91, 92), "met"),
        ((90, 90, 90, 91, 90, 90), (91, 91, 91, 91, 89, 92), "missed"),
    ],
)
def test_verdict_on_stability(svm, biased, verdict):
    rows = stability_rows(svm, biased)
    summary = STABILITY.summarise(rows)
    assert summary.checks[0].verdict == verdict
    assert summary.tables[0].rows[-1][2:4] == [np.ptp(svm), np.ptp(biased)]
    assert STABILITY.summarise(rows[:5]).checks[0].verdict == "open"


def test_information_is_the_mutual_information_of_presence():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.7, (50, 8)).astype(float), rng.integers(0, 3, 50)
    X[:, 0] = 0.0  # a word of no document
    expected = [mutual_info_score(y, column > 0) for column in X.T]
    assert_allclose(news.information(sp.csr_array(X), y), expected, atol=1e-12)


def test_runs_and_test_documents_are_the_papers():
    tasks = NEWS.tasks(NEWS.scale("full"))
    own = [t for t in tasks if t["subset"] == "sci" and t["topics_of"] == "all"]
    assert {n: sum(t["n"] == n for t in own) for n in news.SIZES} == dict.fromkeys(news.SIZES, 10)
    assert {t["n_test"] for t in tasks} == {0}  # all that are left
    assert {t["n"] for t in NEWS.tasks(NEWS.scale("full", 1))} == set(news.SIZES)


def test_documents_of_a_run(data_dir, monkeypatch):
    monkeypatch.setattr(news, "_STEPS", 2)
    part = news.documents("rec", 3200, None, 1, data_dir, "training")
    assert part.X.shape == (3200, 2000)
    assert part.X_test.shape == (800, 2000)  # all that are left
    lengths = sp.linalg.norm(part.X, axis=1)
    assert_allclose(lengths[lengths > 0], 1)
    assert part.F.shape == (3200, 10)
    assert_allclose(part.F_test.sum(axis=1), 1)
    assert_array_equal(np.unique(part.y, return_counts=True)[1], np.full(4, 800))
    assert all(name.startswith("rec.") for name in np.unique(part.y))
    more = news.documents("rec", 3200, 500, 1, data_dir, "all")
    assert more.X_test.shape == (500, 2000)
    assert not np.allclose(more.F[:10], part.F[:10])  # the test documents change the topics


def news_rows(gains, features=-5.0):
    """Return rows of all sizes, SVM on words having 70 per cent and SVM-GB so much more."""
    rest = {FEATURES: 70 + features, CONTROL: 72.0, "along": [71.0, 71.5, 72.0], "n_left": 1000}
    rest |= {"kernel_share": 0.3, "control_differs": 0, "violation": 1e-5, "n_unsolved": 0}
    rest |= {f"{kind}_C": 10.0 for kind in news.KINDS}
    return [
        {"subset": subset, "n": n, "run": run, SVM: 70.0, GB: 70.0 + gain, "topics_of": "all"}
        | rest
        for subset in ("comp", "sci")
        for n, gain in zip(news.SIZES, gains, strict=True)
        for run in range(2)
    ]


@pytest.mark.parametrize(
    ("first", "cases", "words"),
    [(-9.0, ("10 of 12", "comp 100, sci 100"), "does not hold"), (1.0, ("12 of 12", "-"), "holds")],
)
def test_better_in_all_experiments(first, cases, words):
    summary = NEWS.summarise(news_rows((first, 1.0, 1.0, 3.0, 3.0, 3.0)))
    lines = {
        line[0].split(": ")[-1].split(" (")[0]: tuple(line[1:]) for line in summary.tables[-1].rows
    }
    assert lines["SVM-GB better than SVM on words, always"] == cases
    assert lines["SVM-GB the best of three from 800 on"] == ("6 of 6", "-")
    few, many = "a small number of documents", "a moderate number"
    assert lines[f"topics better than words on {few}"][0] == "0 of 4"
    assert lines[f"topics no better than words on {many}"] == ("4 of 4", "-")
    best = next(claim for claim in summary.claims if "the best of three" in claim.text)
    assert "SVM-GB - SVM, words +3.0 ± 0.0 points" in best.measured
    assert lines["SVM-GB better than control"] == ("6 of 12", "6 cases")
    assert f"better than SVM on words in all experiments {words}" in summary.remarks[0]
    assert summary.remarks[0].startswith("Topics of all documents")
    assert "in 6 of 12 cases" in summary.remarks[1]


def test_machines_that_did_not_converge_are_named():
    rows = news_rows((1.0,) * 6)
    assert len(NEWS.summarise(rows).remarks) == 3
    rows[0] |= {"n_unsolved": 2, "violation": 0.01}
    summary = NEWS.summarise(rows)
    assert "included: 2 at 100 documents" in summary.remarks[-1]
    assert [check.verdict for check in summary.checks[:2]] == ["missed", "missed"]


def test_verdicts_on_many_documents():
    checks = NEWS.summarise(news_rows((1.0,) * 3 + (-2.0,) * 3)).checks
    assert [check.verdict for check in checks] == ["met", "met", "missed", "met"]
    few = [row for row in news_rows((1.0,) * 6) if row["n"] < 800]
    assert [check.verdict for check in NEWS.summarise(few).checks][2:] == ["open", "open"]
    assert len(NEWS.figures(few)[0].figure.axes) == 2

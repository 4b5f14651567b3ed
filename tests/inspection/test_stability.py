"""Weights over resamples and shuffled labels."""

from typing import ClassVar

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import spearmanr
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from kernelwise import SVC, MarginRadiusSVC, RelevanceSVC
from kernelwise.inspection import (
    PermutationCheck,
    held_out_importance,
    permutation_check,
    weight_stability,
)
from kernelwise.svm.relevance import mixing

FOREST = RandomForestClassifier(10, random_state=0)


@pytest.fixture(scope="module")
def table():
    """Return rows whose first two columns tell the classes apart."""
    X = np.random.default_rng(0).normal(size=(120, 6))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


def test_shares_are_summed_up(table):
    found = weight_stability(FOREST, *table, n_resamples=6, quantiles=(0.25, 0.75))
    assert found.shares.shape == (6, 6)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1)
    np.testing.assert_allclose(found.mean, found.shares.mean(axis=0))
    np.testing.assert_allclose(found.quantiles, np.quantile(found.shares, [0.25, 0.75], axis=0))
    often = (found.shares >= 1 / 6).mean(axis=0)
    np.testing.assert_allclose(found.selection_frequency, often)
    pairs = [
        spearmanr(found.shares[i], found.shares[j]).statistic for i in range(6) for j in range(i)
    ]
    assert found.rank_agreement == pytest.approx(np.mean(pairs))
    rows = found.table()
    assert (np.diff(rows["mean"]) <= 0).all()
    assert set(rows["feature"][:2]) == {"x0", "x1"}


def test_each_resample_is_a_fit_to_those_rows(table):
    X, y = table
    seen = []

    class Spy(LogisticRegression):
        def fit(self, X, y):
            seen.append((len(X), np.bincount(y).tolist()))
            return super().fit(X, y)

    weight_stability(Spy(), X, y, n_resamples=3, fraction=0.25)
    assert [n for n, _ in seen] == [30] * 3
    assert {abs(own[1] / 30 - y.mean()) < 0.02 for _, own in seen} == {True}
    seen.clear()
    weight_stability(Spy(), X, y, n_resamples=2, fraction="bootstrap")
    assert seen == [(120, np.bincount(y).tolist())] * 2


@pytest.mark.parametrize("fraction", [0.5, "bootstrap"])
def test_groups_stay_together(table, fraction):
    X, y = table
    groups = np.arange(120) // 4
    held = []

    class Spy(LogisticRegression):
        def fit(self, X, y):
            held.append(X[:, -1])
            return super().fit(X, y)

    with_number = np.column_stack([X, groups])
    weight_stability(Spy(max_iter=1000), with_number, y, n_resamples=3, fraction=fraction,
                     groups=groups)  # fmt: skip
    for own in held:
        _, counts = np.unique(own, return_counts=True)
        assert (counts % 4 == 0).all()


def test_results_depend_on_the_seed_alone(table):
    one = weight_stability(FOREST, *table, n_resamples=3)
    with parallel_config(backend="threading"):
        same = weight_stability(FOREST, *table, n_resamples=3, n_jobs=2)
    other = weight_stability(FOREST, *table, n_resamples=3, random_state=1)
    np.testing.assert_array_equal(one.shares, same.shares)
    assert not np.array_equal(one.shares, other.shares)


def test_the_estimator_says_what_it_selects(table):
    found = weight_stability(RelevanceSVC(ensemble=False), *table, n_resamples=3)
    assert (found.selection_frequency[:2] == 1).all()


def test_names_of_frames_go_through_pipelines(wine):
    X, y = wine
    model = make_pipeline(StandardScaler(), SelectKBest(k=3), LogisticRegression())
    found = weight_stability(model, X, y, n_resamples=4)
    assert set(found.feature_names) <= set(X.columns)
    assert ((found.shares > 0).sum(axis=1) == 3).all()
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({name: X[name].to_numpy() for name in X.columns})
    again = weight_stability(model, frame, polars.Series(y.to_numpy()), n_resamples=4)
    assert again.feature_names == found.feature_names
    np.testing.assert_allclose(again.shares, found.shares)


def test_names_of_categories(wine):
    X, y = wine
    X = X[["hue", "proline"]].assign(size=np.where(np.arange(len(X)) % 3, "large", "small"))
    encode = make_column_transformer(
        (OneHotEncoder(), ["size"]), remainder=StandardScaler(), verbose_feature_names_out=False
    )
    found = weight_stability(make_pipeline(encode, LogisticRegression()), X, y, n_resamples=2)
    assert set(found.feature_names) == {"size_large", "size_small", "hue", "proline"}


def test_display_has_intervals_and_frequencies(table):
    found = weight_stability(FOREST, *table, n_resamples=5)
    display = found.display().plot()
    order = display.order_
    lengths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(lengths, 100 * found.mean[order])
    ends = np.array([path.vertices[:, 0] for path in display.interval_.get_paths()])
    np.testing.assert_allclose(ends, 100 * found.quantiles[:, order].T)
    (right,) = display.ax_.child_axes
    labels = [text.get_text() for text in right.yaxis.get_ticklabels()]
    assert labels == [f"{100 * own:.0f} %" for own in found.selection_frequency[order]]


def test_progress_is_printed(table, capsys, monkeypatch):
    calls = []
    weight_stability(
        FOREST, *table, n_resamples=2, verbose=True, callback=lambda *own: calls.append(own)
    )
    assert calls == [(1, 2), (2, 2)]
    assert "resamples: 1 of 2" in capsys.readouterr().err
    weight_stability(FOREST, *table, n_resamples=2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("kernelwise.inspection._progress.PATIENCE", 0.0)
    weight_stability(FOREST, *table, n_resamples=2)
    assert "resamples: 1 of 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fraction": 1.5}, r"'fraction' parameter .* Got 1.5 instead"),
        ({"fraction": "half"}, r"'fraction' parameter .* Got 'half' instead"),
        ({"n_resamples": 1}, r"'n_resamples' parameter .* Got 1 instead"),
        ({"quantiles": (0.9, 0.1)}, "quantiles="),
        ({"quantiles": (0.1, "a")}, "quantiles="),
        ({"verbose": "loud"}, r"'verbose' parameter .* Got 'loud' instead"),
        ({"n_jobs": 10**18}, "'n_jobs' parameter"),
    ],
    ids=["fraction", "word", "few", "quantiles", "quantile of text", "verbose", "jobs"],
)
def test_stability_names_bad_input(table, change, message):
    with pytest.raises(ValueError, match=message):
        weight_stability(FOREST, *table, **change)


def test_estimators_without_weights_are_refused(table):
    with pytest.raises(ValueError, match="GaussianNB has no feature_importances_"):
        weight_stability(GaussianNB(), *table, n_resamples=2)
    with pytest.raises(ValueError, match="GaussianNB has no feature_importances_"):
        permutation_check(GaussianNB(), *table)


def test_weights_agree_with_held_out_rows(table):
    check = permutation_check(FOREST, *table, n_repeats=4)
    assert check.importances.shape == (6, 4)
    assert set(np.argsort(-check.importances.mean(axis=1))[:2]) <= {0, 1}
    expected = spearmanr(check.shares, check.importances.mean(axis=1)).statistic
    assert check.correlation == pytest.approx(expected)
    rows = check.table()
    assert (np.diff(rows["share"]) <= 0).all()
    assert "p_value" not in rows
    with pytest.raises(ValueError, match="no labels were shuffled"):
        _ = check.p_values


def test_disagreements_are_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] > 0).astype(int)
    X = np.column_stack([X, X[:, 0]])  # says the same: either can be shuffled

    class Mistaken(LogisticRegression):
        """Decides by the first column, and says that it is the second."""

        @property
        def feature_importances_(self):
            return np.array([0.0, 1.0, 0.0, 0.0])

    check = permutation_check(Mistaken(C=100.0), X, y)
    found = check.disagreements()
    why = dict(zip(found["feature"], found["why"], strict=True))
    assert why["x1"] == "heavy, not needed"
    assert why["x0"] == "needed, light"
    assert "x2" not in why


def test_a_column_of_small_weight_and_small_loss_does_not_disagree():
    losses = np.array([[0.3, 0.31], [0.001, 0.001], [0.05, 0.05]])
    check = PermutationCheck(("a", "b", "c"), np.array([0.9, 0.05, 0.05]), losses, np.empty((0, 3)))
    assert list(check.is_needed) == [True, True, True]
    assert list(check.disagreements()["feature"]) == ["c"]


def test_shuffled_labels_give_smaller_weights(table):
    check = permutation_check(FOREST, *table, n_repeats=2, n_shuffles=19)
    assert check.null.shape == (19, 6)
    reached = (check.null >= check.shares).sum(axis=0)
    np.testing.assert_allclose(check.p_values, (1 + reached) / 20)
    assert check.p_values[:2].min() == 0.05
    assert check.p_values[2:].min() > 0.05
    with pytest.raises(ValueError, match="n_shuffles=5 is too few"):
        permutation_check(FOREST, *table, n_shuffles=5)


def test_check_tells_how_long_it_takes(table, capsys):
    permutation_check(FOREST, *table, n_repeats=1, verbose=True)
    assert "importances: about 0 s" in capsys.readouterr().err
    permutation_check(FOREST, *table, n_repeats=1, verbose=False)
    assert capsys.readouterr().err == ""


def test_columns_of_one_name_are_refused(wine):
    X, y = wine
    X = X.set_axis(["same", "same", *X.columns[2:]], axis=1)
    with pytest.raises(ValueError, match="columns of the same name"):
        weight_stability(FOREST, X, y, n_resamples=2)


def test_check_takes_lists_and_polars(wine):
    polars = pytest.importorskip("polars")
    X, y = wine
    frame = polars.DataFrame({name: X[name].to_numpy() for name in X.columns})
    named = permutation_check(FOREST, frame, polars.Series(y.to_numpy()), n_repeats=2)
    assert named.feature_names == tuple(X.columns)
    bare = permutation_check(FOREST, X.to_numpy().tolist(), y.tolist(), n_repeats=2)
    np.testing.assert_array_equal(bare.importances, named.importances)


def test_check_of_sparse_columns(table):
    X, y = table
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), SVC(kernel="linear"))
    check = permutation_check(model, (X > 0).astype(int), y, n_repeats=2)
    assert check.feature_names[:2] == ("x0_0", "x0_1")
    assert check.importances[:4].mean() > check.importances[4:].mean()


def test_check_of_a_pipeline_uses_the_inputs_of_its_last_step(wine):
    X, y = wine
    model = make_pipeline(StandardScaler(), SelectKBest(k=4), MarginRadiusSVC())
    check = permutation_check(model, X, y, n_repeats=3)
    assert len(check.feature_names) == 4
    assert set(check.feature_names) <= set(X.columns)
    with parallel_config(backend="threading"):
        again = permutation_check(model, X, y, n_repeats=3, n_jobs=2)
    np.testing.assert_array_equal(check.importances, again.importances)


class _Recipes(RelevanceSVC):
    """Remembers whether the parts of larger tables were fitted."""

    seen: ClassVar[list] = []

    def fit(self, X, y):
        super().fit(X, y)
        self.seen.append("the joint part" in self.rows_used_)
        return self


@pytest.mark.parametrize("fraction", [0.5, "bootstrap"])
def test_resamples_get_the_recipe_of_the_whole_table(monkeypatch, fraction):
    monkeypatch.setattr(mixing, "LARGER", 200)
    monkeypatch.setattr(_Recipes, "seen", [])
    rng = np.random.default_rng(0)
    for n in (150, 240):
        X = rng.normal(size=(n, 3))
        y = X[:, 0] > 0
        weight_stability(_Recipes(max_iter=2), X, y, n_resamples=2, fraction=fraction)
        held_out_importance(_Recipes(max_iter=2).fit(X, y), X, y, n_repeats=1)
    # Two resamples, the fit itself and that to the rows that are not held out, of each table.
    assert _Recipes.seen == [False] * 4 + [True] * 4

"""DaskRelevanceSVC and DaskRelevanceSVR: the model of one process, whoever computes it."""

import os
import pickle
import signal
import time
from types import SimpleNamespace

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from kernelwise import RelevanceSVC, RelevanceSVR
from kernelwise.app.io import load, save
from kernelwise.dask import DaskRelevanceSVC, DaskRelevanceSVR, table
from kernelwise.svm.relevance.cells import Bridge
from tests.dask.conftest import SMALL
from tests.loop import loop

N_ROWS = 5000
QUIET = {"verbose": False}


def numbers(n=N_ROWS, seed=0):
    """Two classes by two of four columns, with gaps, and weights of which some are zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.where((X[:, 0] * X[:, 1] > 0) ^ (rng.random(n) < 0.05), "yes", "no")
    X[rng.random(X.shape) < 0.01] = np.nan
    weight = rng.integers(0, 4, n).astype(float)
    weight[1000:1100] = 0
    return X, y, weight


def frame(n=3000, seed=1):
    """Three classes by a number and a category, of which many levels are rare."""
    rng = np.random.default_rng(seed)
    level, x = rng.integers(0, 30, n) ** 2 // 40, rng.normal(size=n)
    word = pd.Categorical([f"w{k}" for k in level])
    X = pd.DataFrame({"x": x, "noise": rng.normal(size=n), "word": word, "gap": np.nan})
    X["rare"] = [f"r{k}" if k < 8 else None for k in rng.integers(0, 1000, n)]
    return X, pd.Series((level + (x > 0)) % 3, name="y")


def target(seed=0):
    """A target of two columns, one of them skewed."""
    X = np.random.default_rng(seed).normal(size=(N_ROWS, 4))
    noise = 0.3 * np.random.default_rng(seed + 1).normal(size=(N_ROWS, 2))
    Y = np.column_stack([X[:, 0] + np.sin(3 * X[:, 1]), X[:, 2] ** 2]) + noise
    return X, np.column_stack([Y[:, 0], np.exp(Y[:, 1])])


def fit(chunks=1500, **options):
    X, y, weight = numbers()
    model = DaskRelevanceSVC(class_weight="balanced", **QUIET, **options)
    lazy = da.from_array(X, chunks=(chunks, 2))
    return model.fit(lazy, da.from_array(y, chunks=1000), da.from_array(weight, chunks=700))


@pytest.fixture(scope="module")
def single():
    X, y, weight = numbers()
    model = RelevanceSVC(class_weight="balanced", **QUIET).fit(X, y, weight)
    assert model.parts_[-1].startswith("cells")
    ((tree, cells),) = model._models_[0].parts[-1].model.trees
    assert len(cells) == tree.n_cells > len(y) / SMALL.cell
    assert np.count_nonzero(weight) > 2 * SMALL.sample  # several regions
    return model


@pytest.fixture(scope="module")
def on_cluster(client):
    return fit()


def same(model, expected, X):
    """Assert that two models decide alike, and have the same attributes."""
    local = model.to_local()
    assert type(local) is type(expected)
    assert set(vars(local)) == set(vars(expected))
    for name in ("feature_importances_", "selected_features_"):
        assert_array_equal(getattr(local, name), getattr(expected, name))
    if hasattr(expected, "classes_"):
        assert local.parts_ == expected.parts_
        assert_array_equal(local.mixture_weights_, expected.mixture_weights_)
        assert_array_equal(local.decision_function(X), expected.decision_function(X))
    else:
        assert_array_equal(local.loo_predictions_, expected.loo_predictions_)
        assert_array_equal(local.predict(X), expected.predict(X))


def test_partitions_do_not_change_the_model(client, single, on_cluster):
    X, y, _ = numbers(seed=7)
    same(on_cluster, single, X)
    same(fit((1, 999, 0, 100, 2900, 1000)), single, X)  # none of the hundred rows counts
    with dask.config.set(scheduler="threads"):
        same(fit(), single, X)
    assert np.mean(on_cluster.predict(X) == y) > 0.8


def test_data_frames_with_categories(client):
    X, y = frame()
    new, _ = frame(seed=3)
    expected = RelevanceSVC(**QUIET).fit(X, y)
    given = dd.from_pandas(X.assign(y=y), npartitions=4)
    model = DaskRelevanceSVC(**QUIET).fit(given[list(X)], given["y"])
    same(model, expected, new)
    for one, two in zip(model.columns_.categories, expected.columns_.categories, strict=True):
        assert one == two
    lazy = dd.from_pandas(new, npartitions=3)
    for method in ("predict", "decision_function", "predict_proba", "predict_log_proba"):
        found, known = getattr(model, method)(lazy), getattr(expected, method)(new)
        computed = found.compute()
        assert computed.index.equals(new.index)
        assert_allclose(computed, known, atol=1e-4)
        assert str(found._meta.dtypes) == str(computed.dtypes)
        if known.ndim == 2:
            assert list(found.columns) == [0, 1, 2]
    few = list(new.columns[model.selected_features_])
    assert_array_equal(model.predict(lazy[few]).compute(), model.predict(lazy).compute())


def test_numbers(client):
    X, Y = target()
    lazy_X = da.from_array(X, chunks=(1100, 4))
    for y in (Y[:, 0], Y):
        expected = RelevanceSVR(**QUIET).fit(X, y)
        model = DaskRelevanceSVR(**QUIET).fit(lazy_X, da.from_array(y, chunks=900))
        same(model, expected, X)
        found = model.predict(lazy_X)
        assert (found.shape, found.dtype) == (y.shape, y.dtype)
        assert_allclose(found.compute(), expected.predict(X), atol=1e-4)
        for one, two in zip(model.predict_interval(X), expected.predict_interval(X), strict=True):
            assert_array_equal(one, two)
    with pytest.raises(TypeError, match="takes rows in memory: apply that of to_local"):
        model.predict_interval(lazy_X)
    with pytest.raises(TypeError, match="takes rows in memory: apply that of to_local"):
        model.predict(lazy_X, return_std=True)


def test_numbers_of_rows_that_dask_does_not_know(client):
    X, y, weight = numbers()
    kept = X[:, 2] > -1
    lazy_X, lazy_y = da.from_array(X, chunks=(1700, 2)), da.from_array(y, chunks=1700)
    lazy_kept = lazy_X[:, 2] > -1
    some = lazy_X[lazy_kept]
    assert np.isnan(some.shape[0])
    model = DaskRelevanceSVC(**QUIET).fit(some, lazy_y[lazy_kept], weight[kept])
    expected = RelevanceSVC(**QUIET).fit(X[kept], y[kept], weight[kept])
    same(model, expected, X)
    assert_array_equal(model.predict(some).compute(), expected.predict(X[kept]))


def test_groups_are_held_out_whole(client):
    X, y, weight = numbers()
    groups = np.array([f"g{k % 40:02d}" for k in range(N_ROWS)])
    model = DaskRelevanceSVC(**QUIET).fit(
        da.from_array(X, chunks=(1700, 4)), y, weight, da.from_array(groups, chunks=1700)
    )
    same(model, RelevanceSVC(**QUIET).fit(X, y, weight, groups), X)


def test_small_tables_and_tables_in_memory(client):
    X, y = (own.iloc[:900] for own in frame())
    expected = RelevanceSVC(**QUIET).fit(X, y)
    labels = dd.from_pandas(y, npartitions=2)
    same(DaskRelevanceSVC(**QUIET).fit(dd.from_pandas(X, npartitions=3), labels), expected, X)
    same(DaskRelevanceSVC(**QUIET).fit(X, y), expected, X)


@loop("method", ["predict", "predict_proba", "predict_set", "decision_function"])
def test_predictions_are_lazy(on_cluster, single, method):
    X, _, _ = numbers(seed=7)
    rows = da.from_array(X, chunks=((0, 1700, 3300), 2))
    lazy, expected = getattr(on_cluster, method)(rows), getattr(single, method)(X)
    assert isinstance(lazy, da.Array)
    assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
    if expected.dtype == float:
        assert_allclose(lazy.compute(), expected, atol=1e-5)
    else:
        assert np.mean(lazy.compute() == expected) > 0.999
    assert_array_equal(getattr(on_cluster, method)(X), expected)  # of rows in memory


def test_a_local_model_is_saved_and_predicts_without_dask(on_cluster, tmp_path):
    X, _, _ = numbers(50, seed=7)
    expected = on_cluster.predict_proba(X)
    loaded = load(save(on_cluster.to_local(), tmp_path / "model.kw"))
    assert_array_equal(loaded.predict_proba(X), expected)
    assert_array_equal(pickle.loads(pickle.dumps(on_cluster)).predict_proba(X), expected)


def before_the_bridge(monkeypatch, act):
    """Call a function between the two passes, when workers hold what the second one needs."""

    def of(sums):
        if not acted:
            acted.append(sums)
            act()
        return Bridge.of(sums)

    acted = []

    monkeypatch.setattr(table, "Bridge", SimpleNamespace(of=of))


def test_the_death_of_a_worker_does_not_change_the_model(client, single, monkeypatch):
    victim = sorted(client.run(os.getpid).values())[0]
    before_the_bridge(monkeypatch, lambda: os.kill(victim, signal.SIGKILL))
    same(fit(), single, numbers(seed=7)[0])
    client.wait_for_workers(2)
    assert victim not in client.run(os.getpid).values()


def test_an_interrupt_leaves_nothing_on_the_cluster(client, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    before_the_bridge(monkeypatch, interrupt)
    model = DaskRelevanceSVC(**QUIET)
    X, y, _ = numbers()
    with pytest.raises(KeyboardInterrupt):
        model.fit(da.from_array(X, chunks=(700, 4)), y)
    assert not hasattr(model, "classes_")
    for _ in range(100):
        left = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
        if left == 0:
            break
        time.sleep(0.1)
    assert left == 0


def test_progress_is_told(client, capsys):
    X, y, _ = numbers(3000)
    DaskRelevanceSVC(verbose=True).fit(da.from_array(X, chunks=(1500, 4)), y)
    assert "[kernelwise.DaskRelevanceSVC] partition 1 of 1" in capsys.readouterr().out


def test_wrong_input_is_refused(client):
    X, y, _ = numbers(400)
    lazy_X, lazy_y = da.from_array(X, chunks=(100, 4)), da.from_array(y, chunks=100)
    model = DaskRelevanceSVC(**QUIET)
    wrong = [
        (ValueError, "X has 400 rows, but y has 300", (lazy_X, lazy_y[:300])),
        (ValueError, "X has 400 rows, but groups has 3", (lazy_X, lazy_y, None, [1, 2, 3])),
        (ValueError, "number of classes has to be greater", (lazy_X, da.zeros(400, chunks=100))),
        (ValueError, "y should be a 1d array", (lazy_X, lazy_X)),
        (ValueError, "at least one non-zero number", (lazy_X, lazy_y, np.zeros(400))),
        (ValueError, "at least two different values", (lazy_X, lazy_y, None, np.zeros(400))),
        (ValueError, "infinity", (da.where(lazy_X > 1, np.inf, lazy_X), lazy_y)),
        (TypeError, "two dimensions", (lazy_y, lazy_y)),
        (TypeError, "X must be a dask array", (dask.delayed(X), y)),
    ]
    for kind, message, given in wrong:
        with pytest.raises(kind, match=message):
            model.fit(*given)
    with pytest.raises(ValueError, match="'effort' parameter of DaskRelevanceSVC"):
        clone(model).set_params(effort=0).fit(lazy_X, lazy_y)
    with pytest.raises(ValueError, match="Negative values"):
        DaskRelevanceSVR(**QUIET).fit(lazy_X, lazy_y == "yes", -np.ones(400))
    with pytest.raises(NotFittedError):
        model.predict(lazy_X)
    fitted = clone(model).fit(lazy_X, lazy_y)
    with pytest.raises(TypeError, match="got Delayed"):
        fitted.predict(dask.delayed(X))
    with pytest.raises(ValueError, match="expecting 4 features"):
        fitted.predict(lazy_X[:, :2]).compute()

"""DaskRelevanceSVC: the model of one process, whatever the partitions and whoever dies."""

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

from kernelwise import RelevanceSVC, load, save
from kernelwise.dask import DaskRelevanceSVC, fitting
from kernelwise.dask.cluster import Cluster
from kernelwise.svm.base.progress import FitProgress

SETTINGS = {"cell_size": 400, "n_trees": 2, "verbose": False}
N_ROWS = 6000


def numbers(n=N_ROWS, seed=0):
    """Two classes by two of four columns, with gaps and weights, some of which are zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.where((X[:, 0] * X[:, 1] > 0) ^ (rng.random(n) < 0.05), "yes", "no")
    X[rng.random(X.shape) < 0.01] = np.nan
    return X, y, rng.integers(0, 4, n).astype(float)


def frame(n=5000, seed=1):
    """Three classes by a number and a category, of which most levels are rare."""
    rng = np.random.default_rng(seed)
    level = rng.integers(0, 30, n) ** 2 // 40
    x = rng.normal(size=n)
    table = pd.DataFrame(
        {
            "x": x,
            "noise": rng.normal(size=n),
            "word": pd.Categorical([f"w{k}" for k in level]),
        }
    )
    return table, pd.Series((level + (x > 0)) % 3, name="y")


@pytest.fixture(scope="module")
def single():
    X, y, weight = numbers()
    return RelevanceSVC(large="cells", class_weight="balanced", **SETTINGS).fit(X, y, weight)


def fit(client, chunks, region_rows=1500):
    X, y, weight = numbers()
    model = DaskRelevanceSVC(
        client=client, region_rows=region_rows, class_weight="balanced", **SETTINGS
    )
    return model.fit(
        da.from_array(X, chunks=(chunks, 2)),
        da.from_array(y, chunks=1000),
        da.from_array(weight, chunks=chunks),
    )


@pytest.fixture(scope="module")
def distributed_model(client):
    return fit(client, 2500)


def same(model, other, X):
    """Return whether two models have the same cells, and decisions within rounding."""
    assert_allclose(model.decision_function(X), other.decision_function(X), rtol=0, atol=1e-9)
    for one, two in zip(cells(model).forest.trees, cells(other).forest.trees, strict=True):
        assert_array_equal(np.sort(np.diff(one.stops)), np.sort(np.diff(two.stops)))
    assert model.parts_ == other.parts_
    assert_allclose(model.feature_importances_, other.feature_importances_)


def cells(model):
    return next(part for part in model._predictor_.parts if part.name == "cells")


@pytest.mark.parametrize(
    ("chunks", "region_rows"), [((1, 999, 0, 4000, 1000), 1500), (2500, 10_000)]
)
def test_partitions_and_regions_do_not_change_the_model(client, single, chunks, region_rows):
    X, y, _ = numbers(seed=7)
    model = fit(client, chunks, region_rows)
    local = model.to_local()
    same(local, single, X)
    assert type(local) is RelevanceSVC
    assert local.shape_fit_ == model.shape_fit_ == single.shape_fit_
    assert local.rows_used_ == single.rows_used_
    assert set(vars(local)) == set(vars(single))
    assert np.mean(local.predict(X) == y) > 0.8


def test_several_passes_over_the_partitions_do_not_change_the_model(client, single, monkeypatch):
    monkeypatch.setattr("kernelwise.dask.cluster._SHARE_OF_MEMORY", 1e-4)
    batches = []
    compute = Cluster.compute

    def noted(self, name, given, stops=None):
        batches.append((name, len(given)))
        return compute(self, name, given, stops)

    monkeypatch.setattr(Cluster, "compute", noted)
    model = fit(client, 2500, region_rows=1500)
    assert dict(batches)["cells"] > SETTINGS["n_trees"]
    X = numbers(1000, seed=3)[0]
    assert_allclose(
        model.to_local().decision_function(X), single.decision_function(X), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize(
    ("limits", "n_passes"),
    [
        ([], 1),
        ([0, 0], 1),  # no limit
        ([1000], 5),
        ([1000, 1000], 5),  # one of which may die
        ([1000, 1000, 1000], 3),
        ([10_000, 10_000], 1),
    ],
)
def test_rows_pass_in_parts_that_fit_into_the_memory_of_the_workers(limits, n_passes):
    workers = {str(i): {"memory_limit": limit} for i, limit in enumerate(limits)}
    client = SimpleNamespace(scheduler_info=lambda **_: {"workers": workers})
    assert Cluster(client, (), None).n_passes(1000) == n_passes


def test_predictions_are_lazy_and_those_of_one_process(distributed_model, single):
    X, _, _ = numbers(seed=7)
    model = distributed_model
    rows = da.from_array(X, chunks=((0, 1700, 4300), 2))
    for method in ("predict", "predict_proba", "decision_function"):
        lazy, expected = getattr(model, method)(rows), getattr(single, method)(X)
        assert isinstance(lazy, da.Array)
        assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
        computed = lazy.compute()
        if method == "predict":
            assert np.mean(computed == expected) > 0.999
        else:
            assert_allclose(computed, expected, atol=1e-3)
        assert_array_equal(getattr(model, method)(X), expected)  # of a table in memory


def test_data_frames_with_categories(client):
    table, y = frame()
    new, _ = frame(seed=3)
    expected = RelevanceSVC(large="cells", **SETTINGS).fit(table, y)
    given = dd.from_pandas(table.assign(y=y), npartitions=4)
    model = DaskRelevanceSVC(region_rows=1500, **SETTINGS)
    model.fit(given[["x", "noise", "word"]], given["y"])  # by the current client
    same(model.to_local(), expected, new)
    assert model.to_local().columns_.categories == expected.columns_.categories
    lazy = dd.from_pandas(new, npartitions=3)
    classes, decisions = model.predict(lazy), model.decision_function(lazy)
    assert list(decisions.columns) == [0, 1, 2]
    assert classes.compute().index.equals(new.index)
    assert_allclose(decisions.compute(), expected.decision_function(new), atol=1e-3)
    assert_allclose(model.predict_proba(lazy).sum(axis=1).compute(), 1)


def test_a_local_model_is_saved_and_predicts_without_dask(distributed_model, tmp_path):
    model = distributed_model
    X, _, _ = numbers(50, seed=7)
    loaded = load(save(model.to_local(), tmp_path / "model.kw"))
    assert_array_equal(loaded.predict_proba(X), model.to_local().predict_proba(X))
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None
    assert_array_equal(again.predict(X), model.predict(X))


def act_at_first_cells(monkeypatch, act):
    """Call a function when the first cells are about to be fetched."""
    gathered = []
    compute = Cluster.compute

    def watched(self, name, batches, stops=None):
        if name == "cells":
            gather = self.client.gather

            def first(future):
                if not gathered:
                    gathered.append(future)
                    act()
                return gather(future)

            monkeypatch.setattr(self.client, "gather", first)
        return compute(self, name, batches, stops)

    monkeypatch.setattr(Cluster, "compute", watched)
    return gathered


def test_the_death_of_a_worker_does_not_change_the_model(client, single, monkeypatch):
    victim = sorted(client.run(os.getpid).values())[0]
    killed = act_at_first_cells(monkeypatch, lambda: os.kill(victim, signal.SIGKILL))
    X, _, _ = numbers(seed=7)
    same(fit(client, 700).to_local(), single, X)
    assert killed
    assert victim not in client.run(os.getpid).values()


def test_an_interrupt_cancels_what_is_left(client, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    act_at_first_cells(monkeypatch, interrupt)
    model = DaskRelevanceSVC(client=client, region_rows=600, **SETTINGS)
    X, y, _ = numbers()
    with pytest.raises(KeyboardInterrupt):
        model.fit(da.from_array(X, chunks=(700, 4)), da.from_array(y, chunks=700))
    assert not hasattr(model, "classes_")
    for _ in range(100):
        left = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
        if left == 0:
            break
        time.sleep(0.1)
    assert left == 0


def test_a_small_table_is_fitted_as_in_one_process(client):
    X, y, _ = numbers(1500)
    model = DaskRelevanceSVC(client=client, **SETTINGS)
    model.fit(da.from_array(X, chunks=(400, 4)), da.from_array(y, chunks=400))
    expected = RelevanceSVC(large="cells", **SETTINGS).fit(X, y)
    assert_array_equal(model.to_local().decision_function(X), expected.decision_function(X))


def test_many_rows_few_of_which_count(client):
    X, y, _ = numbers(3000)
    weight = (np.arange(3000) % 4 == 0).astype(float)
    model = DaskRelevanceSVC(client=client, **SETTINGS)
    model.fit(
        da.from_array(X, chunks=(1100, 4)),
        da.from_array(y, chunks=1100),
        da.from_array(weight, chunks=1100),
    )
    expected = RelevanceSVC(large="cells", **SETTINGS).fit(X, y, weight)
    assert_allclose(model.to_local().decision_function(X), expected.decision_function(X), atol=1e-9)
    assert model.shape_fit_ == expected.shape_fit_


@pytest.mark.parametrize("n_groups", [40, 3000])
def test_groups_are_left_out_whole_as_in_one_process(client, n_groups):
    X, y, weight = numbers()
    groups = np.array([f"g{k % n_groups:05d}" for k in range(N_ROWS)])
    weight[groups == "g00007"] = 0  # a group of which no row counts
    model = DaskRelevanceSVC(client=client, region_rows=1500, **SETTINGS)
    model.fit(
        da.from_array(X, chunks=(1700, 4)),
        *(da.from_array(each, chunks=1700) for each in (y, weight, groups)),
    )
    expected = RelevanceSVC(large="cells", **SETTINGS).fit(X, y, weight, groups=groups)
    same(model.to_local(), expected, numbers(seed=7)[0])
    assert_allclose(model.mixture_weights_, expected.mixture_weights_, atol=1e-9)


@pytest.mark.parametrize("n_done", [0, 1])
def test_a_fit_ends_in_time_with_the_trees_that_it_has(client, monkeypatch, n_done):
    is_late = []
    compute = Cluster.compute

    def ended(self, name, batches, stops=None):
        """Lose the last region of a tree, as if the time had been over before."""
        found = compute(self, name, batches)
        if name == "cells":
            is_late.append(True)
            found[n_done][-1] = None
        return found

    monkeypatch.setattr(Cluster, "compute", ended)
    monkeypatch.setattr(fitting, "time_is_up", lambda max_time: lambda: bool(is_late))
    X, y, _ = numbers()
    model = DaskRelevanceSVC(client=client, region_rows=1500, max_time=60, **SETTINGS)
    with pytest.warns(UserWarning, match=f"max_time is over: {n_done} of 2 trees of cells"):
        model.fit(da.from_array(X, chunks=(1700, 4)), da.from_array(y, chunks=1700))
    local = model.to_local()
    assert ("cells" in local.parts_) == (n_done > 0)
    if n_done:
        assert len(cells(local).members) == len(cells(local).forest.trees) == n_done


def test_a_stop_does_without_the_other_results(client):
    cluster = Cluster(client, (), FitProgress(None))
    asked = iter(range(100))
    tasks = [dask.delayed(abs)(-k) for k in range(6)]
    (found,) = cluster.compute("numbers", [tasks], lambda: next(asked) == 1)
    there = [k for k, each in enumerate(found) if each is not None]
    assert len(there) == 2
    assert [found[k] for k in there] == there


def test_progress_is_told(client, capsys):
    X, y, _ = numbers(3000)
    model = DaskRelevanceSVC(client=client, **SETTINGS | {"verbose": True})
    model.fit(da.from_array(X, chunks=(1500, 4)), da.from_array(y, chunks=1500))
    assert "[kernelwise.DaskRelevanceSVC] " in capsys.readouterr().out


def test_wrong_input_is_refused(client):
    X, y, _ = numbers(400)
    lazy_X, lazy_y = da.from_array(X, chunks=(100, 4)), da.from_array(y, chunks=100)
    model = DaskRelevanceSVC(client=client, **SETTINGS)
    with pytest.raises(TypeError, match=r"X must be a dask array or a data frame of Dask"):
        model.fit(X, y)
    with pytest.raises(ValueError, match=r"X has 400 rows, but y has 300"):
        model.fit(lazy_X, lazy_y[:300])
    with pytest.raises(ValueError, match=r"number of classes has to be greater than one"):
        model.fit(lazy_X, da.zeros(400, chunks=100))
    with pytest.raises(ValueError, match="'region_rows' parameter of DaskRelevanceSVC"):
        clone(model).set_params(region_rows=0).fit(lazy_X, lazy_y)
    with pytest.raises(NotFittedError):
        model.predict(lazy_X)
    with pytest.raises(ValueError, match=r"y must have one column"):
        model.fit(lazy_X, lazy_X)
    with pytest.raises(ValueError, match=r"groups must have at least two different values"):
        model.fit(lazy_X, lazy_y, groups=da.zeros(400, chunks=100))


def test_labels_may_have_other_partitions(client):
    X, y, weight = numbers(1500)
    table = dd.from_pandas(pd.DataFrame(X), npartitions=4)
    model = DaskRelevanceSVC(client=client, **SETTINGS)
    model.fit(table, dd.from_pandas(pd.Series(y), npartitions=3), da.from_array(weight, chunks=99))
    expected = RelevanceSVC(large="cells", **SETTINGS).fit(pd.DataFrame(X), y, weight)
    assert_array_equal(model.to_local().decision_function(X), expected.decision_function(X))


def test_clones_share_the_client(client):
    model = DaskRelevanceSVC(client=client, cell_size=500)
    copied = clone(model)
    assert copied.client is client
    assert copied.cell_size == 500

"""to_onnx of RelevanceSVC and RelevanceSVR: every part, every size, as onnxruntime computes it."""

from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise import RelevanceSVC, RelevanceSVR
from kernelwise.app.io import _onnx_graph, to_onnx
from kernelwise.svm.relevance.base import BaseRelevance
from kernelwise.svm.relevance.levels import Family, _keys
from kernelwise.svm.relevance.settings import Settings

FEW = replace(Settings(), learning=120, landmarks=50, exact_rows=150, cell=40, shared=30)
SIZES = {"small": Settings(), "medium": FEW, "large": replace(FEW, sample=180)}


def frame(n, seed=0):
    """Return a table of numbers with gaps and repeated values, and of words, and its signal."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    table["count"] = rng.integers(0, 4, n).astype(float)
    table["town"] = rng.choice(["north", "south", "east", "west"], n)
    table["plan"] = rng.choice(["month", "year", "none"], n)
    effect = table["town"].map({"north": 2.0, "south": -2.0, "east": 0.5, "west": 0.0})
    year = (table["plan"] == "year") * np.sign(table["count"] - 1.5)
    signal = table["a"] + effect + 2 * year + 0.3 * rng.normal(size=n)
    table.loc[::6, "b"] = np.nan
    table.loc[::11, "plan"] = None
    return table, signal.to_numpy()


def new_rows(n=60):
    """Return new rows, with a new word and values far out."""
    rows, _ = frame(n, seed=1)
    rows.loc[0, "town"] = "never seen"
    rows.loc[1, "a"], rows.loc[2, "a"] = 9.0, -9.0
    return rows


def outputs(model, rows, **options):
    """Return the outputs of the graph of a model, for a frame or an array."""
    graph = to_onnx(model, rows if hasattr(rows, "columns") else None, **options)
    onnx.checker.check_model(graph, full_check=True)
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    feed = {}
    for each in session.get_inputs():
        own = rows[each.name].to_numpy()[:, None] if hasattr(rows, "columns") else rows
        words = each.type == "tensor(string)"
        feed[each.name] = np.where(pd.isna(own), "", own) if words else own
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, feed), strict=True))


def assert_same_classes(model, rows, tol, **options):
    found = outputs(model, rows, **options)
    assert_allclose(found["probabilities"], model.predict_proba(rows), rtol=0, atol=tol)
    assert_allclose(found["decision"], model.decision_function(rows), rtol=10 * tol, atol=10 * tol)
    assert_array_equal(found["label"], model.predict(rows))


@pytest.mark.parametrize("size", SIZES)
def test_classes(size, monkeypatch):
    """Linear, additive and joint parts, machines with coupled pairs, cells, two members."""
    monkeypatch.setattr(BaseRelevance, "_settings", SIZES[size])
    kinds = set()
    for n_classes in (2, 3, 7):
        rows, signal = frame(150 + 30 * n_classes)
        y = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
        effort = 2 if n_classes == 2 else 1
        model = RelevanceSVC(effort=effort, class_weight={0: 2.0}).fit(rows, y)
        assert len(model._models_) == effort
        kinds |= {part.partition(" ")[0] for part in model.parts_}
        assert_same_classes(model, new_rows(), 1e-6)
        assert_same_classes(model, rows, 1e-6)  # with rows on the cuts
    assert kinds >= {"linear", "additive", "joint", "cells" if size == "large" else "machine"}


@pytest.mark.parametrize("size", SIZES)
def test_numbers(size, monkeypatch):
    """A skewed target, which a power makes normal, and two targets."""
    monkeypatch.setattr(BaseRelevance, "_settings", SIZES[size])
    rows, signal = frame(240)
    targets = (np.exp(signal), np.column_stack([np.exp(signal), -signal]))
    models = [RelevanceSVR(effort=e).fit(rows, y) for e, y in zip((2, 1), targets, strict=True)]
    assert any(t.power is not None for t in models[0]._models_[0].members[0].transforms)
    for model, y in zip(models, targets, strict=True):
        found = outputs(model, new_rows())["prediction"]
        assert_allclose(found / y.std(axis=0), model.predict(new_rows()) / y.std(axis=0), atol=1e-6)


def test_numbers_above_a_floor_and_near_the_mean():
    """A target that was never negative, with predictions at zero, and one of outliers alone."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(150, 2))
    Y = np.column_stack([np.maximum(X[:, 0], 0), np.exp(3 * rng.normal(size=150))])
    model = RelevanceSVR().fit(X, Y)
    assert model.predict(X)[:, 0].min() == 0
    assert model._models_[1].slope < 0.5
    assert_allclose(outputs(model, X)["prediction"], model.predict(X), rtol=1e-6, atol=1e-6)


def test_shifts_by_levels():
    """Of a category, a number, two categories, and a category and a number."""
    rng = np.random.default_rng(0)
    rows, signal = frame(200)
    rows = rows[["town", "plan", "count", "a"]]
    model = RelevanceSVC().fit(rows, np.digitize(signal, [-1, 1]))
    (member,) = model._models_
    town, plan, count = (model.columns_.names.index(each) for each in ("town", "plan", "count"))
    Z = member.columns.rows(model.columns_.apply(rows)[:, member.encoded]).Z
    values = np.unique(Z[:, count])
    cuts = (values[1:] + values[:-1]) / 2
    families = []
    for first, second, own in (
        (town, town, None),
        (count, count, cuts),
        (town, plan, None),
        (plan, count, cuts),
        (town, count, values[:2]),  # rows on the cuts
    ):
        keys = np.unique(_keys(Z, first, second, own))[1:]  # a cell is new
        families.append(Family(first, second, own, keys, rng.normal(size=(len(keys), 3))))
    before = model.decision_function(rows)
    for some in [*([family] for family in families), families]:
        model._models_ = (replace(member, families=tuple(some)),)
        assert np.abs(model.decision_function(rows) - before).max() > 0.5
        assert_same_classes(model, rows, 1e-6)
        assert_same_classes(model, new_rows()[rows.columns], 1e-6)


def test_hardly_any_noise():
    """Then each target has variances, and cells, of its own."""
    X = np.random.default_rng(0).normal(size=(300, 3))
    model = RelevanceSVR().fit(X, X[:, 0] + np.sin(2 * X[:, 1]))
    new = np.random.default_rng(1).normal(size=(50, 3))
    assert_allclose(outputs(model, new)["prediction"], model.predict(new), atol=1e-6)


def test_nodes_do_not_become_more_with_columns():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(60, 100))).rename(columns="x{}".format)
    for j in range(10):
        rows[f"word {j}"] = rng.choice(["a", "b"], 60)
    model = RelevanceSVC(feature_groups=[0] * 110).fit(rows, rows["x0"] + rows["x1"] > 0)
    assert len(model.columns_.names) == 110
    nodes = [node for node in to_onnx(model, rows).graph.node if node.op_type != "LabelEncoder"]
    assert len(nodes) < 300


def test_groups_constants_and_columns_that_are_not_read():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(150, 6)), np.full(150, 3.0), rng.integers(0, 3, 150)])
    y = X[:, 0] + X[:, 1] * (X[:, 7] == 1) > 0
    model = RelevanceSVC(feature_groups=[0, 0, 1, 2, 3, 4, 5, 6], categorical_features=[7])
    model.fit(X, y)
    for dtype in ("float64", "float32"):
        rows = X.astype(dtype)
        assert_same_classes(model, rows, 1e-6, dtype=dtype)
    names = np.array([f"column {j}" for j in range(8)])
    table = pd.DataFrame(X, columns=names)
    model.fit(table, y)
    read = table[names[model.selected_features_]]
    assert_same_classes(model, read, 1e-6)  # the graph has no other inputs


def test_one_row_and_none():
    X = np.random.default_rng(0).normal(size=(80, 3))
    model = RelevanceSVC().fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    assert_same_classes(model, X[:1], 1e-6)
    assert outputs(model, X[:0])["probabilities"].shape == (0, 3)
    (member,) = model._models_  # without a part that counts, a row still has a decision
    nothing = replace(member.mixture, slopes=0 * member.mixture.slopes)
    model._models_ = (replace(member, mixture=nothing),)
    assert_same_classes(model, X, 1e-9)


def test_a_graph_that_no_file_can_hold_is_refused(monkeypatch):
    monkeypatch.setattr(BaseRelevance, "_settings", SIZES["large"])
    rows, signal = frame(240)
    model = RelevanceSVC().fit(rows, signal > 0)
    monkeypatch.setattr(_onnx_graph, "_MAX_BYTES", 30_000)
    with pytest.raises(ValueError, match=r"cannot be exported to ONNX: .*fewer rows or columns"):
        to_onnx(model, rows)


def test_finding_10_dates_flags_with_gaps_and_no_text():
    table, signal = frame(150)
    days = np.random.default_rng(0).integers(19_000 * 24, 20_000 * 24, 150) / 24.0
    table["when"] = pd.to_datetime(days * 86_400, unit="s")
    table["flag"] = pd.Series(signal > 0, dtype=object).where(table.index % 7 > 0, None)
    table.loc[::13, "when"] = pd.NaT
    y = np.where(signal + (table["when"].dt.month > 6) > 0, "p", "q")
    model = RelevanceSVC().fit(table, y)
    assert "when" in model.columns_.names
    graph = to_onnx(model, table).SerializeToString()
    given = table.assign(when=(table["when"] - pd.Timestamp(0)) / pd.Timedelta(days=1))
    given["flag"] = given["flag"].map({True: 1.0, False: 0.0})
    feeds = {}
    for name in model.columns_.names:
        own = given[name]
        words = own.dtype == object or isinstance(own.dtype, pd.StringDtype)
        values = own.fillna("").astype(str) if words else own.astype(float)
        feeds[name] = values.to_numpy(object if words else float)[:, None]
    found = onnxruntime.InferenceSession(graph).run(["probabilities"], feeds)[0]
    assert_allclose(found, model.predict_proba(table), atol=1e-5)
    words = np.random.default_rng(1).choice(["red", "blue", "green", "tall", "deep"], (150, 3))
    table["note"] = [f"{' and '.join(own)}, {chr(97 + k % 26)}{chr(97 + k // 26)}"
                     for k, own in enumerate(words)]  # fmt: skip
    model = RelevanceSVC().fit(table[["a", "note"]], np.where(words[:, 0] == "red", "p", "q"))
    with pytest.raises(ValueError, match=r"\['note'\] are text, which a graph cannot read"):
        to_onnx(model, table)

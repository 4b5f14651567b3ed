"""to_onnx of RelevanceSVC and RelevanceSVR: every part, every size, as onnxruntime computes it."""

from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelwise import RelevanceSVC, RelevanceSVR
from kernelwise.app.io import to_onnx
from kernelwise.svm.relevance.base import BaseRelevance
from kernelwise.svm.relevance.settings import Settings

SMALL = replace(
    Settings(), learning=120, machine_rows=150, exact_rows=150, cell=40, shared=30, exact=100
)


@pytest.fixture(params=["small", "large"])
def size(request, monkeypatch):
    """Fit as tables of this size are fitted, with few rows."""
    if request.param == "large":
        monkeypatch.setattr(BaseRelevance, "_settings", SMALL)
    return request.param


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


def assert_same_classes(model, rows, **options):
    found = outputs(model, rows, **options)
    assert_allclose(found["probabilities"], model.predict_proba(rows), rtol=1e-5, atol=1e-7)
    assert_allclose(found["decision"], model.decision_function(rows), rtol=1e-5, atol=1e-5)
    assert_array_equal(found["label"], model.predict(rows))


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_classes(size, n_classes):
    rows, signal = frame(200 + 40 * n_classes)
    y = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    effort = 2 if n_classes == 2 else 1
    model = RelevanceSVC(effort=effort, class_weight={0: 2.0}).fit(rows, y)
    assert any("cells" in part for part in model.parts_) == (size == "large")
    assert_same_classes(model, new_rows())


def test_numbers(size):
    rows, signal = frame(240)
    for y in (np.exp(signal), np.column_stack([np.exp(signal), -signal])):
        model = RelevanceSVR().fit(rows, y)
        found = outputs(model, new_rows())["prediction"]
        assert_allclose(found, model.predict(new_rows()), rtol=1e-5, atol=1e-5 * y.std())

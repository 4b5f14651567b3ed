"""to_onnx of pipelines that start from a table: words, gaps, booleans, dates and codes."""

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline

from kernelwise import SVC, RelevanceSVC
from kernelwise.app.evaluation import fit_table
from kernelwise.app.io import to_onnx
from kernelwise.app.tabular import TableEncoder, TableError, check_target
from tests.loop import loop

N_ROWS = 160


def messy(seed=0):
    """Return a table with columns of all kinds, and a column of classes."""
    rng = np.random.default_rng(seed)
    days = pd.to_timedelta(rng.integers(0, 9000, N_ROWS), "h")
    frame = pd.DataFrame(
        {
            "joined": (pd.Timestamp("2023-12-01 10:30") + days).astype(str),
            "visits": rng.gamma(2, 1, N_ROWS).round(1),
            "fee": [f"€{fee:.2f}" for fee in rng.choice([19.9, 29.9, 59.9], N_ROWS)],
            "plan": rng.choice(["month", "year", "student", "n/a"], N_ROWS),
            "town": rng.choice([f"town {k}" for k in range(25)], N_ROWS),
            "member": rng.choice([True, False], N_ROWS),
            "code": rng.choice([8001, 8002, 8003], N_ROWS),
            "flag": rng.choice(["x", ""], N_ROWS),
        }
    )
    frame.loc[::9, "visits"] = np.nan
    score = frame["visits"].fillna(2) + 2 * (frame["plan"] == "year") + frame["member"]
    frame["left"] = np.where(score + rng.normal(size=N_ROWS) > 3.5, "yes", "no")
    return frame


def new_rows():
    """Return rows with new words, new gaps and other ways to say that a word is missing."""
    rows = messy(1).drop(columns="left")
    rows.loc[0, "town"] = "never seen"
    rows.loc[1, "plan"], rows.loc[2, "plan"] = "NA", "never seen"
    rows.loc[3, "joined"] = None
    rows.loc[4, "flag"] = "neither"
    rows.loc[5, "visits"] = np.inf
    return rows


def as_days(dates):
    return (pd.to_datetime(dates) - pd.Timestamp(0)).dt.total_seconds().to_numpy() / 86400


def feed(encoder, rows, session):
    """Return the rows as the inputs of a graph: plain numbers, days, and words."""
    given = {}
    for each in session.get_inputs():
        column, kind = rows[each.name], encoder.kinds_[each.name]
        if kind == "date":
            values = as_days(column)
        elif kind == "number":
            plain = column.astype(str).str.lstrip("€")
            values = pd.to_numeric(plain, errors="coerce").to_numpy(float)
        elif each.type == "tensor(string)":
            values = column.fillna("").astype(str).to_numpy(object)
        else:
            values = column.to_numpy(bool if "bool" in each.type else float)
        given[each.name] = values[:, None]
    return given


def outputs(graph, encoder, rows):
    onnx.checker.check_model(graph, full_check=True)
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(None, feed(encoder, rows, session)), strict=True))


def assert_same(model, graph, rows):
    found = outputs(graph, model[0], rows)
    tol = 1e-5 if isinstance(model[-1], RelevanceSVC) else 1e-8  # it computes in float32
    assert_allclose(found["probabilities"], model.predict_proba(rows), rtol=tol / 10, atol=tol)
    assert_allclose(found["decision"], model.decision_function(rows), rtol=tol, atol=10 * tol)
    assert_array_equal(found["label"], model.predict(rows))


@loop("method", ["relevance", "svc", "dual-objective", "margin-radius", "grid-search"])
def test_the_pipeline_of_the_command_line(method):
    frame = messy()
    target = check_target(frame, "left")
    model = fit_table(frame, target, method, category=["code"])
    assert_same(model, to_onnx(model, frame), new_rows())


def test_the_pipeline_of_a_number():
    frame = messy()
    target = check_target(frame, "visits")
    model = fit_table(frame, target, category=["code"])
    rows = new_rows().drop(columns="visits").assign(left="no")
    found = outputs(to_onnx(model, frame), model[0], rows)["prediction"]
    assert_allclose(found, model.predict(rows), atol=1e-5)


def test_a_machine_that_reads_words_behind_the_encoder():
    frame = messy()
    encoder = TableEncoder(one_hot=False, category=["code"], drop=["left"])
    model = make_pipeline(encoder, RelevanceSVC()).fit(frame, frame["left"])
    assert_same(model, to_onnx(model, frame), new_rows())


@loop("opset", [15, 18])
@loop("one_hot", [False, True])
def test_operators_of_an_older_version(one_hot, opset):
    frame, encoder = messy(), TableEncoder(drop=["left"], one_hot=one_hot)
    machine = SVC(calibration="loo") if one_hot else RelevanceSVC()
    model = make_pipeline(encoder, machine).fit(frame, frame["left"])
    assert_same(model, to_onnx(model, frame, opset=opset), new_rows())


def test_the_example_decides_only_how_words_are_given():
    frame = messy()
    encoder = TableEncoder(category=["code"], drop=["left"])
    model = make_pipeline(encoder, SVC(calibration="loo")).fit(frame, frame["left"])
    graph = to_onnx(model)
    kinds = {each.name: each.type.tensor_type.elem_type for each in graph.graph.input}
    words = {name for name, kind in kinds.items() if kind == onnx.TensorProto.STRING}
    assert words == {"plan", "town", "member", "code", "flag"}
    assert_same(model, graph, new_rows())
    kinds = {
        each.name: each.type.tensor_type.elem_type for each in to_onnx(model, frame).graph.input
    }
    assert kinds["member"] == onnx.TensorProto.BOOL
    assert kinds["code"] == onnx.TensorProto.DOUBLE


@loop("times", [False, True])
def test_dates_of_four_centuries(times):
    rng = np.random.default_rng(0)
    past = rng.integers(-73_000, 73_000, 3000) * pd.Timedelta("1D")
    stamps = pd.Series(pd.Timestamp(0) + pd.to_timedelta(past))
    if times:
        stamps += pd.to_timedelta(rng.integers(0, 1440, len(stamps)), "min")
    frame = pd.DataFrame({"day": stamps, "size": rng.normal(size=len(stamps))})
    encoder = TableEncoder().fit(frame)
    assert encoder.timed_ == (["day"] if times else [])
    pipeline = make_pipeline(encoder)
    graph = to_onnx(pipeline)
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    given = {"day": as_days(stamps)[:, None], "size": frame[["size"]].to_numpy()}
    (found,) = session.run(None, given)
    assert_allclose(found, encoder.transform(frame), rtol=1e-9, atol=1e-9)


def test_a_frame_with_words_needs_no_encoder():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 10, N_ROWS),
            "ward": rng.choice(["north", "south", "east"], N_ROWS),
            "size": rng.normal(size=N_ROWS),
        }
    )
    y = (frame["age"] + 15 * (frame["ward"] == "north") > 55).to_numpy()
    frame.loc[::8, "age"] = np.nan
    frame.loc[::11, "ward"] = None
    model = RelevanceSVC().fit(frame, y)
    frame.loc[1, "ward"] = "never seen"
    graph = to_onnx(model, frame)
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    given = {
        name: (column.fillna("") if name == "ward" else column).to_numpy()[:, None]
        for name, column in frame.items()
    }
    label, decision, _ = session.run(None, given)
    assert_allclose(decision, model.decision_function(frame), rtol=1e-5, atol=1e-5)
    assert_array_equal(label, model.predict(frame))


def test_columns_may_have_any_name():
    names = ["label", "visits per week", "decision", "columns", "constant", "x_k", "Größe (€)", "1"]
    frame = messy()
    other = dict(zip(frame.drop(columns="left").columns, names, strict=True))
    frame = frame.rename(columns=other)
    encoder = TableEncoder(one_hot=False, drop=["left"])
    model = make_pipeline(encoder, RelevanceSVC()).fit(frame, frame["left"])
    graph = to_onnx(model, frame)
    assert {each.name for each in graph.graph.input} <= set(names)
    assert len(graph.graph.input) == len(encoder.kinds_)
    rows = new_rows().rename(columns=other)
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    found = session.run(None, feed(encoder, rows, session))
    assert_allclose(found[1], model.decision_function(rows), rtol=1e-5, atol=1e-5)


def test_names_of_columns_that_differ_only_in_signs():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a b", "a_b", "a-b"])
    model = SVC().fit(frame, frame["a b"] - frame["a_b"] > 0)
    graph = to_onnx(model, frame)
    assert [each.name for each in graph.graph.input] == ["a b", "a_b", "a-b"]
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    found = session.run(None, {name: frame[[name]].to_numpy() for name in frame})
    assert_allclose(found[1], model.decision_function(frame), rtol=1e-9, atol=1e-9)


def test_words_without_an_example_are_refused_with_the_remedy():
    frame = messy()[["plan", "visits"]]
    model = RelevanceSVC().fit(frame, messy()["left"])
    with pytest.raises(ValueError, match=r"\['plan'\] are categories .*give some rows as example"):
        to_onnx(model)


def test_words_in_place_of_numbers_are_asked_for_as_numbers_or_refused():
    frame = messy()[["plan", "visits"]]
    model = RelevanceSVC().fit(frame, messy()["left"])
    inputs = to_onnx(model, frame.astype(str)).graph.input
    kinds = [each.type.tensor_type.elem_type for each in inputs]
    assert kinds == [onnx.TensorProto.STRING, onnx.TensorProto.DOUBLE]
    numbers = SVC().fit(frame[["visits"]].fillna(0), messy()["left"])
    with pytest.raises(ValueError, match=r"SVC reads numbers, .* encode them in a step before it"):
        to_onnx(numbers, frame[["visits"]].astype(str))


def test_an_example_without_the_columns_is_refused():
    frame = messy()
    model = make_pipeline(TableEncoder(drop=["left"]), SVC()).fit(frame, frame["left"])
    with pytest.raises(TableError, match="lacks columns that the model needs: 'town'"):
        to_onnx(model, frame.drop(columns="town"))

"""What users met in Python, one test per finding; each name has its number."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

from kernelwise import RelevanceSelector, RelevanceSVC, RelevanceSVR
from kernelwise.app.evaluation import fit_table
from kernelwise.app.inspection import relevance_test
from kernelwise.app.io import load, save
from kernelwise.app.tabular import check_target

from .tables import sales

# One test looks at this warning; the others are about other columns.
WITH_IDS = pytest.mark.filterwarnings("ignore:columns .* name the rows:UserWarning")

READ_AS = {
    "offer": "text: 30 numbers with one weight",
    "sold": "date: year, month, day of week, days since the first",
    "price": "number",
    "share": "number",
    "shop": "category of 3 levels",
    "caseid": "id: not used",
}


def test_findings_7_9_21_columns_are_read_and_the_model_says_as_what(tmp_path):
    frame, y = sales()
    for kind, target in ((RelevanceSVC, y), (RelevanceSVR, (y == "yes").astype(float))):
        with pytest.warns(UserWarning, match=r"\['caseid'\] name the rows .* make it float"):
            model = kind().fit(frame, target)
        read = pd.DataFrame(model.columns_.table()).set_index("column")["read_as"]
        assert set(read.items()) <= set(READ_AS.items())
        assert read["offer"] == READ_AS["offer"]
        assert read["caseid"] == READ_AS["caseid"]
        assert model.feature_importances_[0] == 0
        assert np.isfinite(model.feature_importances_).all()
        assert pd.Series(model.feature_importances_, frame.columns)["offer"] > 0.1
        assert "caseid" in kind().fit(frame.astype({"caseid": float}), target).columns_.names
        plain = kind(columns="as is").fit(frame, target)
        assert not plain.columns_.readings
        assert model.score(frame, target) > plain.score(frame[:0:-1], target[:0:-1]) - 0.2
        expected = model.predict(frame)
        for other in (pickle.loads(pickle.dumps(model)), load(save(model, tmp_path / "m.kw"))):
            assert (other.predict(frame) == expected).all()
        few = frame[list(model.columns_.names)]
        assert (model.predict(few) == expected).all()
        if kind is RelevanceSVC:
            assert (model.predict(pl.from_pandas(frame)) == expected).all()


@WITH_IDS
def test_finding_7_text_is_learned_from_on_rows_not_seen():
    frame, y = sales(480)
    model = RelevanceSVC().fit(frame[:320], y[:320])
    plain = RelevanceSVC(columns="as is").fit(frame[:320], y[:320])
    assert model.score(frame[320:], y[320:]) > plain.score(frame[320:], y[320:]) + 0.1
    unknown = frame[320:].assign(offer="words that nobody knows", sold=None, price="?")
    assert np.isfinite(model.decision_function(unknown)).all()


@WITH_IDS
def test_findings_7_9_21_python_and_command_line_read_alike():
    frame, y = sales()
    table = frame.assign(bought=y)
    pipeline = fit_table(table, check_target(table, "bought"))
    model = RelevanceSVC().fit(frame, y)
    assert_allclose(pipeline.decision_function(frame), model.decision_function(frame), rtol=1e-6)


@WITH_IDS
def test_findings_7_9_the_selector_and_the_test_read_columns_too():
    frame, y = sales()
    selector = RelevanceSelector().fit(frame, y)
    assert {"offer"} <= set(selector.get_feature_names_out()) <= set(READ_AS) - {"caseid"}
    test = pd.DataFrame(relevance_test(frame, y).table()).set_index("feature")
    assert test.loc["offer", "p_value"] < 0.01
    assert test.loc["caseid", "p_value"] == 1.0


def test_finding_9_a_table_of_one_whole_number_is_learned_from():
    frame = pd.DataFrame({"step": range(60)})
    model = RelevanceSVC().fit(frame, frame["step"] > 30)
    assert model.score(frame, frame["step"] > 30) > 0.9


@WITH_IDS
def test_finding_9_whole_numbers_that_are_no_ids_stay():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"mass": rng.integers(0, 10**6, 90), "rownames": range(90)})
    model = RelevanceSVC().fit(frame, frame["mass"] > 5e5)
    assert model.columns_.table()["column"] == ["mass", "rownames"]
    assert model.selected_features_.tolist() == [True, False]


def test_finding_18_huge_and_tiny_columns_are_columns_like_others():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    y = frame["a"] + 0.3 * rng.normal(size=300)
    for kind, target in ((RelevanceSVC, y > 0), (RelevanceSVR, y)):
        plain = kind().fit(frame[:200], target[:200])
        for factor in (1e300, 1e-300):
            scaled = frame.assign(a=frame["a"] * factor)
            model = kind().fit(scaled[:200], target[:200])
            assert_allclose(model.predict(scaled[200:]), plain.predict(frame[200:]), rtol=1e-3)


def test_finding_18_a_value_far_out_at_prediction_leaves_doubt():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    model = RelevanceSVC().fit(frame, frame["a"] + rng.normal(size=300) > 0)
    far = model.predict_proba(pd.DataFrame({"a": [1e6, -1e308, 1e308], "b": [0.0, 0.0, 1e308]}))
    assert (far.min(axis=1) > 1e-6).all()


def test_finding_18_infinity_is_refused_with_the_name_of_the_column():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, np.inf] * 10, "b": [1.0, 2.0] * 20})
    with pytest.raises(ValueError, match="column 'a' has infinite values"):
        RelevanceSVC().fit(frame, [0, 1] * 20)

"""What users met in Python, one test per finding; each name has its number."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from kernelwise import RelevanceSVC, RelevanceSVR


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

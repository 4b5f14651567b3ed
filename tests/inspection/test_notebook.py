"""The largest weights are shown below scikit-learn's diagram."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

from kernelwise import SVC, MarginRadiusSVC, RelevanceSVR


@pytest.fixture
def fitted():
    X = np.random.default_rng(0).normal(size=(60, 10))
    names = [f"column {k}" for k in range(9)] + ["<b>bold & 'quoted'</b>"]
    y = X[:, 9] > 0
    return MarginRadiusSVC(p=2.0).fit(pd.DataFrame(X, columns=names), y)


def bars(html):
    return [float(own) for own in re.findall(r"width:([\d.]+)%", html.partition("kernelwise")[2])]


def test_bars_are_the_largest_importances(fitted):
    html = fitted._repr_html_()
    diagram = estimator_html_repr(fitted)
    assert len(html) > len(diagram)
    shares = np.sort(fitted.feature_importances_)[::-1]
    np.testing.assert_allclose(bars(html)[:-1], 100 * shares[:8] / shares[0], atol=0.05)
    assert ">2 others</span>" in html
    assert html.endswith(f"<span>{100 * shares[8:].sum():.1f} %</span></div></div>")
    assert fitted._repr_mimebundle_()["text/html"].count("kernelwise-weights") == 1


def test_names_are_escaped(fitted):
    ours = fitted._repr_html_().partition('class="kernelwise-weights"')[2]
    assert "&lt;b&gt;bold &amp; &#x27;quoted&#x27;&lt;/b&gt;" in ours
    assert "<b>" not in ours


def test_nothing_is_added_without_a_diagram_or_weights(fitted):
    with config_context(display="text"):
        assert not hasattr(fitted, "_repr_html_")
        assert set(fitted._repr_mimebundle_()) == {"text/plain"}
    assert "kernelwise-weights" not in MarginRadiusSVC()._repr_html_()
    plain = SVC().fit([[0.0], [1.0]], [0, 1])
    assert "kernelwise-weights" not in plain._repr_html_()


def test_pipelines_have_their_own_diagram(fitted):
    model = make_pipeline(StandardScaler(), fitted)
    html = model._repr_html_()
    assert "kernelwise-weights" not in html
    assert "MarginRadiusSVC" in html


def test_regressors_show_theirs():
    X = np.random.default_rng(0).normal(size=(40, 2))
    assert "kernelwise-weights" not in RelevanceSVR()._repr_html_()
    assert bars(RelevanceSVR().fit(X, X[:, 1])._repr_html_())[0] == 100

"""The examples run, and write what they promise."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.fixture
def demo(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("demo", EXAMPLES / "demo.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "OUTPUT", tmp_path / "demo-output")
    monkeypatch.setattr(module, "SPLITS", 2)
    monkeypatch.setattr(module, "GRID", {"C": [1, 10], "gamma": ["scale"]})
    return module


def test_demo_finds_the_real_columns_and_writes_a_report(demo, capsys):
    demo.main()
    printed = capsys.readouterr().out
    share = int(re.search(r"(\d+) % of the learned weight", printed).group(1))
    assert share > 70
    assert "kernelwise, learned weights" in printed
    page = (demo.OUTPUT / "report.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == 2
    assert "http" not in page  # the page needs nothing but itself
    assert page.count('class="noise"') == 30
    assert (demo.OUTPUT / "weights.png").stat().st_size > 1000


def test_learned_weights_lower_the_dual_objective(demo):
    X, y, _, _ = demo.noisy_breast_cancer()
    X = (X[:150] - X[:150].mean(axis=0)) / X[:150].std(axis=0)
    weights, history = demo.learn_weights(X, y[:150])
    assert min(history) < 0.8 * history[0]
    np.testing.assert_allclose(weights.sum(), X.shape[1])
    assert (weights >= 0).all()

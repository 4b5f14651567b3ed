"""The examples run, and write what they promise."""

import html
import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def demo(tmp_path, monkeypatch):
    module = load("demo")
    monkeypatch.setattr(module, "OUTPUT", tmp_path / "demo-output")
    monkeypatch.setattr(module, "HALVES", 1)
    monkeypatch.setattr(module, "RESAMPLES", 2)
    monkeypatch.setattr(module, "GRID", {"C": [1, 10], "gamma": ["scale"]})
    return module


def test_demo_finds_the_real_columns_and_writes_a_report(demo, capsys):
    demo.main()
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    selected, real = map(int, re.search(r"selects (\d+) columns, (\d+) of", printed).groups())
    assert real >= 8
    assert selected - real <= 2
    assert re.search(r"GridSearchCV\(SVC\) +\d\d\.\d ± \d\.\d +[+-]\d\.\d \(", printed)
    page = (demo.OUTPUT / "report.html").read_text(encoding="utf-8")
    assert f"Of the {selected} columns that it selects, {real} are real." in page
    assert all(html.escape(name) in page for name in (demo.OURS, *demo.others()))
    assert all(html.escape(note) in page.replace("&#39;", "&#x27;") for note in demo.NOTES)
    assert "noise 30</th>" in page
    assert {path.name for path in demo.OUTPUT.iterdir()} == {
        "report.html", "weights.png", "learning.png",
    }  # fmt: skip
    assert all(path.stat().st_size > 10_000 for path in demo.OUTPUT.iterdir())


@pytest.mark.parametrize("page", ["README.md", "docs/relevance.md"])
def test_first_code_of_a_page_runs(page, capsys):
    text = (ROOT / page).read_text(encoding="utf-8")
    exec(re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1), {})
    accuracy, *columns = capsys.readouterr().out.splitlines()
    assert 0.9 < float(accuracy) < 1.0
    assert "worst" in " ".join(columns)


def test_which_features_finds_two_that_matter_together(capsys):
    load("which_features").main()
    printed = capsys.readouterr().out
    assert set(re.findall(r"(x\d+) .*\*", printed)) == {"x3", "x11"}
    accuracy = [float(line.split()[-1]) for line in printed.splitlines() if line.startswith("  n")]
    everything, alone, together = accuracy
    assert together > 85 > 70 > max(everything, alone)


def test_weighted_columns_helps_among_noise(monkeypatch, capsys):
    module = load("weighted_columns")
    monkeypatch.setattr(module, "SPLITS", 3)
    module.main()
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    scores = np.array([line[2:] for line in lines if line and line[0] in {"linear", "least"}])
    plain, *weighted = scores.astype(float)[2:].T  # the table with noise
    assert (np.array(weighted) > plain + 1).all()


def test_code_of_feature_discrimination_runs(capsys):
    text = (ROOT / "docs" / "feature_discrimination.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    imports = ("import FeatureDiscriminationScaler\n", "import EmpiricalKernelMap\n")
    code = [block for words in imports for block in blocks if words in block]
    exec("".join(code) + "print(cross_val_score(model, X, y).mean())", {})
    assert all(0.9 < float(line) < 1.0 for line in capsys.readouterr().out.splitlines())


def test_width_path_draws_the_margin(tmp_path, monkeypatch, capsys):
    module = load("width_path")
    monkeypatch.setattr(module, "N_WIDTHS", 12)
    monkeypatch.setattr("sys.argv", ["width_path.py", str(tmp_path / "path.png")])
    module.main()
    assert "chosen sigma" in capsys.readouterr().out
    assert (tmp_path / "path.png").stat().st_size > 10_000

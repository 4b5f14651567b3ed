"""The examples run, and write what they promise."""

import html
import importlib.util
import json
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
    for name in (demo.OURS, "GridSearchCV(SVC)"):
        assert re.search(rf"{re.escape(name)}( +\d\d\.\d ± \d\.\d){{2}} +\d+\.\d{{3}}\n", printed)
    page = (demo.OUTPUT / "report.html").read_text(encoding="utf-8")
    assert f"Of the {selected} columns that it selects, {real} are real." in page
    assert all(html.escape(name) in page for name in (demo.OURS, *demo.others()))
    assert all(html.escape(note) in page.replace("&#39;", "&#x27;") for note in demo.NOTES)
    assert "noise 30</th>" in page
    assert {path.name for path in demo.OUTPUT.iterdir()} == {
        "report.html", "weights.png", "path.png",
    }  # fmt: skip
    assert all(path.stat().st_size > 10_000 for path in demo.OUTPUT.iterdir())


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


def test_width_path_draws_the_margin(tmp_path, monkeypatch, capsys):
    module = load("width_path")
    monkeypatch.setattr(module, "N_WIDTHS", 12)
    monkeypatch.setattr("sys.argv", ["width_path.py", str(tmp_path / "path.png")])
    module.main()
    assert "chosen sigma" in capsys.readouterr().out
    assert (tmp_path / "path.png").stat().st_size > 10_000


def test_generalized_bias_prints_its_tables(monkeypatch, capsys):
    module = load("generalized_bias")
    monkeypatch.setattr(module, "REPEATS", 1)
    module.main()
    printed = capsys.readouterr().out
    rows = re.findall(r"^  (\S.*?) +(\d+\.\d) ± 0.0 +(\d+\.\d) ± 0.0$", printed, re.MULTILINE)
    assert len(rows) == 10
    auc = {name: float(value) for name, _, value in rows[:5]}
    assert auc["GeneralizedBiasSVC"] > auc["SVC, all columns in the kernel"]
    assert auc["GeneralizedBiasSVC"] > auc["logistic regression, all columns"]


def test_readme_pictures_show_that_noise_does_little_harm(tmp_path, monkeypatch, capsys):
    module = load("readme_pictures")
    monkeypatch.setattr(module, "REPEATS", 2)
    monkeypatch.setattr(module, "RATIOS", (0, 8))
    monkeypatch.setattr(module, "TABLES", {"iris": module.load_iris})
    monkeypatch.setattr("sys.argv", ["readme_pictures.py", str(tmp_path)])
    module.main()
    accuracy = json.loads((tmp_path / "accuracy_noise.json").read_text(encoding="utf-8"))["iris"]
    lost = {name: accuracy["0"][name][0] - accuracy["8"][name][0] for name in accuracy["0"]}
    assert lost["RelevanceSVC()"] < 3 < lost["SVC, grid search"]
    share = re.search(r"noise columns have (\d+\.\d) % of", capsys.readouterr().out)[1]
    assert float(share) < 25
    for name in ("accuracy_noise.svg", "feature_weights.svg"):
        assert (tmp_path / name).read_text(encoding="utf-8").startswith("<?xml")

"""The examples run, and write what they promise."""

import importlib.util
import re
from pathlib import Path

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


def test_width_path_draws_the_margin(tmp_path, monkeypatch, capsys):
    spec = importlib.util.spec_from_file_location("width_path", EXAMPLES / "width_path.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "N_WIDTHS", 12)
    monkeypatch.setattr("sys.argv", ["width_path.py", str(tmp_path / "path.png")])
    module.main()
    assert "chosen sigma" in capsys.readouterr().out
    assert (tmp_path / "path.png").stat().st_size > 10_000

"""The page of GeneralizedBiasSVC and its example run, and show what they say."""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_first_code_of_the_page_runs(capsys):
    text = (ROOT / "docs" / "generalized_bias.md").read_text(encoding="utf-8")
    exec(re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1), {})
    plain, ours, share = map(float, capsys.readouterr().out.split())
    assert ours > plain + 0.1
    assert 0 < share < 1


def test_example_prints_its_tables(monkeypatch, capsys):
    path = ROOT / "examples" / "generalized_bias.py"
    spec = importlib.util.spec_from_file_location("generalized_bias_example", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    monkeypatch.setattr(example, "REPEATS", 1)
    example.main()
    printed = capsys.readouterr().out
    rows = re.findall(r"^  (\S.*?) +(\d+\.\d) ± 0.0 +(\d+\.\d) ± 0.0$", printed, re.MULTILINE)
    assert len(rows) == 10
    auc = {name: float(value) for name, _, value in rows[:5]}
    assert auc["GeneralizedBiasSVC"] > auc["SVC, all columns in the kernel"]
    assert auc["GeneralizedBiasSVC"] > auc["logistic regression, all columns"]

"""The code of the page runs, block after block."""

import re
from pathlib import Path

import matplotlib.pyplot as plt

PAGE = Path(__file__).resolve().parents[2] / "docs" / "report.md"


def test_blocks_of_the_page_run(tmp_path, monkeypatch):
    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    first, second = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names = {}
    exec(first, names)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "selected in, %" in page
    exec(second, names)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "logistic regression" in page
    assert "<h1>Breast cancer</h1>" in page
    headings = re.findall(r"<h2 id=\"\w+\">(.*?)<", page)
    told = re.findall(r"^\| ([A-Z].*?) \|", text, re.MULTILINE)
    assert len(told) == len(headings)
    assert all(heading.startswith(words) for heading, words in zip(headings, told, strict=True))

"""The code of the guide runs, block after block, as a reader would type it."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.fixture(autouse=True)
def no_window(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.mark.parametrize("page", ["quickstart", "extending"])
def test_code_of_the_page_runs(page, capsys):
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) > 3
    names = {"__name__": page}
    for block in blocks:
        exec(compile(block, f"{page}.md", "exec"), names)
    assert capsys.readouterr().out

"""The code on the page about model files runs."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "model_files.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize(
    ("number", "printed"),
    [(0, "{'rows': 400, 'columns': 30, 'score': 0."), (1, "['size', 'colour']")],
    ids=["files", "onnx"],
)
def test_a_block_runs(number, printed, capsys):
    exec(compile(BLOCKS[number], str(PAGE), "exec"), {})
    assert capsys.readouterr().out.startswith(printed)


def test_there_are_no_others():
    assert len(BLOCKS) == 2

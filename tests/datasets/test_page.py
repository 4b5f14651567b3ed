"""The page of the user guide says what the library says."""

import re
from pathlib import Path

from kernelwise.datasets import list_datasets

PAGE = Path(__file__).resolve().parents[2] / "docs" / "datasets.md"


def test_the_table_is_that_of_the_library():
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| (\d+ .*) \|$", text, re.MULTILINE)
    assert rows == [
        (
            one.name,
            f"{one.rows} | {one.features} | {one.classes or 'regression'} | {one.missing} | "
            f"{', '.join(one.papers)} | {', '.join(one.sources)}",
        )
        for one in list_datasets()
    ]


def test_every_leak_is_told():
    text = PAGE.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    for one in list_datasets():
        for leak in one.leaks:
            assert any(f"`{one.name}`" in line and leak in line for line in lines), one.name


def test_the_code_runs(capsys):
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), {})
    told, score = capsys.readouterr().out.strip().rsplit("\n", 1)
    assert "Breast Cancer Wisconsin (Diagnostic)" in told
    assert float(score) > 0.95

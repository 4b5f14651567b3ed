"""The code of the page runs, block after block."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "inspection.md"


def test_blocks_of_the_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 9
    names = {}
    exec(blocks[0], names)
    assert (tmp_path / "weights.png").stat().st_size > 5000
    for block in blocks[1:]:
        exec(block, names)
    assert names["svg"].startswith("<svg")
    assert len(names["check"].p_values) == 13
    assert names["stability"].rank_agreement > 0.5

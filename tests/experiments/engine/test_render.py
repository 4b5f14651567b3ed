"""Pages from result files."""

import json
import re
from html.parser import HTMLParser

import pytest
from rich.console import Console

from kernelwise._text import duration
from kernelwise.experiments import (
    Check,
    Column,
    Spread,
    against,
    run,
    sections,
    write_html,
    write_markdown,
)
from kernelwise.experiments.engine.progress import RunProgress
from kernelwise.experiments.engine.sections import as_json, cell_text, check_text
from kernelwise.experiments.engine.terminal import list_view, section_view

from ..toy import Toy


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    run(Toy(), folder)
    return folder


@pytest.fixture
def section(folder):
    found, missing = sections([Toy()], folder)
    assert missing == []
    return found[0]


def test_what_is_not_measured_is_missing(folder):
    assert sections([Toy()], folder, "quick") == ([], ["toy-table1"])


@pytest.mark.parametrize(
    ("cell", "column", "text"),
    [
        (None, Column("a"), "-"),
        ("word", Column("a"), "word"),
        (3, Column("a"), "3"),
        (2.345, Column("a", 1), "2.3"),
        (2.345, Column("a", 1, signed=True), "+2.3"),
        (Spread(2.345, 0.51), Column("a", 1), "2.3 ± 0.5"),
        (Spread(2.345), Column("a", 1), "2.3"),
    ],
)
def test_cells(cell, column, text):
    assert cell_text(cell, column) == text


def test_comparisons_take_nothing_and_one_value():
    assert against(1.0, []) == [1.0, None, None]
    assert against(1.0, [3.0]) == [1.0, Spread(3.0, None), 2.0]
    assert against(None, [3.0, 5.0]) == [None, Spread(4.0, 1.0), None]


@pytest.mark.parametrize(
    ("value", "relation", "verdict"),
    [(0.6, ">", "met"), (0.5, ">", "missed"), (0.5, ">=", "met"), (0.6, "<", "missed"),
     (0.5, "<=", "met"), (None, ">", "open")],
)  # fmt: skip
def test_verdicts(value, relation, verdict):
    check = Check("r", value, relation, 0.5)
    assert check_text(check)[3] == check.verdict == verdict


def test_status_tells_what_was_measured(section):
    status = section.status
    assert status.startswith("24 of 24 tasks, ")
    assert re.search(r"; commit [0-9a-f]{10}", status)  # the tests run in a checkout
    assert "seed 0" in status
    assert "failed" not in status


@pytest.mark.parametrize("width", [80, 100])
def test_terminal_fits(section, width):
    console = Console(width=width, record=True, force_terminal=False)
    console.print(section_view(section))
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= width
    for part in ("Toy, Table 1", "diff.", "met", "open", "- There are 24 rows."):
        assert part in text


def test_list_tells_the_cost():
    console = Console(width=80, record=True, force_terminal=False)
    console.print(list_view([Toy()]))
    assert re.search(r"toy-table1\s+24\s+12 s\s+4 s\s+Toy, Table 1", console.export_text())


def test_markdown_has_tables_and_its_pictures_beside_it(section, tmp_path):
    path = tmp_path / "docs" / "page.md"
    write_markdown([section], path)
    text = path.read_text(encoding="utf-8")
    assert "| set | value paper | value ours | value diff. |\n| --- | ---: | ---: | ---: |" in text
    assert "| rows | >= 24 | 24.00 | met |" in text
    line = "| b is larger | 0.5 | A: 0.1; B: 0.6 | holds under B | `toy-table1` |"
    assert text.index("## What holds") < text.index(line) < text.index("## Toy, Table 1")
    picture = re.search(r"!\[The values\.\]\((.*)\)", text).group(1)
    assert picture == "images/page/toy-table1-line.png"
    assert (path.parent / picture).read_bytes().startswith(b"\x89PNG")
    assert [each.name for each in path.parent.iterdir()] in (["page.md", "images"],
                                                            ["images", "page.md"])  # fmt: skip


class Reader(HTMLParser):
    """Collects tags, and sees that they nest."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.links = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        values = dict(attrs)
        self.links += [values[key] for key in ("src", "href", "xlink:href") if key in values]
        if tag not in {"meta", "br", "link"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for key, value in attrs if key in {"src", "href", "xlink:href"}]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_is_whole_and_needs_no_other_file(section, tmp_path):
    path = tmp_path / "page.html"
    write_html([section, section], path)
    text = path.read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    assert reader.tags.count("svg") == 2
    assert {"main", "caption", "figcaption"} <= set(reader.tags)
    assert all(link.startswith(("#", "data:")) for link in reader.links)
    assert "prefers-color-scheme" in text or "light-dark(" in text
    assert 'class="met"' in text
    assert "Numbers | with <code>code</code>." in text


def test_same_results_give_the_same_pages(section, tmp_path):
    for name in ("one", "two"):
        write_html([section], tmp_path / name / "p.html")
        write_markdown([section], tmp_path / name / "p.md")
    files = [sorted((tmp_path / name).rglob("*.*")) for name in ("one", "two")]
    assert len(files[0]) == 3
    assert [f.read_bytes() for f in files[0]] == [f.read_bytes() for f in files[1]]


def test_json_is_plain(section):
    found = json.loads(json.dumps(as_json(section)))
    assert found["n_rows"] == found["n_tasks"] == 24
    assert found["tables"][0]["columns"] == ["set", "value paper", "value ours", "value diff."]
    assert set(found["tables"][0]["rows"][0][2]) == {"mean", "error"}
    assert [check["verdict"] for check in found["checks"]] == ["met", "open"]
    assert [claim["verdict"] for claim in found["claims"]] == ["holds under B"]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "0 s"), (89, "89 s"), (600, "10 min"), (7200, "2.0 h")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_progress_in_plain_lines(capsys, monkeypatch):
    monkeypatch.setattr("kernelwise.experiments.engine.progress._EVERY", -1.0)
    with RunProgress("toy", [1.0, 1.0]) as progress:
        progress.advance(1.0, failed=True)
        progress.advance(1.0, failed=False)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("toy: 1 of 2, 1 failed, about ")
    assert lines[1] == "toy: 2 of 2, 1 failed, about 0 s left"


def test_quiet_progress_says_nothing(capsys, monkeypatch):
    monkeypatch.setattr("kernelwise.experiments.engine.progress._EVERY", -1.0)
    with RunProgress("toy", [1.0], quiet=True) as progress:
        progress.advance(1.0, failed=False)
    assert capsys.readouterr().err == ""


def test_progress_bar_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with RunProgress("toy", [1.0, 1.0]) as progress:
        progress.advance(1.0, failed=False)
        assert progress._bar.tasks[0].percentage == 50
        assert progress._bar.tasks[0].description == "toy: 1 of 2"
    capsys.readouterr()

"""The command, the pages, and the way contenders are timed."""

import json
import re

import pytest

from benchmarks import command
from benchmarks.blocks import with_block
from benchmarks.command import DOCS, PAGES, RESULTS, SCRATCH, SUITES, parse, select
from benchmarks.engine import ExperimentError, save
from benchmarks.environment import ROOT
from benchmarks.measure import Contender, Effort, compare, timing

from ..loop import loop
from .helpers import assert_tables_are_rectangular, quick


@loop("page", PAGES, ids=lambda page: page.name)
def test_pages_are_what_the_results_give(page):
    found = page.read(RESULTS)
    assert list(found) == [suite.name for suite in page.suites]
    text = page.text(found)
    assert (DOCS / f"{page.name}.md").read_text(encoding="utf-8") == text
    assert_tables_are_rectangular(text)
    assert "Not measured." not in text
    for suite in page.suites:  # every case has a result
        assert len(found[suite.name].rows) == len(suite.tasks(suite.scale()))
    first = text.split("\n## ")[0]
    (picture,) = (line for line in first.splitlines() if line.startswith("!["))
    assert (DOCS / picture.partition("](")[2].rstrip(")")).is_file()
    assert len(first.split(picture)[0]) > 200
    assert text.index("\n## Targets\n") > text.index("\n## Machine and versions\n")


def test_targets_belong_to_a_suite_of_their_page():
    for page in PAGES:
        names = {suite.name for suite in page.suites}
        assert {target.suite for target in page.targets} <= names


def test_names_select_suites(capsys):
    assert [suite.name for suite in select(["speed-fit"])] == ["speed-fit"]
    assert {s.name for s in select(["speed"])} == {n for n in SUITES if n.startswith("speed-")}
    assert list(select([])) == list(SUITES.values())
    with pytest.raises(ExperimentError, match="no suite is named 'spee'; there are: speed-fit"):
        select(["spee"])
    with pytest.raises(SystemExit):
        parse(["nothing"])
    assert "no suite is named 'nothing'" in capsys.readouterr().err


def test_quick_results_stay_out_of_the_documents():
    args = parse(["--quick"])
    assert (args.results, args.pages) == (SCRATCH, SCRATCH)
    assert {suite.name.partition("-")[0] for suite in args.suites} == {"speed"}
    args = parse(["--render"])
    assert (args.results, args.pages, len(args.suites)) == (RESULTS, DOCS, len(SUITES))


def test_list_names_every_suite(capsys):
    command.main(["--list"])
    printed = capsys.readouterr().out
    assert [line.split()[0] for line in printed.splitlines()] == list(SUITES)


def test_a_torn_run_goes_on_where_it_was(tmp_path):
    assert "speed-multiclass: 3 of 3 cases to do" in quick(tmp_path, "speed-multiclass")
    path = tmp_path / "speed-multiclass.quick.jsonl"
    whole = path.read_text(encoding="utf-8").splitlines()
    path.write_text(path.read_text(encoding="utf-8")[:-30], encoding="utf-8")
    assert "speed-multiclass: 1 of 3 cases to do" in quick(tmp_path, "speed-multiclass")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[:3] == whole[:3]
    assert all(json.loads(line) for line in lines)
    again = quick(tmp_path, "speed-multiclass", "--only", "C=10", "--fresh")
    assert "speed-multiclass: 1 of 1 cases to do" in again
    renewed = path.read_text(encoding="utf-8").splitlines()
    assert whole[1] in renewed  # C = 1 is kept
    assert whole[2] not in renewed


def test_missing_results_are_reported(tmp_path, capsys):
    with pytest.raises(SystemExit, match="no results for the page benchmarks"):
        command.main(["speed", "--render", "--results", str(tmp_path), "--pages", str(tmp_path)])


def test_a_picture_does_not_depend_on_when_it_is_drawn(tmp_path):
    page = PAGES[0]
    found = page.read(RESULTS)
    paths = [tmp_path / folder / "picture.svg" for folder in ("one", "two")]
    for path in paths:
        save(page.drawings(found)[0], path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[0].stat().st_size < 100_000


def test_contenders_take_turns_and_preparation_is_not_timed():
    order, clock = [], iter(range(100))
    contenders = {
        "a": Contender(lambda x: order.append(x) or "A", prepare=lambda: order.append("p") or "a"),
        "b": Contender(lambda: order.append("b") or "B"),
    }
    effort = Effort(budget=0.0, least=8)
    times, values = compare(contenders, effort, cpu_clock=lambda: next(clock))
    assert order[:3] == ["p", "a", "b"]  # the first round is for warming up
    rounds = ["".join(order[start : start + 3]) for start in range(3, len(order), 3)]
    assert sorted(rounds) == ["bpa"] * 4 + ["pab"] * 4  # each goes first equally often
    assert values == {"a": "A", "b": "B"}
    assert times["a"]["cpu"] == times["b"]["cpu"] == [1.0] * 8
    assert times["a"]["ratio"] == 1.0
    assert times["b"]["ratio"] == pytest.approx(
        times["b"]["median"] / times["a"]["median"], rel=1e-4
    )


@loop(
    "rounds, seconds, enough",
    [
        (5, 10.0, False),
        (6, 10.0, True),
        (2, 13.0, False),
        (3, 13.0, True),
        (23, 1.0, False),
        (24, 1.0, True),
    ],
)
def test_rounds_adapt_to_the_time_they_take(rounds, seconds, enough):
    assert Effort().enough(rounds, seconds) is enough


def test_timing_has_median_and_quartiles():
    times = timing([1.0, 2.0, 3.0, 4.0, 100.0], [2.0] * 5)
    assert (times["median"], times["iqr"], times["cpu_median"]) == (3.0, 2.0, 2.0)


def test_hand_written_pages_have_the_tables_of_the_results():
    from benchmarks.quality import PAGE, readme
    from benchmarks.speed import PAGE as SPEED
    from benchmarks.speed import readme as speed_readme

    results, found = PAGE.read(RESULTS), set()
    for name in readme.PAGES:
        text = (ROOT / name).read_text(encoding="utf-8")
        found |= set(re.findall(r"<!-- (\w+):start -->", text))
        assert readme.renewed(text, results) == text, name
    assert found == {"peers", "lightgbm", "grid", speed_readme.NAME}
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    fits = SPEED.read(RESULTS)["speed-fit"]
    assert with_block(text, speed_readme.NAME, speed_readme.block(fits)) == text


def test_blocks_are_replaced_between_their_markers():
    made_up = "before\n<!-- name:start -->\noutdated\n<!-- name:end -->\nafter\n"
    renewed = with_block(made_up, "name", "new")
    assert renewed == "before\n<!-- name:start -->\nnew\n<!-- name:end -->\nafter\n"
    assert with_block(made_up, "other", "new") == made_up
    assert with_block("no markers", "name", "new") == "no markers"

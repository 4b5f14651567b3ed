"""The engine: the same rows whatever happened on the way."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.engine import ExperimentError, ResultFile, chosen, key_of, plan, run
from benchmarks.engine import progress as progress_module
from benchmarks.engine import store as store_module
from benchmarks.engine.seeds import seed_of

from .toy import Toy

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
from pathlib import Path
from benchmarks.engine import run
from tests.benchmarks.toy import Toy
if __name__ == "__main__":
    run(Toy(), Path({folder!r}), n_jobs=1)
"""


def without_times(rows):
    return [
        {k: v for k, v in row.items() if k != "cpu" and not k.endswith("_seconds")} for row in rows
    ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Rows of an undisturbed run."""
    return without_times(run(Toy(), tmp_path_factory.mktemp("whole")).results.rows)


def test_seeds_come_from_the_entries_of_a_task():
    toy, task = Toy(), {"dataset": "a", "repeat": 1, "variant": "x"}
    shuffled = dict(reversed(task.items()))
    assert key_of(task) == key_of(shuffled)
    assert seed_of(toy, task, 0) == seed_of(toy, shuffled, 0)
    assert seed_of(toy, task, 0) == seed_of(toy, task | {"variant": "y"}, 0)  # not in seed_keys
    seeds = {seed_of(toy, each, 0) for each in toy.tasks(toy.scale("full", 100))}
    assert len(seeds) == 200  # two variants share one
    assert seed_of(toy, task, 1) not in seeds
    assert seed_of(toy, {"dataset": "a", "repeat": 0}, 0) == 4010650843  # for good


def test_rows_are_tasks_with_results_in_order(whole):
    assert len(whole) == 24
    first = {"dataset": "a", "repeat": 0, "variant": "x"}
    assert whole[0] == first | {"value": whole[0]["value"], "draws": [0, 1]}
    keys = [(row["dataset"], row["repeat"], row["variant"]) for row in whole]
    assert keys == sorted(keys)
    assert whole[0]["value"] == whole[1]["value"] != whole[2]["value"]


def test_killed_run_goes_on_to_the_same_rows(tmp_path, whole):
    script = tmp_path / "toy_run.py"
    script.write_text(SCRIPT.format(folder=str(tmp_path)), encoding="utf-8")
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "TOY_SLEEP": "0.1"}
    process = subprocess.Popen([sys.executable, str(script)], env=env)
    path = tmp_path / "toy-table1.jsonl"
    deadline = time.monotonic() + 60
    while not (path.is_file() and path.read_bytes().count(b"\n") > 3):
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = ResultFile(tmp_path, "toy-table1").read()
    assert 3 <= len(before.rows) < 24
    outcome = run(Toy(), tmp_path)
    assert without_times(outcome.results.rows) == whole
    kept = [row for row in outcome.results.rows if row["pid_seconds"] == process.pid]
    assert len(kept) == len(before.rows)


def test_torn_lines_are_measured_again(tmp_path, whole):
    path = run(Toy(), tmp_path).path
    for lost in (1, 40, 400):
        path.write_bytes(path.read_bytes()[:-lost])
        assert len(ResultFile(tmp_path, "toy-table1").read().rows) < 24
        assert without_times(run(Toy(), tmp_path).results.rows) == whole
    lines = path.read_bytes().split(b"\n")
    lines[5] = lines[5][:20]
    path.write_bytes(b"\n".join(lines))
    assert without_times(run(Toy(), tmp_path).results.rows) == whole
    assert all(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


def test_processes_make_no_difference(tmp_path, whole):
    assert without_times(run(Toy(), tmp_path, n_jobs=2).results.rows) == whole


def test_part_by_part_is_the_whole(tmp_path, whole):
    toy = Toy()
    run(toy, tmp_path, only=["b"])
    part = run(toy, tmp_path, scale=toy.scale(repeats=2), only=["a", "variant=x"])
    assert [(row["dataset"], row["repeat"], row["variant"]) for row in part.results.rows] == [
        ("a", 0, "x"), ("a", 1, "x"),
    ]  # fmt: skip
    outcome = run(toy, tmp_path)
    assert without_times(outcome.results.rows) == whole
    before = {x for x in outcome.path.read_text(encoding="utf-8").splitlines() if '"a"' in x}
    assert len(run(toy, tmp_path, only=["b"], fresh=True).results.rows) == 12
    assert before <= set(outcome.path.read_text(encoding="utf-8").splitlines())
    quick = run(toy, tmp_path, scale=toy.scale("quick"))
    assert (quick.path.name, len(quick.results.rows)) == ("toy-table1.quick.jsonl", 8)


def test_failed_tasks_are_recorded_and_tried_again(tmp_path, monkeypatch, whole):
    monkeypatch.setenv("TOY_FAIL", "a")
    outcome = run(Toy(), tmp_path)
    assert len(outcome.results.rows) == len(outcome.results.failures) == 12
    assert all("ArithmeticError: no luck" in text for text in outcome.results.failures.values())
    monkeypatch.delenv("TOY_FAIL")
    outcome = run(Toy(), tmp_path)
    assert outcome.results.failures == {}
    assert without_times(outcome.results.rows) == whole


def test_results_that_cannot_be_kept_are_failures(tmp_path):
    for result, said in (({"dataset": 1}, "reserved"), ({"x": {1}}, "plain values, not set")):

        class Odd(Toy):
            def run(self, task, seed, data_dir, result=result):
                return result

        outcome = run(Odd(), tmp_path, scale=Odd().scale("smoke"), fresh=True)
        assert len(outcome.results.failures) == 4
        assert all(said in text for text in outcome.results.failures.values())


def test_warnings_and_facts_are_kept(tmp_path):
    class Warns(Toy):
        def run(self, task, seed, data_dir):
            import warnings

            warnings.warn("careful", RuntimeWarning, stacklevel=2)
            return {"value": 1}

        def facts(self):
            return {"load": 0.5}

    results = run(Warns(), tmp_path, scale=Warns().scale("smoke")).results
    assert [row["warnings"] for row in results.rows] == [["RuntimeWarning: careful"]] * 4
    assert results.header["load"] == 0.5


def test_results_of_another_kind_are_refused(tmp_path, whole):
    path = run(Toy(), tmp_path).path
    first, rest = path.read_text(encoding="utf-8").split("\n", 1)
    for key in ("seed", "kernelwise", "protocol", "format"):
        path.write_text(json.dumps(json.loads(first) | {key: 77}) + "\n" + rest, encoding="utf-8")
        before = path.read_bytes()
        with pytest.raises(ExperimentError, match=rf"{key} 77, this run is for .* --fresh"):
            run(Toy(), tmp_path)
        assert path.read_bytes() == before
    assert without_times(run(Toy(), tmp_path, fresh=True).results.rows) == whole
    path.write_text(json.dumps(json.loads(first) | {"machine": "x"}) + "\n" + rest)
    for _ in range(2):  # another machine is noted once
        assert len(run(Toy(), tmp_path).results.others) == 1
    path.write_text("Dear diary\n")
    with pytest.raises(ExperimentError, match="not a result file"):
        run(Toy(), tmp_path)
    with pytest.raises(ExperimentError, match=r"cannot (read|write)"):
        run(Toy(), path)  # not a folder


def test_full_disk_keeps_what_there_is(tmp_path, monkeypatch, whole):
    write, calls = store_module._write_all, []

    def full(file, data):
        calls.append(data)
        if len(calls) > 5:
            file.write(data[:7])
            raise OSError(errno.ENOSPC, "No space left on device")
        write(file, data)

    monkeypatch.setattr(store_module, "_write_all", full)
    with pytest.raises(ExperimentError, match="No space left on device; the results so far"):
        run(Toy(), tmp_path)
    monkeypatch.undo()
    assert len(ResultFile(tmp_path, "toy-table1").read().rows) == 4
    assert without_times(run(Toy(), tmp_path).results.rows) == whole


def test_plan_learns_from_what_was_measured(tmp_path):
    toy = Toy()
    tasks = chosen(toy, toy.scale())
    assert plan(toy, tasks, None).seconds == pytest.approx(12)
    run(toy, tmp_path, only=["a"])
    ahead = plan(toy, tasks, ResultFile(tmp_path, toy.name).read())
    assert len(ahead.todo) == 12
    assert ahead.seconds < 3


def test_tasks_must_differ():
    class Double(Toy):
        def tasks(self, scale):
            return 2 * super().tasks(scale)

    with pytest.raises(ExperimentError, match="two tasks"):
        chosen(Double(), Double().scale())


def test_progress(capsys, monkeypatch):
    monkeypatch.setattr(progress_module, "_EVERY", -1.0)
    for quiet in (False, True):
        progress = progress_module.RunProgress("toy", [1.0, 1.0], quiet)
        progress.advance(1.0, failed=True)
        progress.advance(1.0, failed=False)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("toy: 1 of 2, 1 failed, about ")
    assert lines[1:] == ["toy: 2 of 2, 1 failed, about 0 s left"]

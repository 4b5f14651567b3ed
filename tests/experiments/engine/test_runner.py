"""The runner: the same rows whatever happened on the way."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kernelwise.experiments import ExperimentError, run
from kernelwise.experiments import experiment as experiment_module
from kernelwise.experiments.engine import store as store_module
from kernelwise.experiments.engine.runner import chosen, plan
from kernelwise.experiments.engine.store import ResultFile

from ..toy import Toy

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = """
from pathlib import Path
from kernelwise.experiments import run
from tests.experiments.toy import Toy
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


def test_rows_are_tasks_with_results_in_order(whole):
    assert len(whole) == 24
    assert whole[0] == {"dataset": "a", "repeat": 0, "variant": "x"} | {
        "value": whole[0]["value"],
        "draws": [0, 1],
    }
    keys = [(row["dataset"], row["repeat"], row["variant"]) for row in whole]
    assert keys == sorted(keys)
    assert whole[0]["value"] == whole[1]["value"] != whole[2]["value"]


def test_killed_run_goes_on_to_the_same_rows(tmp_path, whole):
    script = tmp_path / "toy_run.py"
    script.write_text(SCRIPT.format(folder=str(tmp_path)), encoding="utf-8")
    path = os.pathsep.join([str(ROOT), *sys.path])
    env = os.environ | {"PYTHONPATH": path, "TOY_SLEEP": "0.1"}
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
    kept = {(row["dataset"], row["repeat"], row["variant"]) for row in before.rows}
    again = [row for row in outcome.results.rows if row["pid_seconds"] == process.pid]
    assert {(row["dataset"], row["repeat"], row["variant"]) for row in again} == kept


@pytest.mark.parametrize("lost", [1, 2, 40, 400])
def test_torn_line_is_cut_off(tmp_path, whole, lost):
    path = run(Toy(), tmp_path).path
    path.write_bytes(path.read_bytes()[:-lost])
    assert len(ResultFile(tmp_path, "toy-table1").read().rows) < 24
    assert without_times(run(Toy(), tmp_path).results.rows) == whole
    lines = path.read_text(encoding="utf-8").split("\n")
    assert len(lines) == 26  # the header, 24 tasks and the end of the last line
    assert all(json.loads(line) for line in lines[:-1])


@pytest.mark.parametrize(("n_jobs", "backend"), [(2, None), (2, "threading"), (1, "loky")])
def test_processes_and_threads_make_no_difference(tmp_path, whole, n_jobs, backend):
    rows = run(Toy(), tmp_path, n_jobs=n_jobs, backend=backend).results.rows
    assert without_times(rows) == whole


def test_part_by_part_is_the_whole(tmp_path, whole):
    toy = Toy()
    run(toy, tmp_path, only=["b"])
    part = run(toy, tmp_path, scale=toy.scale(repeats=2), only=["a"])
    assert len(part.results.rows) == 4
    assert without_times(run(toy, tmp_path).results.rows) == whole


def test_entries_of_a_task_select_it(tmp_path):
    toy = Toy()
    tasks = chosen(toy, toy.scale(), ["b", "variant=x", "repeat=0", "repeat=4"])
    assert [(t["dataset"], t["variant"], t["repeat"]) for t in tasks] == [
        ("b", "x", 0), ("b", "x", 4),
    ]  # fmt: skip


def test_fresh_results_replace_those_of_the_same_tasks_only(tmp_path, whole):
    toy = Toy()
    path = run(toy, tmp_path).path
    before = {line for line in path.read_text(encoding="utf-8").splitlines() if '"a"' in line}
    outcome = run(toy, tmp_path, only=["b"], fresh=True)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert before <= set(lines)
    assert len(lines) == 25
    assert len(outcome.results.rows) == 12
    assert without_times(run(toy, tmp_path).results.rows) == whole


def test_facts_are_in_the_header(tmp_path):
    class Knows(Toy):
        def facts(self):
            return {"load": 0.5}

    outcome = run(Knows(), tmp_path, scale=Toy().scale("smoke"))
    assert outcome.results.header["load"] == 0.5


def test_quick_run_has_a_file_of_its_own(tmp_path):
    toy = Toy()
    outcome = run(toy, tmp_path, scale=toy.scale("quick"))
    assert outcome.path.name == "toy-table1.quick.jsonl"
    assert len(outcome.results.rows) == 8
    assert ResultFile(tmp_path, toy.name).read() is None


def test_failed_tasks_are_recorded_and_tried_again(tmp_path, monkeypatch, whole):
    monkeypatch.setenv("TOY_FAIL", "a")
    outcome = run(Toy(), tmp_path)
    assert len(outcome.results.rows) == len(outcome.results.failures) == 12
    assert all("ArithmeticError: no luck" in text for text in outcome.results.failures.values())
    monkeypatch.delenv("TOY_FAIL")
    outcome = run(Toy(), tmp_path)
    assert outcome.results.failures == {}
    assert without_times(outcome.results.rows) == whole


@pytest.mark.parametrize(
    ("result", "said"),
    [({"dataset": 1}, "reserved"), ({"cpu": 1}, "reserved"), ({"x": {1}}, "plain values, not set")],
)
def test_result_that_cannot_be_kept_is_a_failure(tmp_path, result, said):
    class Odd(Toy):
        def run(self, task, seed, data_dir):
            return result

    outcome = run(Odd(), tmp_path, scale=Odd().scale("smoke"))
    assert len(outcome.results.failures) == 4
    assert all(said in text for text in outcome.results.failures.values())


def test_warnings_are_kept_with_the_row(tmp_path):
    class Warns(Toy):
        def run(self, task, seed, data_dir):
            import warnings

            warnings.warn("careful", RuntimeWarning, stacklevel=2)
            return {"value": 1}

    rows = run(Warns(), tmp_path, scale=Warns().scale("smoke")).results.rows
    assert [row["warnings"] for row in rows] == [["RuntimeWarning: careful"]] * 4


@pytest.mark.parametrize("key", ["seed", "kernelwise", "protocol", "format"])
def test_results_of_another_kind_are_refused(tmp_path, key, whole):
    path = run(Toy(), tmp_path).path
    first, rest = path.read_text(encoding="utf-8").split("\n", 1)
    path.write_text(json.dumps(json.loads(first) | {key: 77}) + "\n" + rest, encoding="utf-8")
    before = path.read_bytes()
    with pytest.raises(ExperimentError, match=rf"{key} 77, this run is for .* --fresh"):
        run(Toy(), tmp_path)
    assert path.read_bytes() == before
    assert without_times(run(Toy(), tmp_path, fresh=True).results.rows) == whole


def test_another_machine_is_noted(tmp_path):
    path = run(Toy(), tmp_path).path
    first, rest = path.read_text(encoding="utf-8").split("\n", 1)
    path.write_text(json.dumps(json.loads(first) | {"machine": "x"}) + "\n" + rest)
    for _ in range(2):  # once is enough
        assert len(run(Toy(), tmp_path).results.others) == 1


def test_file_of_something_else_is_refused(tmp_path):
    (tmp_path / "toy-table1.jsonl").write_text("Dear diary\n")
    with pytest.raises(ExperimentError, match="not a result file"):
        run(Toy(), tmp_path)


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


def test_results_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ExperimentError, match=r"cannot (read|write)"):
        run(Toy(), tmp_path / "file")


def test_plan_learns_from_what_was_measured(tmp_path):
    toy = Toy()
    tasks = chosen(toy, toy.scale())
    assert plan(toy, tasks, None).seconds == pytest.approx(12)
    run(toy, tmp_path, only=["a"])
    ahead = plan(toy, tasks, ResultFile(tmp_path, toy.name).read())
    assert len(ahead.todo) == 12
    assert ahead.seconds < 3


class NeedsData(Toy):
    datasets = ("iris", "a")

    def tasks(self, scale):
        return [{"dataset": name, "repeat": 0} for name in self.datasets]


def test_unknown_data_set_is_one_line(tmp_path):
    with pytest.raises(ExperimentError, match="data set a: ") as error:
        run(NeedsData(), tmp_path)
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_missing_folder_is_one_line(tmp_path):
    tasks = [{"dataset": "iris"}]
    with pytest.raises(ExperimentError, match="data set iris: ") as error:
        NeedsData().check_data(tasks, tmp_path / "nowhere")
    assert "\n" not in str(error.value)


def test_wrong_shape_is_one_line(tmp_path):
    import gzip

    with gzip.open(tmp_path / "iris.csv.gz", "wt") as file:
        file.write("a,b,target\n1,2,x\n3,4,y\n")
    with pytest.raises(ExperimentError, match="data set iris: ") as error:
        NeedsData().check_data([{"dataset": "iris"}], tmp_path)
    assert "\n" not in str(error.value)


class NeedsNoise(Toy):
    """Tasks that read a second set, as those of the noisy sets do; one of them does not exist."""

    datasets = ("iris", "digits", "nowhere")

    def tasks(self, scale):
        return [{"dataset": "iris", "noise": name} for name in ("digits", "nowhere")]


def test_a_second_set_that_cannot_be_read_leaves_out_its_tasks_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(experiment_module, "dataset", _all_but_nowhere)
    outcome = run(NeedsNoise(), tmp_path)
    assert [row["noise"] for row in outcome.results.rows] == ["digits"]
    assert (outcome.n_left_out, outcome.unreadable) == (1, {"nowhere": "no network"})
    with pytest.raises(ExperimentError, match="data set nowhere: no network"):
        run(NeedsNoise(), tmp_path, only=["noise=nowhere"])


def _all_but_nowhere(name, data_dir):
    if name == "nowhere":
        raise OSError("no network")


def test_torn_lines_inside_the_file_are_dropped(tmp_path, whole):
    path = run(Toy(), tmp_path).path
    lines = path.read_bytes().split(b"\n")
    lines[5] = lines[5][:20]
    path.write_bytes(b"\n".join(lines))
    assert without_times(run(Toy(), tmp_path).results.rows) == whole
    assert all(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("backend", [{}, [], 0, 3])
def test_a_backend_that_is_no_name_is_refused(tmp_path, backend):
    with pytest.raises(TypeError, match="backend"):
        run(Toy(), tmp_path, backend=backend)

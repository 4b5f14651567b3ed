"""The command, with the toy as the only experiment."""

import json
from pathlib import Path

import pytest

from benchmarks.engine import ExperimentError, run
from reproduction import experiment
from reproduction.command import main

from .toy import Toy


class Other(Toy):
    name = "other-figure1"
    title = "Other"

    def tasks(self, scale):
        return [{"dataset": "c", "repeat": repeat} for repeat in range(scale.repeats)]


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Return a function that calls the command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        experiment, "experiments", lambda: {"other-figure1": Other(), "toy-table1": Toy()}
    )

    def call(*arguments, fails=False):
        capsys.readouterr()
        if fails:
            with pytest.raises(SystemExit) as ended:
                main(arguments)
        else:
            main(arguments)
        found = capsys.readouterr()
        return found.out, found.err + (str(ended.value) if fails else "")

    return call


def test_all_experiments_by_default_and_nothing_twice(call):
    out, err = call()
    assert "toy-table1: 24 of 24 tasks to do, about 12 s of CPU" in err
    assert "There are 24 rows." in out
    assert "There are 6 rows." in out
    assert "- b is larger: holds under B" in out
    before = Path("reproduction-results/toy-table1.jsonl").read_bytes()
    assert "toy-table1: 0 of 24 tasks to do" in call("toy")[1]
    assert Path("reproduction-results/toy-table1.jsonl").read_bytes() == before


def test_list_runs_nothing(call):
    out, _ = call("--list")
    assert "24 tasks     12 s   Toy, Table 1" in out
    assert "Table 1: means" in out
    assert not Path("reproduction-results").exists()


def test_quick_repeats_only_jobs_and_results(call):
    call("toy-table1", "--quick", "--repeats", "3", "--only", "b", "--jobs", "2", "--results", "r")
    lines = Path("r/toy-table1.quick.jsonl").read_text().splitlines()
    assert len(lines) == 1 + 6
    assert all(json.loads(line)["task"]["dataset"] == "b" for line in lines[1:])
    assert "not measured yet: toy-table1" in call("--only", "c")[1]


def test_seed_and_fresh(call):
    call("toy", "--quick")
    assert "--fresh" in call("toy", "--quick", "--seed", "5", fails=True)[1]
    call("toy", "--quick", "--seed", "5", "--fresh")


def test_page(call):
    out, _ = call("toy", "--quick", "--markdown", "a/p.md")
    assert out == ""
    assert Path("a/p.md").is_file()
    assert Path("a/images/p/toy-table1-line.png").is_file()


def test_mistakes_are_told_before_any_work(call, monkeypatch):
    monkeypatch.setattr(Other, "datasets", ("c",))
    for arguments, said in [
        (["nonsense"], "no experiment is named 'nonsense'; there are: other-figure1, toy-table1"),
        (["--only", "z"], "there is no data set z; choose from a, b, c"),
        (["--render"], "no results in reproduction-results: nothing to show"),
        (["other", "--data", "nowhere"], "reproduction: data set c: "),
    ]:
        assert said in call(*arguments, fails=True)[1]
    assert "--repeats must be at least 1, not 0" in call("--repeats", "0", fails=True)[1]
    assert not Path("reproduction-results").exists()


def test_failed_tasks_and_interrupts_give_an_exit_code(call, monkeypatch):
    monkeypatch.setenv("TOY_FAIL", "a")
    out, err = call("toy", fails=True)
    assert "12 tasks failed; the same command tries them again" in err
    assert "ArithmeticError: no luck" in err
    assert "There are 12 rows." in out
    monkeypatch.delenv("TOY_FAIL")

    def interrupted(self, task, seed, data_dir):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Toy, "run", interrupted)
        assert "interrupted; the same command goes on" in call("toy", fails=True)[1]
    assert "12 of 24 tasks to do" in call("toy")[1]


class NeedsNoise(Toy):
    """Tasks that read a second set, as those of the noisy sets do; one of them does not exist."""

    datasets = ("iris", "digits", "nowhere")

    def tasks(self, scale):
        return [{"dataset": "iris", "noise": name} for name in ("digits", "nowhere")]


def test_a_second_set_that_cannot_be_read_leaves_out_its_tasks_alone(tmp_path, monkeypatch):
    def read(name, data_dir):
        if name == "nowhere":
            raise OSError("no network")

    monkeypatch.setattr(experiment, "dataset", read)
    outcome = run(NeedsNoise(), tmp_path)
    assert [row["noise"] for row in outcome.results.rows] == ["digits"]
    assert (outcome.n_left_out, outcome.unreadable) == (1, {"nowhere": "no network"})
    with pytest.raises(ExperimentError, match="data set nowhere: no network"):
        run(NeedsNoise(), tmp_path, only=["noise=nowhere"])

"""The command, with the toy as the only experiment."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from kernelwise.cli.reproduce import reproduce
from kernelwise.experiments import experiment

from .toy import Toy

app = typer.Typer()
app.command()(reproduce)


class Other(Toy):
    name = "other-figure1"
    title = "Other"

    def tasks(self, scale):
        return [{"dataset": "c", "repeat": repeat} for repeat in range(scale.repeats)]


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Return a function that calls the command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        experiment, "experiments", lambda: {"other-figure1": Other(), "toy-table1": Toy()}
    )

    def call(*arguments, code=0):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == code, result.output
        assert not isinstance(result.exception, Exception) or code
        return result

    return call


def test_all_experiments_by_default(call):
    result = call()
    assert "toy-table1: 24 of 24 tasks to do, about 12 s of CPU" in result.stderr
    assert "There are 24 rows." in result.stdout
    assert "There are 6 rows." in result.stdout
    found = sorted(path.name for path in Path("kernelwise-results").iterdir())
    assert found == ["other-figure1.jsonl", "toy-table1.jsonl"]


def test_second_call_has_nothing_to_do(call):
    call("toy", "--results", "r")
    before = Path("r/toy-table1.jsonl").read_bytes()
    assert "toy-table1: 0 of 24 tasks to do\n" in call("toy", "--results", "r").stderr
    assert Path("r/toy-table1.jsonl").read_bytes() == before


def test_list(call):
    result = call("--list")
    assert "toy-table1" in result.stdout
    assert "CPU, quick" in result.stdout
    assert "Table 1: means" in result.stdout
    assert not Path("kernelwise-results").exists()


def test_quick_repeats_only_and_jobs(call):
    call("toy-table1", "--quick", "--repeats", "3", "--only", "b", "--jobs", "2")
    lines = Path("kernelwise-results/toy-table1.quick.jsonl").read_text().splitlines()
    assert len(lines) == 1 + 6
    assert all(json.loads(line)["task"]["dataset"] == "b" for line in lines[1:])


def test_only_leaves_out_experiments_without_such_a_set(call):
    result = call("--only", "c")
    assert "not measured yet: toy-table1" in result.stderr


def test_seed_and_fresh(call):
    call("toy", "--quick")
    result = call("toy", "--quick", "--seed", "5", code=1)
    assert result.stderr.splitlines()[-1].startswith("kernelwise: ")
    assert "--fresh" in result.stderr
    call("toy", "--quick", "--seed", "5", "--fresh")


def test_pages_and_json(call):
    call("toy", "--quick", "--quiet", "--html", "a/p.html", "--markdown", "a/p.md")
    assert Path("a/p.html").is_file()
    assert Path("a/images/p/toy-table1-line.png").is_file()
    found = json.loads(call("toy", "--quick", "--render", "--json").stdout)
    assert [each["name"] for each in found] == ["toy-table1"]


def test_quiet_prints_nothing(call):
    result = call("toy", "--quick", "--quiet")
    assert result.output == ""


def test_render_runs_nothing(call):
    result = call("--render", "--quiet", code=1)
    said = "kernelwise: no results in kernelwise-results: nothing to show"
    assert result.stderr.strip() == said
    assert not Path("kernelwise-results").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "no experiment is named 'nonsense'; there are: other-figure1, toy-table1"),
        (["--only", "z"], "there is no data set 'z'; choose from a, b, c"),
        (["--backend", "mpi"], "'mpi' is not known; choose one of loky, threading, dask."),
        (["--jobs", "0"], "there must be at least one process; -1 is all cores."),
    ],
)
def test_mistakes_are_told_before_any_work(call, arguments, said):
    result = call(*arguments, code=2)
    assert said in " ".join(result.stderr.replace("│", " ").split())
    assert not Path("kernelwise-results").exists()


def test_wrong_data_folder_is_one_line(call, monkeypatch):
    monkeypatch.setattr(Toy, "datasets", ("a",))
    result = call("toy", "--quiet", "--data-dir", "nowhere", code=1)
    assert result.stderr.startswith("kernelwise: data set a: ")
    assert len(result.stderr.splitlines()) == 1


def test_failed_tasks_give_an_exit_code(call, monkeypatch):
    monkeypatch.setenv("TOY_FAIL", "a")
    result = call("toy", code=1)
    assert "12 tasks failed; the same command runs them again" in result.stderr
    assert "ArithmeticError: no luck" in result.stderr
    assert "There are 12 rows." in result.stdout
    monkeypatch.delenv("TOY_FAIL")
    assert "12 of 24 tasks to do" in call("toy").stderr


def test_interrupt_is_one_line(call, monkeypatch):
    def interrupted(self, task, seed, data_dir):
        raise KeyboardInterrupt

    monkeypatch.setattr(Toy, "run", interrupted)
    result = call("toy", code=130)
    assert "interrupted; results are kept in kernelwise-results" in result.stderr


def test_dask(call):
    call("toy", "--quick", "--backend", "dask", "--jobs", "1", "--quiet")
    assert len(Path("kernelwise-results/toy-table1.quick.jsonl").read_text().splitlines()) == 9

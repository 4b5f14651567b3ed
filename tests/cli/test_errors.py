"""Errors are one line on stderr with an exit code, and leave all files as they were."""

import errno
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import kernelwise.app.evaluation
import kernelwise.app.report.page
from kernelwise import SVC
from kernelwise._files import write_text
from kernelwise.app.io import save

from ..loop import loop
from ..tabular.tables import patients


def one_line(result, code=1):
    assert result.exit_code == code, result.stderr
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert lines[-1].startswith("kernelwise: ")
    assert "Traceback" not in result.stderr
    return lines[-1]


BAD_TABLES = {
    "empty": (b"", "is empty"),
    "binary": (b"a,b\n\x00,1\n", "bytes of a binary file"),
    "ragged": (b"a,outcome\n1,2\n1,2,3\n", "line 3: 3 fields"),
    "the target alone": (b"outcome\n1\n2\n1\n2\n", "no columns besides the target"),
    "twice": (b"a,a,outcome\n1,2,3\n", "two columns are called 'a'"),
    "one class": (b"a,outcome\n1,x\n2,x\n", "only one class"),
    "three rows": (b"a,outcome\n1,x\n2,y\n3,x\n", "2 classes in 3 rows; at least two rows"),
    "useless": (b"a,outcome\n1,x\n1,y\n1,x\n1,y\n", "no column is left to learn from"),
}


@loop("name", BAD_TABLES)
@loop("command", ["fit", "compare"])
def test_bad_tables(run, tmp_path, command, name):
    content, reason = BAD_TABLES[name]
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    assert reason in one_line(run(command, path, "--target", "outcome"))
    assert list(tmp_path.iterdir()) == [path]


@loop(
    "options, reason",
    [
        (["--target", "outcom"], "did you mean 'outcome'?"),
        (["--target", "outcome", "--drop", "agee"], "did you mean 'age'?"),
        (["--target", "outcome", "--drop", "outcome"], "'outcome' is the target"),
        (["--target", "outcome", "--positive", "sick"], "not one of the classes 'ill', 'well'"),
        (["--target", "age", "--positive", "50"], "is for classes, but the target 'age' is a"),
        (["--target", "outcome", "--task", "regression"], "is not a number in most rows"),
        (["--target", "outcome", "--out", "nowhere/model.kw"], "there is no folder"),
        (["--target", "outcome", "--out", "."], "is a folder; name a file"),
        (["--target", "outcome", "--out", os.devnull, "--force"], "is a device or a pipe"),
    ],
)
def test_bad_options_are_refused(run, table, options, reason):
    assert reason in one_line(run("fit", table, *options))


@loop(
    "options",
    [
        [],
        ["--target", "outcome", "--method", "magic"],
        ["--target", "outcome", "--task", "sorting"],
        ["--target", "outcome", "--cv", "1"],
        ["--target", "outcome", "--cv", "3", "--test-size", "0.5"],
        ["--target", "outcome", "--test-size", "2"],
        ["--target", "outcome", "--format", "xls"],
        ["--target", "outcome", "--min-class", "0"],
        ["--target", "outcome", "--unknown"],
    ],
)
def test_wrong_commands_end_with_2(run, table, options):
    result = run("fit", table, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr


def test_unwritable_files_are_reported_before_any_work(run, table, tmp_path, monkeypatch):
    fit = ["fit", table, "-t", "outcome", "--out", tmp_path / "a"]
    assert "is named twice" in one_line(run(*fit, "--report", tmp_path / "a"))
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "jinja2", None)
        lacking = one_line(run(*fit, "--report", tmp_path / "b"))
    assert "pip install 'kernelwise[report]'" in lacking

    def refused(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(pathlib.Path, "touch", refused)
    text = one_line(run(*fit))
    assert text == f"kernelwise: {tmp_path / 'a'} cannot be written: Permission denied."
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten_unless_forced(run, table, tmp_path):
    out = tmp_path / "model.kw"
    out.write_text("mine", encoding="utf-8")
    fit = ["fit", table, "-t", "outcome", "--method", "svc", "--cv", 2, "--out", out]
    assert "already exists; name another file, or add --force" in one_line(run(*fit))
    assert out.read_text(encoding="utf-8") == "mine"
    assert run(*fit, "--force").exit_code == 0
    assert out.read_bytes()[:2] == b"PK"


def test_inputs_are_never_replaced(run, table, model, tmp_path):
    link = tmp_path / "link.kw"
    link.symlink_to(model)
    commands = [("fit", table, "-t", "outcome", option, table) for option in ("--out", "--report")]
    commands += [("predict", model, table, "--out", output) for output in (model, table, link)]
    for command in commands:
        before = command[-1].read_bytes()
        assert "is read by this command" in one_line(run(*command, "--force"))
        assert command[-1].read_bytes() == before


def test_a_full_disk_leaves_no_draft_and_names_the_file(tmp_path, monkeypatch):
    def full(self, *args, **options):
        self.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pathlib.Path, "write_text", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*page\.html'"):
        write_text(tmp_path / "page.html", "text")
    assert list(tmp_path.iterdir()) == []


def test_bad_model_files(run, table, tmp_path):
    for command, rest in (("predict", [table]), ("explain", []), ("score", [table])):
        assert "there is no model file" in one_line(run(command, tmp_path / "none.kw", *rest))
        swapped = one_line(run(command, table, *rest))
        assert "not a model file; the model comes first and the table second" in swapped
    plain = tmp_path / "plain.kw"
    save(SVC().fit([[0.0], [1.0]], [0, 1]), plain)
    assert "was not written by kernelwise fit" in one_line(run("predict", plain, table))


def test_predict_names_missing_columns(run, table, model, tmp_path):
    lacking = tmp_path / "lacking.csv"
    patients(20).drop(columns=["age", "ward"]).to_csv(lacking, index=False)
    assert "needs: 'age', 'ward'" in one_line(run("predict", model, lacking))
    kept = one_line(run("predict", model, table, "--keep", "u"))
    assert "--keep: the table has no column" in kept


def interrupt(*args, **options):
    raise KeyboardInterrupt


def fail(*args, **options):
    raise RuntimeError("some\nsurprise")


def test_an_interrupt_ends_with_130_and_says_what_is_kept(run, table, tmp_path, monkeypatch):
    out = tmp_path / "model.kw"
    fit = ["fit", table, "-t", "outcome", "--method", "svc", "--cv", 2, "--out", out]
    with monkeypatch.context() as patch:
        patch.setattr(kernelwise.app.evaluation, "fit_table", interrupt)
        assert "interrupted; nothing was written" in one_line(run(*fit), 130)
        assert list(tmp_path.iterdir()) == []
    for module, name in (
        ("kernelwise.app.report.page", "write_page"),
        ("kernelwise.app.cli.explain", "measured_effects"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(sys.modules[module], name, interrupt)
            result = run(*fit, "--report", tmp_path / "page.html")
        assert result.exit_code == 130, name
        assert result.stderr.splitlines()[-1] == f"kernelwise: interrupted; the model is in {out}"
        assert list(tmp_path.iterdir()) == [out]
        out.unlink()


def test_unexpected_errors_are_one_line_unless_debugging(run, table, monkeypatch):
    monkeypatch.setattr(kernelwise.app.evaluation, "fit_table", fail)
    fit = ["fit", table, "-t", "outcome", "--method", "svc", "--cv", 2]
    text = one_line(run(*fit))
    assert (
        text == "kernelwise: RuntimeError: some surprise (KERNELWISE_DEBUG=1 shows the traceback)"
    )
    monkeypatch.setenv("KERNELWISE_DEBUG", "1")
    assert isinstance(run(*fit).exception, RuntimeError)


def test_ctrl_c_ends_the_program_without_a_traceback(table):
    """The signal comes when the program has shown its first line, whatever the machine's speed."""
    command = [sys.executable, "-m", "kernelwise", "fit", str(table), "-t", "outcome"]
    pipes = {"stderr": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    for delay in (0.0, 0.4):
        with subprocess.Popen(command, **pipes) as program:
            first = program.stderr.readline()
            time.sleep(delay)
            program.send_signal(signal.SIGINT)
            error = first + program.communicate()[1]
        assert program.returncode in (0, 130), error
        assert "Traceback" not in error


_INTERRUPTED_CALLBACK = """
import os, signal, time, weakref
from kernelwise.app.cli.interrupts import watch

class Gone:
    pass

watch()
gone = Gone()
callback = weakref.ref(gone, lambda _: os.kill(os.getpid(), signal.SIGINT))
try:
    del gone
    for _ in range(200):
        time.sleep(0.05)
    print("lost")
except KeyboardInterrupt:
    print("heard")
"""


def test_ctrl_c_in_a_callback_is_not_lost():
    command = [sys.executable, "-c", _INTERRUPTED_CALLBACK]
    program = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (program.stdout, program.stderr) == ("heard\n", "")


_INTERRUPTED_IMPORT = """
import os, signal, sys

class Finder:
    def find_spec(self, name, *_):
        if name == {0!r}:
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except KeyboardInterrupt:
                raise ImportError("initialization failed") from None

sys.meta_path.insert(0, Finder())
from kernelwise.app.cli import main
main()
"""


@pytest.mark.slow
@loop("module", ["pandas", "typer", "kernelwise.app.cli.fit", "kernelwise.app.evaluation.drift"])
def test_ctrl_c_while_a_compiled_module_loads_is_no_import_error(table, module):
    # pybind11 turns the KeyboardInterrupt of an import into an ImportError.
    command = [sys.executable, "-c", _INTERRUPTED_IMPORT.format(module)]
    program = subprocess.run(
        [*command, "fit", str(table), "-t", "outcome"], capture_output=True, text=True, check=False
    )
    assert program.returncode == 130
    assert "Traceback" not in program.stderr
    assert "initialization" not in program.stderr

"""Errors are one line on stderr with an exit code, and leave all files as they were."""

import os
import pathlib

import pytest

import kernelwise.app.evaluation
import kernelwise.app.report
from kernelwise import SVC
from kernelwise.app.io import save

from ..tabular.tables import patients


def one_line(result, code=1):
    assert result.exit_code == code
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
    "rare": (b"a,outcome\n1,x\n2,x\n3,y\n4,y\n5,z\n6,y\n", "a single row: 'z'"),
    "numbers": (b"a,outcome\n" + b"".join(b"1,%d.5\n" % k for k in range(50)), "is a number with"),
    "useless": (b"a,outcome\n1,x\n1,y\n1,x\n1,y\n", "no column is left to learn from"),
}


@pytest.mark.parametrize("name", list(BAD_TABLES))
@pytest.mark.parametrize("command", ["fit", "compare"])
def test_bad_tables(run, tmp_path, command, name):
    content, reason = BAD_TABLES[name]
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    result = run(command, path, "--target", "outcome")
    assert reason in one_line(result)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--target", "outcom"], "did you mean 'outcome'?"),
        (["--target", "outcome", "--drop", "agee"], "did you mean 'age'?"),
        (["--target", "outcome", "--drop", "outcome"], "'outcome' is the target"),
        (["--target", "outcome", "--positive", "sick"], "not one of the classes 'ill', 'well'"),
        (["--target", "outcome", "--out", "nowhere/model.kw"], "there is no folder"),
        (["--target", "outcome", "--out", "."], "is a folder; name a file"),
        (["--target", "outcome", "--out", os.devnull, "--force"], "is a device or a pipe"),
    ],
    ids=["target", "drop", "drop the target", "positive", "folder", "a folder", "a device"],
)
def test_bad_options_are_refused(run, table, options, reason):
    assert reason in one_line(run("fit", table, *options))


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--target", "outcome", "--method", "magic"],
        ["--target", "outcome", "--cv", "1"],
        ["--target", "outcome", "--cv", "3", "--test-size", "0.5"],
        ["--target", "outcome", "--test-size", "2"],
        ["--target", "outcome", "--format", "xls"],
        ["--target", "outcome", "--unknown"],
    ],
    ids=["no target", "method", "cv", "both", "test size", "format", "unknown"],
)
def test_wrong_commands_end_with_2(run, table, options):
    result = run("fit", table, *options)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


def test_unwritable_files_are_reported_before_any_work(run, table, tmp_path, monkeypatch):
    fit = ["fit", table, "-t", "outcome", "--out", tmp_path / "a"]
    assert "is named twice" in one_line(run(*fit, "--report", tmp_path / "a"))

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


@pytest.mark.parametrize("command", ["predict", "explain"])
def test_bad_model_files(run, table, tmp_path, command):
    rest = [table] if command == "predict" else []
    assert "there is no model file" in one_line(run(command, tmp_path / "none.kw", *rest))
    path = tmp_path / "broken.kw"
    path.write_text("not a model", encoding="utf-8")
    assert "not a model file" in one_line(run(command, path, *rest))


def test_predict_names_the_missing_column_or_probabilities(run, table, model, tmp_path):
    lacking = tmp_path / "lacking.csv"
    patients(20).drop(columns=["age", "ward"]).to_csv(lacking, index=False)
    assert "needs: 'age', 'ward'" in one_line(run("predict", model, lacking))
    assert "--keep: the table has no column" in one_line(
        run("predict", model, table, "--keep", "u")
    )
    plain = tmp_path / "plain.kw"
    save(SVC().fit([[0.0], [1.0]], [0, 1]), plain)
    assert "was not written by kernelwise fit" in one_line(run("predict", plain, table))
    without = tmp_path / "without.kw"
    run("fit", table, "-t", "outcome", "--method", "svc", "--cv", 2, "--out", without)
    assert "fit it again with --proba" in one_line(run("predict", without, table, "--proba"))


def interrupt(*args, **options):
    raise KeyboardInterrupt


def fail(*args, **options):
    raise RuntimeError("some\nsurprise")


def test_interrupt_ends_with_130_and_writes_nothing(run, table, tmp_path, monkeypatch):
    monkeypatch.setattr(kernelwise.app.evaluation, "fit_table", interrupt)
    out = tmp_path / "model.kw"
    result = run("fit", table, "-t", "outcome", "--method", "svc", "--cv", 2, "--out", out)
    assert "interrupted; nothing was written" in one_line(result, 130)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_report_leaves_the_model_and_says_so(run, table, tmp_path, monkeypatch):
    monkeypatch.setattr(kernelwise.app.report, "write_report", interrupt)
    out = tmp_path / "model.kw"
    fit = ["fit", table, "-t", "outcome", "--method", "svc", "--cv", 2, "--out", out]
    result = run(*fit, "--report", tmp_path / "page.html")
    assert result.exit_code == 130
    assert result.stderr.splitlines()[-1] == f"kernelwise: interrupted; the model is in {out}"
    assert list(tmp_path.iterdir()) == [out]


def test_unexpected_errors_are_one_line_unless_debugging(run, table, monkeypatch):
    monkeypatch.setattr(kernelwise.app.evaluation, "fit_table", fail)
    fit = ["fit", table, "-t", "outcome", "--method", "svc", "--cv", 2]
    text = one_line(run(*fit))
    assert (
        text == "kernelwise: RuntimeError: some surprise (KERNELWISE_DEBUG=1 shows the traceback)"
    )
    monkeypatch.setenv("KERNELWISE_DEBUG", "1")
    assert isinstance(run(*fit).exception, RuntimeError)

"""What new users met on real tables, one test per finding; each name starts with its number."""

import errno
import io
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kernelwise
from kernelwise import FeatureDiscriminationSVC, MarginRadiusSVC, RelevanceSVC
from kernelwise._files import write_text
from kernelwise.app.io import load, save
from kernelwise.app.tabular import TableError, describe_columns, read_table
from kernelwise.svm.base.progress import listening


def rare_table(n, share, seed=0):
    """Return a table with a rare class that overlaps the other one, and four columns of noise."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    frame = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    return frame.assign(a=frame["a"] + 1.3 * y, b=frame["b"] + 1.0 * y), y.astype(int)


@pytest.mark.parametrize("share", [0.12, 0.04])
def test_01_balanced_classes_find_the_rare_one_and_keep_the_ranking(share):
    X, y = rare_table(900, share)
    X_test, y_test = rare_table(2000, share, seed=1)
    plain = RelevanceSVC(random_state=0).fit(X, y)
    balanced = RelevanceSVC(class_weight="balanced", random_state=0).fit(X, y)
    usual = make_pipeline(StandardScaler(), SVC(class_weight="balanced")).fit(X, y)
    found, before, others = (
        balanced_accuracy_score(y_test, each.predict(X_test)) for each in (balanced, plain, usual)
    )
    assert found > max(before + 0.1, others - 0.02)
    areas = [roc_auc_score(y_test, each.decision_function(X_test)) for each in (balanced, plain)]
    assert areas[0] > areas[1] - 0.01
    assert balanced.feature_importances_[2:].max() < balanced.feature_importances_[0]


def contents(path):
    return Path(path).read_bytes()


@pytest.mark.parametrize("option", ["--out", "--report"])
def test_03_fit_never_replaces_its_table(run, table, option):
    before = contents(table)
    result = run("fit", table, "-t", "outcome", option, table, "--force")
    assert result.exit_code == 1
    assert "is read by this command" in result.stderr
    assert contents(table) == before


def test_03_predict_replaces_neither_model_nor_table(run, table, model, tmp_path):
    link = tmp_path / "link.kw"
    link.symlink_to(model)
    for output in (model, table, link):
        before = contents(output)
        result = run("predict", model, table, "--out", output, "--force")
        assert result.exit_code == 1
        assert "is read by this command" in result.stderr
        assert contents(output) == before


def test_04_a_full_disk_leaves_no_draft_and_names_the_file(tmp_path, monkeypatch):
    def full(self, *args, **options):
        self.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*page\.html'"):
        write_text(tmp_path / "page.html", "text")
    assert list(tmp_path.iterdir()) == []


GARBAGE = {
    "words": (lambda age: "old", "most of its values are not numbers"),
    "empty": (lambda age: None, "all of its values are missing"),
    "far": (lambda age: 1000 * age, "most of its values are far outside the training range"),
}


@pytest.mark.parametrize("name", list(GARBAGE))
def test_11_predict_refuses_garbage_in_a_decisive_column(run, model, table, tmp_path, name):
    spoil, reason = GARBAGE[name]
    frame = pd.read_csv(table)
    path = tmp_path / "garbage.csv"
    frame.assign(age=frame["age"].map(spoil)).to_csv(path, index=False)
    result = run("predict", model, path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"the model relies on the column 'age', but {reason}" in result.stderr
    allowed = run("predict", model, path, "--allow", "--json")
    assert allowed.exit_code == 0
    assert "note: age: " in allowed.stderr
    found = json.loads(allowed.stdout)
    age = next(check for check in found["checks"] if check["name"] == "age")
    assert age["unusable"].startswith(reason)
    assert len(found["predictions"]) == 120


def test_11_predict_names_new_categories_and_says_nothing_of_usual_rows(run, model, table):
    frame = pd.read_csv(table)
    assert run("predict", model, table).stderr == ""
    frame.loc[:11, "ward"] = "attic"
    text = run("predict", model, "-", input=frame.to_csv(index=False)).stderr
    assert text == ("note: ward: 10 % of the rows have values not seen in training: 'attic'\n")


def test_11_a_model_of_an_older_version_says_that_it_cannot_check(run, model, table, tmp_path):
    older = load(model)
    del older[0].profile_
    save(older, tmp_path / "older.kw", summary={"target": "outcome"})
    result = run("predict", tmp_path / "older.kw", table, "--json")
    assert "the new rows cannot be checked" in result.stderr
    assert json.loads(result.stdout)["checks"] is None


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_05_a_kept_column_cannot_share_its_name_with_the_predictions(run, model, table, form):
    frame = pd.read_csv(table).assign(prediction=1)
    result = run("predict", model, "-", "--keep", "prediction", *form, input=frame.to_csv())
    assert result.exit_code == 1
    assert "the predictions have a column of that name" in result.stderr


def test_05_a_column_named_twice_is_copied_once(run, model, table):
    name = pd.read_csv(table).columns[0]
    result = run("predict", model, table, "--keep", name, "--keep", name)
    assert list(pd.read_csv(io.StringIO(result.stdout)).columns) == [name, "prediction"]


def test_06_nothing_needs_a_cache_that_can_be_written(tmp_path):
    code = (
        "import sys, numpy as np, kernelwise\n"
        "kernelwise.SVC().fit(np.eye(4), [0, 1, 0, 1])\n"
        "assert not [name for name in sys.modules if name.split('.')[0] in ('numba', 'llvmlite')]"
    )
    nowhere = str(tmp_path / "missing" / "home")
    places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "TMPDIR"), nowhere)
    done = subprocess.run(
        [sys.executable, "-B", "-c", code],
        env=os.environ | places,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert not Path(nowhere).exists()


def test_07_an_hour_is_in_utc_only_where_times_have_a_zone():
    moments = pd.date_range("2024-01-01", periods=60, freq="7h")
    frame = pd.DataFrame(
        {
            "local": moments,
            "zoned": moments.tz_localize("Europe/Zurich"),
            "text": moments.strftime("%Y-%m-%d %H:%M:%S"),
            "zoned text": moments.strftime("%Y-%m-%dT%H:%M:%S+02:00"),
        }
    )
    hours = {each.name: each.why.split("days since first, ")[1] for each in describe_columns(frame)}
    assert hours == {
        "local": "hour",
        "zoned": "hour (UTC)",
        "text": "hour",
        "zoned text": "hour (UTC)",
    }


def test_09_a_random_category_gets_no_large_share():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame(rng.normal(size=(400, 3)), columns=["signal", "noise", "more"])
        frame["city"] = rng.choice([f"city {k}" for k in range(30)], 400)
        y = frame["signal"] + 0.7 * rng.normal(size=400) > 0
        model = RelevanceSVC(random_state=0).fit(frame, y)
        shares = dict(zip(frame, model.feature_importances_, strict=True))
        assert max(shares, key=shares.get) == "signal"
        assert shares["city"] < 0.2
        assert not model.selected_features_[3]


DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_16_missing_values_are_filled_by_default_as_the_guide_says():
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = (X[:, 0] > 0).astype(int)
    X[::5, 1] = np.nan
    assert RelevanceSVC().fit(X, y).score(X, y) > 0.9
    line = next(
        line for line in (DOCS / "choosing.md").read_text().splitlines() if "missing" in line
    )
    assert "RelevanceSVC" in line


def test_17_the_page_on_quality_has_auc_and_the_peers():
    page = (DOCS / "quality.md").read_text()
    for name in ("AUC", "LightGBM", "LogisticRegression", "won", "worst table"):
        assert name in page
    for document in (*DOCS.glob("*.md"), DOCS.parent / "README.md"):
        assert "ahead of boosting" not in document.read_text()


def test_18_infinite_values_are_not_called_missing():
    values = np.random.default_rng(0).normal(size=40)
    values[:2], values[2] = np.inf, np.nan
    frame = pd.DataFrame({"number": values, "text": [f"{value} EUR" for value in values]})
    frame["text"] = frame["text"].str.replace("inf EUR", "inf")
    for column in describe_columns(frame):
        assert "1 missing and 2 infinite -> median" in column.why


def test_18_an_unclosed_quotation_mark_is_reported_where_it_begins():
    lines = [f'{k},"{k}",{k % 2}' for k in range(100)]
    lines[4] = '4,"4,0'
    text = "a,b,y\n" + "\n".join(lines)
    with pytest.raises(TableError, match="is a closing quotation mark missing in line 6"):
        read_table(io.StringIO(text))


@pytest.mark.parametrize("text", ['{"a": 1, "y": 2}\n{"a": 2, "y": 3}\n', '[{"a": 1, "y": 2}]'])
def test_18_json_is_named(text):
    with pytest.raises(TableError, match="is JSON; convert it"):
        read_table(io.StringIO(text))


def test_23_fit_says_before_the_work_that_no_model_will_be_saved(run, table):
    text = run("fit", table, "-t", "outcome").stderr
    assert text.index("the model will not be saved") < text.index("target outcome")


@pytest.mark.parametrize("seconds", [0.1, 0.3, 0.6, 1.0, 1.5])
def test_24_ctrl_c_ends_the_program_without_a_traceback(table, seconds):
    command = [sys.executable, "-m", "kernelwise", "fit", str(table), "-t", "outcome"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        try:
            program.wait(seconds)
        except subprocess.TimeoutExpired:
            program.send_signal(signal.SIGINT)
        error = program.communicate()[1].decode()
    has_begun = any(file in error for file in ("__main__.py", "kernelwise/cli"))
    if not has_begun and (program.returncode == -signal.SIGINT or "KeyboardInterrupt" in error):
        return  # Python itself was still starting
    assert program.returncode in (0, 130), error
    assert "Traceback" not in error


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


@pytest.mark.parametrize(
    "module", ["pandas", "typer", "kernelwise.app.cli.fit", "kernelwise.app.io"]
)
def test_24_ctrl_c_while_a_compiled_module_loads_is_no_import_error(table, module):
    # pybind11 turns the KeyboardInterrupt of an import into an ImportError.
    command = [sys.executable, "-c", _INTERRUPTED_IMPORT.format(module)]
    program = subprocess.run(
        [*command, "fit", str(table), "-t", "outcome"], capture_output=True, text=True
    )
    assert program.returncode == 130
    assert "Traceback" not in program.stderr
    assert "initialization" not in program.stderr


def cpu_seconds(code):
    """Return the CPU time of a fresh process with its imports."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_19_a_first_fit_compiles_nothing():
    code = "import numpy as np\nfrom kernelwise import {0}\n{0}().fit(np.eye(40), [0, 1] * 20)"
    assert cpu_seconds(code.format("SVC")) < 5  # it was 22 s, now mostly imports
    assert cpu_seconds(code.format("RelevanceSVC")) < 8


def test_20_many_rows_show_steps_inside_a_fit(capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(21_000, 4))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    steps = []
    begin = time.process_time()
    with listening(lambda task, number, total: steps.append(task)):
        model = RelevanceSVC(random_state=0, verbose=False).fit(X, y)
    assert time.process_time() - begin < 60
    assert len(steps) > 3
    assert model.score(X[:2000], y[:2000]) > 0.9
    assert capsys.readouterr().err == ""


def test_21_integer_codes_can_be_declared_categories(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"code": rng.integers(1, 8, 120), "size": rng.normal(size=120).round(3)})
    frame["kind"] = np.where(frame["code"].isin([2, 5, 7]), "a", "b")
    path, model = tmp_path / "codes.csv", tmp_path / "codes.kw"
    frame.to_csv(path, index=False)
    options = ("-t", "kind", "--category", "code", "--test-size", "0.3", "--out", model, "--json")
    result = json.loads(run("fit", path, *options).stdout)
    kinds = {column["name"]: column["kind"] for column in result["columns"]}
    assert kinds == {"code": "category", "size": "number"}
    assert result["weights"][0]["column"] == "code"
    predicted = run("predict", model, path).stdout.split()[1:]
    assert np.mean(np.array(predicted) == frame["kind"]) > 0.95
    wrong = run("fit", path, "-t", "kind", "--category", "kind")
    assert wrong.exit_code == 1
    assert "'kind' is the target" in wrong.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process is measured in Linux")
@pytest.mark.parametrize("option", ["plain", "--balanced", "--report"])
def test_12_the_memory_is_forecast_within_a_factor_of_1_3(tmp_path, option):
    X, y = rare_table(2100, 0.2)
    path = tmp_path / "rows.csv"
    X.assign(word=np.where(X["c"] > 0, "up", "down"), y=y).to_csv(path, index=False)
    command = [sys.executable, "-m", "kernelwise", "fit", path, "-t", "y", "--test-size", "0.5"]
    command += {"plain": [], "--report": [option, tmp_path / "page.html", "--stability", "2"]}.get(
        option, [option]
    )
    # A process of its own waits for the command, so that the peak is that of this command alone.
    measure = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], capture_output=True, text=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, done.stderr)"
    )
    shown = subprocess.check_output([sys.executable, "-c", measure, *map(str, command)], text=True)
    peak = 1024 * int(shown.split()[0])
    forecast = 1e9 * float(re.search(r"about ([\d.]+) GB of memory at the peak", shown)[1])
    assert 1 / 1.3 < forecast / peak < 1.3


def test_13_fit_says_how_many_rows_each_step_used(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(4500, 3)), columns=list("abc"))
    frame["y"] = (frame["a"] + rng.normal(size=4500) > 0).astype(int)
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    text = run("fit", path, "-t", "y", "--test-size", "0.9").stderr
    assert "rows used by the fit: 4000 for weights, 4500 for the joint part" in text


def test_22_sparse_tables_and_dates_in_python_name_the_remedy():
    y = [0, 1] * 20
    with pytest.raises(TypeError, match=r"X is sparse. Convert it with X.toarray\(\)"):
        RelevanceSVC().fit(scipy.sparse.eye_array(40, format="csr"), y)
    for model in (MarginRadiusSVC(), FeatureDiscriminationSVC()):
        with pytest.raises(TypeError, match="toarray"):
            model.fit(scipy.sparse.eye_array(40, format="csr"), y)
    days = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=40), "x": range(40)})
    zoned = days.assign(day=days["day"].dt.tz_localize("UTC"))
    for model in (RelevanceSVC(), kernelwise.SVC(), MarginRadiusSVC()):
        for frame in (days, zoned, days.assign(day=days["day"].dt.date)):
            with pytest.raises((TypeError, ValueError), match=r"kernelwise\.tabular\.TableEncoder"):
                model.fit(frame, y)
            fitted = clone(model).fit(days.assign(day=range(40)), y)
            for method in (fitted.predict, fitted.decision_function):
                with pytest.raises((TypeError, ValueError), match="number"):
                    method(frame)


@pytest.mark.parametrize("command", ["fit", "predict", "score", "explain", "compare", "data show"])
def test_25_help_is_plain(run, command):
    text = run(*command.split(), "--help").stdout
    usage = text.split("\n\n")[0]
    assert "{" not in usage
    assert usage.split("[OPTIONS] ")[1].isupper()
    for odd in ("by itself", "a yes is", "What is no table"):
        assert odd not in text


def test_25_messages_are_plain(run, table):
    text = run("fit", table, "-t", "outcome", "--method", "svc", "--cv", 2).stderr
    assert "by itself" not in text

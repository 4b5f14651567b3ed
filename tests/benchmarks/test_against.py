"""The comparison of two interpreters."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import kernelwise
from benchmarks import against
from benchmarks.against import compare, ratios, report
from benchmarks.against.suite import LEVELS, TARGETS, Before
from benchmarks.environment import VARIABLE
from benchmarks.measure import QUICK
from benchmarks.targets import verdicts
from kernelwise.experiments import ExperimentError

HERE = {"fit": {"a": 1.0, "b": 3.0, "new": 1.0}, "unknown there": {"a": 1.0}}
THERE = {"fit": {"a": 2.0, "b": 2.0}}


def test_ratios_are_medians_over_rounds_of_cases_that_both_have():
    faster = {"fit": {"a": 0.5, "b": 2.0, "new": 1.0}}
    rounds = [(HERE, THERE), (HERE, THERE), (faster, THERE)]
    assert ratios(rounds) == {"fit": {"a": 0.5, "b": 1.5}}
    text = report(rounds)
    assert "medians over 3 rounds" in text
    assert "| fit | 2 | 1.00 | 1.50 |" in text
    assert text.endswith("Cases above 1.03:\n\n- fit, b: 1.50")
    assert "Cases above" not in report([(THERE, THERE)])


class FakeWorker:
    """A worker without a process, which writes its name down whenever it is asked for a case."""

    def __init__(self, name, place, calls):
        self._name, self._place, self._calls = name, place, calls
        self._cases = iter([("fit", case, THERE["fit"][case]) for case in THERE["fit"]])

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._calls.append("end")

    def place(self):
        return self._place

    def next_case(self):
        found = next(self._cases, None)
        if found is not None:
            self._calls.append(self._name)
        return found


@pytest.fixture
def asked(monkeypatch):
    """Return the names of the workers that were asked for a case, in order, and their ends."""
    calls = []

    def start(self, suites, *, quick):
        assert suites == ["fit"]
        by_level = self._environment.get("KERNELWISE_CPU", " ".join([self._python, *self._options]))
        name = "here" if by_level == sys.executable else by_level
        return FakeWorker(name, self._python, calls)

    monkeypatch.delenv("KERNELWISE_CPU", raising=False)
    monkeypatch.setattr(against.Installation, "packages", lambda self: {"pandas": "2.3"})
    monkeypatch.setattr(against.Installation, "start", start)
    return calls


def test_workers_take_turns_at_every_case_and_begin_equally_often(asked):
    assert "| fit | 2 | 1.00 | 1.00 |" in compare("old", ["fit"], 2)
    begun = 2 * ["end"]  # of the workers that said where their packages are
    first = ["here", "old", "old", "here"]
    second = ["old", "here", "here", "old"]
    assert asked == [*begun, *first, "end", "end", *second, "end", "end"]


def test_an_interrupted_comparison_reports_its_complete_rounds(monkeypatch, asked):
    def interrupted(self, before=FakeWorker.next_case):
        if asked.count("old") == limit:
            raise KeyboardInterrupt
        return before(self)

    monkeypatch.setattr(FakeWorker, "next_case", interrupted)
    limit = 5  # two cases in each round
    assert "medians over 2 rounds" in compare("old", ["speed-fit"], 9)
    assert asked.count("end") == 2 + 3 * 2
    asked.clear()
    limit = 1
    with pytest.raises(KeyboardInterrupt):
        compare("old", ["speed-fit"], 9)
    assert asked.count("end") == 2 + 2


def test_a_package_is_not_compared_with_itself(monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with pytest.raises(ExperimentError, match="both interpreters have the same kernelwise"):
        compare(sys.executable, ["gram"], 1, quick=True)


def test_interpreters_with_different_packages_are_not_compared():
    here = against.Installation(sys.executable, "", is_other=False)
    assert here.packages()["numpy"] == np.__version__
    there = SimpleNamespace(packages=lambda: here.packages() | {"pandas": "0.1"})
    against.check_packages(here, here)
    with pytest.raises(ExperimentError, match=r"pandas \(.* here, 0.1 there\); install the same"):
        against.check_packages(here, there)


def test_an_unknown_suite_is_reported():
    with pytest.raises(ExperimentError, match="no suite nothing; there are: fit, predict"):
        compare(sys.executable, ["nothing"], 1)


def test_an_interpreter_that_is_not_there_is_named(monkeypatch, tmp_path):
    missing = str(tmp_path / "python")
    with pytest.raises(ExperimentError, match=r"python cannot be started: No such file"):
        compare(missing, ["gram"], 1, quick=True)
    monkeypatch.setenv(VARIABLE, missing)
    with pytest.raises(ExperimentError, match=r"python cannot be started: No such file"):
        Before().measure({"suites": "gram", "rounds": 1}, QUICK)


def test_every_suite_of_the_worker_runs(tmp_path):
    here = {"here": against.Installation(sys.executable, str(tmp_path), is_other=False)}
    found = against.measure_in_turns(here, [], 0, quick=True)["here"]
    assert {"fit", "relevance", "startup"} <= set(found)
    assert all(seconds > 0 for cases in found.values() for seconds in cases.values())


def test_a_worker_waits_until_it_is_asked_and_says_when_it_is_done(tmp_path):
    with against.Installation(sys.executable, str(tmp_path), is_other=False).start(
        ["gram"], quick=True
    ) as worker:
        assert worker.place() == kernelwise.__file__
        cases = [worker.next_case() for _ in range(5)]
    assert [case[:2] for case in cases[:4]] == [
        ("gram", f"{kernel} {dtype}")
        for kernel in ("RBF", "Laplacian")
        for dtype in ("float32", "float64")
    ]
    assert cases[4] is None


def rounds(ratio):
    """Return two rounds of one case, in which this version is so many times as fast."""
    times = {f"before {level}": {"fit": {"a": 2.0}} for level in LEVELS}
    times |= {level: {"fit": {"a": 2.0 / ratio}} for level in LEVELS}
    return [times, times]


def test_the_page_lists_cases_that_are_slower_than_before():
    seconds = {"before v3": 20.0, "v3": 4.0, "before v4": 20.0, "v4": 40.0}
    slow = {who: {"growth": {"n=5000 p=2": time}} for who, time in seconds.items()}
    rows = [{"suites": "fit", "cpu_times": rounds(1.25)}, {"suites": "growth", "cpu_times": [slow]}]
    text = Before().section(SimpleNamespace(rows=rows))
    assert "median over 2 or 1 rounds" in text
    assert "| fit | 1 | 1.25 | 1.25 | 1.25 | 1.25 |" in text
    assert "| all | 2 | 3.12 | 1.25 | 0.875 | 0.500 |" in text
    slower = "- growth, n=5000 p=2, v4: 0.500, with work that is new: a certificate in float64"
    assert text.endswith(f"Cases below 0.97:\n\n{slower}")
    found = verdicts({"before": rows}, TARGETS)[2]  # of cases that do the same work
    assert found["verdict"] == "met"


def test_a_method_that_does_more_has_a_target_of_its_own():
    times = {f"before {level}": {"relevance": {"a": 1.0}} for level in LEVELS}
    times |= {"v3": {"relevance": {"a": 1.5}}, "v4": {"relevance": {"a": 2.0}}}
    found = verdicts({"before": [{"suites": "relevance", "cpu_times": [times]}]}, TARGETS)
    by_name = {each["target"]: each["verdict"] for each in found}
    grown = "speed of 288e5fa, RelevanceSVC, now mixed and calibrated"
    assert by_name[grown] == "**missed** in 1 of 2"
    assert by_name["speed of 288e5fa, cases that do the same work"] == "not measured"


def test_workers_of_both_levels_take_turns_with_the_older_version(monkeypatch, asked):
    monkeypatch.setenv(VARIABLE, "old")
    row = Before().measure({"suites": "fit", "rounds": 2}, QUICK)
    names = ["old --avx2", "v3", "old", "v4"]
    turns = [names[k:] + names[:k] for k in (0, 1, 1, 2)]  # of two cases in each round
    assert [name for name in asked if name != "end"] == [name for turn in turns for name in turn]
    names = ["before v3", "before v4", "v3", "v4"]
    assert [sorted(each) for each in row["cpu_times"]] == 2 * [names]
    found = verdicts({"before": [{"suites": "fit", **row}]}, TARGETS)
    assert [each["verdict"] for each in found][:3] == [
        "**missed** in 1 of 1",
        "**missed** in 1 of 1",
        "met",
    ]


def test_without_an_older_version_the_suite_says_what_it_needs(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(ExperimentError, match="--today PYTHON"):
        Before().measure({"suites": "fit", "rounds": 1}, QUICK)

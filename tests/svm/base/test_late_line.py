"""A fit with verbose="auto" says what it does once it has taken two seconds, and not before."""

import io
import re

import pytest
from sklearn.datasets import make_classification

from kernelwise import SVC, RelevanceSVC
from kernelwise.svm.base import progress
from tests.svm.problems import data


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_quick_fit_is_silent(capsys):
    RelevanceSVC().fit(*data("iris"))
    assert capsys.readouterr() == ("", "")


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test sets."""
    times = {"now": 0.0}
    monkeypatch.setattr(progress, "perf_counter", lambda: times["now"])
    return times


def shown(clock, monkeypatch, stream, moments):
    monkeypatch.setattr(progress.sys, "stderr", stream)
    reports = progress.FitProgress(RelevanceSVC(), verbose="auto")
    reports.begin(40)
    for moment in moments:
        clock["now"] = moment
        with reports.task("laplacian: step"):
            pass
    reports.end()
    return stream.getvalue()


def test_lines_of_a_log_come_at_doubling_times(clock, monkeypatch):
    text = shown(clock, monkeypatch, io.StringIO(), [0.5, 1.9, 2.0, 2.5, 3.9, 4.0, 7.9, 8.5])
    assert text.splitlines() == [
        "[kernelwise.RelevanceSVC] 2 s: laplacian: step (step 3 of at most 40)",
        "[kernelwise.RelevanceSVC] 4 s: laplacian: step (step 6 of at most 40)",
        "[kernelwise.RelevanceSVC] 8 s: laplacian: step (step 8 of at most 40)",
    ]


def test_a_terminal_has_one_line_that_is_cleared_at_the_end(clock, monkeypatch):
    text = shown(clock, monkeypatch, Terminal(), [1.0, 2.0, 2.05, 2.2])
    assert "\n" not in text
    assert text.count("laplacian: step") == 2
    assert text.endswith("\r")
    assert text.split("\r")[-2].strip() == ""


def test_a_solve_of_many_rows_shows_its_violation(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(progress.sys, "stderr", stream)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_REDRAW", 0.0)
    X, y = make_classification(8200, 6, n_informative=4, flip_y=0.05, random_state=0)
    SVC(verbose="auto", C=10.0).fit(X, y)
    assert re.search(r"machines?, violation \d\.\de[-+]\d\d", stream.getvalue())


def test_a_callback_hears_of_each_round_beside_the_line():
    heard = []
    X, y = make_classification(8200, 6, n_informative=4, flip_y=0.05, random_state=0)
    SVC(verbose="auto", callback=heard.append).fit(X, y)
    assert len(heard) > 3
    assert heard[-1].violation <= 1e-3

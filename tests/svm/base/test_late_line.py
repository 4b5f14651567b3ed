"""On a terminal, a fit with verbose="auto" says what it does once it has taken two seconds."""

import io
import re
from threading import Thread

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


def test_finding_16_a_log_file_has_no_lines(clock, monkeypatch):
    assert not shown(clock, monkeypatch, io.StringIO(), [0.5, 2.0, 4.0, 60.0])


def test_finding_16_a_worker_process_has_no_line(clock, monkeypatch):
    monkeypatch.setattr(progress.multiprocessing, "parent_process", lambda: "the first process")
    assert not shown(clock, monkeypatch, Terminal(), [0.5, 2.0, 4.0, 60.0])


def test_finding_16_fits_in_threads_share_one_line(clock, monkeypatch):
    monkeypatch.setattr(progress.sys, "stderr", stream := Terminal())
    clock["now"] = 0.0
    fits = [progress.FitProgress(RelevanceSVC(), verbose="auto") for _ in range(2)]

    def show(fit, text):
        with fit.task(text):
            pass

    clock["now"] = 3.0
    show(fits[0], "first")
    thread = Thread(target=show, args=(fits[1], "second"))
    thread.start()
    thread.join()
    fits[0].end()
    assert "first" in stream.getvalue()
    assert "second" not in stream.getvalue()
    clock["now"] = 4.0
    show(fits[1], "third")
    fits[1].end()
    assert "third" in stream.getvalue()


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

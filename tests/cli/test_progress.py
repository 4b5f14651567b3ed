"""Progress of fits on a terminal, and in a log file."""

import io

import numpy as np
import pytest
from rich.console import Console

from kernelwise import RelevanceSVC
from kernelwise.app.cli import progress
from kernelwise.svm.base.progress import FitProgress, listening

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)


def shown(monkeypatch, *, terminal, first_line=0.0, quiet=False):
    """Return what is shown of two fits."""
    monkeypatch.setattr(progress, "_FIRST_LINE", first_line)
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=100)
    with progress.fit_progress(console, quiet) as show:
        for number in range(2):
            show(number, 2, "RelevanceSVC")
            RelevanceSVC(verbose=False).fit(X, Y)
    return text.getvalue()


def test_a_terminal_shows_the_steps_inside_a_fit(monkeypatch):
    text = shown(monkeypatch, terminal=True)
    assert "fit 2 of 2: RelevanceSVC" in text
    assert "RelevanceSVC, " in text


def test_a_log_file_gets_few_lines(monkeypatch):
    lines = shown(monkeypatch, terminal=False).splitlines()
    assert lines[0].startswith("0 s: fit 1 of 2: RelevanceSVC")
    assert len(lines) < 25  # each after twice the time of the one before
    assert shown(monkeypatch, terminal=False, first_line=1e6) == ""


def test_quiet_shows_nothing(monkeypatch):
    assert shown(monkeypatch, terminal=True, quiet=True) == ""


def test_a_listener_hears_of_all_fits_in_its_context():
    heard = []
    with listening(lambda task, number, total: heard.append((task, number, total))):
        RelevanceSVC(verbose=False).fit(X, Y)
    assert heard
    assert all(0 <= number < total for _, number, total in heard)
    before = len(heard)
    RelevanceSVC(verbose=False).fit(X, Y)
    assert len(heard) == before
    assert not FitProgress(None).listens


def test_an_error_ends_the_listening():
    with pytest.raises(RuntimeError), listening(print):
        raise RuntimeError
    assert not FitProgress(None).listens

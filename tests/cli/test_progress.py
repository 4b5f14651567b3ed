"""Progress of fits: a bar on a terminal, and silence elsewhere."""

import io

import numpy as np
import pytest
from rich.console import Console

from kernelwise import RelevanceSVC
from kernelwise.app.cli import progress
from kernelwise.svm.base.progress import FitProgress, listening

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)


def shown(*, terminal, quiet=False):
    """Return what is shown of two fits."""
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=100)
    with progress.fit_progress(console, quiet) as show:
        for number in range(2):
            show(number, 2, "RelevanceSVC")
            RelevanceSVC().fit(X, Y)
    return text.getvalue()


def test_16_a_terminal_gets_one_bar_and_a_log_file_nothing(capsys):
    assert "fit 2 of 2: RelevanceSVC" in shown(terminal=True)
    assert shown(terminal=False) == ""
    assert shown(terminal=True, quiet=True) == ""
    assert capsys.readouterr() == ("", "")


def test_an_error_ends_the_listening():
    with pytest.raises(RuntimeError), listening(print):
        raise RuntimeError
    assert not FitProgress(None).listens

"""An evaluation says plainly when a model is no better than guessing."""

import numpy as np
import pandas as pd
import pytest

from kernelwise.evaluation import evaluate


def table(signal, n=120, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "yes"], n, p=[0.7, 0.3])
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    return frame.assign(a=frame["a"] + signal * (y == "yes"), y=y)


@pytest.mark.parametrize(("method", "name"), [("relevance", "log loss"), ("svc", "balanced")])
def test_noise_is_called_guessing_and_signal_is_not(method, name):
    found = evaluate(table(0.0), "y", method, against=())
    assert f"no better than guessing: its {name}" in found.guessing
    assert found.guessing in found.notes
    assert found.as_dict()["better_than_guessing"] is False
    better = evaluate(table(3.0), "y", method, against=())
    assert better.better_than_guessing
    assert not any("guessing" in note for note in better.notes)


def test_noise_is_rarely_called_better():
    verdicts = [
        evaluate(table(0.0, 60, seed), "y", "relevance", against=(), cv=3).better_than_guessing
        for seed in range(10)
    ]
    assert np.sum(verdicts) <= 2

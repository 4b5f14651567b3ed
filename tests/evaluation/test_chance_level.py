"""An evaluation says plainly when a model is no better than guessing."""

import numpy as np
import pandas as pd

from kernelwise import SVC
from kernelwise.app.evaluation import evaluate, evaluate_model


def table(signal, n=120, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "yes"], n, p=[0.7, 0.3])
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    return frame.assign(a=frame["a"] + signal * (y == "yes"), y=y)


def test_noise_is_called_guessing_and_signal_is_not():
    def with_probabilities(signal):
        return evaluate(table(signal), "y", against=(), cv=3)

    def without(signal):
        frame = table(signal)
        X = frame.drop(columns="y")
        return evaluate_model(SVC().fit(X, frame["y"]), X, frame["y"], against={})

    def numbers(signal):
        frame = table(signal).assign(y=lambda t: signal * t["a"] + t["b"] ** 2 * (signal > 0))
        frame["y"] += np.random.default_rng(1).normal(size=len(frame))
        return evaluate(frame, "y", against=(), cv=3)

    kinds = {"log loss": with_probabilities, "balanced": without, "mean squared": numbers}
    for name, judge in kinds.items():
        found = judge(0.0)
        assert f"no better than guessing: its {name}" in found.guessing
        assert found.guessing in found.notes
        assert found.as_dict()["better_than_guessing"] is False
        better = judge(3.0)
        assert better.better_than_guessing
        assert not any("guessing" in note for note in better.notes)


def test_noise_is_rarely_called_better():
    verdicts = [
        evaluate(table(0.0, 60, seed), "y", "relevance", against=(), cv=3).better_than_guessing
        for seed in range(10)
    ]
    assert np.sum(verdicts) <= 2

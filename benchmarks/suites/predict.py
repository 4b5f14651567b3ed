"""Prediction against the peers, each with the model it fitted."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from ..measure import Contender, Effort, compare
from ..peers import classifiers
from ..problems import classification


def predict(effort: Effort) -> Iterator[dict]:
    """Predict 2000 new rows."""
    sizes, n_new = ((100, 200), 200) if effort.quick else ((1000, 10_000), 2000)
    for n, p in product(sizes, (20, 100)):
        X, y = classification(n, p, extra=n_new)
        models = {name: cls().fit(X[:n], y[:n]) for name, cls in classifiers().items()}
        contenders = {
            name: Contender(lambda model=model, new=X[n:]: model.predict(new))
            for name, model in models.items()
        }
        times, answers = compare(contenders, effort)
        for name, model in models.items():
            times[name]["n_support"] = int(np.sum(model.n_support_))
            times[name]["agreement"] = float(np.mean(answers["kernelwise"] == answers[name]))
        yield {"case": {"n": n, "p": p, "rows": n_new}, "times": times}

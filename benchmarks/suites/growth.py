"""Time and memory as the number of rows grows."""

import json
import subprocess
import sys
from collections.abc import Iterator

from ..environment import ROOT
from ..measure import Contender, Effort, compare, timing, with_ratios
from ..peers import classifiers
from ..problems import classification

_MOST_FOR_SVC = 20_000


def growth(effort: Effort) -> Iterator[dict]:
    """Fit more and more rows; the largest table in processes of its own."""
    sizes = (100, 200, 400) if effort.quick else (1000, 2000, 5000, 10_000, 20_000, 40_000)
    for n in sizes:
        X, y = classification(n, 20)
        names = {"kernelwise", "SVC"} if n <= _MOST_FOR_SVC else {"kernelwise"}
        classes = {name: cls for name, cls in classifiers().items() if name in names}
        contenders = {
            name: Contender(lambda cls=cls, X=X, y=y: cls().fit(X, y))
            for name, cls in classes.items()
        }
        times, _ = compare(contenders, effort)
        yield {"case": {"n": n, "p": 20, "C": 1}, "times": times}
    yield _own_processes(1000 if effort.quick else 50_000, 20, effort.least_slow)


def _own_processes(n: int, p: int, repeats: int) -> dict:
    """Fit in new processes, for the most memory that they ever held."""
    command = [sys.executable, "-m", "benchmarks.suites.large", str(n), str(p)]
    found = []
    for _ in range(repeats):
        done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
        found.append(json.loads(done.stdout))
    times = timing([one["wall"] for one in found], [one["cpu"] for one in found])
    times |= {
        key: max(one[key] for one in found)
        for key in ("peak_bytes", "bytes_before", "gap", "violation", "fit_status")
    }
    case = {"n": n, "p": p, "C": 1, "process": "own"}
    return {"case": case, "times": with_ratios({"kernelwise": times})}

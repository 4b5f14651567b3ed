"""The solver of machines with features in their bias, against ``SVC(kernel="precomputed")``.

    KERNELWISE_DATA=... python -m benchmarks.generalized_bias

All cases of `generalized_bias_cases`, at two tolerances. Written to docs/equalities.json, and from
that alone to docs/equalities.md.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from . import results
from .environment import ROOT, limit_threads
from .generalized_bias_page import COLUMNS, SUITE, families, write

TOLERANCES = (1e-3, 1e-6)


def rounds_of(n: int, quick: bool) -> int:
    """Return how often a case is measured: fewer times where it takes seconds."""
    return 2 if quick else 5 if n <= 200 else 3 if n <= 2500 else 1


def largest_violation(qp, Q, beta, pull) -> float:
    """Return the violation of the margin or of the equalities, whichever is larger."""
    residual = qp.gram.K @ beta - qp.p + pull
    margin = max(
        np.max(-residual, where=beta < qp.hi, initial=0.0),
        np.max(residual, where=beta > qp.lo, initial=0.0),
    )
    return max(margin, np.linalg.norm(Q.T @ beta) / max(1.0, np.abs(beta).sum()))


def orthonormal(F: np.ndarray) -> np.ndarray:
    """Return a basis of what the columns span, each taken at length one."""
    from scipy.linalg import qr

    lengths = np.linalg.norm(F, axis=0)
    own = lengths > 0
    Q, R, _ = qr(F[:, own] / lengths[own], mode="economic", pivoting=True)
    return Q[:, np.abs(np.diagonal(R)) > 1e-9]


def measured(case, n_rounds: int) -> list:
    """Solve a case in turn with SVC; return its row, in the order of `COLUMNS`."""
    from sklearn.svm import SVC

    from kernelwise.qp import DualQP, SeveralEqualities, Terms

    box = {"lo": np.minimum(0, case.C * case.y), "hi": np.maximum(0, case.C * case.y)}

    def solve(tol: float):
        return SeveralEqualities(tol=tol).solve(DualQP(case.K, Terms(p=case.y, A=case.F.T, **box)))

    contenders = {tol: lambda tol=tol: solve(tol) for tol in TOLERANCES}
    contenders[0.0] = lambda: SVC(C=case.C, kernel="precomputed").fit(case.K, case.y)
    times, found, order = {name: [] for name in contenders}, {}, random.Random(0)
    for _ in range(n_rounds):
        for name in order.sample(list(contenders), len(contenders)):
            begin = time.perf_counter()
            found[name] = contenders[name]()
            times[name].append(time.perf_counter() - begin)
    qp, Q = DualQP(case.K, Terms(p=case.y, A=case.F.T, **box)), orthonormal(case.F)
    medians = {name: float(f"{np.median(times[name]):.4g}") for name in contenders}
    row = [case.family, case.name, len(case.y), case.F.shape[1], medians[0.0]]
    for tol in TOLERANCES:
        solution = found[tol]
        pull = case.F @ solution.nu
        violation = largest_violation(qp, Q, solution.beta, pull)
        row += [medians[tol], float(f"{violation:.2g}"), solution.status, solution.n_iter]
        row += [float(f"{np.abs(case.F * solution.nu).max(initial=0.0):.2g}")]
    return row


def measure(output: Path, quick: bool) -> None:
    """Measure all cases and write them down."""
    from sklearn.exceptions import ConvergenceWarning

    from . import data, environment
    from .generalized_bias_cases import every_case

    if not quick:
        data.folder()  # before minutes of work, not after
    warnings.simplefilter("ignore", ConvergenceWarning)  # of the topics, whose last digits are idle
    load, rows, begin, family = os.getloadavg()[0], [], time.perf_counter(), ""
    with environment.one_thread():
        for case in every_case(quick):
            if not rows:
                measured(case, 1)  # compiles
            if case.family != family:
                family = case.family
                said = f"[{time.perf_counter() - begin:7.1f} s] {family}"
                print(said, file=sys.stderr, flush=True)
            rows.append(measured(case, rounds_of(len(case.y), quick)))
        found = environment.describe()
    lines = [{"row": row} for row in rows]
    facts = {"columns": list(COLUMNS), "quick": quick, "load": round(load, 2)}
    results.add(output, SUITE, lines, found, **facts)


def main(argv: list[str] | None = None) -> None:
    limit_threads()
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.generalized_bias", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--quick", action="store_true", help="few small cases, to try the code")
    parser.add_argument("--render", action="store_true", help="measure nothing, only render")
    parser.add_argument(
        "--output", type=Path, metavar="FILE",
        help="the JSON file, the page is written beside it; docs/equalities.json unless --quick",
    )  # fmt: skip
    args = parser.parse_args(argv)
    folder = ROOT / "benchmarks" / "scratch" if args.quick else ROOT / "docs"
    output = args.output or folder / "equalities.json"
    if not args.render:
        # A new folder: numba does not notice that a compiled function in another file changed.
        with tempfile.TemporaryDirectory() as cache:
            os.environ.setdefault("NUMBA_CACHE_DIR", cache)
            measure(output, args.quick)
    write(output)
    print(families(results.load(output)["suites"][SUITE]))


if __name__ == "__main__":
    main()

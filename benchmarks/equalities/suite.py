"""The solver of machines with features in their bias, against ``SVC(kernel="precomputed")``."""

import random
import time
import warnings
from statistics import median

import numpy as np
from scipy.linalg import qr
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from kernelwise.qp import DualQP, SeveralEqualities, Terms

from ..measure import Effort
from ..suite import Results, Row, Suite, Task
from ..text import digits, factor, table
from .cases import BiasProblem, groups, problems
from .solved import SolvedCase, by_family, power, solved

_TOLERANCES = (1e-3, 1e-6)


def largest_violation(qp, Q, beta, pull) -> float:
    """Return the violation of the margin or of the equalities, whichever is larger."""
    residual = qp.gram.K @ beta - qp.p + pull
    margin = max(
        np.max(-residual, where=beta < qp.hi, initial=0.0),
        np.max(residual, where=beta > qp.lo, initial=0.0),
    )
    return max(margin, np.linalg.norm(Q.T @ beta) / max(1.0, np.abs(beta).sum()))


def orthonormal(F: np.ndarray) -> np.ndarray:
    """Return a basis of the span of the columns, each scaled to length one."""
    lengths = np.linalg.norm(F, axis=0)
    own = lengths > 0
    Q, R, _ = qr(F[:, own] / lengths[own], mode="economic", pivoting=True)
    return Q[:, np.abs(np.diagonal(R)) > 1e-9]


def _n_rounds(n: int, quick: bool) -> int:
    """Return how often a case is measured: less often if it takes seconds."""
    return 2 if quick else 5 if n <= 200 else 3 if n <= 2500 else 1


def _solve(case: BiasProblem, n_rounds: int) -> SolvedCase:
    """Solve a case in turn with SVC."""
    box = {"lo": np.minimum(0, case.C * case.y), "hi": np.maximum(0, case.C * case.y)}

    def qp() -> DualQP:
        return DualQP(case.K, Terms(p=case.y, A=case.F.T, **box))

    contenders = {
        tol: lambda tol=tol: SeveralEqualities(tol=tol).solve(qp()) for tol in _TOLERANCES
    }
    contenders[0.0] = lambda: SVC(C=case.C, kernel="precomputed").fit(case.K, case.y)
    times, found, order = {name: [] for name in contenders}, {}, random.Random(0)
    for _ in range(n_rounds):
        for name in order.sample(list(contenders), len(contenders)):
            begin = time.perf_counter()
            found[name] = contenders[name]()
            times[name].append(time.perf_counter() - begin)
    medians = {name: float(f"{np.median(times[name]):.4g}") for name in contenders}
    row = [case.family, case.name, len(case.y), case.F.shape[1], medians[0.0]]
    Q = orthonormal(case.F)
    for tol in _TOLERANCES:
        solution = found[tol]
        violation = largest_violation(qp(), Q, solution.beta, case.F @ solution.nu)
        row += [medians[tol], float(f"{violation:.2g}"), solution.status, solution.n_iter]
        row += [float(f"{np.abs(case.F * solution.nu).max(initial=0.0):.2g}")]
    return SolvedCase(*row)


class Equalities(Suite):
    """Machines of many families at two tolerances; one task per group of cases."""

    name = "equalities"
    title = "All families"
    needs_folder = True
    seconds = 30.0

    def cases(self, quick: bool) -> list[Task]:
        return groups(quick)

    def measure(self, case: Task, effort: Effort) -> Row:
        found: list[SolvedCase] = []
        with warnings.catch_warnings():
            # The last digits of the topics do not matter.
            warnings.simplefilter("ignore", ConvergenceWarning)
            for each in problems(case):
                if not found:
                    _solve(each, 1)  # compiles
                found.append(_solve(each, _n_rounds(len(each.y), effort.quick)))
        return {"cases": [list(each) for each in found]}

    def section(self, results: Results) -> str:
        degenerate = sum(each.status == "degenerate" for each in solved(results.rows))
        return (
            "By family: the number of cases, how many have a violation within the allowed one, and "
            "the worst violation; steps (linear systems), median and maximum; time relative to "
            f"that of `SVC`, median and maximum. {degenerate} cases ended as degenerate at "
            "tolerance 1e-3.\n\n" + families(results)
        )


def families(results: Results) -> str:
    """Return one table per tolerance."""
    header = ["family", "cases", "within", "worst", "steps", "most", "median", "worst time"]
    parts = []
    for tol in _TOLERANCES:
        cells = [[name, *_cells(own, tol)] for name, own in by_family(solved(results.rows)).items()]
        parts += [f"Tolerance {power(tol)}:", table(header, cells, left=1)]
    return "\n\n".join(parts)


def _cells(cases: list[SolvedCase], tol: float) -> list[object]:
    steps = [case.at(tol)[3] for case in cases]
    ratios = [case.ratio(tol) for case in cases]
    return [
        len(cases),
        sum(case.at(tol)[1] <= case.allowed(tol) for case in cases),
        power(max(case.at(tol)[1] for case in cases)),
        digits(median(steps), 2),
        max(steps),
        factor(median(ratios)),
        factor(max(ratios)),
    ]

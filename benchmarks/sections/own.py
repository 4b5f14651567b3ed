"""Kernel matrices, warm starts, growth and the start of a process."""

import math
from statistics import linear_regression

from ..text import digits, factor, gigabytes, seconds, span, spread, table

_OF_GRADIENTS = (
    " A gradient is by the weights of the features, of a criterion whose derivative by the kernel "
    "has two factors; SciPy is `(S * cdist(x, x, 'cityblock')).sum()` of each column, S given, and "
    "the difference is relative to the largest."
)


def gram(suite: dict) -> str:
    rows = []
    ratios: dict[str, list[float]] = {}
    gradients = False
    for row in suite["rows"]:
        case, times = row["case"], row["times"]
        learn, scipy = times.get("scikit-learn"), times.get("SciPy")
        gradients |= learn is None
        if learn is not None:
            ratios.setdefault(f"{case['kernel']} in {case['dtype']}", []).append(learn["ratio"])
        rows.append(
            [
                *(case[key] for key in ("kernel", "dtype")),
                *(f"{case[key]:,}" for key in ("n", "p")),
                spread(times["kernelwise"]),
                "" if learn is None else factor(learn["ratio"]),
                "" if scipy is None else factor(scipy["ratio"]),
                f"{max(one['difference'] for one in times.values()):.1e}",
            ]
        )
    parts = ", ".join(f"{what} {span(found)} times" for what, found in ratios.items())
    header = ["kernel", "type", "n", "p", "kernelwise", "scikit-learn", "SciPy", "difference"]
    return (
        "The kernel between all rows. As fast as scikit-learn's functions: "
        f"{parts}. SciPy is `exp(-gamma * cdist(X, X, 'cityblock'))`; the difference is "
        "the largest of an entry."
        + (_OF_GRADIENTS if gradients else "")
        + "\n\n"
        + table(header, rows, left=2)
    )


def warm(suite: dict) -> str:
    rows, shares = [], []
    for row in suite["rows"]:
        case, again, new = row["case"], row["times"]["warm"], row["times"]["cold"]
        difference = (again["objective"] - new["objective"]) / abs(new["objective"])
        shares.append(again["steps"] / max(1, new["steps"]))
        rows.append(
            [
                case["change"],
                *(f"{case[key]:,}" for key in ("n", "p")),
                spread(again),
                spread(new),
                factor(new["ratio"]),
                *(f"{one['steps']:,}" for one in (again, new)),
                f"{difference:.1e}",
            ]
        )
    ratios = span(row["times"]["cold"]["ratio"] for row in suite["rows"])
    header = ["change", "n", "p", "warm", "cold", "ratio", "steps warm", "cold", "objectives"]
    return (
        "Fitted at C = 10, changed, and fitted again with `warm_start=True`: "
        f"{ratios} times as fast as a new fit, in {span(shares)} of its steps. The last column is "
        "the relative difference of the objectives.\n\n" + table(header, rows, left=1)
    )


def _exponent(rows: list[dict], name: str) -> str:
    """Return the slope of log time over log n."""
    found = [(row["case"]["n"], row["times"][name]) for row in rows if name in row["times"]]
    sizes, times = zip(*((n, timing["median"]) for n, timing in found), strict=True)
    slope, _ = linear_regression(list(map(math.log, sizes)), list(map(math.log, times)))
    return f"n^{digits(slope)} from {sizes[0]:,} to {sizes[-1]:,} rows"


def growth(suite: dict) -> str:
    rows = [row for row in suite["rows"] if "process" not in row["case"]]
    cells = []
    for row in rows:
        ours, svc = row["times"]["kernelwise"], row["times"].get("SVC")
        peer = ["", ""] if svc is None else [seconds(svc["median"]), factor(svc["ratio"])]
        cells.append([f"{row['case']['n']:,}", spread(ours), seconds(ours["cpu_median"]), *peer])
    return (
        f"p = 20, C = 1. The time grows like {_exponent(rows, 'kernelwise')}, and that of `SVC` "
        f"like {_exponent(rows, 'SVC')}.\n\n"
        + table(["n", "kernelwise", "CPU", "`SVC`", "ratio"], cells)
        + "".join(f"\n\n{_large(row)}" for row in suite["rows"] if "process" in row["case"])
    )


def _large(row: dict) -> str:
    case, times = row["case"], row["times"]["kernelwise"]
    status = "converged" if times["fit_status"] == 0 else "**did not converge**"
    return (
        f"{case['n']:,} rows of {case['p']} columns in a process of their own, where the whole "
        f"kernel would take {gigabytes(4 * case['n'] ** 2)}: {seconds(times['median'])} "
        f"({seconds(times['cpu_median'])} of CPU), {status} with KKT violation "
        f"{times['violation']:.1e}. The process held at most {gigabytes(times['peak_bytes'])}, of "
        f"which {gigabytes(times['bytes_before'])} before the fit: Python, libraries and data."
    )


def startup(suite: dict) -> str:
    rows = [
        [row["case"]["job"], name, spread(times), seconds(times["cpu_median"])]
        for row in suite["rows"]
        for name, times in row["times"].items()
    ]
    fits = [list(row["times"].values()) for row in suite["rows"][1:]]
    cached, compiled = (ours["median"] - theirs["median"] for ours, theirs in fits)
    return (
        "Each in a new process, from its start to its end. Import and first fit, 200 rows of 5 "
        f"columns, take {seconds(cached)} longer than with scikit-learn where the compiled code is "
        f"on disk, and {seconds(compiled)} longer where it is not: once after an installation.\n\n"
        + table(["job", "what", "time", "CPU"], rows, left=2)
    )

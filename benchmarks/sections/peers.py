"""Fits and predictions against other classifiers."""

from statistics import median

from ..text import digits, factor, seconds, span, spread, table

PEERS = {"SVC": "`SVC`", "intelex": "intelex"}

_COMPARED = ["kernelwise", "`SVC`", "ratio", "intelex", "ratio"]
_EXCESS = ["objective - `SVC`'s", "- intelex's"]


def absent(suite: dict, peer: str) -> str:
    """Say why a peer has no numbers."""
    return suite["environment"]["missing"].get(peer, "not measured")


def _of_peers(suite: dict, key: str) -> list[float]:
    rows = [row["times"] for row in suite["rows"]]
    return [times[peer][key] for times in rows for peer in PEERS if peer in times]


def _against(suite: dict) -> str:
    """Say how fast we are against each peer."""
    parts = []
    for peer, label in PEERS.items():
        ratios = [row["times"][peer]["ratio"] for row in suite["rows"] if peer in row["times"]]
        if ratios:
            middle = digits(median(ratios))
            parts.append(f"{span(ratios)} times as fast as {label} (median {middle})")
        else:
            parts.append(f"not compared with {label}, which is {absent(suite, peer)}")
    return f"kernelwise is {' and '.join(parts)}"


def _peer_cells(row: dict, suite: dict) -> list[str]:
    """Return time and ratio for each peer."""
    cells = []
    for peer in PEERS:
        times = row["times"].get(peer)
        missing = [absent(suite, peer), ""]
        cells += missing if times is None else [seconds(times["median"]), factor(times["ratio"])]
    return cells


def _excess_cells(row: dict) -> list[str]:
    found = [row["times"].get(peer) for peer in PEERS]
    return ["" if times is None else f"{times['excess']:.1e}" for times in found]


def objectives(suite: dict) -> str:
    """Say how our dual objectives, which are minimised, compare."""
    highest = max(_of_peers(suite, "excess"))
    if highest <= 0:
        return "never above a peer's"
    return f"at most {highest:.0e} above a peer's, relative to it"


def fit(suite: dict) -> str:
    rows = [
        [
            *(f"{row['case'][key]:,}" for key in ("n", "p", "C")),
            spread(row["times"]["kernelwise"]),
            *_peer_cells(row, suite),
            *_excess_cells(row),
        ]
        for row in suite["rows"]
    ]
    return (
        f"Over {len(rows)} cases {_against(suite)}. The dual objective, which is minimised, is "
        f"{objectives(suite)}; a minus in the last columns says that kernelwise's is the lower "
        "one.\n\n" + table(["n", "p", "C", *_COMPARED, *_EXCESS], rows)
    )


def predict(suite: dict) -> str:
    rows = [
        [
            *(f"{row['case'][key]:,}" for key in ("n", "p")),
            f"{row['times']['kernelwise']['n_support']:,}",
            spread(row["times"]["kernelwise"]),
            *_peer_cells(row, suite),
        ]
        for row in suite["rows"]
    ]
    return (
        f"{suite['rows'][0]['case']['rows']:,} new rows, C = 1: {_against(suite)}. The predictions "
        f"agree in at least {100 * min(_of_peers(suite, 'agreement')):.4g} % of the rows.\n\n"
        + table(["n", "p", "support vectors", *_COMPARED], rows)
    )


def multiclass(suite: dict) -> str:
    rows = [
        [
            row["case"]["C"],
            spread(row["times"]["kernelwise"]),
            *_peer_cells(row, suite),
            *_excess_cells(row),
        ]
        for row in suite["rows"]
    ]
    case = suite["rows"][0]["case"]
    return (
        f"The digits of scikit-learn, {case['n']:,} rows of {case['p']} columns divided by 16, ten "
        f"classes and so 45 machines: {_against(suite)}. The objective, summed over the machines, "
        f"is {objectives(suite)}, and the predictions on these rows agree in at least "
        f"{100 * min(_of_peers(suite, 'agreement')):.4g} %.\n\n"
        + table(["C", *_COMPARED, *_EXCESS], rows)
    )

"""Cells and sentences that compare kernelwise with its peers."""

from collections.abc import Sequence
from statistics import median

from benchmarks.engine import Results, Row

from ..text import digits, factor, seconds, span

PEERS = {"SVC": "`SVC`", "intelex": "intelex"}
COMPARED = ["kernelwise", "`SVC`", "ratio", "intelex", "ratio"]
EXCESS = ["objective - `SVC`'s", "- intelex's"]


def absence(peer: str) -> str:
    """Return why a peer has no numbers."""
    return "not installed" if peer == "intelex" else "not measured"


def of_peers(rows: Sequence[Row], key: str) -> list[float]:
    """Return a number of each peer in each row."""
    return [row["times"][peer][key] for row in rows for peer in PEERS if peer in row["times"]]


def against(results: Results) -> str:
    """Return the range of the speed-ups over each peer as the end of a sentence."""
    parts = []
    for peer, label in PEERS.items():
        ratios = [row["times"][peer]["ratio"] for row in results.rows if peer in row["times"]]
        if ratios:
            middle = digits(median(ratios))
            parts.append(f"{span(ratios)} times as fast as {label} (median {middle})")
        else:
            parts.append(f"not compared with {label}, which is {absence(peer)}")
    return f"kernelwise is {' and '.join(parts)}"


def peer_cells(row: Row) -> list[str]:
    """Return time and ratio for each peer."""
    cells = []
    for peer in PEERS:
        times = row["times"].get(peer)
        missing = [absence(peer), ""]
        cells += missing if times is None else [seconds(times["median"]), factor(times["ratio"])]
    return cells


def excess_cells(row: Row) -> list[str]:
    """Return the relative excess of our objective over each peer's."""
    found = [row["times"].get(peer) for peer in PEERS]
    return ["" if times is None else f"{times['excess']:.1e}" for times in found]


def objectives(rows: Sequence[Row]) -> str:
    """Return how our dual objectives, which are minimised, compare with the peers'."""
    highest = max(of_peers(rows, "excess"))
    if highest <= 0:
        return "never above a peer's"
    return f"at most {highest:.0e} above a peer's, relative to it"

"""The table of fit times in the README, between two markers."""

from collections.abc import Mapping
from pathlib import Path

from benchmarks.engine import Results

from ..blocks import with_block
from ..text import factor, seconds, table
from .peer_cells import PEERS, absence, objectives

NAME = "benchmarks"  # name in the markers


def write(path: Path, results: Mapping[str, Results]) -> None:
    """Renew the table of a README that has the markers."""
    text = path.read_text(encoding="utf-8")
    renewed = (
        with_block(text, NAME, block(results["speed-fit"])) if "speed-fit" in results else text
    )
    if renewed != text:
        path.write_text(renewed, encoding="utf-8")


def block(results: Results) -> str:
    """Return the time of a fit, and how many times as long the peers take."""
    rows = {(row["n"], row["p"], row["C"]): row["times"] for row in results.rows}
    costs = list(dict.fromkeys(C for _, _, C in rows))
    header = ["n", "p", f"kernelwise, C = {costs[0]}"]
    header += [f"{label}, C = {C}" for label in PEERS.values() for C in costs]
    lines = []
    for n, p in dict.fromkeys((n, p) for n, p, _ in rows):
        ratios = [
            factor(times["ratio"]) if times else absence(peer)
            for peer in PEERS
            for times in (rows[n, p, C].get(peer) for C in costs)
        ]
        lines.append([f"{n:,}", p, seconds(rows[n, p, costs[0]]["kernelwise"]["median"]), *ratios])
    return (
        "Time of a cold fit with an RBF kernel on one thread, and how many times as long "
        "scikit-learn's `SVC` and that of scikit-learn-intelex take for the same solution (the "
        "dual objective of kernelwise, which is minimised, is "
        f"{objectives(results.rows)}), on {results.header['machine']}:\n\n{table(header, lines)}"
    )

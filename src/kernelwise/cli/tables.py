"""Results as tables on a terminal, and durations and sizes in words."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.table import Table

from .._text import duration

if TYPE_CHECKING:
    from ..evaluation import Evaluation
    from ..tabular import Column, Weight

_BAR = 24
_FEW = 15  # columns that are shown one by one
_MOST_COLUMNS = 40
_MOST_WEIGHTS = 20
_NARROWEST = 80  # columns of a terminal that tables are made for
_BESIDE_NAMES = 54  # columns that shares, bars and counts take, with the space around them
_MADE = 13  # columns of them that the counts take
_LINES = 3  # that a long name may take


def shortened(name: str, room: int) -> str:
    """Return a name without its middle where it is too long: ends tell names apart."""
    if len(name) <= room:
        return name
    half = (room - 2) // 2
    return f"{name[: room - 2 - half]}..{name[-half:]}"


def _wider() -> int:
    """Return how much wider than the narrowest the terminal is."""
    return max(0, shutil.get_terminal_size().columns - _NARROWEST)


def columns_table(columns: Sequence[Column]) -> Table:
    """Return what is made of each column; of many, plain numbers are one line."""
    plain = [column for column in columns if column.kind == "number" and not column.n_missing]
    shown = (
        [column for column in columns if column not in plain] if len(columns) > _FEW else columns
    )
    room = 30 + _wider()
    longest = max(len(name) for name in ("000 columns", *(column.name for column in shown)))
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("column", width=min(room, longest), overflow="fold")
    table.add_column("kind", no_wrap=True)
    table.add_column("what is made of it")
    for column in shown[:_MOST_COLUMNS]:
        table.add_row(shortened(column.name, _LINES * room), column.kind, column.why)
    if len(shown) > _MOST_COLUMNS:
        table.add_row(f"... {len(shown) - _MOST_COLUMNS} more", "", "")
    if plain and len(columns) > _FEW:
        table.add_row(f"{len(plain)} columns", "number", "as they are")
    return table


def scores_table(evaluation: Evaluation) -> Group:
    """Return the scores of all methods, best first, and the lead of the one in question."""
    from ..evaluation.results import METRICS

    first = evaluation.metric
    others = [m for m in METRICS if m in evaluation.best.values and m != first]
    leads = {each.other: each for each in evaluation.differences}
    lead_columns = ["lead", "p"] if leads else []
    title = evaluation.protocol + f"; lead of {evaluation.best.method} and its p-value" * bool(
        leads
    )
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, pad_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column(METRICS[first], justify="right", min_width=len("0.123 ± 0.123"))
    for heading in (*(METRICS[m] for m in others), *lead_columns, "seconds"):
        table.add_column(heading.replace(" ", "\n"), justify="right", no_wrap=True)
    failed = [score for score in evaluation.scores if score.failure]
    fine = [score for score in evaluation.scores if not score.failure]
    for score in sorted(fine, key=lambda score: -score.mean(first)):
        cells = [f"{score.mean(first):.3f} ± {score.spread(first):.3f}"]
        cells += [f"{score.mean(m):.3f}" for m in others]
        if leads:
            lead = leads.get(score.method)
            cells += [f"{lead.mean:+.3f}", _p_value(lead.p_value)] if lead else ["", ""]
        table.add_row(score.method, *cells, f"{score.seconds.mean():.2f}")
    for score in failed:
        table.add_row(score.method, "failed")
    return Group(title, "", table, "")


def _p_value(value: float) -> str:
    if value != value:  # the splits do not tell
        return "-"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def weights_table(weights: Sequence[Weight]) -> Table:
    """Return how much each column counts, as bars; and how many columns were made of it."""
    several = any(len(weight.features) > 1 for weight in weights)
    room = _NARROWEST + _wider() - _BESIDE_NAMES + (0 if several else _MADE)
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("column", max_width=room, overflow="fold")
    for heading in (*["made of it"] * several, "share"):
        table.add_column(heading, justify="right")
    table.add_column("", no_wrap=True)
    mark = "█" if "utf" in (sys.stdout.encoding or "").lower() else "#"
    most = max((weight.share for weight in weights), default=1.0) or 1.0
    for weight in weights[:_MOST_WEIGHTS]:
        bar = mark * round(_BAR * weight.share / most)
        made = [f"{len(weight.features)}"] * several
        share = f"{100 * weight.share:.1f} %"
        table.add_row(shortened(weight.column, _LINES * room), *made, share, bar)
    if len(weights) > _MOST_WEIGHTS:
        rest = sum(weight.share for weight in weights[_MOST_WEIGHTS:])
        name = f"{len(weights) - _MOST_WEIGHTS} more"
        table.add_row(name, *[""] * several, f"{100 * rest:.1f} %", "")
    return table


def cost_text(seconds: float, memory: float, n_fits: int) -> str:
    """Return a forecast in words."""
    return (
        f"{n_fits} fits, about {duration(max(1, seconds))} (within a factor of 3), "
        f"at most about {memory / 1e9:.1f} GB of memory"
    )

"""Results as tables for a terminal."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.console import Console, Group
from rich.table import Table

from ..evaluation.results import p_text

if TYPE_CHECKING:
    from ..evaluation import Drift, Evaluation, HoldoutScore
    from ..inspection import ColumnImportance
    from ..tabular import Column, Weight

_BAR_WIDTH = 24  # characters of the longest bar
_MAX_LISTED = 15  # columns of a table up to which plain numbers are listed one by one
_MAX_COLUMNS = 40  # columns of a table that are described
_MAX_WEIGHTS = 20  # columns of a table whose weights are shown
_MIN_WIDTH = 80  # characters per line that tables are made for
_SHARES_WIDTH = 52  # characters of shares, bars and counts, with the space around them
_COUNTS_WIDTH = 11  # characters of the counts alone
_MAX_NAME_LINES = 3  # lines of a long name
_LEVEL = 0.05  # adjusted p-value up to which a column counts as drifting
_MAX_DRIFTING = 20  # drifting columns that are listed


def shortened(name: str, room: int) -> str:
    """Return a text without its middle where it is too long, because names differ at their ends."""
    if len(name) <= room:
        return name
    half = (room - 2) // 2
    return f"{name[: room - 2 - half]}..{name[-half:]}"


def in_lines(name: str, width: int) -> str:
    """Return a name that takes at most three lines of this width."""
    return shortened(name, _MAX_NAME_LINES * width)


def extra_width() -> int:
    """Return the width of the terminal beyond the minimum."""
    return max(0, shutil.get_terminal_size().columns - _MIN_WIDTH)


def columns_table(columns: Sequence[Column]) -> Table:
    """Return how each column is encoded; among many columns, plain numbers share one line."""
    is_long = len(columns) > _MAX_LISTED
    plain = [column for column in columns if column.kind == "number" and not column.n_missing]
    shown = [column for column in columns if not is_long or column not in plain]
    room = 30 + extra_width()
    longest = max(len(name) for name in ("000 columns", *(column.name for column in shown)))
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("column", width=min(room, longest), overflow="fold")
    table.add_column("kind", no_wrap=True)
    table.add_column("use")
    for column in shown[:_MAX_COLUMNS]:
        table.add_row(in_lines(column.name, room), column.kind, column.why)
    if len(shown) > _MAX_COLUMNS:
        table.add_row(f"... {len(shown) - _MAX_COLUMNS} more", "", "")
    if plain and is_long:
        table.add_row(f"{len(plain)} columns", "number", "as they are")
    return table


def scores_table(evaluation: Evaluation) -> Group:
    """Return the scores of all methods, the best first, and the leads of the evaluated one.

    Metrics for which a line has no room are left out, the last ones first.
    """
    from ..evaluation.results import METRICS

    best, first = evaluation.best, evaluation.metric
    others = [m for m in METRICS if m in best.values and m != first]
    shown, room = len(others), _MIN_WIDTH + extra_width()
    table = _scores(evaluation, others)
    while shown and Console(width=10 * room).measure(table).maximum > room:
        shown -= 1
        table = _scores(evaluation, others[:shown])
    title = evaluation.protocol
    title += f"\nlead of {best.method} over each other method, p-value" * bool(
        evaluation.differences
    )
    if shown < len(others):
        title += f"\nonly with --json: {', '.join(METRICS[m] for m in others[shown:])}"
    return Group(title, "", table, "")


def _scores(evaluation: Evaluation, others: Sequence[str]) -> Table:
    """Return the scores by the metric of the evaluation and by some others."""
    from ..evaluation.results import METRICS, value_text

    first = evaluation.metric
    leads = {each.other: each for each in evaluation.differences}
    lead_columns = ["lead", "p"] if leads else []
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, pad_edge=False)
    table.add_column("", no_wrap=True)
    for heading in (*(METRICS[m] for m in (first, *others)), *lead_columns, "seconds"):
        table.add_column(heading.replace(" ", "\n"), justify="right", no_wrap=True)
    for score in evaluation.ranked:
        if score.failure:
            table.add_row(score.method, "failed")
            continue
        cells = [
            f"{value_text(first, score.mean(first))} ± {value_text(first, score.spread(first))}"
        ]
        cells += [value_text(m, score.mean(m)) for m in others]
        if leads:
            lead = leads.get(score.method)
            cells += [_lead_text(first, lead.mean), p_text(lead.p_value)] if lead else ["", ""]
        table.add_row(score.method, *cells, f"{score.seconds.mean():.2f}")
    return table


def _lead_text(metric: str, lead: float) -> str:
    from ..evaluation.results import UNITS, significant

    return significant(lead, 3, "+") if metric in UNITS else f"{lead:+.3f}"


def costs_table(costs: Mapping[str, Any]) -> Group:
    """Return what each column costs with its 95 % interval, and its weight, as `costs_data`."""
    from ..evaluation.results import significant

    rows = costs["columns"]
    has_shares = any(row["share"] is not None for row in rows)
    title = f"{costs['metric']} that shuffling a column costs, on {costs['n_rows']} held-out rows"
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("column", max_width=30 + extra_width(), overflow="fold")
    for heading in ("cost", "95 % interval", *["weight"] * has_shares):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows[:_MAX_WEIGHTS]:
        cost, low, high = (significant(row[name], 2) for name in ("cost", "low", "high"))
        share = [f"{100 * row['share']:.1f} %"] if has_shares else []
        table.add_row(in_lines(row["column"], 30 + extra_width()), cost, f"{low} to {high}", *share)
    if len(rows) > _MAX_WEIGHTS:
        table.add_row(f"... {len(rows) - _MAX_WEIGHTS} more")
    return Group(title, table)


def costs_data(importance: ColumnImportance) -> dict[str, Any]:
    """Return the costs of columns as plain data, the largest first."""
    rows = []
    for j in importance.order.tolist():
        ends = (importance.loss[j], importance.low[j], importance.high[j])
        if np.isnan(ends[0]):
            continue
        own = {k: float(f"{v:.6g}") for k, v in zip(("cost", "low", "high"), ends, strict=True)}
        share = None if importance.shares is None else float(f"{importance.shares[j]:.6g}")
        rows.append({"column": importance.feature_names[j], **own, "share": share})
    return {"metric": importance.metric, "n_rows": importance.n_rows, "columns": rows}


def weights_table(weights: Sequence[Weight]) -> Table:
    """Return the weight of each column as a bar, and the number of features made from it."""
    several = any(len(weight.features) > 1 for weight in weights)
    room = _MIN_WIDTH + extra_width() - _SHARES_WIDTH + (0 if several else _COUNTS_WIDTH)
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("column", max_width=room, overflow="fold")
    for heading in (*["features"] * several, "share"):
        table.add_column(heading, justify="right")
    table.add_column("", no_wrap=True)
    mark = "█" if "utf" in (sys.stdout.encoding or "").lower() else "#"
    most = max((weight.share for weight in weights), default=1.0) or 1.0
    for weight in weights[:_MAX_WEIGHTS]:
        bar = mark * round(_BAR_WIDTH * weight.share / most)
        made = [f"{len(weight.features)}"] * several
        share = f"{100 * weight.share:.1f} %"
        table.add_row(in_lines(weight.column, room), *made, share, bar)
    if len(weights) > _MAX_WEIGHTS:
        rest = sum(weight.share for weight in weights[_MAX_WEIGHTS:])
        name = f"{len(weights) - _MAX_WEIGHTS} more"
        table.add_row(name, *[""] * several, f"{100 * rest:.1f} %", "")
    return table


def metrics_table(found: HoldoutScore) -> Group:
    """Return the metrics of held-out rows with their intervals, beside guessing."""
    from ..evaluation.results import value_text

    counts = ", ".join(f"{count} of {label}" for label, count in found.classes.items())
    title = f"{found.n_rows} rows" + (f" ({shortened(counts, 60)})" if counts else "")
    table = _plain_table("", "value", "95 % interval", "guessing")
    for metric in found.metrics:
        one_vs_rest = found.positive is None and metric.name in ("auc", "average_precision")
        label = metric.label + ", mean over the classes" * one_vs_rest
        numbers = (metric.value, metric.low, metric.high, metric.guess)
        value, low, high, guess = (value_text(metric.name, number) for number in numbers)
        table.add_row(label, value, f"{low} to {high}", guess)
    return Group(title, "", table, "")


def calibration_table(found: HoldoutScore) -> Group:
    """Return expected and observed shares of rows by probability, or by level of the intervals."""
    error = f"{found.calibration_error:.3f} apart"
    if found.classes:
        event = "right predictions" if found.positive is None else repr(str(found.positive))
        title = f"calibration: expected and observed share of {shortened(event, 20)}, {error}"
    else:
        title = f"intervals: expected and observed share of rows with the target inside, {error}"
    first = "probability" if found.classes else "intervals"
    table = _plain_table(first, "rows", "expected", "observed  ", "95 % interval")
    for bin in found.calibration:
        outside = not bin.low <= bin.expected <= bin.high
        ends = f"{bin.lowest:.3f} to {bin.highest:.3f}"
        table.add_row(
            ends if found.classes else f"{100 * bin.expected:g} %",
            str(bin.rows),
            f"{bin.expected:.3f}",
            f"{bin.observed:.3f} {'*' if outside else ' '}",
            f"{bin.low:.3f} to {bin.high:.3f}",
        )
    any_outside = any(not bin.low <= bin.expected <= bin.high for bin in found.calibration)
    mark = "* the expected share is outside the interval of the observed one\n" * any_outside
    return Group(title, "", table, mark)


def drift_table(drift: Sequence[Drift]) -> Group:
    """Return the columns that are distributed differently than in training."""
    drifting = [each for each in drift if each.adjusted <= _LEVEL]
    tested = sum(each.p_value == each.p_value for each in drift)
    title = f"drift against training: {len(drifting)} of {tested} columns"
    if not drifting:
        return Group(title, "")
    table = _plain_table("column", "test", "distance", "missing", "p, corrected")
    room = 28 + extra_width()
    for each in drifting[:_MAX_DRIFTING]:
        before, now = 100 * each.missing_before, 100 * each.missing
        table.add_row(
            shortened(each.column, room),
            each.test,
            f"{each.distance:.2f}" if each.distance == each.distance else "-",
            f"{before:.0f} % -> {now:.0f} %" if before or now else "",
            p_text(each.adjusted),
        )
    if len(drifting) > _MAX_DRIFTING:
        table.add_row(f"... {len(drifting) - _MAX_DRIFTING} more")
    return Group(title, "", table, "")


def _plain_table(first: str, *headings: str) -> Table:
    """Return a table without a frame: words on the left, numbers on the right."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), show_edge=False, pad_edge=False)
    table.add_column(first, no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table

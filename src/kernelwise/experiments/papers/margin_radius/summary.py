"""Tables and remarks of the margin-radius experiment, made from its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...engine.tables import Cell, Claim, Column, Spread, Summary, Table, against, compared, grouped
from ...experiment import Row
from .machines import DESCENT, STD, Right, compare_right, errors
from .printed import PRINTED, SETS, SHARE_USED, Table2Row

READINGS = {"linear": "rows of unit norm", "plain": "rows as they are"}
_KINDS = (STD, "paper", "product")
_TITLES = {STD: "STD", "paper": "MR", "product": "product", DESCENT: "descent"}
_FURTHER = ("quadratic", "kernel")
_UNBOUNDED = 1e299  # a bound of Theorem 1 above this stands for rows that are not separated

Sets = Mapping[str, list[Row]]


def summary(rows: Sequence[Row]) -> Summary:
    """Return all tables and remarks."""
    read = {
        space: grouped([row for row in rows if row["space"] == space], "dataset", SETS)
        for space in READINGS
    }
    read = {space: sets for space, sets in read.items() if sets}
    whole: dict[str, list[Row]] = {}
    for sets in read.values():
        whole = sets | whole
    tables = [_sizes(whole)]
    for table in (_errors, _used, _bounds, _tests):
        tables += [table(sets, READINGS[space]) for space, sets in read.items()]
    tables.append(_further_spaces(rows))
    remarks = [remark for space, sets in read.items() for remark in _remarks(sets, READINGS[space])]
    return Summary([table for table in tables if table.rows], (), remarks, _verdicts(read))


def _verdicts(read: Mapping[str, Sets]) -> list[Claim]:
    counted, bounds, shares = {}, {}, {}
    for space, sets in read.items():
        known = [name for name in sets if name in PRINTED]
        tests = {name: compare_right(sets[name], _right(STD), _right("paper")) for name in known}
        clear = [test for test in tests.values() if test is not None and test[1] < 0.05]
        counted[space] = (sum(won > 0 for won, _ in clear), sum(won < 0 for won, _ in clear))
        bounds[space] = (_n_tighter(sets, "paper"), len(sets))
        shares[space] = [
            100 * float(np.mean([row["paper_used"] / row["n_columns"] for row in sets[name]]))
            for name in known
        ]
    return [
        Claim(
            "MR-SVM is significantly better than SVM on most sets",
            "better on 7 of its sets, worse on 2",
            {
                READINGS[space]: f"better on {won}, worse on {lost} of {len(shares[space])}"
                for space, (won, lost) in counted.items()
            },
            {READINGS[s]: 2 * won > len(shares[s]) for s, (won, _) in counted.items()},
        ),
        Claim(
            "optimising margin and radius gives a tighter bound (Theorem 2, on every set)",
            "the thesis of the paper; no figures",
            {READINGS[s]: f"tighter on {low} of {of}" for s, (low, of) in bounds.items()},
            {READINGS[s]: low == of for s, (low, of) in bounds.items()},
        ),
        Claim(
            "part of the columns that is used (within 10 points)",
            f"{SHARE_USED} % over all 13 sets",
            {READINGS[s]: f"{np.mean(v):.1f} % over {len(v)} sets" for s, v in shares.items() if v},
            {
                READINGS[s]: abs(float(np.mean(v)) - SHARE_USED) <= 10
                for s, v in shares.items()
                if v
            },
        ),
    ]


def _right(kind: str) -> Right:
    return lambda row: row[f"{kind}_right"]


def _descended(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if f"{DESCENT}_used" in row]


def _sizes(sets: Sets) -> Table:
    columns = [Column("data set")] + [
        Column(who, 0, what) for what in ("rows", "columns", "classes") for who in ("paper", "ours")
    ]
    cells: list[list[Cell]] = []
    for name, mine in sets.items():
        own, printed = mine[0], PRINTED.get(name)
        ours = "/".join(map(str, sorted(own["class_sizes"])))
        if printed is None:
            cells.append([name, None, own["n_rows"], None, own["n_columns"], None, ours])
            continue
        theirs = "/".join(map(str, sorted(printed.classes)))
        sizes = [printed.rows, own["n_rows"], printed.columns, own["n_columns"]]
        cells.append([name, *sizes, theirs, ours])
    note = (
        "The paper counts patient number and class as columns of wdbc, and one of the two as a "
        "column of wpbc. Slips of its Table 1 and text: ovarian has 253 rows and classes of 62 and "
        'of 91, which are 153 (162 and 91 would fit); the text says "12 different datasets" above '
        "13 rows."
    )
    return Table("Table 1", columns, cells, note)


def _errors(sets: Sets, reading: str) -> Table:
    cells: list[list[Cell]] = []
    for name, mine in sets.items():
        printed, first = PRINTED.get(name), _descended(mine)
        cells.append(
            [
                name,
                *against(printed and printed.std, errors(mine, _right(STD))),
                *against(printed and printed.mr, errors(mine, _right("paper"))),
                Spread.of(errors(first, _right(DESCENT))) if first else None,
                Spread.of(errors(mine, _right("product"))),
            ]
        )
    columns = [
        Column("data set"),
        *compared("STD", 2),
        *compared("MR", 2),
        Column("descent", 2),
        Column("product", 2),
    ]
    note = "± over the runs of the ten folds; descent: the first run."
    return Table(f"Table 2, {reading}: error, %", columns, cells, note)


def _used(sets: Sets, reading: str) -> Table:
    cells: list[list[Cell]] = []
    for name, mine in sets.items():
        first, total = _descended(mine), mine[0]["n_columns"]
        printed = PRINTED.get(name)
        stopped = sum(row[f"{DESCENT}_stopped"] for row in first)
        cells.append(
            [
                name,
                total,
                printed and printed.used,
                printed and 100 * printed.used / printed.columns,
                *_weighted(mine, "paper", total),
                *(_weighted(first, DESCENT, total) if first else (None, None)),
                f"{stopped} of {len(first)}" if first else None,
                *_weighted(mine, "product", total),
                *(float(np.median([row[f"{kind}_C"] for row in mine])) for kind in _KINDS),
            ]
        )
    columns = [Column("data set"), Column("all", 0)]
    for who in ("paper", "MR", "descent"):
        columns += [Column("used", 1, who), Column("%", 2, who)]
    columns.append(Column("stopped", 0, "descent"))
    columns += [Column("used", 1, "product"), Column("%", 2, "product")]
    columns += [Column(_TITLES[kind], 1, "C") for kind in _KINDS]
    note = (
        "Columns with a weight, and their part of all columns; means over the folds. stopped: "
        "folds in which Algorithm 1 reached the paper's gap before its last step. A step removes "
        "one column at most, so that on the gene sets its count is that of the steps allowed. C: "
        "the median of the values that the inner folds choose."
    )
    return Table(f"Table 2, {reading}: columns with a weight", columns, cells, note)


def _weighted(rows: Sequence[Row], kind: str, total: int) -> tuple[float, float]:
    used = float(np.mean([row[f"{kind}_used"] for row in rows]))
    return used, 100 * used / total


def _bounds(sets: Sets, reading: str) -> Table:
    cells: list[list[Cell]] = []
    for name, mine in sets.items():
        cells.append([name])
        for kind in _KINDS:
            apart = [row[f"{kind}_bounds"][0] < _UNBOUNDED for row in mine]
            found = [row[f"{kind}_bounds"][0] for row in mine]
            middle = float(np.median(found)) if np.mean(apart) > 0.5 else None
            cells[-1].append(middle)
        cells[-1] += [float(np.median([r[f"{kind}_bounds"][1] for r in mine])) for kind in _KINDS]
    columns = [Column("data set")]
    columns += [Column(_TITLES[kind], 0, "Theorem 1") for kind in _KINDS]
    columns += [Column(_TITLES[kind], 0, "Theorem 2") for kind in _KINDS]
    note = (
        "R²/γ² and (R² + |ξ|²)/γ² on the training part, each machine at the C that its inner folds "
        "choose; medians over the folds. Theorem 1 is empty where the rows are not separated in "
        "most folds."
    )
    return Table(f"Bounds, {reading}", columns, cells, note)


def least_p(printed: Table2Row) -> float:
    """Return the least p that McNemar's exact test can have for the printed errors."""
    apart = round(abs(printed.std - printed.mr) * printed.rows / 100)
    return min(1.0, 2.0 ** (1 - apart))


def _tests(sets: Sets, reading: str) -> Table:
    cells: list[list[Cell]] = []
    for name, mine in sets.items():
        printed = PRINTED.get(name)
        cells.append([name, printed and printed.verdict, printed and least_p(printed)])
        for kind in ("paper", "product"):
            cells[-1].extend(compare_right(mine, _right(STD), _right(kind)) or (None, None))
    columns = [
        Column("data set"),
        Column("verdict", 0, "paper"),
        Column("least p", 3, "paper"),
        Column("won", 1, "MR", signed=True),
        Column("p", 3, "MR"),
        Column("won", 1, "product", signed=True),
        Column("p", 3, "product"),
    ]
    note = (
        "won: rows that only it classifies correctly, minus those that only STD does; medians "
        "over the runs. least p: the p value if all rows by which the printed errors differ are "
        "won or lost and no other row changes."
    )
    return Table(f"McNemar's exact test against STD, {reading}", columns, cells, note)


def _further_spaces(rows: Sequence[Row]) -> Table:
    cells: list[list[Cell]] = []
    first = grouped([row for row in rows if row["repeat"] == 0], "dataset", SETS)
    for name, mine in first.items():
        done = {row["fold"] for row in mine if row["space"] in _FURTHER}
        for space in ("linear", *_FURTHER):
            part = [row for row in mine if row["space"] == space and row["fold"] in done]
            test = compare_right(part, _right(STD), _right("product"))
            if test is None:
                continue
            error = [errors(part, _right(kind))[0] for kind in _KINDS]
            keys = ("n_columns", "paper_used", "product_used")
            sizes = [float(np.mean([row[key] for row in part])) for key in keys]
            cells.append([f"{name}, {space}", *error, test[1], *sizes])
    columns = [
        Column("data set, space"),
        *(Column(name, 1, "error") for name in (STD, "MR", "product")),
        Column("p", 3),
        Column("columns", 0),
        Column("MR", 1, "weighted"),
        Column("product", 1, "weighted"),
    ]
    note = (
        "p: McNemar's exact test of product against STD in the same space; folds of the first run."
    )
    return Table("Further spaces: error, %", columns, cells, note)


def _remarks(sets: Sets, reading: str) -> list[str]:
    mean = {
        kind: {name: float(np.mean(errors(mine, _right(kind)))) for name, mine in sets.items()}
        for kind in _KINDS
    }
    better, clear = {}, {}
    for kind in ("paper", "product"):
        better[kind] = sum(mean[kind][name] < mean[STD][name] for name in sets)
        verdicts = [compare_right(mine, _right(STD), _right(kind)) for mine in sets.values()]
        clear[kind] = sum(v is not None and v[1] < 0.05 for v in verdicts)
    apart = {kind: np.mean([mean[kind][n] - mean[STD][n] for n in sets]) for kind in clear}
    known = [name for name in sets if name in PRINTED]
    remarks = [
        f"{reading[0].upper()}{reading[1:]}: the paper's relaxation has a lower error than STD on "
        f"{better['paper']} of {len(sets)} sets, {apart['paper']:+.1f} points on average, and "
        f"differs from it with p < 0.05 on {clear['paper']}; product on {better['product']}, "
        f"{apart['product']:+.1f} points, and {clear['product']}.",
        _on_bounds(sets, reading),
    ]
    if not known:
        return remarks
    claimed = np.mean([PRINTED[name].mr - PRINTED[name].std for name in known])
    said = sum(PRINTED[name].verdict != "=" for name in known)
    possible = sum(PRINTED[n].verdict != "=" and least_p(PRINTED[n]) < 0.05 for n in known)
    share = {
        kind: np.mean([_weighted(sets[n], kind, sets[n][0]["n_columns"])[1] for n in known])
        for kind in clear
    }
    printed = np.mean([100 * PRINTED[n].used / PRINTED[n].columns for n in known])
    descent = [
        _weighted(_descended(sets[n]), DESCENT, sets[n][0]["n_columns"])[1]
        for n in known
        if _descended(sets[n])
    ]
    used = f" (Algorithm 1: {np.mean(descent):.0f} %)" if descent else ""
    return [
        *remarks,
        f"On these {len(known)} sets the paper's own errors differ by {claimed:+.1f} points on "
        f"average. It calls {said} of the differences significant; by its printed errors at most "
        f"{possible} can be significant in McNemar's exact test (column least p).",
        f"On average {share['paper']:.0f} % of the columns have a weight at the optimum{used}, "
        f"{share['product']:.0f} % with product. The mean of the paper's figures for the same sets "
        f"is {printed:.0f} %; its text says {SHARE_USED} % over all thirteen. There is an optimum "
        "with at most as many weights as training rows, so that 2000 of 2000 on 62 rows cannot be "
        "an optimum that is basic. Our conjecture is a run that stopped early: a step of Algorithm "
        "1 removes one column at most, and so 2000, 6442 and 6922 are what 0, 687 and 206 steps "
        "leave of 2000, 7129 and 7128.",
    ]


def _n_tighter(sets: Sets, kind: str) -> int:
    """Count the sets on which the bound of Theorem 2 is below that of the SVM."""
    return sum(
        bool(
            np.median([row[f"{kind}_bounds"][1] for row in mine])
            < np.median([row[f"{STD}_bounds"][1] for row in mine])
        )
        for mine in sets.values()
    )


def _on_bounds(sets: Sets, reading: str) -> str:
    return (
        f"The thesis of a tighter bound, {reading}: the bound of Theorem 2 is below that of STD on "
        f"{_n_tighter(sets, 'paper')} of {len(sets)} sets for the paper's relaxation, and on "
        f"{_n_tighter(sets, 'product')} for product."
    )

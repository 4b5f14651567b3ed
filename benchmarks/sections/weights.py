"""Feature weights: the dual, accuracies and costs."""

from statistics import fmean, median

from ..names import FAST_GRID, GRID
from ..reading import (
    Mean,
    accuracies,
    agreements,
    compared,
    cpu_ratio,
    dual_ratios,
    is_lower,
    lower_sets,
    most_solves,
)
from ..text import digits, factor, seconds, span, spread, table


def _groups(rows: list[dict]) -> dict[str, list[dict]]:
    """Return the rows by data set."""
    found: dict[str, list[dict]] = {}
    for row in rows:
        found.setdefault(row["case"]["set"], []).append(row)
    return found


def weights(suite: dict) -> str:
    rows = suite["rows"]
    repeats = len(rows[0]["found"]["default"]["dual"])
    methods = ("equal", "paper", "default", "radius_margin")
    cells = []
    for name, own in [*_groups(rows).items(), ("all", rows)]:
        duals = [fmean(fmean(dual_ratios(row, m)) for row in own) for m in methods[1:3]]
        scores = [Mean.of(accuracies(own, method)).text(1) for method in methods]
        cells.append([name, *(f"{dual:.3f}" for dual in duals), f"{lower_sets(own)} of {len(own)}"])
        cells[-1] += [most_solves(own), *scores]
    header = ["set", "L/L0, paper", "default", "default is lower", "most solves"]
    header += ["accuracy, v = 1", "paper", "default", "radius-margin"]
    return f"{_weights_text(rows, repeats)}\n\n{table(header, cells, left=1)}"


def _weights_text(rows: list[dict], repeats: int) -> str:
    runs = [
        (default, paper)
        for row in rows
        for default, paper in zip(
            dual_ratios(row, "default"), dual_ratios(row, "paper"), strict=True
        )
    ]
    beaten = [n for row in rows for n in row["found"]["default"]["solves_to_beat"]]
    reached = [n for n in beaten if n is not None]
    first = f"after {median(reached):g} in the median" if reached else "never"
    if 0 < len(reached) < len(beaten):
        first += f" ({len(beaten) - len(reached)} runs never)"
    higher = [f"{r['case']['set']} + {r['case']['noise']}" for r in rows if not is_lower(r)]
    return (
        "The paper's protocol: each of its seven sets with as many noise columns as it has, each "
        "tied to one feature of another set and every entry drawn for itself; all columns scaled "
        "to [-1, 1], missing cells filled by the mean, 80 % training rows, C = 1, gamma = 1, "
        f"weights shared by the one-vs-rest machines; {repeats} repeats of noise and split a set. "
        "`paper` is `optimizer='paper'` with its 100 updates, `default` is "
        "`DualObjectiveSVC(gamma=1)`, `radius-margin` is "
        "`DualObjectiveSVC(criterion='radius_margin')`, which learns scale and C as well. L is "
        "the dual, which is minimised, at the weights found, L0 that at equal weights; for all of "
        "them the machines are solved again to 1e-6, because duals solved to different tolerances "
        "do not compare.\n\n"
        f"The default has the lower dual on {lower_sets(rows)} of {len(rows)} noisy sets "
        f"(mean of the repeats), and in {sum(a < b for a, b in runs)} of {len(runs)} runs; "
        f"{'it is not lower on ' + ', '.join(higher) + '; ' if higher else ''}"
        f"it takes at most {most_solves(rows)} solves, and it is below the paper's last dual "
        f"{first}. Accuracy, in points: default - paper {compared(rows, 'default', 'paper')}, "
        f"default - equal weights {compared(rows, 'default', 'equal')}, "
        f"paper - equal weights {compared(rows, 'paper', 'equal')}, "
        f"radius-margin - default {compared(rows, 'radius_margin', 'default')}. In the table the "
        "means are over the noise sets, ± their standard error."
    )


def weight_criteria(suite: dict) -> str:
    kinds = {
        "noisy": [row for row in suite["rows"] if row["case"]["noise"]],
        "clean": [row for row in suite["rows"] if not row["case"]["noise"]],
    }
    labels = {
        "SVC": "`SVC()`",
        FAST_GRID: "grid search, 45 points",
        "dual": "`DualObjectiveSVC()`",
        "radius_margin": "`criterion='radius_margin'`",
        "span": "`criterion='span'`",
    }
    timed = [row for row in suite["rows"] if GRID in row["times"]]
    equal, both = agreements(timed, FAST_GRID, GRID)
    cells = []
    for method, label in labels.items():
        line = [label]
        for rows in kinds.values():
            line.append(Mean.of(accuracies(rows, method)).text())
            line.append("" if method == FAST_GRID else compared(rows, method, FAST_GRID))
        ratio = cpu_ratio(timed, method, GRID)
        worst = min(cpu_ratio([row], method, GRID) for row in timed)
        cells.append([*line, factor(ratio), factor(worst)])
    counts = {kind: len(rows[0]["times"]["SVC"]["cpu"]) for kind, rows in kinds.items()}
    header = ["method"]
    for kind in kinds:
        header += [kind, "- grid, points"]
    by_set = table(
        ["set", *(f"{kind}: {one}" for kind in kinds for one in ("SVC", "grid", "dual", "r-m"))],
        [
            [name, *(
                f"{fmean(accuracies([row for row in rows if row['case']['set'] == name], m)):.1f}"
                for rows in kinds.values() for m in ("SVC", FAST_GRID, "dual", "radius_margin")
            )]
            for name in _groups(suite["rows"])
        ],
        left=1,
    )  # fmt: skip
    return (
        "The same sets with every column standardised by the training rows, and without noise as "
        f"well: {len(kinds['noisy'])} noisy sets, {counts['noisy']} splits each, and "
        f"{len(kinds['clean'])} clean ones, {counts['clean']} splits, 80 % training rows by class. "
        "All start from `gamma='scale'` and C = 1. The grid is C from 0.1 to 1000 by 10 and "
        "2^-4 to 2^4 times that gamma, 5 folds, searched by `SVCSearchCV`; on one split of "
        f"{len(timed)} of the sets `GridSearchCV` ran too, with the same accuracy in {equal} of "
        f"{both}. Means over sets, ± their standard error; the last columns say how many times as "
        "much CPU time `GridSearchCV` takes on those sets, all together and on the worst.\n\n"
        + table([*header, "CPU of `GridSearchCV`", "worst"], cells, left=1)
        + f"\n\nBy set:\n\n{by_set}"
    )


def weight_steps(suite: dict) -> str:
    cells = []
    for row in suite["rows"]:
        case, times = row["case"], row["times"]
        ovr = times.get("one-vs-rest SVC")
        paper, default = times["paper"], times["default"]
        cells.append(
            [
                case["set"], case["noise"], *(f"{case[key]:,}" for key in ("n", "p", "classes")),
                spread(times["SVC"]), "" if ovr is None else seconds(ovr["median"]),
                spread(paper), digits(paper["ratio"]), spread(default), digits(default["ratio"]),
                default["solves"],
            ]
        )  # fmt: skip
    header = ["set", "noise", "n", "p", "classes", "`SVC`", "one-vs-rest", "100 updates", "fits"]
    two = [row for row in suite["rows"] if row["case"]["classes"] == 2]

    def ratios(name: str) -> str:
        found = [row["times"][name]["ratio"] for row in two]
        return f"{span(found)} (median {digits(median(found))})"

    return (
        "Times of `optimizer='paper'` with its 100 updates (102 solves with the first and the last "
        "one) and of the default, and how many cold fits of `SVC` on the same rows with equal "
        "weights they are; medians ± half the inter-quartile range, in turns. The first set is "
        "`make_classification` with as many columns of normal noise, standardised and at "
        "`gamma='scale'`, the others are the noisy sets above at gamma = 1. With two classes 100 "
        f"updates are {ratios('paper')} fits, and the default is {ratios('default')}. With "
        "several classes the machines here are one-vs-rest and those of `SVC` one-vs-one, so that "
        "a one-vs-rest `SVC` is timed too.\n\n"
        + table([*header, "default", "fits", "solves"], cells, left=2)
    )

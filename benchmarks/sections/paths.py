"""Width and C by the span estimate, and grid searches."""

from ..learner_targets import CLOSE
from ..names import FAST_GRID, GRID
from ..reading import (
    Mean,
    accuracies,
    agreements,
    compared,
    cpu_a_fit,
    cpu_ratio,
    further,
    gains,
    missed_rows,
)
from ..text import digits, factor, seconds, spread, table

_LABELS = {
    "span": "`AdaptiveKernelSVC()`",
    "cv": "`criterion='cv'`",
    "bound": "`criterion='bound'`",
    FAST_GRID: "`SVCSearchCV`",
    GRID: "`GridSearchCV`",
}


def span_path(suite: dict) -> str:
    rows = suite["rows"]
    splits, later = len(rows[0]["times"][GRID]["cpu"]), further(rows)
    first = slice(0, splits)
    more = len(rows[0]["times"]["span"]["cpu"]) - splits
    equal, both = agreements(rows, FAST_GRID, GRID)
    totals = [
        [
            label,
            Mean.of(accuracies(rows, method, first)).text(),
            "" if method == GRID else compared(rows, method, GRID),
            seconds(cpu_a_fit(rows, method)),
            "" if method == GRID else factor(cpu_ratio(rows, method, GRID)),
            "" if method == GRID else factor(min(cpu_ratio([r], method, GRID) for r in rows)),
        ]
        for method, label in _LABELS.items()
    ]
    cells = []
    for row in rows:
        case = row["case"]
        cells.append([case["set"], *(f"{case[key]:,}" for key in ("n", "p", "classes"))])
        cells[-1] += [f"{accuracies([row], method, first)[0]:.1f}" for method in _LABELS]
        cells[-1] += [f"{gains([row], 'span', FAST_GRID, later)[0]:+.1f}"]
        cells[-1] += [factor(cpu_ratio([row], method, GRID)) for method in ("span", FAST_GRID)]
    header = ["set", "n", "p", "classes", "span", "cv", "bound", "`SVCSearchCV`", "`GridSearchCV`"]
    header += [f"span - `SVCSearchCV`, {more} further splits"]
    return (
        f"{len(rows)} sets, {splits} splits each into 80 % training and 20 % test rows by class, "
        "missing cells filled by the mean and columns standardised by the training rows. All "
        "choose among the same 55 points: 11 widths, the root of the sum of the variances times "
        "2^-2 to 2^3 by 2^0.5, and C from 0.1 to 1000 by 10; the searches with 5 folds. "
        "`criterion='bound'` is the paper's choice: a hard margin, R = 1, and the widths alone. "
        "Several classes are one-vs-rest in `AdaptiveKernelSVC` and one-vs-one in the searches"
        f"{_two_classes(rows)}. "
        "Means over the sets ± their standard error; CPU time of a fit, the last one on all rows "
        "included, and how many times as much `GridSearchCV` takes, in total and on the worst "
        "set.\n\n"
        f"With test sets of a few dozen rows {splits} splits are few. `SVCSearchCV` has the "
        f"accuracy of `GridSearchCV` in {equal} of {both} fits, so that {more} further splits are "
        "measured with it in the place of `GridSearchCV`: on these alone the span path is "
        f"{compared(rows, 'span', FAST_GRID, later)} points from it, and on all "
        f"{splits + more} {compared(rows, 'span', FAST_GRID)}. The next table is of the first "
        f"{splits} splits.\n\n"
        + table(
            ["method", "accuracy", "- `GridSearchCV`, points", "CPU a fit", "ratio", "worst"],
            totals,
            left=1,
        )
        + "\n\nAccuracy by set, and how many times as much CPU time `GridSearchCV` takes:\n\n"
        + table([*header, "ratio, span", "ratio, `SVCSearchCV`"], cells, left=1)
    )


def _two_classes(rows: list[dict]) -> str:
    """Say what the sets give whose machines are the same ones."""
    two = [row for row in rows if row["case"]["classes"] == 2]
    if not two:
        return ""
    return (
        f"; on the {len(two)} sets of two classes alone the span path is "
        f"{compared(two, 'span', GRID)} points from `GridSearchCV`, at a ratio of "
        f"{factor(cpu_ratio(two, 'span', GRID))}"
    )


def leave_one_out(suite: dict) -> str:
    cells = []
    for row in suite["rows"]:
        case, found = row["case"], row["found"]
        difference = found["span"]["errors"] - found["left out"]["errors"]
        cells.append(
            [
                case["set"], *(f"{case[key]:,}" for key in ("n", "p", "classes")),
                f"{case['C']:g}", digits(case["sigma"]),
                *(found[key]["errors"] for key in ("training rows", "span", "left out")),
                f"{difference:+d}", f"{missed_rows(row):.2f} %",
            ]
        )  # fmt: skip
    close = sum(missed_rows(row) <= CLOSE for row in suite["rows"])
    hard = [row for row in suite["rows"] if row["case"]["set"] == "bupa"]
    header = ["set", "n", "p", "classes", "C", "sigma", "errors on training rows", "span"]
    return (
        "At the point that `AdaptiveKernelSVC()` chooses on all rows, standardised: the errors of "
        "leave-one-out as the span estimate counts them, and as they are when scikit-learn's "
        "`SVC`, one-vs-rest, is fitted once without each row (`tol=1e-4`). The estimate is within "
        f"{CLOSE:g} % of the rows on {close} of {len(suite['rows'])} sets"
        + "".join(f", and off by {missed_rows(row):.2f} % on bupa, the hard one" for row in hard)
        + ".\n\n"
        + table([*header, "left out", "difference", "of the rows"], cells, left=1)
    )


def search(suite: dict) -> str:
    cells = []
    for row in suite["rows"]:
        case, (ours, grid) = row["case"], row["times"].values()
        same = "same" if ours["best"] == grid["best"] else "**another**"
        cells.append(
            [
                case["data"], *(f"{case[key]:,}" for key in ("n", "p", "classes")),
                f"{case['C']:g}", spread(ours), spread(grid), factor(grid["ratio"]),
                f"{ours['off']} / {grid['off']}",
                f"{100 * ours['mean_off_reference']:.2g}",
                f"{100 * ours['best_score']:.2f} / {100 * grid['best_score']:.2f}", same,
            ]
        )  # fmt: skip
    case = suite["rows"][0]["case"]
    fits = case["points"] * case["folds"]
    header = ["data", "n", "p", "classes", "C up to", "`SVCSearchCV`", "`GridSearchCV`", "ratio"]
    header += ["scores off", "largest difference of a mean, points", "best", "point"]
    return (
        f"`SVCSearchCV()` against `GridSearchCV(SVC())` over the same {case['points']} points of C "
        f"and gamma, {case['folds']} folds and so {fits} fits, and one more of all rows: C over "
        "four decades, gamma from 1/64 to 64 times that of `gamma='scale'`. At the usual "
        "tolerance, 1e-3, a row next to the boundary may fall on either side of it, in both "
        f"searches: of the {fits} scores, one a point and fold, those are counted that differ from "
        "the scores of solutions to 1e-6, of `SVCSearchCV` and of `GridSearchCV`. Then the largest "
        "difference between the two of a point's mean score, the best mean score of both, and "
        "whether they choose the same point.\n\n" + table(header, cells, left=1)
    )

"""The sections of the page: accuracy, cost, and the truth of the weights."""

from collections.abc import Iterable, Sequence
from statistics import fmean

from .quality_contenders import CONTENDERS
from .quality_names import (
    BOOSTING,
    ENSEMBLE,
    FOREST,
    FORMS,
    GRID,
    NOISE,
    PLAIN,
    SIGNS_CONDITION,
    SINGLE,
)
from .quality_reading import (
    LARGEST,
    accuracy,
    cost,
    cost_ratio,
    counts,
    gain,
    gains,
    methods,
    of,
    speed,
)
from .reading import Mean, signed_rank
from .text import digits, factor, gigabytes, seconds, table

IMAGE = "images/quality.png"
_JUDGES = {
    SINGLE: CONTENDERS[SINGLE].label,
    ENSEMBLE: CONTENDERS[ENSEMBLE].label,
    "permutation": "forest, permutation",
    "F": "F test, `SelectFdr`",
}


def _difference(found: dict[str, float]) -> str:
    """Say by how many points a method is the better one, and how sure that is over the sets."""
    if not found:
        return ""
    mean = Mean.of(found.values())
    sign = "+" if mean.value >= 0 else ""
    sure = signed_rank(list(found.values()))
    return f"{sign}{mean.text()}" + (f" ({sure})" if sure.startswith("p") else "")


def _signed(value: float | None) -> str:
    return "" if value is None else f"{round(value, 1) + 0.0:+.1f}"  # no -0.0


def _percent(part: float | None) -> str:
    return "" if part is None else f"{100 * part:.1f}"


def _plain(value: float | None, form: str = ".1f") -> str:
    return "" if value is None else f"{value:{form}}"


def accuracies(suite: dict) -> str:
    rows = suite["rows"]
    present = [name for name in CONTENDERS if name in methods(rows)]
    parts = [
        _state(suite, present),
        _against_grid(rows, present),
        _against_others(rows, present),
        _signs(rows, present),
        _by_set(rows, present),
    ]
    return "\n\n".join(part for part in parts if part)


def _state(suite: dict, present: Sequence[str]) -> str:
    """Say on how many splits everybody was measured, and when."""
    rows, seeds = suite["rows"], suite["seeds"]
    sizes = ", ".join(
        f"{len(of(rows, name))} {name}" for name in [*NOISE, SIGNS_CONDITION] if of(rows, name)
    )
    text = f"Splits of the seeds {seeds[0]} to {seeds[-1]} ({len(seeds)} a set); sets: {sizes}."
    counted = {name: counts(rows, name) for name in present}
    lacking = [
        f"{CONTENDERS[name].label} {done} of {all_}"
        for name, (done, all_) in counted.items()
        if done < all_
    ]
    if lacking:
        text += f" **Not complete**, in splits: {'; '.join(lacking)}."
    dates: dict[str, list[str]] = {}
    for name in present:
        dates.setdefault(suite["measured"][name], []).append(CONTENDERS[name].label)
    last = "; ".join(f"{', '.join(names)} {date}" for date, names in dates.items())
    return f"{text} Last measured: {last}."


def _against_grid(rows: list[dict], present: Sequence[str]) -> str:
    if GRID not in present:
        return ""
    cells = []
    for name in present:
        found = ["" if name == GRID else _difference(gains(rows, c, name, GRID)) for c in NOISE]
        ratio = cost([row for row in rows if row["case"]["condition"] in NOISE], name)
        cells.append([CONTENDERS[name].label, *found, "" if ratio is None else digits(ratio, 2)])
    absolute = ", ".join(
        f"{fmean(found):.1f} {condition}"
        for condition in NOISE
        if (found := [a for row in of(rows, condition) if (a := accuracy(row, GRID)) is not None])
    )
    return (
        "### Against the grid\n\nMean over the sets of the paired difference to the accuracy of "
        "the grid, in points, ± its standard error over the sets, and p over the sets. The mean "
        f"accuracy of the grid is {absolute}. CPU is the mean over the sets of the CPU time of a "
        "fit over the grid's, on a machine that may have done other things as well.\n\n"
        + table(["contender", *NOISE, "CPU"], cells, left=1)
    )


def _against_others(rows: list[dict], present: Sequence[str]) -> str:
    forms = [name for name in (SINGLE, ENSEMBLE) if name in present]
    others = [name for name in (FOREST, BOOSTING, PLAIN) if name in present]
    if not forms or not others:
        return ""
    cells = [
        [
            CONTENDERS[form].label, CONTENDERS[other].label,
            *(_difference(gains(rows, condition, form, other)) for condition in NOISE),
        ]
        for form in forms
        for other in others
    ]  # fmt: skip
    return "### Against the other peers\n\nThe same differences.\n\n" + table(
        ["", "minus", *NOISE], cells, left=2
    )


def _signs(rows: list[dict], present: Sequence[str]) -> str:
    chosen = [row for row in of(rows, "doubled") if row["case"]["set"] == "sonar"]
    chosen += of(rows, SIGNS_CONDITION)
    if not chosen:
        return ""
    titles = [
        row["case"]["set"] + (" + noise" if row["case"]["condition"] == "doubled" else "")
        for row in chosen
    ]
    cells = [
        [CONTENDERS[name].label, *(_plain(accuracy(row, name)) for row in chosen)]
        for name in present
    ]
    return (
        "### Where features must be chosen\n\nAccuracy in percent: sonar with as many noise "
        "columns, and products of signs among inputs that are else irrelevant (20 and 10 standard "
        "normal inputs, 300 training rows, 2000 test rows).\n\n"
        + table(["contender", *titles], cells, left=1)
    )


def _by_set(rows: list[dict], present: Sequence[str]) -> str:
    forms = [name for name in (SINGLE, ENSEMBLE) if name in present]
    if GRID not in present or not forms:
        return ""
    by_case = {(row["case"]["set"], row["case"]["condition"]): row for row in rows}
    clean = [row["case"] for row in of(rows, "clean")]
    worst = gains(rows, "clean", forms[-1], GRID)
    cells = []
    for case in sorted(clean, key=lambda case: worst.get(case["set"], 0.0)):
        line = [case["set"], case["n"], case["p"], case["classes"]]
        for condition in NOISE:
            row = by_case.get((case["set"], condition))
            line.append(_plain(accuracy(row, GRID)) if row else "")
            line += [_signed(gain(row, form, GRID)) if row else "" for form in forms]
        cells.append(line)
    header = ["set", "n", "p", "classes"]
    for condition in NOISE:
        header += [f"{condition}: grid", *(f"{FORMS[form]} - grid" for form in forms)]
    return (
        "### By set\n\nAccuracy of the grid in percent and the difference to it in points, the "
        "worst clean sets first; n training rows, p columns without noise.\n\n"
        f"![Differences to the grid by set]({IMAGE})\n\n" + table(header, cells, left=1)
    )


def costs(suite: dict) -> str:
    rows = suite["rows"]
    forms = [name for name in (SINGLE, ENSEMBLE) if name in methods(rows)]
    cells = []
    for row in rows:
        case, times = row["case"], row["times"]
        name = f"{case['set']}{' *' if case['n'] > LARGEST else ''}"
        line = [name, case["condition"], f"{case['n']:,}", case["p"], case["classes"]]
        line.append(seconds(times[GRID]["cpu_median"]))
        for form in forms:
            line += [seconds(times[form]["cpu_median"]), factor(1 / cost_ratio(row, form))]
        cells.append(line)
    header = ["set", "condition", "n", "p", "classes", "grid"]
    for form in forms:
        header += [CONTENDERS[form].label, "grid over it"]
    means = "; ".join(_mean_cost(rows, form) for form in forms)
    return (
        "CPU time of a fit on one split of each set, all in one process: ours is the median of "
        "three runs, the grid runs once, between them. The mean of the ratios is over the sets "
        f"with at most {LARGEST} training rows, clean and doubled; the others have a star."
        f"{f' {means}.' if means else ''}\n\n" + table(header, cells, left=2)
    )


def _mean_cost(rows: list[dict], form: str) -> str:
    found = [speed(rows, form, synthetic=synthetic) for synthetic in (False, True)]
    few, many = ("not measured" if f is None else f"{1 / f:.3f} (1 / {f:.1f})" for f in found)
    return f"{CONTENDERS[form].label}: mean ratio to the grid {few}, the synthetic set {many}"


def growths(suite: dict) -> str:
    cells = [
        [
            f"{row['case']['n']:,}", row["case"]["p"], CONTENDERS[form].label,
            seconds(found["cpu"]), gigabytes(found["peak_bytes"]),
            _percent(found["accuracy"]), _percent(found["plain_accuracy"]),
        ]
        for row in suite["rows"]
        for form, found in row["found"].items()
    ]  # fmt: skip
    header = ["n", "p", "method", "CPU time", "most memory", "accuracy, %", "`SVC()`, %"]
    return (
        "Two classes by `make_classification` with ten informative columns, one fit each in a "
        "process of its own, with the default `weight_rows` and `path_rows`. The memory is the "
        "most that the process held, the libraries and the rows included; the accuracy is that "
        "on 5,000 further rows.\n\n" + table(header, cells)
    )


def truths(suite: dict) -> str:
    cells = []
    for row in suite["rows"]:
        for method, found in row["found"].items():
            chosen = [value for value in found["precision"] if value is not None]
            cells.append(
                [
                    row["case"]["problem"], _JUDGES[method], row["case"]["relevant"],
                    Mean.of(chosen).text() if chosen else "nothing selected",
                    _mean_text(found["recall"]), _mean_text(found["auc"]),
                ]
            )  # fmt: skip
    case = suite["rows"][0]["case"]
    repeats = len(next(iter(suite["rows"][0]["found"].values()))["auc"])
    header = ["problem", "method", "relevant", "precision", "recall", "area under the curve"]
    return (
        f"Which of {case['p']} columns matter, {case['n']} training rows, {repeats} repeats: the "
        "class is the sign of a noisy sum of five inputs; whether three inputs are in a ball; the "
        "sign of the product of two; and the sign of a noisy sum of three factors that are not "
        "seen, but by three noisy columns each. Precision and recall are those of "
        "`selected_features_`, and precision is the mean over the repeats in which something was "
        "selected; the area under the ROC curve is that of `feature_importances_`, at telling "
        "relevant columns from others. The forest is asked for its permutation importance on as "
        "many further rows, which the others do not see; selected is what is above two standard "
        "errors of its shuffles. The F test selects at a false discovery rate of 5 %.\n\n"
        + table(header, cells, left=2)
    )


def _mean_text(values: Iterable[float]) -> str:
    return Mean.of(values).text()


def stabilities(suite: dict) -> str:
    cells = [
        [
            f"{row['case']['set']} + noise", _JUDGES[method], row["case"]["n"], row["case"]["p"],
            f"{found['spearman']:.2f}", f"{found['jaccard']:.2f}", f"{found['selected']:.1f}",
            f"{100 * found['noise']:.0f} %",
        ]
        for row in suite["rows"]
        for method, found in row["found"].items()
    ]  # fmt: skip
    header = ["set", "method", "n", "p", "Spearman", "Jaccard", "selected", "of them noise"]
    return (
        f"{suite['rows'][0]['case']['halves']} random halves of sets with as many noise columns, "
        "which are the same in all halves: the mean over pairs of halves of Spearman's "
        "correlation of the importances and of the Jaccard index of the selections, how many "
        "columns are selected, and what part of these is noise. The forest's importances are of "
        "the other half.\n\n" + table(header, cells, left=2)
    )

"""The options of the commands, with their checks and help texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

_MAX_CV_ROWS = 3000  # rows up to which folds are the default; beyond, one held-out part
_TEST_SIZE = 0.25
_CV = 5


def _one_of(name: str, known: Sequence[str]) -> str:
    if name not in known:
        raise typer.BadParameter(f"{name!r} is not known; choose one of {', '.join(known)}.")
    return name


def _known_method(name: str) -> str:
    from ..evaluation import methods

    return _one_of(name, [each.name for each in methods().values() if each.learns])


def _known_task(name: str) -> str:
    from ..tabular.targets import TASKS

    return _one_of(name, TASKS)


def _known_metric(name: str | None) -> str | None:
    from ..evaluation.results import METRICS

    return None if name is None else _one_of(name, list(METRICS))


def _known_copies(name: str) -> str:
    return _one_of(name, ["together", "apart"])


def _known_format(name: str | None) -> str | None:
    from ..tabular.reading import FORMATS

    return None if name is None else _one_of(name, FORMATS)


def _several_resamples(number: int) -> int:
    if number == 1:
        raise typer.BadParameter("one resample shows no variation; give 0, or 2 or more.")
    return number


# Options of a table, and of the fits to it
Data = Annotated[str, Argument(metavar="DATA", help="The table; - is the standard input.")]
TargetName = Annotated[
    str, Option("--target", "-t", metavar="COL", help="Column to predict: classes or numbers.")
]
MethodName = Annotated[
    str,
    Option(
        "--method",
        metavar="NAME",
        callback=_known_method,
        help="""\b
relevance, dual-objective,
margin-radius, adaptive-kernel,
feature-discrimination,
generalized-bias, grid-search or
svc.""",  # \b keeps the lines, which would otherwise break at the hyphens of names
    ),
]
Task = Annotated[
    str,
    Option(
        metavar="NAME",
        callback=_known_task,
        help="classification or regression, where the target can be both (default: auto).",
    ),
]
MetricName = Annotated[
    str | None,
    Option(
        "--metric",
        metavar="NAME",
        callback=_known_metric,
        help="Metric by which methods are compared (default: log_loss for classes, "
        "balanced_accuracy with --balanced, rmse for numbers).",
    ),
]
MinClass = Annotated[
    int,
    Option(
        metavar="N", min=1, help="Classes of fewer rows are set aside (default: 5; 1 keeps all)."
    ),
]
Drop = Annotated[list[str] | None, Option(metavar="COL", help="Column to leave out; repeatable.")]
Keep = Annotated[
    list[str] | None,
    Option(metavar="COL", help="Column to use although it looks like an id; repeatable."),
]
Category = Annotated[
    list[str] | None,
    Option(metavar="COL", help="Column of codes that is a category, not a number; repeatable."),
]
Positive = Annotated[
    str | None,
    Option(
        metavar="LABEL", help="Which of the two classes is the positive one (default: the rarer)."
    ),
]
Balanced = Annotated[
    bool,
    Option(
        "--balanced",
        help="Give all classes equal importance, however few rows they have. This finds rare "
        "classes, but costs some accuracy.",
    ),
]
Folds = Annotated[
    int | None,
    Option(
        "--cv",
        metavar="N",
        min=2,
        help=f"Number of cross-validation folds (default: {_CV} up to {_MAX_CV_ROWS} rows, else "
        "one held-out part).",
    ),
]
Copies = Annotated[
    str,
    Option(
        metavar="HOW",
        callback=_known_copies,
        help="Whether copies of a row are held out together or apart (default: together).",
    ),
]
Repeats = Annotated[
    int,
    Option(metavar="N", min=1, help="How often cross-validation is repeated, with other folds."),
]
TestSize = Annotated[
    float | None,
    Option(
        metavar="F",
        min=0.01,
        max=0.99,
        help=f"Share of the rows to hold out once, instead of folds (default: {_TEST_SIZE} beyond "
        f"{_MAX_CV_ROWS} rows).",
    ),
]
Format = Annotated[
    str | None,
    Option(
        metavar="NAME",
        callback=_known_format,
        help="csv, tsv, parquet, feather, excel, json, arff or libsvm.",
    ),
]
ModelOut = Annotated[
    Path | None,
    Option(
        "--out", metavar="FILE", help="Model file to write; without it, the model is not saved."
    ),
]
ReportOut = Annotated[Path | None, Option("--report", metavar="FILE", help="HTML page to write.")]
PageOut = Annotated[Path, Option("--out", metavar="FILE", help="HTML page to write.")]
Stability = Annotated[
    int,
    Option(
        metavar="N",
        min=0,
        callback=_several_resamples,
        help="Number of resamples for the stability of the weights in the report (0: skip).",
    ),
]

# Options of a model and its predictions
Model = Annotated[Path, Argument(metavar="MODEL", help="Model file written by fit.")]
Proba = Annotated[bool, Option("--proba", help="Add the probability of each class.")]
Interval = Annotated[
    bool, Option("--interval", help="Add the interval of each number, as columns low and high.")
]
Level = Annotated[
    float, Option(metavar="F", min=0.01, max=0.99, help="Confidence level of the intervals.")
]
EffectRows = Annotated[
    str | None,
    Option(
        "--data",
        metavar="TABLE",
        help="Rows on which effects are measured (default: those measured in the fit).",
    ),
]
Explain = Annotated[
    str | None,
    Option(
        "--explain",
        metavar="TABLE",
        help="Add what speaks for each prediction, compared with rows of TABLE, such as the "
        "training table.",
    ),
]
Copied = Annotated[
    list[str] | None,
    Option("--keep", metavar="COL", help="Column to copy from the table; repeatable."),
]
OtherTarget = Annotated[
    str | None,
    Option("--target", "-t", metavar="COL", help="Column of the target (default: as in the fit)."),
]
Allow = Annotated[
    bool, Option("--allow", help="Continue although a column that the model relies on is unusable.")
]
CsvOut = Annotated[
    Path | None,
    Option("--out", metavar="FILE", help="CSV file to write instead of the standard output."),
]

# Options of all commands
Seed = Annotated[int, Option(metavar="N", min=0, help="Seed of all random numbers.")]
AsJson = Annotated[bool, Option("--json", help="Print JSON instead of tables.")]
Quiet = Annotated[bool, Option("--quiet", "-q", help="Print nothing but errors.")]
Force = Annotated[bool, Option("--force", help="Replace existing files.")]


def split_options(n_rows: int, cv: int | None, test_size: float | None) -> dict[str, Any]:
    """Return the options for holding out rows, with defaults by the number of rows."""
    if cv is None and test_size is None and n_rows > _MAX_CV_ROWS:
        test_size = _TEST_SIZE
    return {"cv": cv or _CV, "test_size": test_size}


def fit_options(
    drop: Sequence[str] | None,
    keep: Sequence[str] | None,
    category: Sequence[str] | None,
    balanced: bool,
    seed: int,
) -> dict[str, Any]:
    """Return the options that both the evaluation and the fit take."""
    return {
        "drop": tuple(dict.fromkeys(drop or ())),
        "keep": tuple(dict.fromkeys(keep or ())),
        "category": tuple(dict.fromkeys(category or ())),
        "balanced": balanced,
        "seed": seed,
    }


def forbid_both(cv: int | None, test_size: float | None) -> None:
    """Raise where two ways to hold out rows are given."""
    if cv is not None and test_size is not None:
        raise typer.BadParameter("--cv and --test-size are two ways to hold out rows; choose one.")

"""``kernelwise compare``: all methods on one table."""

from __future__ import annotations

from .console import Session, guarded
from .messages import show_cost, show_notes, show_target
from .options import (
    AsJson,
    Balanced,
    Data,
    Drop,
    Folds,
    Format,
    Keep,
    MethodName,
    Positive,
    Quiet,
    Repeats,
    Seed,
    TargetName,
    TestSize,
    fit_options,
    forbid_both,
    split_options,
)
from .tables import scores_table


@guarded
def compare(
    data: Data,
    target: TargetName,
    method: MethodName = "relevance",
    drop: Drop = None,
    keep: Keep = None,
    positive: Positive = None,
    balanced: Balanced = False,
    cv: Folds = None,
    repeats: Repeats = 2,
    test_size: TestSize = None,
    format: Format = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare all methods on a table.

    All methods of this library, a grid search, a forest and boosting are scored on the same
    held-out rows. The lead of the chosen method over each other one comes with the p-value of the
    corrected resampled t-test.
    """
    from ..evaluation import evaluate, methods
    from ..tabular import check_target, read_table

    forbid_both(cv, test_size)
    session = Session(quiet, as_json)
    frame = read_table(data, format=format)
    classes = check_target(frame, target, positive=positive)
    options = fit_options(drop, keep, balanced, seed)
    show_target(session, classes, balanced)
    how = split_options(len(classes.y), cv, test_size) | {"repeats": repeats}
    show_cost(session, frame, classes, list(methods()), how, **options)
    with session.progress() as progress:
        evaluation = evaluate(
            frame, classes, method, against="all", **how, **options, progress=progress
        )
    show_notes(session, evaluation)
    session.show(scores_table(evaluation))
    session.give(evaluation.as_dict())

"""``kernelwise compare``: all methods on one table."""

from __future__ import annotations

from . import options
from .console import Session, guarded
from .messages import show_cost, show_notes, show_target
from .tables import scores_table


@guarded
def compare(
    data: options.Data,
    target: options.TargetName,
    method: options.MethodName = "relevance",
    drop: options.Drop = None,
    keep: options.Keep = None,
    category: options.Category = None,
    positive: options.Positive = None,
    balanced: options.Balanced = False,
    cv: options.Folds = None,
    repeats: options.Repeats = 2,
    test_size: options.TestSize = None,
    format: options.Format = None,
    seed: options.Seed = 0,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare all methods on a table.

    All methods of this library, a grid search, a forest and boosting are scored on the same
    held-out rows. The lead of the chosen method over each other one comes with the p-value of the
    corrected resampled t-test.
    """
    from ..evaluation import evaluate, methods
    from ..tabular import check_target, read_table

    options.forbid_both(cv, test_size)
    session = Session(quiet, as_json)
    frame = read_table(data, format=format)
    classes = check_target(frame, target, positive=positive)
    settings = options.fit_options(drop, keep, category, balanced, seed)
    show_target(session, classes, balanced)
    how = options.split_options(len(classes.y), cv, test_size) | {"repeats": repeats}
    show_cost(session, frame, classes, list(methods()), how, **settings)
    with session.progress() as progress:
        evaluation = evaluate(
            frame, classes, method, against="all", **how, **settings, progress=progress
        )
    show_notes(session, evaluation)
    session.show(scores_table(evaluation))
    session.give(evaluation.as_dict())

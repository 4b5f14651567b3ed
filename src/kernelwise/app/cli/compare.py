"""``kernelwise compare``: all methods on one table."""

from __future__ import annotations

from . import options
from .console import Session, guarded
from .inputs import read, read_target
from .messages import show_notes, show_rarity
from .tables import scores_table


@guarded
def compare(
    data: options.Data,
    target: options.TargetName,
    task: options.Task = "auto",
    method: options.MethodName = "relevance",
    metric: options.MetricName = None,
    drop: options.Drop = None,
    keep: options.Keep = None,
    category: options.Category = None,
    positive: options.Positive = None,
    min_class: options.MinClass = 5,
    balanced: options.Balanced = False,
    cv: options.Folds = None,
    repeats: options.Repeats = 2,
    test_size: options.TestSize = None,
    copies: options.Copies = "together",
    format: options.Format = None,
    seed: options.Seed = 0,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare all methods on a table.

    All methods for its target, with peers such as a forest and boosting, are scored on the same
    held-out rows. The lead of the chosen method over each other one comes with the p-value of the
    corrected resampled t-test.
    """
    from ..evaluation import evaluate

    options.forbid_both(cv, test_size)
    session = Session(quiet, as_json)
    frame = read(session, data, format)
    found = read_target(session, frame, target, task, positive, min_class)
    settings = options.fit_options(drop, keep, category, balanced, seed)
    show_rarity(session, found, metric, balanced)
    how = options.split_options(len(found.y), cv, test_size) | {
        "repeats": repeats,
        "copies": copies,
    }
    with session.progress() as progress:
        evaluation = evaluate(
            frame, found, method, against="all", metric=metric, **how, **settings, progress=progress
        )
    show_notes(session, evaluation)
    session.show(scores_table(evaluation))
    session.give(evaluation.as_dict())

"""``kernelwise compare``: all methods on one table."""

from __future__ import annotations

from .console import Session, guarded
from .messages import tell_cost, tell_notes, tell_target
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
    forbid_both,
    protocol,
    wishes,
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

    A grid search, a forest and boosting stand beside them, all on the same held-out rows. The lead
    of the method over each other one has the p-value of the corrected resampled t-test.
    """
    from ..evaluation import compare as compare_methods
    from ..evaluation import methods
    from ..tabular import check_target, read_table

    forbid_both(cv, test_size)
    session = Session(quiet, as_json)
    frame = read_table(data, format=format)
    classes = check_target(frame, target, positive=positive)
    wanted = wishes(drop, keep, balanced, seed)
    tell_target(session, classes, balanced)
    how = protocol(len(classes.y), cv, test_size) | {"repeats": repeats}
    tell_cost(session, frame, classes, list(methods()), how, **wanted)
    with session.progress() as progress:
        evaluation = compare_methods(
            frame, target, method, **how, positive=positive, **wanted, progress=progress
        )
    tell_notes(session, evaluation)
    session.show(scores_table(evaluation))
    session.give(evaluation.as_dict())

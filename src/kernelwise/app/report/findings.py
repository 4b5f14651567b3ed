"""The findings of an evaluation in sentences, each with its uncertainty."""

from __future__ import annotations

from ..evaluation import Difference, Evaluation
from ..evaluation.results import METRICS, SHARES, gain, p_text, significant, value_text
from ..inspection import ColumnEffects, ColumnImportance, ModelChecks, WeightStability
from ..inspection.model_checks import ALPHA, ColumnVerdicts
from ..tabular import ClassTarget

_SIGNIFICANCE = 0.05  # p-value below which a difference is more than chance
_N_NAMED = 3  # columns that are named
_N_LISTED = 5  # columns that are listed in a sentence


def percent(value: float) -> str:
    """Return a share in percent."""
    return f"{100 * value:.1f}\u00a0%"


def score_text(metric: str, value: float) -> str:
    """Return a score: shares of rows in percent, others as they are."""
    return percent(value) if metric in SHARES and value == value else value_text(metric, value)


def amount(metric: str, value: float, sign: str = "") -> str:
    """Return a difference of scores: that of shares in points."""
    if value != value:
        return "-"
    if metric in SHARES:
        return f"{100 * value:{sign}.1f}"
    return significant(value, 2, sign)


def findings(
    evaluation: Evaluation, stability: WeightStability | None, checks: ModelChecks | None = None
) -> list[str]:
    """Return one or two sentences per finding; what columns are worth on held-out rows leads."""
    checks = ModelChecks() if checks is None else checks
    sentences = [_score(evaluation), *_comparison(evaluation)]
    if checks.importance is not None:
        sentences.append(importance_text(checks.importance))
    if checks.verdicts is not None:
        sentences.append(_verdicts(checks.verdicts))
    if checks.effects is not None and len(checks.effects):
        sentences += _effects(checks.effects)
    if checks.importance is None:
        sentences.append(_weights(evaluation))
    if stability is not None and len(stability.feature_names) > 1:
        sentences.append(_stability(stability))
    return sentences


def importance_text(importance: ColumnImportance) -> str:
    """Name the columns that cost most when they are shuffled, and count those that cost nothing."""
    n_known = sum(loss == loss for loss in importance.loss.tolist())
    order = [k for k in importance.order.tolist() if importance.matters[k]]
    if not order:
        return (
            "No column costs more than chance explains when its values are shuffled on "
            f"{importance.n_rows} held-out rows."
        )
    named = [
        f"{importance.feature_names[k]} ({importance.loss[k]:.2g}, "
        f"{importance.low[k]:.2g} to {importance.high[k]:.2g})"
        for k in order[:_N_NAMED]
    ]
    return (
        f"Shuffling the values of {len(order)} of {n_known} columns raises the "
        f"{importance.metric} on held-out rows by more than chance explains; most of all "
        f"{listed(named)}, with 95 % intervals."
    )


def listed(names: list[str]) -> str:
    """Return names as a list in words, those beyond the first few as a number."""
    shown = [str(name) for name in names[:_N_LISTED]]
    if len(names) > _N_LISTED:
        shown.append(f"{len(names) - _N_LISTED} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _verdicts(verdicts: ColumnVerdicts) -> str:
    names = list(verdicts.pvalues)
    chosen = [name for name in names if verdicts.verdict(name) == "selected"]
    maybe = sum(verdicts.verdict(name) == "maybe" for name in names)
    rate = f"false discovery rate at most {100 * ALPHA:.0f}\u00a0%"
    if not chosen:
        return f"No column passes the test ({rate}); {maybe} may matter."
    chosen.sort(key=lambda name: verdicts.pvalues[name])
    matter = "matters" if len(chosen) == 1 else "matter"
    return (
        f"By a test, {len(chosen)} of {len(names)} columns {matter} ({rate}): "
        f"{listed(chosen)}." + (f" {maybe} more may." if maybe else "")
    )


def _effects(effects: ColumnEffects) -> list[str]:
    """Name the direction of the columns with the largest effects, where there is one output."""
    if len(effects.outputs) > 1:
        return []
    output = effects.outputs[0]
    shown = []
    for effect in effects:
        direction = effect.direction(output)
        if effect.grid is not None and direction.split()[0] in ("rises", "falls"):
            shown.append(f"{direction} with {effect.name}")
        elif direction.startswith("highest"):
            shown.append(f"is {direction} ({effect.name})")
    if not shown:
        return []
    return [f"The {effects.name_of(output)} {'; '.join(shown[:_N_NAMED])}."]


def spread_text(evaluation: Evaluation) -> str:
    """Return the meaning of the number after ±."""
    if evaluation.n_splits > 1:
        return f"the standard deviation over {evaluation.n_splits} splits"
    return "the standard error over the test rows of the single split"


def _score(evaluation: Evaluation) -> str:
    best, metric = evaluation.best, evaluation.metric
    name, target = METRICS[metric], evaluation.target
    spread = amount(metric, best.spread(metric))
    text = (
        f"On unseen rows, {best.label} has {_article(name)} {name} of "
        f"{score_text(metric, best.mean(metric))} ± {spread} ({spread_text(evaluation)})."
    )
    if isinstance(target, ClassTarget) and target.skewed and metric == "balanced_accuracy":
        text += " The classes differ much in size, so this score weights them equally."
    guess = next((s for s in evaluation.scores if s.method == "guessing" and not s.failure), None)
    if guess is not None:
        text += f" Guessing scores {score_text(metric, guess.mean(metric))}."
    return text


def _article(name: str) -> str:
    return "an" if name[0] in "aeiouR" else "a"


def _comparison(evaluation: Evaluation) -> list[str]:
    """Compare with the best of the other methods."""
    first, *others = evaluation.scores
    metric = evaluation.metric
    known = [s for s in others if metric in s.values and s.method != "guessing"]
    if not known:
        return []
    rival = max(known, key=lambda score: gain(metric, score.mean(metric)))
    test = next((d for d in evaluation.differences if d.other == rival.method), None)
    lead = gain(metric, first.mean(metric)) - gain(metric, rival.mean(metric))
    size = amount(metric, abs(lead))
    if float(size) == 0:
        text = f"It does as well as the best of the others, {rival.label}"
    else:
        way = "better" if lead > 0 else "worse"
        size += " points" if metric in SHARES else ""
        text = f"It does {way} by {size} than the best of the others, {rival.label}"
    return [text + _verdict(metric, test)]


def _verdict(metric: str, test: Difference | None) -> str:
    if test is None:
        return "; a single split does not allow a test."
    if test.p_value != test.p_value:
        return ". All splits have the same difference, which does not allow a test."
    ends = f"{amount(metric, test.low, '+')} to {amount(metric, test.high, '+')}"
    verdict = "The splits do not show a significant difference"
    if test.p_value < _SIGNIFICANCE:
        verdict = "Over these splits this is more than chance would explain"
    text = p_text(test.p_value)
    sign = text if text.startswith("<") else f"= {text}"
    return f". {verdict} (95 % interval of the lead {ends}, p {sign})."


def _weights(evaluation: Evaluation) -> str:
    weights = evaluation.weights
    if not weights:
        return f"{evaluation.best.label} does not weight the columns."
    half, total = 0, 0.0
    while total < 0.5 and half < len(weights):
        total += weights[half].share
        half += 1
    named = [f"{each.column} ({percent(each.share)})" for each in weights[:_N_NAMED]]
    have = "has" if half == 1 else "have"
    return (
        f"{half} of {len(weights)} columns {have} half of the weight. The largest weights: "
        f"{', '.join(named)}. A weight shows what this model uses, not what causes the target; "
        "redundant columns share the weight, or one of them has all of it."
    )


def _stability(stability: WeightStability) -> str:
    n, agreement = len(stability.shares), stability.rank_agreement
    return (
        f"Over {n} resamples of the rows, the mean rank correlation between the weights is "
        f"{agreement:.2f} (1: always the same order; 0: unrelated orders)."
    )

"""What was learned, in sentences that say how sure they are."""

from __future__ import annotations

from ..evaluation import Difference, Evaluation
from ..evaluation.results import METRICS
from ..inspection import WeightStability

_CHANCE = 0.05
_NAMED = 3


def percent(value: float) -> str:
    """Return a share in percent."""
    return f"{100 * value:.1f}\u00a0%"


def p_text(p_value: float) -> str:
    """Return a p-value; NaN is one that is not defined."""
    if p_value != p_value:
        return "-"
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def findings(evaluation: Evaluation, stability: WeightStability | None) -> list[str]:
    """Return what was learned, one thing a sentence or two."""
    told = [_score(evaluation), *_comparison(evaluation)]
    if evaluation.weights:
        told += [_weights(evaluation)]
    else:
        told += [f"{evaluation.best.label} gives no weights to the columns."]
    if stability is not None:
        told.append(_stability(stability))
    return told


def spread_words(evaluation: Evaluation) -> str:
    """Say what stands after ±."""
    if evaluation.n_splits > 1:
        return f"the standard deviation over {evaluation.n_splits} splits"
    return "the standard error from the rows of the one split"


def _score(evaluation: Evaluation) -> str:
    best, metric = evaluation.best, evaluation.metric
    name = METRICS[metric]
    text = (
        f"On rows that it has not seen, {best.label} has {_article(name)} {name} of "
        f"{percent(best.mean(metric))} ± {100 * best.spread(metric):.1f} "
        f"({spread_words(evaluation)})."
    )
    if evaluation.target.skewed:
        text += " The classes differ much in size, so that each counts the same in this number."
    guess = next((s for s in evaluation.scores if s.method == "majority" and not s.failure), None)
    if guess is not None:
        text += f" Always guessing the largest class has {percent(guess.mean(metric))}."
    return text


def _article(name: str) -> str:
    return "an" if name[0] in "aeiou" else "a"


def _comparison(evaluation: Evaluation) -> list[str]:
    """Compare with the best of the other methods."""
    first, *others = evaluation.scores
    known = [s for s in others if not s.failure and s.method != "majority"]
    if not known:
        return []
    metric = evaluation.metric
    rival = max(known, key=lambda score: score.mean(metric))
    test = next((d for d in evaluation.differences if d.other == rival.method), None)
    gap = 100 * (first.mean(metric) - rival.mean(metric))
    way = "better" if gap > 0 else "worse"
    if abs(gap) < 0.05:
        text = f"It does as well as the best of the others here, {rival.label}"
    else:
        text = f"It does {abs(gap):.1f} points {way} than the best of the others, {rival.label}"
    return [text + _verdict(test)]


def _verdict(test: Difference | None) -> str:
    if test is None:
        return "; one split gives no test of that."
    if test.p_value != test.p_value:
        return ". All splits have the same difference, which gives no test of that."
    interval = f"95 % interval of the difference {100 * test.low:+.1f} to {100 * test.high:+.1f}"
    chance = "The splits cannot tell the two apart"
    if test.p_value < _CHANCE:
        chance = "That is more than chance would explain over these splits"
    return f". {chance} ({interval} points, p {_sign(p_text(test.p_value))})."


def _sign(text: str) -> str:
    return text if text.startswith("<") else f"= {text}"


def _weights(evaluation: Evaluation) -> str:
    weights = evaluation.weights
    half, total = 0, 0.0
    while total < 0.5 and half < len(weights):
        total += weights[half].share
        half += 1
    named = [f"{each.column} ({percent(each.share)})" for each in weights[:_NAMED]]
    have = "has" if half == 1 else "have"
    return (
        f"{half} of {len(weights)} columns {have} half of the weight. The heaviest: "
        f"{', '.join(named)}. A weight says what this model uses, not what causes the classes; "
        "columns that say the same share the weight, or one of them has it all."
    )


def _stability(stability: WeightStability) -> str:
    n, agreement = len(stability.shares), stability.rank_agreement
    return (
        f"Over {n} resamples of the rows the rankings of the weights agree with a mean rank "
        f"correlation of {agreement:.2f} (1 is the same order, 0 is none in common)."
    )

"""Numbers and tables as text."""

import math
from collections.abc import Iterable, Sequence


def digits(number: float, count: int = 3) -> str:
    """Return a number with so many significant digits and no exponent."""
    number = float(f"{number:.{count}g}")
    if number == 0:
        return "0"
    return f"{number:,.{max(0, count - 1 - math.floor(math.log10(abs(number))))}f}"


def seconds(time: float) -> str:
    """Return a time with its unit."""
    return f"{digits(time)} s" if abs(time) >= 1 else f"{digits(1e3 * time)} ms"


def spread(timing: dict) -> str:
    """Return a median with half the inter-quartile range."""
    scale, unit = (1, "s") if timing["median"] >= 1 else (1e3, "ms")
    return f"{digits(scale * timing['median'])} ± {digits(scale * timing['iqr'] / 2, 2)} {unit}"


def factor(ratio: float) -> str:
    return f"{digits(ratio)}x"


def gigabytes(size: float) -> str:
    return f"{digits(size / 1e9)} GB"


def span(numbers: Iterable[float]) -> str:
    """Return the range of some numbers."""
    numbers = list(numbers)
    low, high = digits(min(numbers)), digits(max(numbers))
    return low if low == high else f"{low} to {high}"


def table(header: Sequence[str], rows: Iterable[Sequence[object]], left: int = 0) -> str:
    """Return a Markdown table, the first `left` columns aligned left and the others right."""
    rules = ["---" if column < left else "---:" for column in range(len(header))]
    lines = [header, rules, *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def behind(title: str, content: str) -> str:
    """Return content that a reader of the built page unfolds."""
    return f":::{{dropdown}} {title}\n\n{content}\n\n:::"

"""The largest weights under scikit-learn's diagram of an estimator, in notebooks."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

_MOST = 8  # number of weights shown
# Readable on white and on black; text has the colour that the notebook gives it.
_BAR = "#0072B2"
_ROW = "display:grid;grid-template-columns:14em 12em auto;column-gap:.6em;align-items:center"
_NAME = "overflow:hidden;text-overflow:ellipsis;white-space:nowrap;text-align:right"


class WeightsReprMixin:
    """Adds bars of the largest importances to the diagram of a fitted estimator.

    Stands before ``BaseEstimator``. Inside a pipeline scikit-learn draws the diagram alone.
    """

    # What notebooks ask for, in every version of scikit-learn.
    def _repr_html_inner(self) -> str:
        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        return diagram + weights_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += weights_html(self)
        return bundle


def weights_html(estimator: Any) -> str:
    """Return the largest importances of a fitted estimator as HTML; "" where it has none."""
    shares = getattr(estimator, "feature_importances_", None) if _is_fitted(estimator) else None
    if shares is None or not len(shares):
        return ""
    names = getattr(estimator, "feature_names_in_", [f"x{k}" for k in range(len(shares))])
    order = np.argsort(-shares, kind="stable")[:_MOST]
    largest = max(float(shares[order[0]]), np.finfo(float).tiny)
    rows = [_row(str(names[k]), float(shares[k]), float(shares[k]) / largest) for k in order]
    left = len(shares) - len(order)
    if left:
        rest = max(0.0, 1 - float(shares[order].sum()))
        rows.append(_row(f"{left:,} other{'s' * (left > 1)}", rest, 0.0))
    return (
        '<div class="kernelwise-weights" style="font-size:.85em;line-height:1.5;margin:.4em 0">'
        f"<div>Largest feature importances</div>{''.join(rows)}</div>"
    )


def _row(name: str, share: float, length: float) -> str:
    text = escape(name)
    bar = f"background:{_BAR};height:.7em;width:{100 * length:.1f}%"
    return (
        f'<div style="{_ROW}"><span style="{_NAME}" title="{text}">{text}</span>'
        f'<span><span style="display:block;{bar}"></span></span>'
        f"<span>{100 * share:.1f} %</span></div>"
    )


def _is_fitted(estimator: Any) -> bool:
    return hasattr(estimator, "n_features_in_")

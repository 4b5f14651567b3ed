"""The page: what the template shows, and the file."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from shlex import quote
from typing import Any

from sklearn.utils.validation import check_is_fitted

from .._files import write_text
from .._models import final_estimator
from .._version import __version__
from ..evaluation import Evaluation
from ..inspection import WeightStability
from ..inspection.html import page_templates
from ..tabular import column_weights
from ..tabular.pipeline import table_encoder
from .figures import comparison_svg, learning_svgs, reliability_svg
from .findings import findings, p_text, spread_words
from .model import certificate_of, path_of, settings_of
from .tables import confusion, kinds, metrics_of, reliability, score_rows, weight_rows

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def write_report(
    evaluation: Evaluation,
    path: str | os.PathLike[str],
    *,
    model: Any = None,
    model_file: str | os.PathLike[str] | None = None,
    stability: WeightStability | None = None,
    title: str | None = None,
    lead: str | None = None,
    notes: tuple[str, ...] = (),
) -> Path:
    """Write an evaluation as one HTML page that needs no other file and no network.

    Parameters
    ----------
    evaluation : Evaluation
        By `evaluate_model`, or by `kernelwise.tabular.evaluate` or ``compare``.
    path : path-like
        The file. It is written whole or not at all.
    model : estimator, default=None
        The model of all rows; adds what it chose, its path, its certificate and, where the
        evaluation has none, its weights.
    model_file : path-like, default=None
        Where the model was saved, for the code that loads it.
    stability : WeightStability, default=None
        By `kernelwise.inspection.weight_stability`; adds how the weights vary with the rows.
    title : str, default=None
        The heading; None makes one of the target.
    lead : str, default=None
        The sentence under the heading; None makes one of the data.
    notes : tuple of str, default=()
        What else to know before use.

    Returns
    -------
    path : Path
        The file.

    See Also
    --------
    evaluate_model : Evaluates a fitted model, for this page.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_wine
    >>> from kernelwise import SVC
    >>> from kernelwise.report import evaluate_model, write_report
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = SVC().fit(X, y)
    >>> evaluation = evaluate_model(model, X, y, cv=2)
    >>> with TemporaryDirectory() as folder:
    ...     path = write_report(evaluation, Path(folder) / "wine.html", model=model)
    ...     path.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    environment = _environment()
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"path={str(path)!r} is a folder; name a file.")
    if model is not None:
        check_is_fitted(model)
    if model is not None and not evaluation.weights:
        evaluation = replace(evaluation, weights=tuple(column_weights(model)))
    page = environment.get_template("report.html").render(
        _facts(evaluation, stability),
        **_model_facts(model),
        model_file=None if model_file is None else Path(model_file).name,
        title=title or f"{evaluation.target.name}: what {evaluation.best.label} learned",
        lead=lead,
        notes=[*evaluation.notes, *notes],
        versions=_versions(),
    )
    write_text(path, page)
    return path


def _environment() -> Any:
    """Return what renders the templates; both packages of the extra must be there."""
    try:
        import matplotlib.pyplot  # noqa: F401 - fails here, before any work, where it is missing

        environment = page_templates("kernelwise.report")
    except ImportError as error:
        raise ImportError(
            f"The report needs jinja2 and matplotlib ({error}); install them with: "
            "pip install 'kernelwise[report]'"
        ) from error
    environment.filters.update(
        cell=_cell,
        decimal=_decimal,
        numbers=_numbers,
        p_text=p_text,
        quoted=repr,
        shell=quote,
        sortable=_sortable,
    )
    return environment


def _facts(evaluation: Evaluation, stability: WeightStability | None) -> dict[str, Any]:
    """Return what the template tells of the evaluation."""
    reliable = reliability(evaluation.held_out, evaluation.target)
    return {
        "evaluation": evaluation,
        "best": evaluation.best,
        "metrics": metrics_of(evaluation),
        "spread": spread_words(evaluation),
        "scores": score_rows(evaluation),
        "comparison": comparison_svg(evaluation),
        "confusion": confusion(evaluation.held_out, evaluation.target),
        "reliability": reliable,
        "reliability_figure": reliability_svg(reliable) if reliable else "",
        "kinds": kinds(evaluation),
        "stability": stability,
        "weights": weight_rows(evaluation.weights, stability),
        "findings": findings(evaluation, stability),
    }


def _model_facts(model: Any) -> dict[str, Any]:
    """Return what the template tells of the model; empty without one."""
    machine = None if model is None else final_estimator(model)
    return {
        "machine": machine,
        "settings": settings_of(machine),
        "figures": [] if machine is None else learning_svgs(model, machine),
        "path": path_of(machine),
        "certificate": certificate_of(machine),
        "reads_tables": model is None or table_encoder(model) is not None,
    }


def _versions() -> dict[str, str]:
    found = {"kernelwise": __version__, "Python": platform.python_version()}
    return found | {name: version(name) for name in _PACKAGES}


def _cell(value: Any) -> str:
    """Return a value of a table as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "-" if value != value else f"{value:.4g}"
    return str(value)


def _decimal(value: float) -> str:
    return "-" if value != value else f"{value:.1f}"


def _sortable(value: float | None) -> str:
    """Return a number as JavaScript reads it; none is below all others."""
    if value is None or value != value:
        return "-Infinity"
    return "Infinity" if value == float("inf") else str(value)


def _numbers(names: Iterable[Any]) -> list[tuple[str, str]]:
    """Return the heads of columns of numbers."""
    return [("number", str(name)) for name in names]

"""Write the page: gather the facts, fill in the template."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from shlex import quote
from typing import Any

from sklearn.utils.validation import check_is_fitted

from .._files import write_text
from .._models import final_estimator
from .._parameters import checked_arguments
from .._text import p_text
from .._version import __version__
from ..evaluation import Evaluation
from ..inspection import ModelChecks, WeightStability
from ..inspection.html import page_templates
from ..tabular import column_weights
from ..tabular.pipeline import table_encoder
from .curves import class_curves
from .figures import comparison_svg, curves_svg, effects_svg, learning_svgs, reliability_svg
from .findings import findings, importance_text, spread_text
from .model import certificate_table, learning_text, path_table, rows_used, selected_parameters
from .tables import confusion, kinds, metrics_of, reliability, score_rows, tiles, weight_rows

_PACKAGES = ("numpy", "scipy", "scikit-learn")


@checked_arguments(
    evaluation=[Evaluation],
    path=[str, os.PathLike],
    model_file=[str, os.PathLike, None],
    stability=[WeightStability, None],
    checks=[ModelChecks, None],
    data_name=[str, None],
    date=[str, None],
    title=[str, None],
    lead=[str, None],
    notes=[tuple, list],
)
def write_report(
    evaluation: Evaluation,
    path: str | os.PathLike[str],
    *,
    model: Any = None,
    model_file: str | os.PathLike[str] | None = None,
    stability: WeightStability | None = None,
    checks: ModelChecks | None = None,
    data_name: str | None = None,
    date: str | None = None,
    title: str | None = None,
    lead: str | None = None,
    notes: tuple[str, ...] = (),
) -> Path:
    """Write an evaluation as one self-contained HTML page, which needs no network.

    Parameters
    ----------
    evaluation : Evaluation
        The result of `evaluate_model` or of `kernelwise.evaluation.evaluate`.
    path : path-like
        The file to write, atomically.
    model : estimator, default=None
        The model that was fitted to all rows. It adds the selected parameters, the path, the
        certificate and, where the evaluation has none, the weights.
    model_file : path-like, default=None
        Where the model was saved, for the example code that loads it.
    stability : WeightStability, default=None
        The result of `kernelwise.inspection.weight_stability`; adds the variation of the weights.
        None takes that of ``checks``.
    checks : ModelChecks, default=None
        The result of `kernelwise.inspection.check_model`; adds the importance of columns on
        held-out rows, a test of the columns, and the direction of their effects.
    data_name : str, default=None
        The name of the table, such as that of its file.
    date : str, default=None
        The date of the page; None is today's.
    title : str, default=None
        The heading; None names the target and the method.
    lead : str, default=None
        The sentence below the heading; None names the classes and the size of the data.
    notes : tuple of str, default=()
        Further remarks for the section "Before use".

    Returns
    -------
    path : Path
        The file.

    See Also
    --------
    evaluate_model : Evaluate a fitted model.

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
    if stability is None and checks is not None:
        stability = checks.stability
    page = environment.get_template("report.html").render(
        _facts(evaluation, stability, checks),
        **_check_facts(checks),
        **_model_facts(model),
        rows_used=rows_used(evaluation, None if model is None else final_estimator(model), checks),
        data_name=data_name,
        date=date or datetime.now(tz=UTC).date().isoformat(),
        model_file=None if model_file is None else Path(model_file).name,
        title=title or f"{evaluation.target.name}: what {evaluation.best.label} learned",
        lead=lead,
        notes=[*evaluation.notes, *notes],
        versions=_versions(),
    )
    write_text(path, page)
    return path


def _environment() -> Any:
    """Return the templates with their filters; raise where a package of the extra is missing."""
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
        numbers=_number_headings,
        p_text=p_text,
        quoted=repr,
        shell=quote,
        sortable=_sortable,
    )
    return environment


def _facts(
    evaluation: Evaluation, stability: WeightStability | None, checks: ModelChecks | None
) -> dict[str, Any]:
    """Return the facts about the evaluation for the template."""
    reliable = reliability(evaluation.held_out, evaluation.target)
    curves = class_curves(evaluation.held_out, evaluation.target)
    return {
        "evaluation": evaluation,
        "best": evaluation.best,
        "metrics": metrics_of(evaluation),
        "tiles": tiles(evaluation),
        "spread": spread_text(evaluation),
        "scores": score_rows(evaluation),
        "comparison": comparison_svg(evaluation),
        "confusion": confusion(evaluation.held_out, evaluation.target),
        "curves": curves,
        "curves_figure": curves_svg(curves) if curves else "",
        "reliability": reliable,
        "reliability_figure": reliability_svg(reliable) if reliable else "",
        "kinds": kinds(evaluation),
        "stability": stability,
        "weights": weight_rows(evaluation.weights, stability, checks),
        "findings": findings(evaluation, stability, checks),
    }


def _check_facts(checks: ModelChecks | None) -> dict[str, Any]:
    """Return the checks of the columns for the template; None where one was not made."""
    checks = ModelChecks() if checks is None else checks
    effects, importance = checks.effects, checks.importance
    shown = effects is not None and len(effects) > 0
    return {
        "effects": effects if shown else None,
        "effects_figure": effects_svg(effects) if effects is not None and shown else "",
        "importance": "" if importance is None else importance_text(importance),
        "verdicts": checks.verdicts,
    }


def _model_facts(model: Any) -> dict[str, Any]:
    """Return the facts about the model for the template; empty without a model."""
    final = None if model is None else final_estimator(model)
    return {
        "final": final,
        "settings": selected_parameters(final),
        "figures": [] if model is None else learning_svgs(model),
        "path": path_table(final),
        "learning": learning_text(final),
        "certificate": certificate_table(final),
        "reads_tables": model is None or table_encoder(model) is not None,
    }


def _versions() -> dict[str, str]:
    found = {"kernelwise": __version__, "Python": platform.python_version()}
    return found | {name: version(name) for name in _PACKAGES}


def _cell(value: Any) -> str:
    """Return a table cell as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "-" if value != value else f"{value:.4g}"
    return str(value)


def _decimal(value: float) -> str:
    return "-" if value != value else f"{value:.1f}"


def _sortable(value: float | None) -> str:
    """Return a number as JavaScript reads it; None and NaN sort below all others."""
    if value is None or value != value:
        return "-Infinity"
    return "Infinity" if value == float("inf") else str(value)


def _number_headings(names: Iterable[Any]) -> list[tuple[str, str]]:
    """Return the headings of columns of numbers, each with its CSS class."""
    return [("number", str(name)) for name in names]

"""Write the page: gather the facts, fill in the template."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from shlex import quote
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..._files import write_text
from ..._models import final_estimator
from ..._parameters import checked_arguments
from ..._version import __version__
from ..evaluation import Evaluation
from ..evaluation.number_scores import coverage_bins
from ..evaluation.results import p_text, significant
from ..inspection import ColumnEffects, ModelChecks, WeightStability
from ..inspection.model_checks import failure_text
from ..tabular import ClassTarget, NumberTarget, Weight, column_weights
from ..tabular.encoder import table_encoder
from .figures import (
    comparison_svg,
    coverage_svg,
    curves_svg,
    effects_svg,
    learning_svgs,
    numbers_svg,
    reliability_svg,
)
from .findings import findings, spread_text
from .model import certificate_table, learning_text, path_table, rows_used, selected_parameters
from .tables import (
    class_curves,
    confusion,
    effect_rows,
    kinds,
    metrics_of,
    number_summary,
    reliability,
    score_rows,
    tiles,
    weight_rows,
)

_PACKAGES = ("numpy", "scipy", "scikit-learn")
# What the page reads of a section, also where it could not be made.
_EMPTY: dict[str, Any] = {
    "findings": (),
    "weights": (),
    "effects": None,
    "final": None,
    "reads_tables": True,
    "in_browser": False,
}


@dataclass(frozen=True)
class Sections:
    """What the sections of a page show, and a sentence for each section that failed."""

    evaluation: Evaluation
    facts: dict[str, Any]
    failed: dict[str, str]  # by the name of the section, or of the check

    @property
    def failures(self) -> list[str]:
        """The sentences on sections that failed."""
        return [f"{name}: {text}" for name, text in self.failed.items()]


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
        The result of `evaluate_model` or of `kernelwise.app.evaluation.evaluate`.
    path : path-like
        The file to write, atomically.
    model : estimator, default=None
        The model that was fitted to all rows. It adds the selected parameters, the path, the
        certificate and, where the evaluation has none, the weights.
    model_file : path-like, default=None
        Where the model was saved, for the example code that loads it.
    stability : WeightStability, default=None
        The result of `kernelwise.app.inspection.weight_stability`; adds the variation of the
        weights. None takes that of ``checks``.
    checks : ModelChecks, default=None
        The result of `kernelwise.app.inspection.check_model`; adds the importance of columns on
        held-out rows, a test of the columns, and the direction of their effects.
    data_name : str, default=None
        The name of the table, such as that of its file.
    date : str, default=None
        The date of the page; None is today's.
    title : str, default=None
        The heading; None names the target and the method.
    lead : str, default=None
        The sentence below the heading; None names the target and the size of the data.
    notes : tuple of str, default=()
        Further remarks for the section "Before use".

    Returns
    -------
    path : Path
        The file. A section that cannot be made is a sentence in its place.

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
    >>> from kernelwise.app.report import evaluate_model, write_report
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = SVC().fit(X, y)
    >>> evaluation = evaluate_model(model, X, y, cv=2)
    >>> with TemporaryDirectory() as folder:
    ...     path = write_report(evaluation, Path(folder) / "wine.html", model=model)
    ...     path.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    check_packages()
    found = report_sections(evaluation, model=model, checks=checks, stability=stability)
    return write_page(
        found,
        path,
        model_file=model_file,
        data_name=data_name,
        date=date,
        title=title,
        lead=lead,
        notes=notes,
    )


def report_sections(
    evaluation: Evaluation,
    *,
    model: Any = None,
    checks: ModelChecks | None = None,
    stability: WeightStability | None = None,
) -> Sections:
    """Gather what the sections of a page show; one that fails does not keep the others away."""
    if model is not None:
        check_is_fitted(model)
    if model is not None and not evaluation.weights:
        evaluation = replace(evaluation, weights=tuple(column_weights(model)))
    checks = ModelChecks() if checks is None else checks
    stability = checks.stability if stability is None else stability
    facts: dict[str, Any] = _EMPTY | _common_facts(evaluation, stability, checks)
    failed = dict(checks.failed)
    makers = {
        "findings": lambda: {"findings": findings(evaluation, stability, checks)},
        "weights": lambda: _weight_facts(evaluation, stability, checks),
        "effects": lambda: _effect_facts(checks.effects),
        "comparison": lambda: _comparison_facts(evaluation),
        "errors": lambda: _error_facts(evaluation),
        "learning": lambda: _model_facts(model),
    }
    for name, make in makers.items():
        try:
            facts |= make()
        except Exception as error:
            failed[name] = failure_text(error)
    return Sections(evaluation, facts, failed)


def write_page(
    found: Sections,
    path: str | os.PathLike[str],
    *,
    model_file: str | os.PathLike[str] | None = None,
    data_name: str | None = None,
    date: str | None = None,
    title: str | None = None,
    lead: str | None = None,
    notes: Sequence[str] = (),
) -> Path:
    """Write the sections as a page; see `write_report`."""
    environment, evaluation, path = _environment(), found.evaluation, Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"path={str(path)!r} is a folder; name a file.")
    page = environment.get_template("report.html").render(
        found.facts,
        failed=found.failed,
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


def check_packages() -> None:
    """Raise, before any work, where a package of the extra is missing."""
    try:
        import jinja2  # noqa: F401
        import matplotlib.pyplot  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"The report needs jinja2 and matplotlib ({error}); install them with: "
            "pip install 'kernelwise[report]'"
        ) from error


def _environment() -> Any:
    """Return the templates with their filters."""
    environment = page_templates("kernelwise.app.report")
    environment.filters.update(
        cell=_cell,
        cost=_cost,
        decimal=_decimal,
        numbers=_number_headings,
        p_text=p_text,
        quoted=repr,
        shell=quote,
        sortable=_sortable,
    )
    return environment


def _common_facts(
    evaluation: Evaluation, stability: WeightStability | None, checks: ModelChecks
) -> dict[str, Any]:
    """Return the facts that no section can do without."""
    target = evaluation.target
    return {
        "evaluation": evaluation,
        "best": evaluation.best,
        "is_number": isinstance(target, NumberTarget),
        "numbers_of_target": number_summary(target.y) if isinstance(target, NumberTarget) else [],
        "tiles": tiles(evaluation),
        "spread": spread_text(evaluation),
        "kinds": kinds(evaluation),
        "stability": stability,
        "verdicts": checks.verdicts,
        "rows_used": rows_used(evaluation, checks),
    }


def _comparison_facts(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "comparison": comparison_svg(evaluation),
        "metrics": metrics_of(evaluation),
        "scores": score_rows(evaluation),
    }


def _weight_facts(
    evaluation: Evaluation, stability: WeightStability | None, checks: ModelChecks
) -> dict[str, Any]:
    weights, importance = evaluation.weights, checks.importance
    if not weights and importance is not None:  # of a model that does not weight the columns
        weights = tuple(Weight(name, 0.0, {name: 0.0}) for name in importance.feature_names)
    return {
        "weights": weight_rows(weights, stability, checks),
        "has_shares": bool(evaluation.weights),
        "importance": "" if importance is None else importance.metric,
    }


def _effect_facts(effects: ColumnEffects | None) -> dict[str, Any]:
    shown = None if effects is None else effects.without_flat()
    if effects is None or not shown:
        return {"effects": None}
    return {
        "effects": shown,
        "effect_rows": effect_rows(shown),
        "n_flat": len(effects) - len(shown),
        "effects_figure": effects_svg(shown),
    }


def _error_facts(evaluation: Evaluation) -> dict[str, Any]:
    """Return what held-out rows show about the errors, for classes or for numbers."""
    held_out, target = evaluation.held_out, evaluation.target
    if not isinstance(target, ClassTarget):
        bins = coverage_bins(held_out)
        return {
            "numbers_figure": numbers_svg(held_out, target.name),
            "coverage": bins,
            "coverage_figure": coverage_svg(bins) if bins else "",
        }
    reliable, curves = reliability(held_out, target), class_curves(held_out, target)
    return {
        "confusion": confusion(held_out, target),
        "curves": curves,
        "curves_figure": curves_svg(curves) if curves else "",
        "reliability": reliable,
        "reliability_figure": reliability_svg(reliable) if reliable else "",
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
        "in_browser": hasattr(final, "columns_"),
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


def _cost(value: float) -> str:
    """Return a cost with two digits; one that is next to nothing is 0."""
    return "0" if abs(value) < 1e-4 else significant(value, 2)


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


def page_templates(*packages: str) -> Any:
    """Return the Jinja environment of the templates in the folders ``templates`` of packages.

    Text is escaped, and a name that a template does not know is an error.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=ChoiceLoader([PackageLoader(package, "templates") for package in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

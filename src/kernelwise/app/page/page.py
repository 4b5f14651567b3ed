"""Write a fitted model as one HTML page that predicts in the browser."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..._files import write_text
from ..._models import final_estimator
from ..._version import __version__
from ...svm import RelevanceSVC, RelevanceSVR
from ...svm.relevance.columns.encoding import GAP
from ...svm.relevance.columns.table_input import column_names
from ...values.words import MISSING
from ..report.page import check_packages, page_templates
from ..tabular import TableError
from ..tabular.encoder import table_encoder
from .arrays import Arrays
from .fields import Fields, fields_of
from .near_rows import near_rows
from .parts import CONSTANTS, ModelParts

MAX_SIZE = 6_000_000  # bytes of a page: what a phone reads at once, and a mail carries
_MEGABYTE = 1e6


def write_model_page(
    model: Any,
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    title: str | None = None,
    rows: Any = None,
) -> Path:
    """Write a fitted model as one self-contained HTML page that predicts in the browser.

    The page has a form with one field per column that the model reads, and shows the probability
    of each class, or the predicted number with its interval, what each column contributes, and how
    the prediction changes along each column. It also predicts tables that are pasted or dropped.
    It needs no network, and its predictions are those of the model.

    Parameters
    ----------
    model : estimator
        A fitted `RelevanceSVC` or `RelevanceSVR`, or a pipeline of a `TableEncoder` and one of
        them, as `kernelwise fit` writes it.
    path : path-like
        The file to write, usually with the suffix ".html". It is written atomically.
    target : str, default=None
        What is predicted, for the headings; None is "class" or "number".
    title : str, default=None
        The heading; None names the target.
    rows : pandas.DataFrame, default=None
        Rows of a table, such as the training table, of which the page shows those nearest to a
        prediction, with their target if they have a column of that name. None keeps all rows out
        of the page, but for what kernels need.

    Returns
    -------
    path : Path
        The file.

    Raises
    ------
    TableError
        If the model is of another kind, or too large for a page.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> from kernelwise import RelevanceSVC
    >>> from kernelwise.app.page import write_model_page
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RelevanceSVC().fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     path = write_model_page(model, Path(folder) / "iris.html", target="species")
    ...     path.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    check_packages()
    model = model.to_local() if hasattr(model, "to_local") else model
    final = checked_model(model)
    is_number = isinstance(final, RelevanceSVR)
    target = target or ("number" if is_number else "class")
    arrays = Arrays()
    data, n_rows = model_data(model, final, arrays)
    data |= {"target": target, "missing": list(MISSING)}
    data["known"] = [*_known_columns(model, final), target]
    data["near"] = None if rows is None else near_rows(model, final, rows, target, data, arrays)
    page = (
        page_templates(__package__, "kernelwise.app.report")
        .get_template("page.html")
        .render(
            title=title or f"Predict {target}",
            versions={"kernelwise": __version__},
            is_number=is_number,
            target=target,
            n_fields=len(data["fields"]),
            n_trained=data["nRows"],
            n_stored=n_rows,
            n_near=0 if rows is None else len(rows),
            has_words=any("choices" in field for field in data["fields"]),
            data=script_text(data),
            arrays=arrays.text(),
        )
    )
    size = len(page.encode("utf-8"))
    if size > MAX_SIZE:
        raise TableError(
            f"the page would have {size / _MEGABYTE:.1f} MB, and a page has at most "
            f"{MAX_SIZE / _MEGABYTE:.0f} MB: the model keeps {n_rows} training rows to compare "
            "with. Fit it to fewer rows, or deploy it with kernelwise.app.io.save_onnx."
        )
    path = Path(path)
    write_text(path, page)
    return path


def checked_model(model: Any) -> Any:
    """Return the estimator at the end of a model; refuse models that a page cannot hold."""
    final = final_estimator(model)
    known = "a page predicts by RelevanceSVC or RelevanceSVR, alone or behind a TableEncoder"
    if not isinstance(final, RelevanceSVC | RelevanceSVR):
        raise TableError(f"{known}; this model is {type(final).__name__}.")
    check_is_fitted(model)
    encoder = table_encoder(model)
    if isinstance(model, Pipeline) and (encoder is None or len(model) != 2):
        steps = ", ".join(type(step).__name__ for _, step in model.steps[:-1])
        raise TableError(f"{known}; this pipeline starts with {steps}.")
    return final


def model_data(model: Any, final: Any, arrays: Arrays) -> tuple[dict[str, Any], int]:
    """Return what predicts, as plain data, and the number of training rows that kernels keep."""
    parts, is_number = ModelParts(arrays), isinstance(final, RelevanceSVR)
    members = final._models_[0].members if is_number else final._models_
    if is_number:
        members = [each for own in final._models_ for each in own.members]
    found: Fields = fields_of(model, table_encoder(model), final, members, arrays)
    data = {
        "constants": CONSTANTS,
        "fields": found.fields,
        "inputs": found.inputs,
        "marked": final.columns_.marked.tolist(),
        "gap": GAP,
        "nRows": found.n_rows,
        "nColumns": found.n_columns,
        "hasGaps": found.has_gaps,
    }
    if is_number:
        data["targets"] = [parts.of_numbers(each) for each in final._models_]
    else:
        data["members"] = [parts.of_classes(each) for each in members]
        data["classes"] = [str(each) for each in final.classes_.tolist()]
        data["logWeights"] = np.log(final.class_weight_).tolist()
    return data, parts.n_rows


def _known_columns(model: Any, final: Any) -> list[str]:
    """Return the columns of the training table."""
    return column_names(final if table_encoder(model) is None else model[0])


def script_text(data: Any) -> str:
    """Return data as JSON that can stand in a script of a page."""
    text = json.dumps(_plain(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _plain(value: Any) -> Any:
    """Return numbers of NumPy as those of Python."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return value.item() if hasattr(value, "item") else value

"""Rows of a table for the list of those that are nearest to a prediction."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...svm import RelevanceSVR
from ...svm.relevance.columns.raw import RawColumn
from ...svm.relevance.joint import Joint
from ...values.reading import DATE, Reading
from ..tabular.encoder import table_encoder
from .arrays import Arrays


def near_rows(
    model: Any, final: Any, rows: Any, target: str, data: dict[str, Any], arrays: Arrays
) -> dict[str, Any]:
    """Return the rows, encoded and as they are shown, and the weights that compare them."""
    encoder = table_encoder(model)
    table = rows.drop(columns=target, errors="ignore")
    encoded = final._encoded(table if encoder is None else encoder.transform(table))
    member = final._models_[0].members[0] if isinstance(final, RelevanceSVR) else final._models_[0]
    own = _weights(member)[member.columns.group]
    return {
        "encoded": arrays.add(encoded),
        "weights": arrays.add(own),
        "shown": [_shown(encoder, table, field) for field in data["fields"]],
        "targets": None if target not in rows else rows[target].astype(str).tolist(),
    }


def _weights(member: Any) -> Any:
    """Return the weight of each group of columns, by the part that weighs most."""
    if hasattr(member, "mixture"):
        found = list(zip(member.mixture.weights, (p.model for p in member.parts), strict=True))
        found = [(w, m) for w, m in found if isinstance(m, Joint) and m.near is not None] or found
    else:
        k = len(member.transforms)
        sums = np.asarray(member.weights).reshape(-1, k).sum(axis=1)
        found = list(zip(sums, (part.models[0] for _, part in member.parts), strict=True))
    model = max(found, key=lambda each: each[0])[1]
    return model.prior.w if hasattr(model, "prior") else model.u


def _shown(encoder: Any, table: Any, field: dict[str, Any]) -> list[Any]:
    """Return the values of a column: numbers, days or words, None where one is missing."""
    name = field["name"]
    if encoder is not None:
        values = encoder.read_column(table, name)
    elif field["kind"] == "date":
        reading = Reading(DATE, field["format"], first=field["firstDay"], timed=field["timed"])
        values = RawColumn(name, table[name], True).read(reading)[-1].values + reading.first
    else:
        values = np.asarray(table[name], dtype=object)
    return [None if v is None or v != v or v == "" else _value(v) for v in values.tolist()]


def _value(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    return float(f"{value:.10g}") if isinstance(value, float) else value

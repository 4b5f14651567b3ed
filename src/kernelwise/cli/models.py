"""Load models that `fit` has saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .console import require_model_file


def load_table_model(path: Path) -> tuple[Any, dict[str, Any]]:
    """Return a model that reads tables, and the summary in its file."""
    from ..io import describe, load
    from ..tabular import TableError
    from ..tabular.pipeline import table_encoder

    require_model_file(path)
    summary = describe(path)["summary"]
    fitted = load(path)
    if table_encoder(fitted) is None:
        raise TableError(f"{path} was not written by kernelwise fit; load it in Python.")
    return fitted, summary

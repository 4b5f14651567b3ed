"""Figures as files and as text for a page: the same bytes for the same results."""

from __future__ import annotations

import io
import os
from pathlib import Path

from .tables import Drawing


def svg(drawing: Drawing, name: str) -> str:
    """Return a figure as the text of an SVG element; ``name`` keeps its ids apart from others'."""
    import matplotlib as mpl

    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        drawing.figure.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :].strip()


def save(drawing: Drawing, path: Path) -> None:
    """Write a figure as a picture, by the ending of the path; first to another name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}")
    drawing.figure.savefig(
        temporary,
        format=path.suffix[1:],
        dpi=150,
        bbox_inches="tight",
        metadata={"Software": None},
    )
    os.replace(temporary, path)


def write_text(path: Path, text: str) -> None:
    """Write a page, first to another name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)

"""Figures as files: the same bytes for the same results."""

from __future__ import annotations

from pathlib import Path

from ..._files import replacing
from .tables import Drawing

# Entries of a picture that depend on the time or on the version of matplotlib.
_WITHOUT = {"png": ("Software",), "svg": ("Date", "Creator")}


def save(drawing: Drawing, path: Path) -> None:
    """Write a figure as a picture, in the format that the ending of the path names."""
    import matplotlib as mpl

    kind = path.suffix[1:]
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as draft, mpl.rc_context({"svg.hashsalt": path.stem}):
        drawing.figure.savefig(
            draft,
            format=kind,
            dpi=150,
            bbox_inches="tight",
            metadata=dict.fromkeys(_WITHOUT[kind]),
        )

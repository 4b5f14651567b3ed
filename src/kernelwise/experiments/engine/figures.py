"""Figures as files: the same bytes for the same results."""

from __future__ import annotations

from pathlib import Path

from ..._files import replacing
from .tables import Drawing


def save(drawing: Drawing, path: Path) -> None:
    """Write a figure as a picture, in the format that the ending of the path names."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as draft:
        drawing.figure.savefig(
            draft,
            format=path.suffix[1:],
            dpi=150,
            bbox_inches="tight",
            metadata={"Software": None},
        )

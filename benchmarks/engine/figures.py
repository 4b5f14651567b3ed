"""Figures as files: the same bytes for the same results."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kernelwise._files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Entries of a picture that depend on the time or on the version of matplotlib.
_WITHOUT = {"png": ("Software",), "svg": ("Date", "Creator")}


@dataclass(frozen=True)
class Drawing:
    """A figure made by ``matplotlib.figure.Figure``, its name for a file, and its caption."""

    name: str
    caption: str
    figure: Figure = field(repr=False)


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

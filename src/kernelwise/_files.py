"""Write files atomically: whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a draft beside ``path`` to write to; move it into place if the block succeeds."""
    draft = _draft(path)
    try:
        yield draft
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8, line ends as they are, and make its folder if there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="")


def check_writable(path: Path) -> None:
    """Raise OSError unless a file can be created in the folder of ``path``."""
    draft = _draft(path)
    draft.touch()
    draft.unlink()


def _draft(path: Path) -> Path:
    return path.with_name(f"{path.name}.{os.getpid()}.new")

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
    except OSError as error:
        error.filename = error.filename or str(path)  # a full disk does not say which file
        raise
    finally:
        draft.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 text file with its line ends unchanged; create its folder if it is missing."""
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

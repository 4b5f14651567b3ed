"""The command line: ``kernelwise fit``, ``predict``, ``explain``, ``compare``, ``data`` ..."""

from __future__ import annotations

import sys

from .interrupts import was_interrupted, watch

__all__ = ["main"]


def main() -> None:
    """Run the command line; Ctrl-C ends it without a traceback, also while it still imports."""
    watch()
    try:
        _run()
    except BaseException:
        if was_interrupted():
            raise SystemExit(130) from None
        raise


def _run() -> None:
    """Run the command line, or name the package that it lacks."""
    try:
        import pandas  # noqa: F401
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ModuleNotFoundError as error:
        print(
            f"kernelwise: the command line needs the package {error.name}: "
            'pip install "kernelwise[cli]"',
            file=sys.stderr,
        )
        raise SystemExit(1) from None
    from .app import app

    app()

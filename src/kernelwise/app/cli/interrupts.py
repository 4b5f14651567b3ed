"""Ctrl-C, whatever becomes of its exception.

A compiled module that is interrupted while it loads may raise ImportError in place of
KeyboardInterrupt, and older toolkits of the command line end with an exit code of their own. So the
signal itself is remembered.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from typing import Any

_PAUSE = 0.01  # seconds
_seen = False


def watch() -> None:
    """Remember Ctrl-C from now on; KeyboardInterrupt is raised as before."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _remember)
        sys.unraisablehook = _repeat_interrupt


def _remember(number: int, frame: Any) -> None:
    global _seen
    _seen = True
    signal.default_int_handler(number, frame)


def _repeat_interrupt(lost: Any) -> None:
    """Raise Ctrl-C again where Python dropped it, such as in a callback while a module loads."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        later = threading.Timer(_PAUSE, _thread.interrupt_main)  # here it would be dropped again
        later.daemon = True
        later.start()
    else:
        sys.__unraisablehook__(lost)


def was_interrupted() -> bool:
    """Return whether Ctrl-C was pressed since ``watch``."""
    return _seen

"""A function in a process of its own, with limits on time and memory."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable


def in_child(function: Callable[[], str], seconds: int, megabytes: int) -> str:
    """Return what a function answers in a forked child, or how the child ended.

    The seconds are of CPU time: a busy machine makes no hang. A child that waits for something
    ends after ten times as many of the clock.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _quiet()
        for each in (signal.SIGPROF, signal.SIGALRM):
            signal.signal(each, signal.SIG_DFL)  # ends native code as well
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.alarm(10 * seconds)
        limit_memory(megabytes)
        os.write(writing, function().encode(errors="replace")[:4000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read().decode()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        is_late = name in ("SIGPROF", "SIGALRM")
        return f"no end within {seconds} s" if is_late else f"the process died of {name}"
    return answer or f"the process ended with status {os.WEXITSTATUS(status)}"


def _quiet() -> None:
    """Read nothing from the terminal, and write nothing to it."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def limit_memory(megabytes: int) -> None:
    """Allow this process so much address space beyond what it has (``ulimit -v``)."""
    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    limit = used + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

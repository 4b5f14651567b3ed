"""One thread for every library, and the facts about a run that its results are kept with."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    ),
    "1",
)


def limit_threads() -> None:
    """Ask every library for one thread; call it before any of them is imported."""
    os.environ.update(ONE_THREAD)


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit the libraries that are loaded by now to one thread, oneDAL included."""
    from threadpoolctl import threadpool_limits

    from . import peers

    peers.classifiers()  # loads them
    if peers.has_intelex():
        import daal4py

        daal4py.daalinit(1)
    with threadpool_limits(1):
        yield


def _threads() -> dict[str, int]:
    """Return the number of threads that each library would use."""
    from threadpoolctl import threadpool_info

    from . import peers

    found: dict[str, int] = {}
    for pool in threadpool_info():
        name = pool["internal_api"]
        found[name] = max(pool["num_threads"], found.get(name, 0))
    if peers.has_intelex():
        import daal4py

        found["oneDAL"] = daal4py.num_threads()
    return dict(sorted(found.items()))


def facts() -> dict:
    """Return the date, the load and memory of the machine, the threads, and intelex's version."""
    from importlib.metadata import version

    from . import peers

    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "load": round(os.getloadavg()[0], 2),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "threads": _threads(),
        "intelex": version("scikit-learn-intelex") if peers.has_intelex() else None,
    }

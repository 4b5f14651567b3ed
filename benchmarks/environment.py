"""Where the numbers come from: versions, machine and threads. One thread for everybody."""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)


def limit_threads() -> None:
    """Ask every library for one thread; before any of them is imported."""
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold the libraries that are loaded by now to one thread, oneDAL's too."""
    from threadpoolctl import threadpool_limits

    from . import peers

    peers.classifiers()  # loads them
    if "intelex" not in peers.missing():
        import daal4py

        daal4py.daalinit(1)
    with threadpool_limits(1):
        yield


def threads() -> dict[str, int]:
    """Return the threads that each library would use."""
    from threadpoolctl import threadpool_info

    from . import peers

    found: dict[str, int] = {}
    for pool in threadpool_info():
        name = pool["internal_api"]
        found[name] = max(pool["num_threads"], found.get(name, 0))
    if "intelex" not in peers.missing():
        import daal4py

        found["oneDAL"] = daal4py.num_threads()
    return dict(sorted(found.items()))


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def describe() -> dict:
    """Return versions, machine and threads."""
    from . import peers

    packages = ["kernelwise", "numpy", "scipy", "scikit-learn", "numba"]
    versions: dict[str, str | None] = {"python": platform.python_version()}
    versions |= {name: version(name) for name in packages}
    has_intelex = "intelex" not in peers.missing()
    versions["scikit-learn-intelex"] = version("scikit-learn-intelex") if has_intelex else None
    return {
        "versions": versions,
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "threads": threads(),
        "missing": peers.missing(),
    }

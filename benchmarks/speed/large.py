"""Fit one table in this process and print time and memory: ``large.py ROWS COLUMNS C``."""

import json
import sys
import time
from pathlib import Path

from ..problems import classification


def peak_bytes() -> int:
    """Return the peak memory of this process.

    On Linux ``ru_maxrss`` includes what the parent held when it started this process, so the peak
    of this address space is read instead.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        (line,) = (row for row in status.read_text().splitlines() if row.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main(n: int, p: int, C: float) -> None:
    from kernelwise import SVC

    X, y = classification(n, p)
    SVC(cache_size=1).fit(X[:2000], y[:2000])  # imports, and is small
    before, wall, cpu = peak_bytes(), time.perf_counter(), time.process_time()
    model = SVC(C=C).fit(X, y)
    found = {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "peak_bytes": peak_bytes(),
        "bytes_before": before,
        "gap": float(model.certificate_.gap.max()),
        "violation": float(model.certificate_.violation.max()),
        "fit_status": model.fit_status_,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))

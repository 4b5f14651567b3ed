"""The estimators of Dask on a local cluster: ``python -m benchmarks.large.cluster --workers 2``.

The table lies in parquet files, one per partition, and no worker may have as much memory as it
takes. ``--threads 2`` fits it in this process instead.
"""

from __future__ import annotations

import argparse
import json
import time
from hashlib import blake2b
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from ..speed.large import peak_bytes
from .tables import NUMBERS, TABLES, TEST_ROWS
from .worker import forget_peak, scores

_PARTITION_ROWS = 50_000
_FITS = 5  # of a process with threads, whose median time counts


def write_partitions(folder: Path, X: np.ndarray, y: np.ndarray) -> None:
    """Write a table, in float64, as parquet files."""
    names = [f"x{j}" for j in range(X.shape[1])]
    for number, start in enumerate(range(0, len(X), _PARTITION_ROWS)):
        rows = slice(start, start + _PARTITION_ROWS)
        frame = pd.DataFrame(X[rows].astype(np.float64), columns=names).assign(y=y[rows])
        frame.to_parquet(folder / f"{number:05d}.parquet")


def process_state() -> dict[str, float]:
    """Return the CPU time and the peak memory of this process."""
    return {"cpu_seconds": time.process_time(), "peak_bytes": peak_bytes()}


def measure(arguments: argparse.Namespace, folder: Path, X: Any, y: Any) -> dict[str, Any]:
    """Fit on a cluster, and return times, memory and scores on further rows."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    from kernelwise.dask import DaskRelevanceSVC, DaskRelevanceSVR

    estimator = DaskRelevanceSVR if arguments.table in NUMBERS else DaskRelevanceSVC
    with (
        LocalCluster(
            n_workers=arguments.workers,
            threads_per_worker=1,
            memory_limit=arguments.memory,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        table = dd.read_parquet(folder)
        begin, own = time.perf_counter(), time.process_time()
        model = estimator().fit(table.drop(columns="y"), table["y"])
        found = {
            "seconds": time.perf_counter() - begin,
            "client_cpu_seconds": time.process_time() - own,
            "processes": list(client.run(process_state).values()),
        }
    return found | _scored(model.to_local(), X, y)


def measure_threads(arguments: argparse.Namespace, folder: Path, X: Any, y: Any) -> dict[str, Any]:
    """Fit in this process, and return times, memory and scores on further rows."""
    from kernelwise import RelevanceSVC, RelevanceSVR

    estimator = RelevanceSVR if arguments.table in NUMBERS else RelevanceSVC
    table = pd.concat([pd.read_parquet(path) for path in sorted(folder.iterdir())])
    rows, labels = table.drop(columns="y").to_numpy(np.float32), table["y"].to_numpy()
    del table
    forget_peak()
    times = []
    for _ in range(_FITS):
        begin = time.perf_counter()
        model = estimator(n_jobs=arguments.threads).fit(rows, labels)
        times.append(time.perf_counter() - begin)
    found = {"seconds": median(times), "processes": [process_state()]}
    return found | _scored(model, X.to_numpy(np.float32), y)


def _scored(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return the scores on further rows, and a digest of the predictions."""
    digest = blake2b(model.predict(X).tobytes(), digest_size=8).hexdigest()
    return scores(model, X, y) | {"digest": digest}


def main(given: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", default="classification", choices=TABLES)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--test-rows", type=int, default=TEST_ROWS)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, help="of one process, in place of workers")
    parser.add_argument("--memory", default="700MB", help="of each worker")
    arguments = parser.parse_args(given)
    n = arguments.rows
    X, y = TABLES[arguments.table](n + arguments.test_rows, seed=0)
    names = [f"x{j}" for j in range(X.shape[1])]
    with TemporaryDirectory() as name:
        write_partitions(Path(name), X[:n], y[:n])
        new = pd.DataFrame(X[n:].astype(np.float64), columns=names)
        table_bytes = 8 * n * X.shape[1]
        fit = measure if arguments.threads is None else measure_threads
        found = {"table_bytes": table_bytes} | fit(arguments, Path(name), new, y[n:])
    print(json.dumps(vars(arguments) | found))


if __name__ == "__main__":
    main()

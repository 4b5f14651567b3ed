"""Runs tasks on a cluster: all that is computed goes through here."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .._records import dataclass
from ..svm.base.progress import FitProgress
from .partitions import Partition
from .shared import Shared

_SHARE_OF_MEMORY = 0.2  # of the workers' memory for rows on their way to their regions


@dataclass(frozen=True)
class Cluster:
    """A client, the partitions of a table, and who hears of progress.

    Parameters
    ----------
    client : distributed.Client
        The client.
    partitions : sequence of Partition
        The partitions of the table.
    progress : FitProgress
        Told of each task that is done.
    """

    client: Any
    partitions: Sequence[Partition]
    progress: FitProgress

    def over_partitions(self, name: str, function: Callable[..., Any], *shared: Any) -> list[Any]:
        """Compute a function of each partition.

        Parameters
        ----------
        name : str
            What it does, for whoever watches.
        function : callable
            Receives X, y, weights, groups, the number of the first row, and what is `Shared`.
        *shared : objects
            Small values that every task needs. They are a node of the graph: data that are only
            sent to workers would die with them.

        Returns
        -------
        results : list
            One result per partition.
        """
        return self.compute(name, [self.tasks(function, *shared)])[0]

    def tasks(self, function: Callable[..., Any], *shared: Any) -> list[Any]:
        """Return a function of each partition, not computed yet."""
        import dask

        nodes = [as_node(value) for value in shared]
        make = dask.delayed(function, pure=True)
        return [
            make(each.X, each.y, each.weight, each.groups, each.start, *nodes)
            for each in self.partitions
        ]

    def compute(
        self,
        name: str,
        batches: Sequence[Sequence[Any]],
        stops: Callable[[], bool] | None = None,
    ) -> list[list[Any]]:
        """Compute batches of tasks, each of which needs all partitions.

        A batch is handed over when the one before has no more tasks left than the workers have
        threads: had the cluster several of them at once, it would have to keep the rows of all of
        them in memory.

        Parameters
        ----------
        name : str
            What the tasks do, for whoever watches.
        batches : sequence of sequence of Delayed
            The tasks.
        stops : callable, default=None
            Asked after each result whether to do without the others.

        Returns
        -------
        results : list of list
            The results; None for tasks that a stop left out. Whatever ends the wait for them,
            a stop, an error or Ctrl-C, cancels the rest.
        """
        from distributed import as_completed

        results: list[list[Any]] = [[None] * len(batch) for batch in batches]
        running: dict[str, tuple[int, int, Any]] = {}  # key -> batch, place and future
        arriving = as_completed(loop=self.client.loop)

        def hand_over(number: int) -> None:
            futures = self.client.compute(list(batches[number]))
            running.update({own.key: (number, i, own) for i, own in enumerate(futures)})
            arriving.update(futures)

        newest, n_tasks = 0, sum(map(len, batches))
        n_waiting = [len(batch) for batch in batches]
        try:
            hand_over(newest)
            for done, future in enumerate(arriving):
                with self.progress.task(f"{name}, {done + 1} of {n_tasks}"):
                    result = self.client.gather(future)
                number, place, _ = running.pop(future.key)
                results[number][place] = result
                n_waiting[number] -= 1
                future.release()
                if stops is not None and stops():
                    break
                if newest < len(batches) - 1 and n_waiting[newest] <= self._n_threads():
                    newest += 1
                    hand_over(newest)
        finally:
            self.client.cancel([future for _, _, future in running.values()])
        return results

    def _n_threads(self) -> int:
        """Return the number of threads of all workers, at this time."""
        return sum(self.client.nthreads().values())

    def n_passes(self, n_bytes: int) -> int:
        """Return in how many parts rows on their way to their regions fit into the workers' memory.

        Parameters
        ----------
        n_bytes : int
            The memory of all of these rows.

        Returns
        -------
        n : int
            One, or more where the rows would take more than a part of the memory that is left when
            one worker dies: a worker needs the most of it for itself.
        """
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        limits = [int(worker["memory_limit"] or 0) for worker in workers]
        if not limits or min(limits) == 0:  # no limit
            return 1
        left = sum(limits) - max(limits) if len(limits) > 1 else limits[0]
        return max(1, math.ceil(n_bytes / (_SHARE_OF_MEMORY * left)))


def as_node(value: Any) -> Any:
    """Return a small value, as `Shared`, as a node of a graph that every worker can ask for."""
    import dask

    return dask.delayed(Shared(value), pure=True, traverse=False)


def client_of(client: Any) -> Any:
    """Return the given client, or the current one.

    Parameters
    ----------
    client : distributed.Client or None
        The client; None asks for the one that was made last.

    Returns
    -------
    client : distributed.Client
        The client.
    """
    try:
        from distributed import get_client
    except ImportError as error:
        raise ImportError("DaskRelevanceSVC needs Dask: pip install 'kernelwise[dask]'.") from error
    if client is not None:
        return client
    try:
        return get_client()
    except ValueError as error:
        raise ValueError(
            "There is no client of Dask. Make one first, for instance with "
            "distributed.Client(), or give it as DaskRelevanceSVC(client=...)."
        ) from error

"""Seeds and keys of tasks, made from their entries alone: order and selection do not matter."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from .experiment import Experiment, Task


def key_of(task: Task) -> str:
    """Return the task as text; equal tasks have equal text."""
    return json.dumps(task, sort_keys=True, separators=(",", ":"), allow_nan=False)


def seed_of(experiment: Experiment, task: Task, seed: int) -> int:
    """Return the seed of a task: 32 bits from the run's seed, the experiment and the task."""
    keys = experiment.seed_keys
    part = task if keys is None else {key: task[key] for key in keys if key in task}
    digest = hashlib.sha256(f"{experiment.name}\n{key_of(part)}".encode()).digest()
    entropy = [seed, *np.frombuffer(digest, dtype="<u4").tolist()]
    return int(np.random.SeedSequence(entropy).generate_state(1)[0])

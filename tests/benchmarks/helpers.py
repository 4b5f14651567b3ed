"""What the tests of several suites share."""

import os
import subprocess
import sys

from benchmarks.engine import Results
from benchmarks.environment import ROOT

# Also where scikit-learn-intelex is installed: None in sys.modules makes an import fail.
WITHOUT_INTELEX = """
import runpy, sys
sys.modules["sklearnex"] = sys.modules["daal4py"] = None
runpy.run_module("benchmarks", run_name="__main__", alter_sys=True)
"""
HEADER = {
    "scale": "full", "kernelwise": "1.0", "python": "3.11", "packages": {"numpy": "2.0"},
    "machine": "a machine", "cpus": 2, "memory_gb": 1.0, "threads": {"openmp": 1},
    "intelex": None, "date": "2026-01-02", "load": 0.1,
}  # fmt: skip


def run(*options):
    """Run the benchmarks without scikit-learn-intelex and the papers' data; return stderr."""
    command = [sys.executable, "-c", WITHOUT_INTELEX, *map(str, options)]
    environment = {name: value for name, value in os.environ.items() if name != "KERNELWISE_DATA"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr


def quick(folder, *suites):
    """Run suites at the quick scale, with results and pages in a folder; return stderr."""
    return run(*suites, "--quick", "--results", folder, "--pages", folder)


def results(*rows):
    """Return hand-made rows as results."""
    return Results(HEADER, list(rows), {}, [], [])


def assert_tables_are_rectangular(text):
    blocks = [block.splitlines() for block in text.split("\n\n") if block.startswith("| ")]
    assert blocks
    for lines in blocks:
        assert len({line.count("|") for line in lines}) == 1, lines[0]
        assert len(lines) > 2

"""Put one small error after the other into a copy of the package, and see which the tests catch.

python -m tests.mutants                     all of them
python -m tests.mutants --only margin       those whose name holds a text
python -m tests.mutants --root ../other     the package and the tests of another checkout
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.mutants.mutations import MUTATIONS, Mutation

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 600  # seconds for the tests of a mutation; an error that lets them run longer is caught
PASSED, FAILED = 0, 1  # what pytest returns


def copied(root: Path, folder: Path) -> None:
    """Copy what the tests need."""
    left_out = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in ("src", "tests", "examples", "benchmarks", "reproduction", "docs", "native"):
        if (root / name).is_dir():
            shutil.copytree(root / name, folder / name, ignore=left_out)
    for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "Makefile", "CITATION.cff"):
        shutil.copy(root / name, folder)


def run_tests(folder: Path, tests: str) -> tuple[int, str]:
    """Run tests of the copy up to the first that fails; return pytest's code and its last line."""
    present = [path for path in tests.split() if (folder / path).exists()]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *present]
    env = os.environ | {"PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=folder, env=env, capture_output=True, text=True, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return FAILED, f"more than {LIMIT} s"
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return done.returncode, lines[0] if lines else ""


def is_caught(folder: Path, mutation: Mutation) -> bool | None:
    """Return whether the tests catch the error; None where the code does not hold its place."""
    path = folder / "src" / "kernelwise" / mutation.path
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    try:
        path.write_text(mutation.applied(before), encoding="utf-8")
    except ValueError:
        return None
    begin = time.perf_counter()
    try:
        code, line = run_tests(folder, mutation.tests)
    finally:
        path.write_text(before, encoding="utf-8")
    if code not in (PASSED, FAILED):
        raise RuntimeError(f"{mutation.name}: pytest could not run ({code}) {line}")
    told = "caught  " if code == FAILED else "SURVIVED"
    print(f"{told} {time.perf_counter() - begin:5.0f} s  {mutation.name}  {line[:90]}", flush=True)
    return code == FAILED


def main() -> int:
    """Run the mutations and count those that are caught."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", default="", help="a text in the names of the mutations to run")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout to test")
    options = parser.parse_args()
    chosen = [each for each in MUTATIONS if options.only in each.name]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copied(options.root.resolve(), Path(folder))
        caught = [is_caught(Path(folder), each) for each in chosen]
    absent = [each.name for each, one in zip(chosen, caught, strict=True) if one is None]
    print(f"{caught.count(True)} of {len(chosen) - len(absent)} caught")
    if absent:
        print(f"not in this code: {', '.join(absent)}")
    return 0 if all(caught) else 1


if __name__ == "__main__":
    sys.exit(main())

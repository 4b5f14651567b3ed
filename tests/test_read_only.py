"""An installation that cannot be written to, without a home: fits work and leave nothing behind."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import kernelwise

FIT = """
import sys
from sklearn.datasets import load_iris
import kernelwise

assert kernelwise.__file__.startswith(sys.argv[1])
X, y = load_iris(return_X_y=True)
for model in (kernelwise.SVC(), kernelwise.RelevanceSVC()):
    print(model.fit(X, y).score(X, y) > 0.9)
"""


def tree(folder):
    return sorted((str(path), path.stat().st_mtime_ns) for path in folder.rglob("*"))


def test_a_fit_writes_nothing(tmp_path):
    package = tmp_path / "site" / "kernelwise"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(kernelwise.__file__).parent, package, ignore=ignored)
    for path in [*package.rglob("*"), package, package.parent]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    work = tmp_path / "work"
    work.mkdir()
    work.chmod(0o555)
    before = tree(tmp_path)
    kept = {name: os.environ[name] for name in ("PATH", "KERNELWISE_CPU") if name in os.environ}
    env = kept | {
        "PYTHONPATH": str(package.parent),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TMPDIR": str(work),
        "XDG_CACHE_HOME": str(work),
    }
    done = subprocess.run(
        [sys.executable, "-c", FIT, str(package.parent)],
        capture_output=True,
        text=True,
        check=False,
        cwd=work,
        env=env,
    )
    after = tree(tmp_path)
    for path in [package.parent, package, *(p for p in package.rglob("*") if p.is_dir()), work]:
        path.chmod(0o755)  # so that pytest can remove it
    assert done.stdout == "True\nTrue\n", done.stderr
    assert after == before

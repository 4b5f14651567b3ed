"""The wheel holds the package and its compiled module, and works away from the source tree."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from kernelwise._version import __version__

ROOT = Path(__file__).resolve().parents[1]
MODULES = {".so", ".pyd"}

FIT = """
import sys
from importlib.metadata import distribution, version
from importlib.resources import files
from pathlib import Path

import kernelwise

site = Path(sys.argv[1])
from kernelwise import _native

for module in (kernelwise, _native):
    assert Path(module.__file__).is_relative_to(site), module.__file__
assert Path(distribution("kernelwise").locate_file("")).resolve() == site
assert version("kernelwise") == kernelwise.__version__ == sys.argv[2]
assert files("kernelwise").joinpath("py.typed").is_file()

from kernelwise import SVC
from sklearn.datasets import load_iris

X, y = load_iris(return_X_y=True)
assert SVC().fit(X, y).score(X, y) > 0.9
"""


def run(*args, **kwargs):
    """Run Python with the arguments; a failure shows what it printed."""
    done = subprocess.run(
        [sys.executable, *map(str, args)], capture_output=True, text=True, check=False, **kwargs
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("wheel")
    run("-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    (path,) = out.glob("*.whl")
    return path


def test_wheel_holds_every_file_of_the_package(wheel):
    src = ROOT / "src"
    expected = {
        path.relative_to(src).as_posix()
        for path in (src / "kernelwise").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in MODULES
    }
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("kernelwise/")}
    assert "kernelwise/py.typed" in expected
    compiled = {name for name in packed if Path(name).suffix in MODULES}
    assert [Path(name).name.partition(".")[0] for name in compiled] == ["_native"]
    assert packed - compiled == expected


def test_installed_wheel_fits_away_from_the_source_tree(wheel, tmp_path):
    site = (tmp_path / "site").resolve()
    away = tmp_path / "away"
    away.mkdir()
    pip = ["-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    run(*pip, "--no-deps", "--no-index", "--target", site, wheel)
    env = os.environ | {"PYTHONPATH": str(site)}
    run("-P", "-c", FIT, site, __version__, cwd=away, env=env)


def test_citation_and_package_state_one_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (\S+)$", text, flags=re.MULTILINE) == [__version__]

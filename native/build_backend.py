"""The build backend: scikit-build-core, with a compiler from PyPI where the machine has none.

An editable install puts the compiled module into src/kernelwise, where every way of importing the
source tree finds it. ``python native/build_backend.py`` does that alone, without an install.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from scikit_build_core import build as backend

get_requires_for_build_sdist = backend.get_requires_for_build_sdist
build_sdist = backend.build_sdist

Config = dict[str, Any] | None

_ROOT = Path(__file__).resolve().parents[1]
_SOURCE = _ROOT / "src"


def has_compiler() -> bool:
    """Return whether there is a C++ compiler; on Windows CMake finds one by itself."""
    named = shlex.split(os.environ.get("CXX", ""))[:1]
    return os.name == "nt" or any(map(shutil.which, [*named, "c++", "g++", "clang++"]))


def get_requires_for_build_wheel(config_settings: Config = None) -> list[str]:
    """Return what the build needs, with Zig's compiler where there is no other."""
    needed = backend.get_requires_for_build_wheel(config_settings)
    return needed if has_compiler() else [*needed, "ziglang>=0.14"]


get_requires_for_build_editable = get_requires_for_build_wheel


@contextmanager
def _compiler() -> Iterator[None]:
    """Name Zig's compiler in the environment where there is no other."""
    if has_compiler():
        yield
        return
    programs = _ROOT / "build" / "zig"
    script = Path(__file__).with_name("borrow_compiler.py")
    subprocess.run([sys.executable, script, programs], check=True)
    before = dict(os.environ)
    for variable, name in (("CXX", "c++"), ("AR", "ar"), ("RANLIB", "ranlib")):
        os.environ[variable] = str(programs / f"zig-{name}")
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def build_wheel(
    wheel_directory: str, config_settings: Config = None, metadata_directory: str | None = None
) -> str:
    """Build a wheel."""
    with _compiler():
        return backend.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str, config_settings: Config = None, metadata_directory: str | None = None
) -> str:
    """Build the module into the source tree, and a wheel that points there."""
    with TemporaryDirectory() as folder:
        name = build_wheel(folder, config_settings, metadata_directory)
        with ZipFile(Path(folder) / name) as whole:
            _put_module(whole)
            _write_link(whole, Path(wheel_directory) / name)
    return name


def _put_module(wheel: ZipFile) -> None:
    """Replace the compiled module of the source tree; a process that runs keeps the old one."""
    for name in wheel.namelist():
        if name.startswith("kernelwise/_native.") and not name.endswith(".pyi"):
            target = _SOURCE / name
            fresh = target.with_name(target.name + ".new")
            fresh.write_bytes(wheel.read(name))
            fresh.replace(target)


def _write_link(whole: ZipFile, path: Path) -> None:
    """Write a wheel with the metadata of the whole one and the path of the source tree."""
    files = {"_kernelwise.pth": f"{_SOURCE}\n".encode()}
    for name in whole.namelist():
        if ".dist-info/" in name:
            files[name] = whole.read(name)
    (record,) = (name for name in files if name.endswith("/RECORD"))
    del files[record]
    lines = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    files[record] = "".join([*lines, f"{record},,\n"]).encode()
    with ZipFile(path, "w", ZIP_DEFLATED) as link:
        for name, data in files.items():
            link.writestr(name, data)


if __name__ == "__main__":
    os.chdir(_ROOT)
    with TemporaryDirectory() as folder, ZipFile(Path(folder) / build_wheel(folder)) as wheel:
        _put_module(wheel)

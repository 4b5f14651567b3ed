"""No level leaves a function that the linker could give to another level.

Of an inline function that several object files hold the linker keeps one. If that were the copy for
the newest processors, older ones would meet instructions that they do not know.
"""

import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

NATIVE = Path(__file__).resolve().parents[2] / "native"
FLAGS = "-std=c++20 -O3 -fPIC -fvisibility=hidden -ffp-contract=fast -fopenmp-simd -Wno-psabi"
LEVELS = {"v2", "v3", "v4"}

compiler = shutil.which("c++")
pytestmark = pytest.mark.skipif(
    compiler is None or shutil.which("nm") is None or platform.machine() not in {"x86_64", "AMD64"},
    reason="needs c++ and nm, and levels are those of x86-64",
)


@pytest.mark.parametrize("level", sorted(LEVELS))
def test_weak_symbols_belong_to_their_level(level, tmp_path):
    target = tmp_path / "leaves.o"
    options = [*FLAGS.split(), f"-march=x86-64-{level}", f"-DKW_ARCH={level}", "-w"]
    source = NATIVE / "leaves.cpp"
    subprocess.run([compiler, *options, "-c", source, "-o", target], check=True)
    listed = subprocess.run(["nm", "-C", target], check=True, capture_output=True, text=True)
    defined = re.findall(r"^[0-9a-f]+ ([TtWwVuBbDdRr]) (.+)$", listed.stdout, flags=re.MULTILINE)
    assert any(f"kw::{level}::table" in name for _, name in defined)
    weak = [name for kind, name in defined if kind in "WwVu" and f"kw::{level}::" not in name]
    weak = [name for name in weak if not name.startswith("DW.ref.")]  # addresses, no code
    assert not weak
    others = [name for _, name in defined for other in LEVELS - {level} if f"kw::{other}" in name]
    assert not others

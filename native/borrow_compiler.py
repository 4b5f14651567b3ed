"""Write scripts that run Zig's C++ compiler and archiver: ``borrow_compiler.py FOLDER``.

Zig compiles for the processor at hand unless it is told otherwise, and without -O it would compile
its C++ library a second time for CMake's trials.
"""

import sys
from pathlib import Path

import ziglang

programs = Path(sys.argv[1]).absolute()
programs.mkdir(parents=True, exist_ok=True)
zig, cache = Path(ziglang.__file__).with_name("zig"), programs.parent / "zig-cache"
for name, words in {"c++": "c++ -O2 -mcpu=baseline", "ar": "ar", "ranlib": "ranlib"}.items():
    command = programs / f"zig-{name}"
    command.write_text(f'#!/bin/sh\nZIG_GLOBAL_CACHE_DIR="{cache}" exec "{zig}" {words} "$@"\n')
    command.chmod(0o755)

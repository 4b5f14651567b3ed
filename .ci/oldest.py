"""Print pip constraints that pin each dependency of pyproject.toml to its oldest supported version.

``scikit-learn>=1.6`` becomes ``scikit-learn==1.6.*``. Linters and packaging tools are left out:
they do not run with the library.
"""

import re
import tomllib
from pathlib import Path

NOT_PINNED = {"axe-core-python", "build", "mypy", "ruff", "selenium"}
NOT_PINNED |= {"cmake", "nanobind", "ninja", "scikit-build-core"}
ALSO = [
    # typer 0.16 and matplotlib 3.9 call what later versions deprecate, and warnings are errors.
    "click==8.2.*",
    "pyparsing<3.3",
]

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
groups = {name: each for name, each in project["optional-dependencies"].items() if name != "bench"}
requirements = [*project["dependencies"], *(each for group in groups.values() for each in group)]
pins = set()
for requirement in requirements:
    match = re.fullmatch(r"([\w-]+)(?:\[[\w,]+\])?>=(\d+\.\d+)[\d.]*", requirement)
    if match and match[1] not in NOT_PINNED:
        pins.add(f"{match[1]}=={match[2]}.*")
print("\n".join([*sorted(pins), *ALSO]))

"""Count the lines of code and of docstrings of a tree, and its public names.

    python tools/sizes.py [FOLDER] [--by-folder] [--names]

A line of code has a token that is no comment and belongs to no docstring. Public names are those
that the `__all__` of a package lists, each once; packages and `__version__` do not count.
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "kernelwise"
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_WITHOUT_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}


@dataclass(frozen=True)
class Size:
    """Lines of one or several modules."""

    modules: int
    code: int
    docstrings: int

    def __add__(self, other: Size) -> Size:
        return Size(
            self.modules + other.modules,
            self.code + other.code,
            self.docstrings + other.docstrings,
        )


def docstring_lines(tree: ast.Module) -> set[int]:
    """Return the numbers of the lines of all docstrings."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            text = node.body[0]
            lines.update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return lines


def size_of(source: str) -> Size:
    """Count the lines of a module."""
    docstrings = docstring_lines(ast.parse(source))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _WITHOUT_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    return Size(1, len(code - docstrings), len(docstrings))


def public_names(folder: Path) -> dict[str, list[str]]:
    """Return the packages that list each public name, by name."""
    found: dict[str, list[str]] = {}
    packages = {path.parent.name for path in folder.rglob("__init__.py")}
    for path in sorted(folder.rglob("__init__.py")):
        parts = path.parent.relative_to(folder).parts
        if any(part.startswith("_") for part in parts):
            continue
        for name in _listed(ast.parse(path.read_text(encoding="utf-8"))):
            if name not in packages and name != "__version__":
                found.setdefault(name, []).append(".".join((folder.name, *parts)))
    return found


def _listed(tree: ast.Module) -> list[str]:
    """Return the strings of the list that `__all__` is set to."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
        ):
            values = [e.value for e in ast.walk(node.value) if isinstance(e, ast.Constant)]
            return [value for value in values if isinstance(value, str)]
    return []


def sizes_by_folder(folder: Path) -> dict[str, Size]:
    """Return the size of each folder directly below, and of the modules beside them."""
    found: dict[str, Size] = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).parts
        name = "/".join(parts[:2]) if parts[0] in ("svm", "app") else parts[0]
        name = name if not name.endswith(".py") else str(Path(name).parent)
        found[name] = found.get(name, Size(0, 0, 0)) + size_of(path.read_text(encoding="utf-8"))
    return found


def main(arguments: list[str] | None = None) -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description="Count lines and public names.")
    parser.add_argument("folder", type=Path, nargs="?", default=SOURCE)
    parser.add_argument("--by-folder", action="store_true", help="a line for each folder, too")
    parser.add_argument("--names", action="store_true", help="list the public names")
    options = parser.parse_args(arguments)
    by_folder = sizes_by_folder(options.folder)
    print(f"{'folder':28}{'modules':>9}{'code':>9}{'docstrings':>12}")
    rows = list(by_folder.items()) if options.by_folder else []
    for name, size in [*rows, ("all", sum(by_folder.values(), Size(0, 0, 0)))]:
        print(f"{name:28}{size.modules:>9,}{size.code:>9,}{size.docstrings:>12,}")
    names = public_names(options.folder)
    listed = sum(len(packages) for packages in names.values())
    print(f"public names: {len(names)} ({listed} in the lists of all packages)")
    if options.names:
        for name, packages in sorted(names.items()):
            print(f"  {name:36}{', '.join(packages)}")


if __name__ == "__main__":
    main()

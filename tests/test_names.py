"""One name means one thing across the package: no two classes have the same name."""

import ast
from collections import defaultdict
from pathlib import Path

import kernelwise

PACKAGE = Path(kernelwise.__file__).parent
# Names that stand for the same kind of thing in two packages.
SHARED = {
    "Method": {"app.evaluation.methods", "outer.minimize"},
    "Path": {"svm.paths.path", "svm.relevance.path"},
    "Settings": {"svm.relevance.settings", "svm.search.scoring"},
    "Sigmoid": {"kernels.dot", "calibration.sigmoids"},
    "Target": {"app.tabular.targets", "svm.relevance.target"},
}


def homes():
    """Return the modules that define a class of each name."""
    found = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].add(module)
    return found


def test_no_two_classes_have_the_same_name():
    assert {name: modules for name, modules in homes().items() if len(modules) > 1} == SHARED

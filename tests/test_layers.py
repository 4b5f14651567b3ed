"""Imports go downward only, and the optional packages stay optional."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "kernelwise"

# For each layer, the layers it may import. A new file or folder of the package must be declared
# here. Modules of the package root that start with an underscore, and `exceptions`, are the types
# and exceptions that every layer may use.
_METHODS = {"criteria", "outer", "discrimination", "kernels", "qp", "scale"}
_MODELS = _METHODS | {"svm", "transform", "tabular", "io", "evaluation"}
MAY_IMPORT = {
    "kernels": set(),
    "qp": set(),
    "outer": set(),
    "discrimination": set(),
    "datasets": set(),
    "criteria": {"kernels", "qp"},
    "scale": {"kernels", "qp"},
    "bounds": {"criteria", "kernels", "qp"},  # the deprecated alias
    "svm": _METHODS,
    "transform": _METHODS | {"svm"},
    "tabular": _METHODS | {"svm", "transform"},
    "dask": _METHODS | {"svm"},
    "io": _METHODS | {"svm", "transform", "tabular"},
    "evaluation": _METHODS | {"svm", "transform", "tabular", "io"},
    "inspection": _MODELS,
    "experiments": _MODELS | {"inspection", "datasets"},
    "report": _MODELS | {"inspection", "datasets", "experiments"},
    "cli": _MODELS | {"inspection", "datasets", "experiments", "report"},
}

# Packages that come with an extra, and the layers that may import them, inside functions.
TOP_LAYERS = {
    "dask",
    "io",
    "tabular",
    "evaluation",
    "inspection",
    "datasets",
    "experiments",
    "report",
    "cli",
}
# Nothing imports the commands but the entry point, which says what is missing: they are declared
# with typer's annotations, so they import their toolkit as they are imported.
TOOLKIT = {"typer", "rich"}
LOWER_LAYERS_WITH = {"clarabel": {"svm"}}  # the cone solver of one option of one method
OPTIONAL = {
    "clarabel",
    "matplotlib",
    "pandas",
    "polars",
    "dask",
    "distributed",
    "typer",
    "rich",
    "jinja2",
    "skops",
    "onnx",
    "onnxruntime",
    "skl2onnx",
    "pyarrow",
}


def layer_of(parts):
    """Name the layer of a dotted path below the package; "" is the package root."""
    if not parts or parts[0] in {"__init__", "__main__"}:
        return ""
    if parts[0].startswith("_") or parts[0] == "exceptions":
        return "types"
    return parts[0]


def is_module(parts):
    path = PACKAGE.joinpath(*parts)
    return path.is_dir() or any(path.with_suffix(end).is_file() for end in (".py", ".pyi"))


def imported(tree, package):
    """Yield (node, dotted name as a tuple) for each import of a module in ``package``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, tuple(alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            base = tuple(node.module.split(".")) if node.module else ()
            if node.level:
                base = package[: len(package) - node.level + 1] + base
            for alias in node.names:
                yield node, (*base, alias.name)
        elif isinstance(node, ast.Call) and "import_module" in ast.dump(node.func):
            yield from imported_by_name(node, package)


def imported_by_name(call, package):
    """Yield (call, dotted name as a tuple) for an ``import_module`` of a constant name."""
    name = call.args[0].value if isinstance(call.args[0], ast.Constant) else ""
    below = name.lstrip(".")
    base = package[: len(package) - (len(name) - len(below)) + 1] if name != below else ()
    if below:
        yield call, (*base, *below.split("."))


def arrows(path, source=None):
    """Return (line, target layer) for each import of our own in the file."""
    below = path.relative_to(PACKAGE).with_suffix("").parts
    package = ("kernelwise", *below[:-1])
    tree = ast.parse(path.read_text(encoding="utf-8") if source is None else source)
    found = []
    for node, name in imported(tree, package):
        if name[0] == "kernelwise":
            parts = name[1:]
            known = parts and (is_module(parts[:1]) or parts[0] in MAY_IMPORT)
            found.append((node.lineno, layer_of(parts) if known else ""))
    return found


def upward(path, source=None):
    """Return a sentence for each import in the file that is not allowed."""
    layer = layer_of(path.relative_to(PACKAGE).with_suffix("").parts)
    if layer == "":
        return []  # the package root gathers everything
    allowed = {layer, "types"} | MAY_IMPORT.get(layer, set())
    return [
        f"{path.relative_to(PACKAGE)}:{line}: {layer} -> {target or 'the package root'}"
        for line, target in arrows(path, source)
        if target not in allowed
    ]


def at_import_time(tree):
    """Yield the nodes that run when the module is imported: none inside functions."""
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            todo.extend(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            todo.extend(ast.iter_child_nodes(node))


def sources():
    return [
        pytest.param(path, id=path.relative_to(PACKAGE).as_posix())
        for path in sorted(PACKAGE.rglob("*.py"))
    ]


def test_table_names_only_declared_layers_and_has_no_cycle():
    for layer, below in MAY_IMPORT.items():
        assert below <= set(MAY_IMPORT), layer
        for target in below:
            assert layer not in MAY_IMPORT[target], f"{layer} <-> {target}"


def test_every_layer_is_declared():
    paths = [path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py")]
    layers = {layer_of(path.with_suffix("").parts) for path in paths}
    undeclared = layers - set(MAY_IMPORT) - {"", "types"}
    assert not undeclared, f"declare in MAY_IMPORT what these layers may import: {undeclared}"


@pytest.mark.parametrize("path", sources())
def test_imports_go_downward(path):
    assert upward(path) == []


@pytest.mark.parametrize("path", sources())
def test_optional_packages_are_imported_inside_functions_of_top_layers(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    layer = layer_of(path.relative_to(PACKAGE).with_suffix("").parts)
    early = set(map(id, at_import_time(tree)))
    for node, name in imported(tree, ()):
        if name[:1] and name[0] in OPTIONAL and not getattr(node, "level", 0):
            allowed = TOP_LAYERS | LOWER_LAYERS_WITH.get(name[0], set())
            assert layer in allowed, f"line {node.lineno}: {layer} imports {name[0]}"
            if layer == "cli" and name[0] in TOOLKIT and path.stem != "__init__":
                continue
            assert id(node) not in early, f"line {node.lineno}: {name[0]} at import time"


@pytest.mark.parametrize(
    ("file", "source", "n_upward"),
    [
        ("qp/smo.py", "from kernelwise.kernels import RBF", 1),
        ("qp/smo.py", "from ..kernels import RBF", 1),
        ("qp/smo.py", "from .. import kernels", 1),
        ("qp/smo.py", "import kernelwise.svm", 1),
        ("qp/smo.py", "from kernelwise import SVC", 1),
        ("qp/smo.py", "def f():\n    from kernelwise.svm import SVC", 1),
        ("kernels/rbf.py", "from ..somewhere.new import f", 1),
        ("qp/smo.py", "from .problem import DualQP\nfrom .._version import __version__", 0),
        ("svm/svc.py", "from ..qp import DualQP\nfrom kernelwise.kernels import RBF", 0),
        ("discrimination/measures.py", "from ..qp import DualQP", 1),
        ("qp/smo.py", "import_module('kernelwise.kernels')", 1),
        ("qp/smo.py", "importlib.import_module('..svm', __package__)", 1),
        ("qp/smo.py", "import_module('.problem', __package__)", 0),
    ],
)
def test_the_reader_of_imports_sees_an_upward_arrow(file, source, n_upward):
    assert len(upward(PACKAGE / file, source)) == n_upward


METHODS = {
    "adaptive_kernel",
    "cell_svc",
    "dual_objective",
    "error_bounds",
    "feature_discrimination",
    "generalized_bias",
    "margin_radius",
    "relevance",
    "search",
    "svc",
}
# Inside svm: a method imports what methods share, never another method. The search fits SVCs.
INSIDE_SVM = {"base": set(), "paths": {"base"}, "search": {"base", "paths", "svc"}}
INSIDE_SVM |= {name: {"base", "paths"} for name in METHODS - {"search"}}


def sideways(path, source=None):
    """Return a sentence for each import between rooms of svm that is not allowed."""
    below = path.relative_to(PACKAGE / "svm").with_suffix("").parts
    tree = ast.parse(path.read_text(encoding="utf-8") if source is None else source)
    package = ("kernelwise", "svm", *below[:-1])
    targets = [
        (node.lineno, name[2])
        for node, name in imported(tree, package)
        if name[:2] == ("kernelwise", "svm") and len(name) > 2
    ]
    allowed = {below[0]} | INSIDE_SVM.get(below[0], set(INSIDE_SVM))
    return [
        f"line {line}: {below[0]} -> {target}" for line, target in targets if target not in allowed
    ]


@pytest.mark.parametrize(
    "path", [each for each in sources() if "svm" in each.values[0].relative_to(PACKAGE).parts[:1]]
)
def test_methods_import_no_other_method(path):
    below = path.relative_to(PACKAGE / "svm").with_suffix("").parts
    assert below[0] in {"__init__", *INSIDE_SVM}, "declare the new room in INSIDE_SVM"
    if below[0] != "__init__":
        assert sideways(path) == []


def test_the_reader_of_imports_sees_a_sideways_arrow():
    source = "from ..margin_radius.space import ExplicitSpace\nfrom ..base.steps import Columns"
    assert len(sideways(PACKAGE / "svm" / "relevance" / "estimator.py", source)) == 1
    assert len(sideways(PACKAGE / "svm" / "paths" / "walk.py", "from ..svc import SVC")) == 1


def modules_after(code):
    """Return the names of all modules in sys.modules after running ``code``."""
    code += "\nimport sys\nprint(*sys.modules)"
    run = [sys.executable, "-c", code]
    return set(subprocess.run(run, check=True, capture_output=True, text=True).stdout.split())


def test_import_loads_no_optional_package_and_no_compiler():
    loaded = {name.partition(".")[0] for name in modules_after("import kernelwise")}
    assert "kernelwise" in loaded
    assert not loaded & OPTIONAL


FIRST_FIT = """
import numpy as np
from {module} import {name}
X = np.random.default_rng(0).normal(size=(60, 3))
{name}().fit(X, X[:, 0] > 0)
"""

# Patterns of modules that the first fit of a small table must not wait for.
NOT_FOR_AN_SVC = r"criteria|outer|discrimination|scale|svm\.(paths|relevance|search)|qp\.equalities"
NOT_FOR_A_SMALL_TABLE = (
    r"scale\.(?!sampling|bins)|kernels\.(composed|dot|empirical)|criteria\.(cross_validation|dual)|"
    r"qp\.equalities|svm\.(svc|search)|svm\.base\.to_sklearn|svm\.relevance\.large$|"
    r"svm\.relevance\.parts\.(cells|evidence|joint|larger|metric)"
)


@pytest.mark.parametrize(
    ("name", "unwanted"), [("SVC", NOT_FOR_AN_SVC), ("RelevanceSVC", NOT_FOR_A_SMALL_TABLE)]
)
def test_a_first_fit_loads_nothing_it_does_not_use(name, unwanted):
    loaded = modules_after(FIRST_FIT.format(module="kernelwise", name=name))
    plain = modules_after(FIRST_FIT.format(module="sklearn.svm", name="SVC"))
    ours = {name for name in loaded if name.partition(".")[0] == "kernelwise"}
    assert "kernelwise._native" in ours
    assert sorted(name for name in ours if re.match(rf"kernelwise\.({unwanted})", name)) == []
    assert loaded - plain - ours <= {"threadpoolctl"}


@pytest.mark.parametrize("path", sources())
def test_private_names_stay_in_their_layer(path):
    below = path.relative_to(PACKAGE).with_suffix("").parts
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node, name in imported(tree, ("kernelwise", *below[:-1])):
        if name[0] == "kernelwise" and layer_of(name[1:]) not in {layer_of(below), "types", ""}:
            private = [part for part in name[2:] if part.startswith("_")]
            assert not private, f"line {node.lineno}: {'.'.join(name)}"


MAX_MODULE = 400  # lines of a module, without the docstrings of its classes and functions
MAX_FUNCTION = 60  # lines of a function, without its docstring


def n_lines(node):
    """Return the lines of a module, class or function, without the docstrings inside."""
    whole = node.body[-1].end_lineno if isinstance(node, ast.Module) else node.end_lineno
    begin = 1 if isinstance(node, ast.Module) else node.lineno
    described = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = [
        each.body[0] for each in ast.walk(node) if isinstance(each, described) and docstring(each)
    ]
    return whole - begin + 1 - sum(text.end_lineno - text.lineno + 1 for text in texts)


def docstring(node):
    return ast.get_docstring(node, clean=False)


@pytest.mark.parametrize("path", sources())
def test_modules_and_functions_are_short(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if tree.body:
        assert n_lines(tree) <= MAX_MODULE
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert n_lines(node) <= MAX_FUNCTION, node.name


def test_docstrings_do_not_count():
    source = 'def f():\n    """First.\n\n    More.\n    """\n    x = 1\n\n    return x\n'
    assert n_lines(ast.parse(source).body[0]) == 4
    assert n_lines(ast.parse("import os\n\n\n" + source)) == 7


def private_sklearn_names(source):
    """Return the private names of scikit-learn that a file imports or reads from a module."""
    names = (".".join(name) for _, name in imported(ast.parse(source), ()) if name)
    return [name for name in names if re.match(r"sklearn\..*?(?<![^.])_", name)]


@pytest.mark.parametrize("path", sources())
def test_one_module_imports_private_names_of_scikit_learn(path):
    if path.relative_to(PACKAGE).as_posix() != "_sklearn.py":
        assert private_sklearn_names(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("source", "n_private"),
    [
        ("from sklearn.utils import _safe_indexing, resample", 1),
        ("from sklearn.utils._param_validation import Interval", 1),
        ("import sklearn.svm._classes", 1),
        ("def f():\n    from sklearn.base import _fit_context", 1),
        ("from sklearn.model_selection import cross_val_score", 0),
        ("from ..._sklearn import safe_indexing", 0),
    ],
)
def test_the_reader_of_imports_sees_private_names(source, n_private):
    assert len(private_sklearn_names(source)) == n_private

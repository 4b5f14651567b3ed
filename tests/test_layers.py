"""Imports go downward only, optional packages stay optional, and modules stay small."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.loop import loop

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "kernelwise"

# The floors of the house, from the bottom, and for each layer the layers that it may import. A new
# folder or root module must be declared here. Modules of the package root that start with an
# underscore are the types and helpers that every layer may use; `_native` is the compiled floor.
CORE = {
    "kernels": set(),
    "qp": set(),
    "outer": set(),
    "discrimination": set(),
    "criteria": {"kernels", "qp"},
    "calibration": set(),
    "values": set(),
}
METHODS = {
    "svm": set(CORE),
    "transform": {*CORE, "svm"},
    "dask": {*CORE, "svm"},
}
_MODELS = {*CORE, "svm", "transform"}
APPLICATION = {
    "tabular": _MODELS,
    "io": _MODELS | {"tabular"},
    "evaluation": _MODELS | {"tabular", "io"},
    "inspection": _MODELS | {"tabular", "io", "evaluation"},
    "report": _MODELS | {"tabular", "io", "evaluation", "inspection"},
    "page": _MODELS | {"tabular", "io", "evaluation", "inspection", "report"},
    "cli": _MODELS | {"tabular", "io", "evaluation", "inspection", "report", "page"},
}
MAY_IMPORT = CORE | METHODS | APPLICATION

# Inside svm a method imports what methods share, and no other method. The search fits them.
SHARED = {"base": set(), "paths": {"base"}}
SVM_METHODS = {
    "adaptive_kernel",
    "dual_objective",
    "error_bounds",
    "feature_discrimination",
    "generalized_bias",
    "margin_radius",
    "nu_svc",
    "nu_svr",
    "one_class",
    "relevance",
    "search",
    "svc",
    "svr",
}
INSIDE_SVM = SHARED | {name: {"base", "paths"} for name in SVM_METHODS}
INSIDE_SVM["search"] = {"base", "paths", "svc", "svr"}

# Packages that come with an extra: the layers that may import them, inside functions only. The
# commands are declared with typer's annotations, so their modules import that toolkit at once.
_TOP = {"dask", *APPLICATION}
TOOLKIT = {"typer", "rich"}
OPTIONAL = dict.fromkeys(
    [
        *("dask", "distributed", "jinja2", "matplotlib", "onnx", "onnxruntime", "pandas"),
        *("polars", "pyarrow", "rich", "skl2onnx", "skops", "typer"),
    ],
    _TOP,
)
OPTIONAL["clarabel"] = {"svm"}  # the cone solver of one option of one method

MAX_MODULE = 400  # lines of a module, without docstrings
MAX_FUNCTION = 60  # lines of a function, without its docstring


# --- Reading the imports ----------------------------------------------------------------------


@cache
def modules():
    """Return {path below the package: syntax tree} of all modules."""
    return {
        path.relative_to(PACKAGE): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def layer_of(parts):
    """Name the layer of a dotted path below the package; "" is the package root."""
    parts = parts[1:] if parts[:1] == ("app",) else parts
    if not parts or parts[0] in {"__init__", "__main__"}:
        return ""
    return "types" if parts[0].startswith("_") else parts[0]


def is_known(name):
    """Return whether a dotted path below the package begins with a module or a layer."""
    return bool(name) and (is_module(name[0]) or name[0] in MAY_IMPORT)


def is_module(name):
    path = PACKAGE / name
    return path.is_dir() or any(path.with_suffix(end).is_file() for end in (".py", ".pyi"))


def dotted(path):
    return path.with_suffix("").parts


def imported(tree, package=()):
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


def own_imports(path, tree):
    """Yield (line, dotted name below the package) for each import of our own modules."""
    for node, name in imported(tree, ("kernelwise", *dotted(path)[:-1])):
        if name[0] == "kernelwise":
            yield node.lineno, name[1:]


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


def offenders(rule, found=None):
    """Return "file:line: reason" for all that a rule finds in the modules."""
    found = modules() if found is None else found
    return [
        f"{path.as_posix()}:{line}: {reason}"
        for path, tree in found.items()
        for line, reason in rule(path, tree)
    ]


# --- The rules --------------------------------------------------------------------------------


def upward(path, tree):
    """Find imports of a layer above, or of what lies outside the package."""
    layer = layer_of(dotted(path))
    allowed = {layer, "types"} | MAY_IMPORT.get(layer, set())
    for line, name in own_imports(path, tree) if layer else ():  # the root gathers everything
        target = layer_of(name) if is_known(name) else ""
        if target not in allowed:
            yield line, f"{layer} -> {target or 'the package root'}"
    for node, name in imported(tree):
        if name[:1] and name[0] in {"benchmarks", "reproduction", "tests", "examples"}:
            yield node.lineno, f"{layer} -> {name[0]}, outside the package"


def sideways(path, tree):
    """Find imports between the methods of svm, and of a folder's parent inside a method."""
    parts = dotted(path)
    if parts[0] != "svm" or parts[1] == "__init__":
        return
    if parts[1] not in INSIDE_SVM:
        yield 1, f"declare {parts[1]} in INSIDE_SVM"
    allowed = {parts[1]} | INSIDE_SVM.get(parts[1], set())
    for line, name in own_imports(path, tree):
        if name[0] != "svm" or len(name) < 2:
            continue
        if name[1] not in allowed:
            yield line, f"{parts[1]} -> {name[1]}"
        elif len(parts) > 3 and name[1] == parts[1] and name[:3] != parts[:3]:
            yield line, f"{'.'.join(parts[1:3])} -> its parent"


def optional(path, tree):
    """Find optional packages outside functions, or below the layers that may use them."""
    layer, early = layer_of(dotted(path)), set(map(id, at_import_time(tree)))
    for node, name in imported(tree):
        if not name[:1] or name[0] not in OPTIONAL or getattr(node, "level", 0):
            continue
        declares = layer == "cli" and name[0] in TOOLKIT and path.stem != "__init__"
        if layer not in OPTIONAL[name[0]]:
            yield node.lineno, f"{layer} imports {name[0]}"
        elif id(node) in early and not declares:
            yield node.lineno, f"{name[0]} at import time"


def private(path, tree):
    """Find private names of another layer, and of scikit-learn outside `_sklearn`."""
    own = {layer_of(dotted(path)), "types", ""}
    for line, name in own_imports(path, tree):
        if layer_of(name) not in own and any(part.startswith("_") for part in name[1:]):
            yield line, ".".join(name)
    for node, name in imported(tree) if path != Path("_sklearn.py") else ():
        if re.match(r"sklearn\..*?(?<![^.])_", ".".join(name)):
            yield node.lineno, ".".join(name)


def large(path, tree):
    """Find modules and functions that are too long."""
    functions = [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    if tree.body and n_lines(tree) > MAX_MODULE:
        yield 1, f"{n_lines(tree)} lines"
    for node in functions:
        if n_lines(node) > MAX_FUNCTION:
            yield node.lineno, f"{node.name} has {n_lines(node)} lines"


def n_lines(node):
    """Return the lines of a module, class or function, without the docstrings inside."""
    whole = node.body[-1].end_lineno if isinstance(node, ast.Module) else node.end_lineno
    begin = 1 if isinstance(node, ast.Module) else node.lineno
    described = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = [
        each.body[0]
        for each in ast.walk(node)
        if isinstance(each, described) and ast.get_docstring(each, clean=False)
    ]
    return whole - begin + 1 - sum(text.end_lineno - text.lineno + 1 for text in texts)


@pytest.mark.parametrize("rule", [upward, sideways, optional, private, large])
def test_every_module_keeps_the_rule(rule):
    found = offenders(rule)
    assert not found, "\n".join(found)


def test_the_table_names_every_layer_and_has_no_cycle():
    for layer, below in MAY_IMPORT.items():
        assert below <= set(MAY_IMPORT), layer
        assert not any(layer in MAY_IMPORT[target] for target in below), layer
    folders = {path.parts[:2] if path.parts[0] == "app" else path.parts[:1] for path in modules()}
    folders = {each for each in folders if not each[-1].endswith(".py")}
    declared = {(name,) for name in CORE | METHODS} | {("app", name) for name in APPLICATION}
    assert folders == declared, "declare each folder in the table, and nothing else"
    rooms = {dotted(path)[1] for path in modules() if path.parts[0] == "svm"} - {"__init__"}
    assert rooms == set(INSIDE_SVM)


@loop(
    ("rule", "file", "source", "n_found"),
    [
        (upward, "qp/smo.py", "from kernelwise.kernels import RBF", 1),
        (upward, "qp/smo.py", "from ..kernels import RBF", 1),
        (upward, "qp/smo.py", "from .. import kernels", 1),
        (upward, "qp/smo.py", "import kernelwise.svm", 1),
        (upward, "qp/smo.py", "from kernelwise import SVC", 1),
        (upward, "qp/smo.py", "def f():\n    from kernelwise.svm import SVC", 1),
        (upward, "kernels/rbf.py", "from ..somewhere.new import f", 1),
        (upward, "qp/smo.py", "from .problem import DualQP\nfrom .._version import x", 0),
        (upward, "svm/svc.py", "from ..qp import DualQP\nfrom kernelwise.kernels import RBF", 0),
        (upward, "discrimination/measures.py", "from ..qp import DualQP", 1),
        (upward, "qp/smo.py", "import_module('kernelwise.kernels')", 1),
        (upward, "qp/smo.py", "importlib.import_module('..svm', __package__)", 1),
        (upward, "qp/smo.py", "import_module('.problem', __package__)", 0),
        (upward, "svm/svc.py", "from ..app.io import save", 1),
        (upward, "app/io/model_file.py", "from ..tabular import f\nfrom ...svm import SVC", 0),
        (upward, "app/io/model_file.py", "from ..report import page", 1),
        (upward, "app/io/model_file.py", "from benchmarks.engine import store", 1),
        (sideways, "svm/relevance/base.py", "from ..margin_radius.space import ExplicitSpace", 1),
        (sideways, "svm/relevance/base.py", "from ..base.steps import Columns", 0),
        (sideways, "svm/relevance/columns/bins.py", "from ..rows import Rows", 1),
        (sideways, "svm/relevance/columns/bins.py", "from .raw import f\nfrom ...base import g", 0),
        (sideways, "svm/paths/walk.py", "from ..svc import SVC", 1),
        (sideways, "svm/new.py", "", 1),
        (optional, "svm/svc.py", "def f():\n    import matplotlib", 1),
        (optional, "app/report/page.py", "import jinja2", 1),
        (optional, "app/report/page.py", "def f():\n    import jinja2", 0),
        (optional, "app/cli/fit.py", "import typer", 0),
        (private, "svm/svc.py", "from ..qp.smo import _polish", 1),
        (private, "svm/svc.py", "from sklearn.utils import _safe_indexing, resample", 1),
        (private, "svm/svc.py", "from sklearn.utils._param_validation import Interval", 1),
        (private, "svm/svc.py", "import sklearn.svm._classes", 1),
        (private, "svm/svc.py", "from .._sklearn import safe_indexing", 0),
        (private, "svm/svc.py", "from sklearn.model_selection import cross_val_score", 0),
        (large, "a.py", "def f():\n" + 59 * "    x = 1\n", 0),
        (large, "a.py", "def f():\n" + 60 * "    x = 1\n", 1),
        (large, "a.py", 400 * "x = 1\n", 0),
        (large, "a.py", 401 * "x = 1\n", 1),
        (large, "a.py", 'def f():\n    """First.\n\n    More.\n    """\n' + 59 * "    x = 1\n", 0),
    ],
)
def test_the_rules_see_what_they_forbid(rule, file, source, n_found):
    assert len(offenders(rule, {Path(file): ast.parse(source)})) == n_found


# --- What is loaded ---------------------------------------------------------------------------


def modules_after(code):
    """Return the names of all modules in sys.modules after running ``code``."""
    code += "\nimport sys\nprint(*sys.modules)"
    run = [sys.executable, "-c", code]
    return set(subprocess.run(run, check=True, capture_output=True, text=True).stdout.split())


def test_import_loads_no_optional_package_and_no_compiler():
    loaded = {name.partition(".")[0] for name in modules_after("import kernelwise")}
    assert "kernelwise" in loaded
    assert not loaded & OPTIONAL.keys()


FIRST_FIT = """
import numpy as np
from {module} import {name}
X = np.random.default_rng(0).normal(size=(60, 3))
{name}().fit(X, X[:, 0] > 0)
"""

# Patterns of modules that the first fit of a small table must not wait for.
_NOT_FOR_ANY = r"criteria|outer|discrimination|svm\.(paths|search)|qp\.equalities"
NOT_FOR_AN_SVC = rf"{_NOT_FOR_ANY}|svm\.relevance"
NOT_FOR_RELEVANCE = rf"{_NOT_FOR_ANY}|kernels\.(composed|dot|empirical)|svm\.(svc|base\.estimator)"


def test_a_first_fit_loads_nothing_it_does_not_use():
    plain = modules_after(FIRST_FIT.format(module="sklearn.svm", name="SVC"))
    for name, unwanted in (("SVC", NOT_FOR_AN_SVC), ("RelevanceSVC", NOT_FOR_RELEVANCE)):
        loaded = modules_after(FIRST_FIT.format(module="kernelwise", name=name))
        ours = {module for module in loaded if module.partition(".")[0] == "kernelwise"}
        assert "kernelwise._native" in ours
        assert sorted(x for x in ours if re.match(rf"kernelwise\.({unwanted})", x)) == []
        assert loaded - plain - ours <= {"threadpoolctl"}, name

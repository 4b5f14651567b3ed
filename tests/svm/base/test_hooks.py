"""The hooks of the base classes: at most five, all of them listed in their docstrings."""

import ast
import re
from pathlib import Path

import kernelwise
from kernelwise.svm.base.classifier import KernelClassifier
from kernelwise.svm.base.estimator import KernelMachine
from tests.loop import loop

PACKAGE = Path(kernelwise.__file__).parent


def listed_hooks():
    texts = KernelMachine.__doc__ + KernelClassifier.__doc__
    return set(re.findall(r"- ``(_\w+)\(", texts))


def classes_of(tree):
    """Yield the name of each class, the names of its bases and those that its body defines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            bases = {re.sub(r"\[.*", "", ast.unparse(base)).split(".")[-1] for base in node.bases}
            names = set()
            for each in node.body:
                if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                    names.add(each.name)
                elif isinstance(each, ast.Assign | ast.AnnAssign):
                    targets = each.targets if isinstance(each, ast.Assign) else [each.target]
                    names |= {target.id for target in targets if isinstance(target, ast.Name)}
            yield node.name, bases, names


def overridden(sources):
    """Return the private names of classes of svm/base that their subclasses elsewhere define."""
    found = {}
    for path, source in sources:
        in_base = path.startswith("svm/base/")
        for name, bases, names in classes_of(ast.parse(source)):
            found[name] = (in_base, bases, names)

    def ancestors(name):
        for base in found[name][1] & set(found):
            yield base
            yield from ancestors(base)

    out = set()
    for name, (in_base, _, names) in found.items():
        if not in_base and "KernelMachine" in set(ancestors(name)):
            shared = [found[base][2] for base in ancestors(name) if found[base][0]]
            out |= {each for each in names & set().union(*shared) if re.match("_(?!_)", each)}
    return out


def sources():
    paths = sorted(PACKAGE.rglob("*.py"))
    return [(p.relative_to(PACKAGE).as_posix(), p.read_text(encoding="utf-8")) for p in paths]


def test_methods_override_the_listed_hooks_and_no_others():
    assert overridden(sources()) == listed_hooks()
    assert len(listed_hooks()) <= 5


@loop("body", ["def _task(self): ...", "_task = None", "_task: int = 1"])
def test_the_reader_of_classes_sees_an_override(body):
    room = ("svm/new.py", f"class A(SVC):\n    pass\nclass B(A):\n    {body}")
    assert overridden([*sources(), room]) == listed_hooks() | {"_task"}

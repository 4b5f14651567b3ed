"""New locations of modules and classes that moved, so that old pickles and model files load."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as in the package itself, which imports this module
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# Module of an earlier version -> module that has its names now, the public package if possible.
MODULES: Mapping[str, str] = {
    "kernelwise.bounds.alignment": "kernelwise.criteria",
    "kernelwise.bounds.base": "kernelwise.criteria",
    "kernelwise.bounds.cross_validation": "kernelwise.criteria",
    "kernelwise.bounds.dual": "kernelwise.criteria",
    "kernelwise.bounds.objective": "kernelwise.criteria",
    "kernelwise.bounds.radius_margin": "kernelwise.criteria",
    "kernelwise.bounds.span": "kernelwise.criteria",
    "kernelwise.experiments.base": "kernelwise.experiments",
    "kernelwise.experiments.errors": "kernelwise.experiments",
    "kernelwise.experiments.html": "kernelwise.experiments",
    "kernelwise.experiments.markdown": "kernelwise.experiments",
    "kernelwise.experiments.pages": "kernelwise.experiments",
    "kernelwise.experiments.runner": "kernelwise.experiments",
    "kernelwise.experiments.tables": "kernelwise.experiments",
    "kernelwise.io.plain": "kernelwise.io",
    "kernelwise.kernels.bilinear": "kernelwise.kernels",
    "kernelwise.kernels.given": "kernelwise.kernels",
    "kernelwise.kernels.l1": "kernelwise.kernels",
    "kernelwise.qp.run": "kernelwise.qp",
    "kernelwise.report.judging": "kernelwise.evaluation",
    "kernelwise.svm.diagnosis": "kernelwise.svm",
    "kernelwise.svm.search.search": "kernelwise.svm",
    "kernelwise.svm.machines": "kernelwise.svm.base.older_models",
    "kernelwise.svm.margin_radius_space": "kernelwise.svm.base.older_models",
    "kernelwise.svm.warm": "kernelwise.svm.base.warm_start",
    "kernelwise.tabular.cost": "kernelwise.evaluation",
    "kernelwise.tabular.evaluation": "kernelwise.evaluation",
    "kernelwise.tabular.registry": "kernelwise.evaluation",
    "kernelwise.tabular.results": "kernelwise.evaluation",
    "kernelwise.tabular.target": "kernelwise.tabular",
    "kernelwise.tabular.training": "kernelwise.tabular",
    "kernelwise.transform.relevance": "kernelwise.transform",
}
# Classes that moved elsewhere than the rest of their module, or were renamed.
CLASSES: Mapping[tuple[str, str], tuple[str, str]] = {
    ("kernelwise.bounds.base", "Evaluation"): ("kernelwise.criteria", "CriterionValue"),
    ("kernelwise.tabular.evaluation", "compare"): ("kernelwise.tabular", "compare"),
    ("kernelwise.tabular.results", "Weight"): ("kernelwise.tabular", "Weight"),
}


def current_name(module: str, name: str) -> tuple[str, str]:
    """Return the current module and name of a class or function of an earlier version."""
    return CLASSES.get((module, name), (MODULES.get(module, module), name))


class MovedModules:
    """Import finder for the old modules, used only if no other finder knows a module."""

    @classmethod
    def find_spec(cls, fullname: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec of an old module, and None for any other name."""
        if fullname not in MODULES:
            return None
        from importlib.machinery import ModuleSpec

        return ModuleSpec(fullname, cls)  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: Any) -> None:
        """Let Python create the empty module."""

    @staticmethod
    def exec_module(module: Any) -> None:
        """Give an old module the names of the new one, looked up on access."""
        from importlib import import_module

        def find(name: str) -> Any:
            home, new_name = current_name(module.__name__, name)
            if new_name.startswith("__"):  # looked up by Python: an old module has no __path__
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
            return getattr(import_module(home), new_name)

        module.__getattr__ = find


def install() -> None:
    """Register the import finder for the old modules."""
    if MovedModules not in sys.meta_path:
        sys.meta_path.append(MovedModules)

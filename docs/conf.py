"""Sphinx configuration."""

import re
from importlib import import_module

from kernelwise import __version__

project = "kernelwise"
author = "The kernelwise developers"
copyright = "2026, the kernelwise developers"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "myst_parser",
    "numpydoc",
    "sphinx_copybutton",
]

source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]
templates_path = ["_templates"]
nitpicky = False
suppress_warnings = ["ref.term"]  # inherited docstrings refer to scikit-learn's glossary

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

# The public interface is what __all__ lists. A name that several packages export has its page in
# the first of these, and the others link to it.
_PACKAGES = (
    *("criteria", "datasets", "discrimination", "evaluation", "experiments", "inspection", "io"),
    *("kernels", "outer", "qp", "svm", "transform", "tabular", "report"),
)


def homes_of_names():
    """Return {other full name: full name at home} for names that several packages export."""
    first, homes = {}, {}
    for package in (*(f"kernelwise.{name}" for name in _PACKAGES), "kernelwise"):
        module = import_module(package)
        for name in module.__all__:
            full = f"{package}.{name}"
            home = first.setdefault(id(getattr(module, name)), full)
            if home != full:
                homes[full] = home
    return homes


autosummary_generate = True
autosummary_ignore_module_all = False
autosummary_imported_members = True
autosummary_context = {"home": homes_of_names()}
autodoc_typehints = "none"  # the docstrings state the types
numpydoc_show_class_members = False  # the class template lists them
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"kernelwise {release}"


def skip_inherited_from_scikit_learn(app, what, name, obj, skip, options):
    """Leave out members that scikit-learn documents for all estimators."""
    module = getattr(obj, "__module__", None) or ""
    if module.startswith("sklearn.") or re.fullmatch(r"set_\w+_request", name):
        return True
    return None


def setup(app):
    app.connect("autodoc-skip-member", skip_inherited_from_scikit_learn)

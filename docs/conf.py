"""Sphinx configuration."""

import re
from importlib import import_module

from sphinx.errors import ExtensionError

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
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
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
    *("criteria", "discrimination", "kernels", "outer", "qp", "svm", "transform", "dask"),
    *("app.tabular", "app.io", "app.evaluation", "app.inspection", "app.report"),
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

# The gallery: scripts that run while the pages are built; an error in one of them stops the build.
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "generated/gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "ExampleTitleSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "capture_repr": (),  # what an example prints is enough
    "show_signature": False,
    "min_reported_time": 1e9,  # seconds: print no times
    "thumbnail_size": (320, 240),
    "reference_url": {"kernelwise": None},
    "doc_module": ("kernelwise",),
}

html_theme = "furo"
html_title = f"kernelwise {release}"


def skip_inherited_from_scikit_learn(app, what, name, obj, skip, options):
    """Leave out members that scikit-learn documents for all estimators."""
    module = getattr(obj, "__module__", None) or ""
    if module.startswith("sklearn.") or re.fullmatch(r"set_\w+_request", name):
        return True
    return None


def refuse_shadowed_pages(app, env):
    """Fail where Sphinx would write a page of its own over one of ours."""
    shadowed = env.found_docs & {"search", "genindex", "py-modindex"}
    if shadowed:
        raise ExtensionError(f"Sphinx itself writes pages with these names: {sorted(shadowed)}")


def setup(app):
    app.connect("env-updated", refuse_shadowed_pages)
    app.connect("autodoc-skip-member", skip_inherited_from_scikit_learn)

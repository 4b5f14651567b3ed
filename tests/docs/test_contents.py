"""What the documents contain: pages that can be found, names that are defined, a first screen."""

import builtins
import importlib.util
import re
import symtable
from pathlib import Path
from types import SimpleNamespace

import pytest
from sphinx.errors import ExtensionError

from tests.loop import loop

from .test_pages import BLOCK, DOCS, PAGES, ROOT, text_of

WRITTEN_BY_SPHINX = {"search", "genindex", "py-modindex"}  # pages that it writes itself


def test_no_page_has_the_name_of_one_that_sphinx_writes():
    assert not {page.stem for page in DOCS.glob("*.md")} & WRITTEN_BY_SPHINX


def test_the_build_refuses_a_page_that_another_would_shadow():
    spec = importlib.util.spec_from_file_location("conf", DOCS / "conf.py")
    conf = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conf)
    pages = {page.stem for page in DOCS.glob("*.md")}
    conf.refuse_shadowed_pages(None, SimpleNamespace(found_docs=pages))
    for name in WRITTEN_BY_SPHINX:
        with pytest.raises(ExtensionError, match=name):
            conf.refuse_shadowed_pages(None, SimpleNamespace(found_docs=pages | {name}))


def names_of(code):
    """Return the global names that a block sets, and those that it uses."""
    found = symtable.symtable(code, "block", "exec")
    tables, used = [found], set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (symbol.is_global() or table is found):
                used.add(symbol.get_name())
    sets = {s.get_name() for s in found.get_symbols() if s.is_assigned() or s.is_imported()}
    sets |= {s.get_name() for s in found.get_symbols() if s.is_namespace()}
    return sets, used


@loop("page", PAGES, ids=lambda page: page.stem)
def test_every_name_on_a_page_is_defined_by_it(page):
    known = set(dir(builtins)) | {"__name__"}
    for language, code in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            sets, used = names_of(code)
            known |= sets
            assert used <= known, used - known


def test_the_check_finds_a_missing_import():
    _, used = names_of("print(pandas.DataFrame(model.path_))")
    assert used == {"print", "pandas", "model"}


def first_screen():
    return (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Features")[0]


def test_the_readme_opens_with_accuracy_against_peers():
    rows = [line for line in first_screen().splitlines() if re.match(r"\| \d+:? [a-z]", line)]
    assert rows
    assert "![Accuracy against" in first_screen().partition("## Install")[0]


def test_the_readme_installs_from_a_clone_and_shows_ten_lines_of_code():
    assert "$ git clone " in first_screen()
    code = next(code for language, code in BLOCK.findall(first_screen()) if language == "python")
    assert len(code.strip().splitlines()) <= 11


def test_the_readme_has_no_table_of_states_and_no_internal_targets():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert not re.search(r"\| here \||targets that|are reached|are missed", text)


def test_the_landing_page_shows_pictures_and_an_example():
    text = text_of("index")
    before_contents = text.partition("```{toctree}")[0]
    assert before_contents.count(":img-top:") >= 6
    assert "```python" in before_contents
    thumbnails = re.findall(r"sphx_glr_(\w+)_thumb", before_contents)
    examples = Path(ROOT, "examples", "gallery")
    assert all((examples / f"{name}.py").is_file() for name in thumbnails)


def test_every_page_is_in_the_table_of_contents():
    listed = set(re.findall(r"^([a-z_]+)$", text_of("index"), re.MULTILINE))
    assert {page.stem for page in DOCS.glob("*.md")} - {"index"} <= listed


def test_finding_23_a_page_lists_the_papers_with_their_classes():
    page = text_of("papers")
    for name in ("AdaptiveKernelSVC", "DualObjectiveSVC", "MarginRadiusSVC",
                 "FeatureDiscriminationSVC", "GeneralizedBiasSVC"):  # fmt: skip
        assert page.count(f"`{name}`") == 2
    assert "papers" in text_of("index").split()

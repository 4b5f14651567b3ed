"""The reproduction as a self-contained HTML page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..._files import write_text
from ...inspection import as_svg
from ...inspection.html import page_templates
from .errors import ExperimentError
from .sections import Section, cell_text, check_text, checked


def write_html(sections: Sequence[Section], path: Path) -> None:
    """Write the page.

    Parameters
    ----------
    sections : sequence of Section
        See `kernelwise.experiments.sections`.
    path : Path
        Of the page.
    """
    path, sections = Path(path), checked(sections)
    try:
        environment = page_templates("kernelwise.experiments.engine")
    except ImportError as error:
        raise ExperimentError("--html needs jinja2: pip install 'kernelwise[report]'") from error
    environment.filters["prose"] = _prose
    environment.globals.update(cell_text=cell_text, check_text=check_text, as_svg=as_svg)
    claims = [claim for section in sections for claim in section.summary.claims]
    page = environment.get_template("reproduction.html").render(sections=sections, claims=claims)
    write_text(path, page)


def _prose(text: str) -> Any:
    """Return a text with the parts between backticks marked as code."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))

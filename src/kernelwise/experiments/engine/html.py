"""The reproduction as one HTML page that needs no other file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .errors import ExperimentError
from .figures import svg, write_text
from .sections import Section, cell_text, check_text


def write_html(sections: Sequence[Section], path: Path) -> None:
    """Write the page.

    Parameters
    ----------
    sections : sequence of Section
        See `kernelwise.experiments.sections`.
    path : Path
        Of the page.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ExperimentError("--html needs jinja2: pip install 'kernelwise[report]'") from error

    loader = PackageLoader("kernelwise.experiments.engine", "templates")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["prose"] = _prose
    environment.globals.update(cell_text=cell_text, check_text=check_text, svg=svg)
    write_text(path, environment.get_template("reproduction.html").render(sections=sections))


def _prose(text: str) -> Any:
    """Return a text with what stands between backticks as code."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))

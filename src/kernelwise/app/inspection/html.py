"""Templates of self-contained HTML pages."""

from __future__ import annotations

from typing import Any


def page_templates(package: str) -> Any:
    """Return the Jinja environment of the templates in a package's folder ``templates``.

    Text is escaped, and a name that a template does not know is an error.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(package, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

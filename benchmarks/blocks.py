"""Tables inside pages that are written by hand, between two markers."""


def with_block(text: str, name: str, content: str) -> str:
    """Replace the text between the markers ``name:start`` and ``name:end``, if there are any."""
    start, end = f"<!-- {name}:start -->", f"<!-- {name}:end -->"
    before, found, rest = text.partition(start)
    _, closed, after = rest.partition(end)
    return f"{before}{start}\n{content}\n{end}{after}" if found and closed else text

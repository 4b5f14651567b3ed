"""Light and dark, inside a page, and without matplotlib."""

import re
import sys
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.text import Text

from kernelwise.app.inspection import (
    ComparisonDisplay,
    FeatureWeightsDisplay,
    ImportanceDisplay,
    PathDisplay,
    as_svg,
)
from kernelwise.app.inspection.style import PALETTE, short

from .test_displays import importance

DISPLAYS = {
    "weights": FeatureWeightsDisplay(
        [0.5, 0.3, 0.2],
        interval=[[0.4, 0.2, 0.1], [0.6, 0.4, 0.3]],
        selected=[True, True, False],
        frequency=[1.0, 0.7, 0.2],
    ),
    "importance": ImportanceDisplay(importance()),
    "path": PathDisplay(
        {"member": [0] * 3, "n_features": [8, 4, 2], "loss": [0.3, 0.2, 0.4], "weight": [0, 1, 0]}
    ),
    "comparison": ComparisonDisplay({"a": [0.8, 0.9], "b": [0.82, 0.91]}),
}
STYLES = ("default", "dark_background")


def drawn():
    """Yield a name and a figure for each display, light and dark, each twice."""
    for name, display in DISPLAYS.items():
        for style in STYLES:
            with plt.style.context(style):
                yield f"{name}, {style}", display.plot().figure_, display.plot().figure_


def test_text_has_the_colour_of_the_style_and_is_inside_the_figure():
    for name, figure, _ in drawn():
        figure.canvas.draw()
        ink = to_hex(plt.rcParams["text.color"])
        texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
        assert {to_hex(text.get_color()) for text in texts} == {ink}, name
        box = figure.get_tightbbox()  # in inches
        width, height = figure.get_size_inches()
        assert min(box.x0, box.y0) >= -0.01, name
        assert box.x1 <= width + 0.01, name
        assert box.y1 <= height + 0.01, name


def test_svg_is_of_the_page_and_always_the_same():
    for name, figure, other in drawn():
        svg = as_svg(figure, title="A <figure>", name="one")
        assert svg == as_svg(other, title="A <figure>", name="one"), name
        root = ElementTree.fromstring(svg)
        assert root.get("aria-label") == "A <figure>"
        assert root.get("fill") == "currentColor"
        assert svg.count("currentColor") > 5, name
        vector = re.sub(r'href="data:[^"]*"', "", svg)
        found = {colour.lower() for colour in re.findall(r"(?:fill|stroke): (#\w{6})", vector)}
        assert found <= {colour.lower() for colour in PALETTE}, name  # nothing else is left
        assert not re.search(r"\bdate\b|\d{4}-\d\d-\d\d", vector), name
        ids = re.findall(r'\bid="([^"]+)"', svg)
        assert len(ids) == len(set(ids)), name
        assert all(own.startswith("one-") for own in ids), name
        assert {ref[1:] for ref in re.findall(r"url\((#[^)]+)\)", svg)} <= set(ids), name
    with pytest.raises(ValueError, match="name='a b'"):
        as_svg(plt.figure(), name="a b")


def contrast(one, other):
    """Return the contrast of two colours as WCAG defines it."""

    def luminance(colour):
        rgb = np.array(to_rgb(colour))
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_first_colours_stand_out_on_white_and_on_black():
    for colour in PALETTE[:3]:
        assert min(contrast(colour, "white"), contrast(colour, "black")) >= 3, colour


def test_names_are_written_as_they_are():
    assert short("short") == "short"
    assert short("the beginning of a name and its end", 15) == "the beg…its end"
    assert short("cost in $") == r"cost in \$"
    for name in ("price $ per $", "a_b^c", "<b>&amp;"):
        display = FeatureWeightsDisplay([1.0, 2.0], feature_names=[name, "other"]).plot()
        text = ElementTree.fromstring(as_svg(display.figure_)).itertext()
        assert name in {own.strip() for own in text}


def test_missing_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"kernelwise\[plot\]"):
        FeatureWeightsDisplay([1.0, 2.0]).plot()

"""Light and dark, inside a page, and without matplotlib."""

import re
import sys
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.text import Text

from kernelwise.inspection import (
    ComparisonDisplay,
    ConvergenceDisplay,
    DecisionSurfaceDisplay,
    FeatureWeightsDisplay,
    KernelPathDisplay,
    as_svg,
)
from kernelwise.inspection.style import PALETTE, short


def surface():
    xx0, xx1 = np.meshgrid(np.linspace(-2, 2, 9), np.linspace(-2, 2, 9))
    points = np.array([[-1.0, 0.0], [1.0, 0.5], [0.1, -1.0]])
    return DecisionSurfaceDisplay(
        xx0=xx0,
        xx1=xx1,
        responses={"plane": xx0 + 0.1 * xx1},
        points=points,
        labels=np.array([0, 1, 1]),
        class_names=["a", "b"],
        feature_names=["u", "v"],
        support={"plane": np.array([2])},
        n_fixed=3,
    )


WAYS = {
    "weights": lambda: FeatureWeightsDisplay(
        [0.5, 0.3, 0.2],
        interval=[[0.4, 0.2, 0.1], [0.6, 0.4, 0.3]],
        selected=[True, True, False],
        frequency=[1.0, 0.7, 0.2],
    ),
    "map": lambda: FeatureWeightsDisplay(np.arange(8.0).reshape(2, 4)),
    "path": lambda: KernelPathDisplay(
        {"sigma": [1.0, 2.0] * 2, "C": [1.0, 1.0, 9.0, 9.0], "bound": [0.4, 0.3, 0.6, 0.5]},
        parameter="sigma",
        best_index=1,
    ),
    "history": lambda: ConvergenceDisplay(
        {"value": [3.0, 2.0, 1.5], "weights": np.arange(6.0).reshape(3, 2)}
    ),
    "surface": surface,
    "comparison": lambda: ComparisonDisplay({"a": [0.8, 0.9], "b": [0.82, 0.91]}),
}


@pytest.fixture(params=list(WAYS))
def display(request):
    return WAYS[request.param]()


def written(figure):
    figure.canvas.draw()
    return [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_text_has_the_colour_of_the_style(display, style):
    with plt.style.context(style):
        figure = display.plot().figure_
        ink = to_hex(plt.rcParams["text.color"])
        colours = {to_hex(text.get_color()) for text in written(figure)}
    assert colours == {ink}


def test_all_of_it_is_inside_the_figure(display):
    figure = display.plot().figure_
    figure.canvas.draw()
    box = figure.get_tightbbox()  # in inches
    width, height = figure.get_size_inches()
    assert min(box.x0, box.y0) >= -0.01
    assert box.x1 <= width + 0.01
    assert box.y1 <= height + 0.01


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_svg_is_of_the_page_and_always_the_same(display, style):
    with plt.style.context(style):
        svg = as_svg(display.plot().figure_, title="A <figure>", name="one")
        again = as_svg(display.plot().figure_, title="A <figure>", name="one")
    assert svg == again
    root = ElementTree.fromstring(svg)
    assert root.get("aria-label") == "A <figure>"
    assert root.get("fill") == "currentColor"
    assert svg.count("currentColor") > 5
    vector = re.sub(r'href="data:[^"]*"', "", svg)
    found = {colour.lower() for colour in re.findall(r"(?:fill|stroke): (#\w{6})", vector)}
    assert found <= {colour.lower() for colour in PALETTE}  # nothing else is left
    assert not re.search(r"\bdate\b|\d{4}-\d\d-\d\d", vector)
    ids = re.findall(r'\bid="([^"]+)"', svg)
    assert len(ids) == len(set(ids))
    assert all(own.startswith("one-") for own in ids)
    assert {ref[1:] for ref in re.findall(r"url\((#[^)]+)\)", svg)} <= set(ids)


def test_svg_needs_a_name_that_can_be_an_id():
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


@pytest.mark.parametrize("colour", PALETTE[:3])
def test_first_colours_stand_out_on_white_and_on_black(colour):
    assert contrast(colour, "white") >= 3
    assert contrast(colour, "black") >= 3


def test_long_names_keep_both_ends():
    assert short("short") == "short"
    assert short("the beginning of a name and its end", 15) == "the beg…its end"
    assert short("cost in $") == r"cost in \$"


@pytest.mark.parametrize("name", ["price $ per $", "a_b^c", "<b>&amp;"])
def test_names_are_written_as_they_are(name):
    display = FeatureWeightsDisplay([1.0, 2.0], feature_names=[name, "other"]).plot()
    text = ElementTree.fromstring(as_svg(display.figure_)).itertext()
    assert name in {own.strip() for own in text}


def test_missing_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"kernelwise\[plot\]"):
        FeatureWeightsDisplay([1.0, 2.0]).plot()

"""The examples of the gallery run, draw something, and print what they promise."""

import re
import runpy
import time
from pathlib import Path

import pytest

from tests.loop import loop

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples" / "gallery").glob("*.py"))
LONGEST = 30.0  # seconds of CPU that an example may take here, three times what it should


def percent(text, name):
    return float(re.search(rf"^{re.escape(name)}.*?([\d.]+)%", text, re.MULTILINE)[1])


def check_noisy_wine(printed):
    assert percent(printed, "RelevanceSVC()") > percent(printed, "SVC, grid search")
    assert float(re.search(r"noise columns have (\d+)%", printed)[1]) < 40


def check_reliable_probabilities(printed):
    guessing, ours, boosting = map(float, re.findall(r"log loss (\S+)", printed))
    assert ours < guessing < boosting


def check_rare_classes(printed):
    found = {name: percent(printed, f"{name:24s} recall") for name in ("plain", "balanced")}
    assert found["balanced"] > found["plain"]


def check_select_columns(printed):
    ours = r'^RelevanceSelector\(test="fdr"\) +finds 5 of 5, and keeps [01] '
    assert re.search(ours, printed, re.MULTILINE)
    assert re.search(r"^SelectKBest.* finds 3 of 5", printed, re.MULTILINE)
    on_all, on_selected = (percent(printed, f"boosting on {k}") for k in ("all", "selected"))
    assert on_selected > on_all


def check_warm_start_path(printed):
    cold, warm = map(int, re.search(r"(\d+) cold, (\d+) warm", printed).groups())
    assert warm < cold / 2


def check_export_models(printed):
    assert "model file: 0.0" in printed
    assert float(re.search(r"ONNX graph: (\S+)", printed)[1]) < 1e-5  # kernels are float32
    assert "Pipeline True" in printed


CHECKS = {
    name.removeprefix("check_"): check for name, check in globals().items() if name[:6] == "check_"
}


def test_the_gallery_has_enough_examples_and_checks_name_some_of_them():
    names = {path.stem for path in EXAMPLES}
    assert len(names) >= 8
    assert set(CHECKS) <= names


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_draws(path, capsys):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    plt.close("all")
    try:
        start = time.process_time()
        runpy.run_path(str(path))
        assert time.process_time() - start < LONGEST
        assert plt.get_fignums(), "an example of the gallery has a picture"
    finally:
        plt.close("all")
    CHECKS.get(path.stem, lambda printed: None)(capsys.readouterr().out)


@loop("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_opens_with_a_title(path):
    title, line = path.read_text(encoding="utf-8").splitlines()[1:3]
    assert line == "=" * len(title)

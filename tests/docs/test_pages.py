"""Every code block of every page runs, in order, as a reader would type it."""

import contextlib
import io
import json
import re
import shlex
import tomllib
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from typer.testing import CliRunner

from kernelwise.app.cli.app import app
from reproduction.experiment import experiments
from tests.loop import loop

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
BLOCK = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXTRAS = set(
    tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
)


def text_of(name):
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def blocks_of(page):
    """Return (language, code) of each fenced block."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def commands_of(code):
    """Return the commands of a console block, without comments."""
    lines = [line[2:] for line in code.splitlines() if line.startswith("$ ")]
    return [shlex.split(line, comments=True) for line in lines]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to run a page in, with the tables that the pages speak of."""
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    table = load_breast_cancer(as_frame=True).frame.iloc[:120, [0, 1, 4, 20, 21, -1]]
    table = table.rename(columns={"target": "outcome"})
    for name in ("patients.csv", "later_patients.csv"):
        table.to_csv(name, index=False)
    table.drop(columns="outcome").to_csv("new_patients.csv", index=False)
    yield tmp_path
    plt.close("all")


def run_command(words):
    """Run a command of ours, with its output in a file where the page says so."""
    target = words[words.index(">") + 1] if ">" in words else None
    arguments = words[1 : words.index(">")] if target else words[1:]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, f"{shlex.join(words)}: {result.stderr}"
    if target:
        Path(target).write_text(result.stdout, encoding="utf-8")
    return result.stdout


def check_command(words):
    """Check that a command that is not run here exists: a target, an extra, a script, a name."""
    if words[0] == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        for target in (word for word in words[1:] if "=" not in word):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"make {target}"
    elif "pip" in words:
        for extras in re.findall(r"\[(.*?)\]", " ".join(words)):
            assert set(extras.split(",")) <= EXTRAS, extras
    elif words[0] == "python" and words[1] != "-m":
        assert (ROOT / words[1]).is_file(), words[1]
    elif words[0] == "python":
        module = ROOT / words[2].replace(".", "/")
        assert module.is_dir() or module.with_suffix(".py").is_file(), words[2]
        if words[2] == "reproduction":
            for name in (word for word in words[3:4] if not word.startswith("-")):
                assert any(each.startswith(name) for each in experiments()), name
    elif words[:2] == ["git", "clone"]:
        assert words[2:] == ["URL", "kernelwise"]
    else:
        assert words[0] in ("export", "cd"), shlex.join(words)


def run_page(page):
    """Run all blocks of a page; return the names that it defines and all that it prints."""
    names, printed = {"__name__": page.stem}, io.StringIO()
    for language, code in blocks_of(page):
        if language == "python":
            with contextlib.redirect_stdout(printed):
                exec(compile(code, page.name, "exec"), names)
        elif language == "console":
            for words in commands_of(code):
                if words[0] == "kernelwise":
                    printed.write(run_command(words))
                else:
                    check_command(words)
    return names, printed.getvalue()


def numbers_in(printed):
    return [float(line) for line in printed.splitlines() if re.fullmatch(r"\d\.\d+", line)]


# What a page shows beyond running: the numbers that it prints and the files that it writes.


def check_readme(names, printed):
    (accuracy,) = numbers_in(printed)
    assert 0.9 < accuracy < 1.0
    model = names["model"]
    selected = model.feature_names_in_[model.selected_features_]
    assert len(selected) <= 10
    assert any(name.startswith("worst") for name in selected)
    assert (names["low"] < names["high"]).all()
    assert len(Path("predictions.csv").read_text(encoding="utf-8").splitlines()) == 121
    assert Path("report.html").stat().st_size > 10_000


def check_quickstart(names, printed):
    accuracy, coverage, forest = numbers_in(printed.partition("{'C'")[0])
    assert accuracy > 0.95
    assert 0.8 < coverage <= 1
    assert forest > 0.9
    assert "True\n" in printed
    assert Path("report.html").stat().st_size > 10_000


def check_relevance(names, printed):
    (accuracy,) = numbers_in(printed)
    assert 0.9 < accuracy < 1.0
    assert "selected: [0 1]" in printed
    importances = names["regressor"].feature_importances_
    assert importances[:10].sum() > 2 * importances[10:].sum()  # 10 real columns, 40 of noise
    assert 1 <= names["grouped"].selected_features_.sum() <= 5
    assert len(names["at_most_10"][0].get_feature_names_out()) == 10
    assert (names["low"] < names["high"]).all()


def check_categories(names, printed):
    assert printed.startswith("age: ")
    assert "[False  True  True]" in printed
    a, b = names["model"].feature_importances_[[0, 3]]
    assert a > 2 * b
    assert names["ill"].mean() > 0.1


def check_feature_discrimination(names, printed):
    assert [0.9 < accuracy < 1.0 for accuracy in numbers_in(printed)] == [True] * 3


def check_generalized_bias(names, printed):
    plain, ours, share = numbers_in(printed)
    assert ours > plain + 0.1
    assert 0 < share < 1


def check_bias_features(names, printed):
    geodesic, plain, topics = numbers_in(printed)
    assert geodesic > plain
    assert topics > 0.8


def check_margin_radius(names, printed):
    assert names["model"].duality_gap_ <= 1e-4
    assert (names["model"].feature_weights_ == 0).any()
    assert names["elimination"].support_.sum() == 8


def check_criteria(names, printed):
    value, loo_error = numbers_in(printed)
    assert value < names["objective"](names["start"])[0]
    assert loo_error < 0.1


def check_solver(names, printed):
    assert names["warm"].violation <= 1e-3


def check_inspection(names, printed):
    assert names["svg"].startswith("<svg")
    assert names["checks"].failed == {}
    assert 1 <= names["importance"].matters.sum() < 13
    assert 1 <= names["test"].selected("fdr", alpha=0.1).sum() <= 13
    assert names["stability"].rank_agreement > 0.5
    assert [each.name for each in names["effects"].effects] == ["proline", "flavanoids"]
    np.testing.assert_allclose(
        names["reasons"].values.sum(axis=1) + names["reasons"].rest,
        names["reasons"].outputs - names["reasons"].base,
        atol=1e-9,
    )


def check_model_files(names, printed):
    summary, outputs, inputs, whole = printed.splitlines()
    assert summary.startswith("{'rows': 400, 'columns': 30, 'score': 0.")
    assert "decision" in outputs
    assert inputs == "['size', 'colour']"
    assert whole == "[('fee', 11), ('plan', 8)]"  # double and string


def check_report(names, printed):
    page = Path("compared.html").read_text(encoding="utf-8")
    assert "logistic regression" in page
    assert "<h1>Breast cancer</h1>" in page
    headings = re.findall(r"<h2 id=\"\w+\">(.*?)<", page)
    told = re.findall(r"^\| ([A-Z].*?)(?:, of classes)? \|", text_of("report"), re.MULTILINE)
    told.remove("Errors, of a number")
    assert len(told) == len(headings)
    assert all(heading.startswith(words) for heading, words in zip(headings, told, strict=True))


def check_command_line(names, printed):
    assert Path("predictions.csv").is_file()
    assert names["result"].best.mean("accuracy") > 0.9


def check_tutorial(names, printed):
    needed = re.findall(r"^([a-z ]+): \d\.\d\d nats$", printed, re.MULTILINE)
    assert needed == ["visits per week", "plan", "fee"]
    served, graph = re.findall(r"^\['yes'\] \[\[(\S+) (\S+)\]\]$", printed, re.MULTILINE)
    assert served == graph  # the same row by the model file and by the graph
    assert "mean probability of yes" in printed
    assert re.search(r"visits per week +falls", printed)
    assert re.search(r"drift against training: 0 of \d+ columns", printed)
    lines = Path("predictions.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("member,prediction,")
    assert len(lines) == 201


def check_extending(names, printed):
    assert len(numbers_in(printed)) >= 2


CHECKS = {
    "README": check_readme,
    "quickstart": check_quickstart,
    "relevance": check_relevance,
    "categories": check_categories,
    "feature_discrimination": check_feature_discrimination,
    "generalized_bias": check_generalized_bias,
    "bias_features": check_bias_features,
    "margin_radius": check_margin_radius,
    "criteria": check_criteria,
    "solver": check_solver,
    "inspection": check_inspection,
    "model_files": check_model_files,
    "report": check_report,
    "command_line": check_command_line,
    "extending": check_extending,
    "tutorial": check_tutorial,
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_of_the_page_runs(page, folder):
    names, printed = run_page(page)
    if page.stem in CHECKS:
        CHECKS[page.stem](names, printed)


@loop("page", PAGES, ids=lambda page: page.stem)
def test_every_block_says_what_it_is(page):
    languages = {language for language, _ in blocks_of(page)}
    assert languages <= {"python", "console", "text", "{toctree}", "{include}", "{eval-rst}"}


@loop("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (ROOT / target).exists(), target


def test_numbers_of_the_readme_are_those_of_the_picture():
    text = (DOCS / "images" / "accuracy_noise.json").read_text(encoding="utf-8")
    results = json.loads(text).values()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in ("RelevanceSVC()", "random forest", "SVC, grid search"):
        for ratio in ("0", "8"):
            mean = np.mean([found[ratio][name][0] for found in results])
            assert f"{mean:.1f} %" in readme, (name, ratio)


def test_the_architecture_page_has_every_package():
    page, drawing = text_of("architecture"), (DOCS / "images" / "layers.svg").read_text("utf-8")
    package = ROOT / "src" / "kernelwise"
    floors = [path.parent for path in package.glob("*/__init__.py")]
    for folder in (*floors, *(path.parent for path in package.glob("app/*/__init__.py"))):
        name = folder.relative_to(package).as_posix()
        assert f"| `{name}/" in page, name
        assert name == "app" or f">{folder.name}<" in drawing, name


def test_the_architecture_page_has_every_module_of_relevance():
    tree = text_of("architecture").partition("svm/relevance/\n")[2].partition("```")[0]
    folder = ROOT / "src" / "kernelwise" / "svm" / "relevance"
    for path in [*folder.glob("[a-z]*.py"), folder / "columns"]:
        assert path.name in tree, path.name


def test_the_method_fits_in_forty_lines():
    (method,) = (code for language, code in blocks_of(DOCS / "relevance.md") if language == "text")
    lines = method.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) < 80  # what a page shows without scrolling
    steps = set(re.findall(r"^[a-z]+", method, re.MULTILINE))
    table = text_of("relevance").partition("| step | below")[2].partition("\n\n")[0]
    assert steps == set(
        re.findall(r"[a-z]+", "".join(re.findall(r"^\|(.*?)\|", table, re.MULTILINE)))
    )


def test_where_is_what_is_one_screen_of_paths_that_exist():
    text = text_of("where")
    assert len(text.splitlines()) <= 40
    places = re.findall(r"`((?:[a-z_]+/)*[a-z_]+(?:\.py|/))`", text)
    assert len(places) >= 40
    for place in places:
        homes = (ROOT, ROOT / "src" / "kernelwise")
        assert any((home / place).exists() for home in homes), place


@loop("page", PAGES, ids=lambda page: page.stem)
def test_modules_named_on_a_page_exist(page):
    text = page.read_text(encoding="utf-8")
    package = ROOT / "src" / "kernelwise"
    homes = (ROOT, package, package / "app", package / "svm" / "relevance")
    for name in re.findall(r"(?<![\w/.])(?:[a-z_]+/)+[a-z_0-9]+\.py\b", text):
        assert any((home / name).is_file() for home in homes), name

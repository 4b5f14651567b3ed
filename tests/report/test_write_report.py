"""The page has all facts, escaped, and needs no other file."""

import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC as PlainSVC

from kernelwise import SVC, AdaptiveKernelSVC
from kernelwise.app.evaluation import HeldOut, fit_table
from kernelwise.app.evaluation.results import compare_scores
from kernelwise.app.inspection import ComparisonDisplay
from kernelwise.app.io import save
from kernelwise.app.report import write_report
from kernelwise.app.report.figures import comparison_svg
from kernelwise.app.report.findings import findings
from kernelwise.app.report.page import report_sections, write_page
from kernelwise.app.report.tables import confusion, reliability, score_rows, weight_rows
from kernelwise.app.tabular import Weight, check_target

from .evaluations import NASTY, evaluation, held_out, number_evaluation, score, stability

VOID = {"meta", "input", "br"}


@pytest.fixture(autouse=True)
def no_window(monkeypatch):
    import matplotlib.pyplot as plt

    monkeypatch.setenv("MPLBACKEND", "Agg")
    plt.switch_backend("Agg")
    before = plt.get_fignums()
    yield
    assert plt.get_fignums() == before  # figures are closed


class Reader(HTMLParser):
    """Collects tags, ids and text, and sees that tags nest."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.ids, self.attributes, self.text = [], [], [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for key, value in attrs if key == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for key, value in attrs if key == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


def read(made, path, **options):
    return Reader(write_report(made, path, **options).read_text(encoding="utf-8"))


def test_page_is_whole_and_needs_nothing_else(tmp_path):
    made = evaluation()
    page = read(made, tmp_path / "page.html", stability=stability(made))
    assert len(page.ids) == len(set(page.ids))
    links = [v for k, v in page.attributes if k in {"src", "href", "xlink:href", "srcset"}]
    assert links
    assert all(link.startswith("#") and link[1:] in page.ids for link in links)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert not re.search(r"url\((?!#)|@import|fetch\(", text)
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_everything_is_escaped(tmp_path):
    made = evaluation(notes=(NASTY,))
    page = read(made, tmp_path / "page.html", title=NASTY, lead=NASTY, notes=(NASTY,))
    assert page.tags.count("script") == 1
    assert page.tags.count("i") == len(made.weights)  # the bars
    assert page.tags.count("b") == 0
    assert NASTY in page.words
    assert "grid <i>search</i>" in page.words
    assert "failed: it is <b>singular</b>" in page.words


def test_headings_are_in_order_and_tables_have_captions(tmp_path):
    page = read(evaluation(), tmp_path / "page.html", model=fitted_svc())
    levels = [int(tag[1]) for tag in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    assert page.tags.count("caption") == page.tags.count("table") > 4
    assert {"header", "nav", "main", "footer"} <= set(page.tags)


def fitted_svc():
    return SVC().fit(*load_iris(return_X_y=True))


def test_findings_say_how_sure_they_are():
    told = " ".join(findings(evaluation(), None)).replace("\u00a0", " ")
    assert "accuracy of 90.0 % ± 1.6 (the standard deviation over 4 splits)" in told
    assert "Guessing scores 50.0 %" in told
    assert "better by 7.5 points than the best of the others, SVC()" in told
    assert "more than chance would explain" in told
    assert "p = 0.004" in told


def test_findings_claim_only_significant_differences():
    lost, even = (0.91, 0.95, 0.86, 0.92), (0.88, 0.92, 0.90, 0.90)
    made = evaluation()
    first, guessing, _, failed = made.scores
    gap = replace(made.differences[1], mean=-0.01, low=-0.05, high=0.03, p_value=0.5)
    for values, words in ((lost, "worse by 1.0 points"), (even, "as well as the best")):
        scores = (first, guessing, score("svc", "SVC()", values), failed)
        told = " ".join(findings(replace(made, scores=scores, differences=(gap,)), None))
        assert words in told
        assert "do not show a significant difference" in told
        assert "(95 % interval of the lead -5.0 to +3.0" in told
    one = [score(each.method, each.label, [0.9 - 0.1 * k]) for k, each in enumerate(made.scores)]
    told = " ".join(findings(replace(made, scores=tuple(one), differences=(), n_splits=1), None))
    assert "standard error over the test rows of the single split" in told
    assert "a single split does not allow a test" in told


def test_equal_differences_give_no_test(tmp_path):
    made, nan = evaluation(), float("nan")
    leads = [replace(each, low=nan, high=nan, p_value=nan) for each in made.differences]
    made = replace(made, differences=tuple(leads))
    told = " ".join(findings(made, None))
    assert "All splits have the same difference, which does not allow a test." in told
    page = write_report(made, tmp_path / "report.html").read_text(encoding="utf-8")
    assert "+7.5 (no interval)" in page
    assert not re.search(r"\bnan\b", page, re.IGNORECASE)


def test_findings_without_weights_and_with_stability():
    made = evaluation(weights=())
    assert any("does not weight" in each for each in findings(made, None))
    made = evaluation()
    steady = stability(made)
    assert (
        f"rank correlation between the weights is {steady.rank_agreement:.2f}"
        in findings(made, steady)[-1]
    )


def test_a_single_column_has_no_order_to_agree_on():
    made = evaluation(1)
    assert not any("rank correlation" in each for each in findings(made, stability(made)))


def test_scores_are_sorted_and_leads_are_of_the_first():
    rows = score_rows(evaluation())
    assert [row.score.method for row in rows] == ["relevance", "svc", "guessing", "grid"]
    assert rows[0].lead is None
    assert rows[1].lead_text == "+7.5 (+4.5 to +10.4)"
    assert rows[1].cells == ("82.5\u00a0±\u00a02.5", "0.825\u00a0±\u00a00.025")


def test_intervals_of_the_figure_are_those_of_the_evaluation(monkeypatch):
    drawn, plot = [], ComparisonDisplay.plot
    monkeypatch.setattr(ComparisonDisplay, "plot", lambda *a: drawn.append(plot(*a)) or drawn[0])
    made = evaluation()
    assert "<svg" in comparison_svg(made)
    (gap,) = compare_scores([made.scores[0], made.scores[2]], "accuracy", made.test_ratio)
    expected = [-100 * value for value in (gap.mean, gap.high, gap.low)]
    np.testing.assert_allclose(drawn[0].intervals_["SVC()"], expected)


def test_confusion_counts_held_out_rows():
    found = confusion(held_out(100, 10), evaluation().target)
    assert found.counts.tolist() == [[45, 5], [5, 45]]
    np.testing.assert_allclose(found.recall, 0.9)
    never = HeldOut(np.arange(4), np.array(["no"] * 4), np.array(["no"] * 4))
    assert np.isnan(confusion(never, evaluation().target).precision[1])


def test_reliability_groups_rows_by_decision_value():
    found = reliability(held_out(100, 10), evaluation().target)
    assert not found.probabilities
    assert [each.rows for each in found.bins] == [10] * 10
    assert all(a.highest <= b.lowest for a, b in pairwise(found.bins))
    assert found.bins[0].observed < 0.5 < found.bins[-1].observed
    assert all(each.low <= each.observed <= each.high for each in found.bins)
    assert reliability(held_out(19), evaluation().target) is None
    several = replace(held_out(), decision=None)
    assert reliability(several, evaluation().target) is None


def test_probabilities_have_a_log_loss_and_a_brier_score():
    held = held_out(100, 0)
    own = np.where(held.actual == "yes", 0.9, 0.1)
    found = reliability(replace(held, proba=np.column_stack([1 - own, own])), evaluation().target)
    assert found.probabilities
    assert found.brier == pytest.approx(0.01)
    assert found.log_loss == pytest.approx(-np.log(0.9))


def test_reliability_of_several_classes_is_that_of_the_likeliest():
    target = replace(evaluation().target, classes=("a", "b", "c"), counts=(50, 25, 25))
    target = replace(target, positive=None)
    actual = np.repeat(["a", "b", "c"], [50, 25, 25])
    proba = np.tile([0.5, 0.3, 0.2], (100, 1))
    held = HeldOut(np.arange(100), actual, np.full(100, "a"), proba=proba)
    found = reliability(held, target)
    assert [each.expected for each in found.bins] == pytest.approx([0.5] * 10)
    assert np.mean([each.observed for each in found.bins]) == pytest.approx(0.5)


def test_weight_of_a_column_is_the_sum_over_its_features():
    made = evaluation(2)
    steady = replace(
        stability(made),
        feature_names=("hue=red", "hue=blue", "size"),
        shares=np.array([[0.2, 0.3, 0.5], [0.4, 0.3, 0.3]]),
        selected=np.array([[False, False, True], [True, False, False]]),
    )
    weights = (
        Weight("hue", 0.7, {"hue=red": 0.3, "hue=blue": 0.4}),
        Weight("new", 0.3, {"new": 0.3}),
    )
    hue, new = weight_rows(weights, steady)
    assert (hue.low, hue.high, hue.selected) == pytest.approx((51, 69, 50))
    assert hue.parts == "hue=blue 40.0 %, hue=red 30.0 %"
    assert (new.low, new.high, new.selected, new.parts) == (None, None, None, "")


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


def test_model_adds_its_settings_path_and_certificate(tmp_path, wine):
    model = AdaptiveKernelSVC().fit(*wine)
    page = read(evaluation(), tmp_path / "page.html", model=make_pipeline(model))
    for words in ("sigma, the kernel width", "All points that were tried", "all 3 machines", "gap"):
        assert words in page.words


def test_machine_that_did_not_converge_is_reported(tmp_path, wine):
    with pytest.warns(match="did not converge"):
        model = SVC(C=1e4, max_iter=2).fit(*wine)
    page = read(evaluation(), tmp_path / "page.html", model=model)
    assert re.search(r"\d of 3 machines did not converge", page.words)


def test_model_of_scikit_learn_has_no_certificate(tmp_path, wine):
    page = read(evaluation(), tmp_path / "page.html", model=PlainSVC().fit(*wine))
    assert "How it was learned" in page.words
    assert "Did the machines converge?" not in page.words


def test_code_of_the_page_runs(tmp_path, monkeypatch, capsys):
    iris = load_iris(as_frame=True).frame
    model = fit_table(iris, check_target(iris, "target"), "svc")
    monkeypatch.chdir(tmp_path)
    save(model, "my model.kw")
    iris.drop(columns="target").to_csv("new.csv", index=False)
    page = read(evaluation(), tmp_path / "page.html", model=model, model_file="x/my model.kw")
    assert "kernelwise predict 'my model.kw' new.csv > predictions.csv" in page.words
    exec(next(part for part in page.text if "import load" in part), {})
    assert capsys.readouterr().out.startswith("[0 0 0")
    page = read(evaluation(), tmp_path / "page.html", model=fitted_svc())
    code = next(part for part in page.text if "import load, save" in part)
    exec(code, {"model": model})
    assert (tmp_path / "model.kw").exists()
    page = read(evaluation(), tmp_path / "page.html", model=fitted_svc(), model_file="m.kw")
    assert "print(model.predict(X))" in page.words


def test_same_evaluation_gives_the_same_page(tmp_path):
    pages = [write_report(evaluation(), tmp_path / f"{k}.html").read_bytes() for k in range(2)]
    assert pages[0] == pages[1]


@pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
def test_missing_package_is_named_with_the_extra(package, tmp_path, monkeypatch):
    for name in [each for each in sys.modules if each.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=r"kernelwise\[report\]"):
        write_report(evaluation(), tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_unfitted_model_is_refused(tmp_path):
    with pytest.raises(NotFittedError):
        write_report(evaluation(), tmp_path / "page.html", model=SVC())


def test_folder_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError, match="name a file"):
        write_report(evaluation(), tmp_path)


def test_page_of_numbers_as_classes(tmp_path):
    frame = pd.DataFrame({"y": [0, 1, 2] * 10})
    target = check_target(frame, "y")
    held = HeldOut(target.rows, target.y, np.roll(target.y, 1))
    page = read(evaluation(target=target, held_out=held), tmp_path / "page.html")
    assert "reliability" not in page.ids
    assert "predicts 3 classes of y" in page.words


def test_page_of_a_number(tmp_path):
    page = read(number_evaluation(), tmp_path / "page.html")
    words = page.words.replace("\u00a0", " ")
    for text in (
        "predicts the number rent from 4 columns",
        "has an RMSE of 4000 ± 141",
        "It does better by 1150 than the best of the others, ridge regression",
        "observed against predicted rent",
        "Do the intervals hold?",
        "Distribution of rent over 200 rows",
    ):
        assert text in words, text
    assert "confusion-table" not in page.ids
    assert "e+0" not in words
    labels = [value for key, value in page.attributes if key == "aria-label"]
    assert "Observed and predicted rent of held-out rows" in labels


def test_a_section_that_fails_is_a_sentence_in_its_place(tmp_path):
    made, model = evaluation(), fitted_svc()
    broken = {
        "errors": replace(made, held_out=replace(made.held_out, actual=np.arange(3))),
        "weights": replace(made, weights=(None, *made.weights)),
        "comparison": replace(made, differences=(replace(made.differences[0], mean=None),)),
    }
    for name, each in broken.items():
        sections = report_sections(each, model=model)
        assert name in sections.failed, name
        path = write_page(sections, tmp_path / f"{name}.html")
        page = Reader(path.read_text(encoding="utf-8"))
        assert page.words.count("this part could not be made (") == len(sections.failed), name
        for heading in ("What was learned", "Errors on held-out rows", "Use the model"):
            assert heading in page.words, name

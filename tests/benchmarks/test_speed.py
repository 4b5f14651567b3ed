"""The speed suites: what they measure, and their targets."""

import pytest

from benchmarks.measure import timing, with_ratios
from benchmarks.problems import classification, dual_objective, scale_gamma
from benchmarks.speed import PAGE
from benchmarks.speed.targets import TARGETS
from benchmarks.targets import verdicts

from .helpers import assert_tables_are_rectangular, quick


def row(ratio, *, excess=0.0, n=1000, p=20, C=1):
    """Return a row of the suite "speed-fit" in which SVC takes ``ratio`` times as long."""
    times = with_ratios({"kernelwise": timing([1.0], [1.0]), "SVC": timing([ratio], [ratio])})
    times["SVC"]["excess"] = excess
    return {"n": n, "p": p, "C": C, "times": times}


def verdict(*rows):
    """Return the verdict of the first target of fits: at p = 20 four times as fast at least."""
    found = verdicts({"speed-fit": rows}, TARGETS)
    return next(one for one in found if one["target"].startswith("fit, p = 20"))


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Run four suites without scikit-learn-intelex; return the folder, stderr and the results."""
    folder = tmp_path_factory.mktemp("benchmarks")
    said = quick(folder, "speed-fit", "speed-family", "speed-gram", "speed-relevance")
    return folder, said, PAGE.read(folder, "quick")


def test_results_are_complete(measured):
    _, said, found = measured
    assert list(found) == ["speed-fit", "speed-gram", "speed-family", "speed-relevance"]
    assert "scikit-learn-intelex is not installed" in said
    for results in found.values():
        assert results.header["intelex"] is None
        assert {"numpy", "scipy", "scikit-learn"} <= set(results.header["packages"])
        assert results.header["cpus"] >= 1
        assert set(results.header["threads"].values()) == {1}
        assert not results.failures
        for one in results.rows if results is not found["speed-relevance"] else []:
            assert next(iter(one["times"])) == "kernelwise"
            for times in one["times"].values():
                assert len(times["wall"]) == len(times["cpu"]) == 2
                assert times["median"] > 0
    assert [row["score"] > 0.4 for row in found["speed-relevance"].rows] == [True, True]
    assert all(abs(r["times"]["SVC"]["excess"]) < 1e-6 for r in found["speed-fit"].rows)
    family = found["speed-family"].rows
    assert {row["estimator"] for row in family} == {"SVR", "NuSVR", "NuSVC", "OneClassSVM"}
    assert all(abs(row["times"]["SVC"]["excess"]) < 1e-4 for row in family)
    assert all(
        t["difference"] < 1e-6 for r in found["speed-gram"].rows for t in r["times"].values()
    )


def test_the_page_is_well_formed(measured):
    folder, _, found = measured
    page = (folder / "benchmarks.md").read_text(encoding="utf-8")
    assert page == PAGE.text(found)
    assert "Measured at tiny sizes" in page
    assert "which is not installed" in page
    assert page.count("Not measured.") == len(PAGE.suites) - 4
    assert_tables_are_rectangular(page)
    assert (folder / "images" / "benchmarks-fit.svg").stat().st_size > 1000


def test_targets_count_what_misses():
    assert verdict(row(4.0), row(5.0, C=10))["verdict"] == "met"
    missed = verdict(row(3.99), row(5.0, C=10))
    assert missed["verdict"] == "**missed** in 1 of 2"
    assert missed["misses"] == ["n = 1,000, p = 20, C = 1: 3.99x"]
    assert verdict(row(1.0, n=500), row(1.0, p=100), row(1.0, C=100))["verdict"] == "not measured"


def test_a_faster_fit_with_a_worse_objective_misses():
    assert verdict(row(9.0, excess=2e-6))["misses"] == [
        "n = 1,000, p = 20, C = 1: objective higher by 2e-06"
    ]
    assert verdict(row(9.0, excess=-2e-6))["misses"] == []


def test_dual_objective_is_that_of_the_certificate():
    from kernelwise import SVC

    X, y = classification(90, 6)
    y = y + (X[:, 0] > 0.5)  # three classes, three machines
    model = SVC(C=3.0).fit(X, y)
    expected = model.certificate_.objective.sum()
    assert dual_objective(model, X, scale_gamma(X)) == pytest.approx(expected, rel=1e-6)


def test_targets_of_relevance_know_the_shape_and_both_sides_of_a_switch():
    def shape(n, p, seconds, target="classes", size=1e6):
        return {"target": target, "n": n, "p": p, "fit_seconds": seconds, "bytes": size}

    rows = [
        shape(1990, 20, 3.0), shape(2010, 20, 1.0), shape(9900, 20, 1.0), shape(20_000, 20, 16.0),
        shape(200, 20_000, 5.0, size=6e6), shape(2010, 20, 1.0, "a number"),
    ]  # fmt: skip
    found = {one["target"]: one for one in verdicts({"speed-relevance": rows}, TARGETS)}
    size = found["`RelevanceSVC`, 200 x 20,000: pickle"]
    assert size["misses"] == ["200 x 20,000: 6.00 MB"]
    assert found["`RelevanceSVC`, 200 x 20,000: CPU time of a fit"]["verdict"] == "met"
    slow = found["`RelevanceSVC`, 20,000 x 20: CPU time of a fit"]
    assert slow["misses"] == ["20,000 x 20: 16.0 s"]
    cliffs = found["time on both sides of a switch of size"]
    assert cliffs["cases"] == 1
    assert cliffs["misses"] == ["classes, 1,990 and 2,010 rows: 3.00x"]

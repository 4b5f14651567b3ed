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
    """Return the verdict of the first target: fit at p = 20 at least four times as fast."""
    return verdicts({"speed-fit": rows}, TARGETS)[0]


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Run two suites without scikit-learn-intelex; return the folder, stderr and the results."""
    folder = tmp_path_factory.mktemp("benchmarks")
    said = quick(folder, "speed-fit", "speed-gram")
    return folder, said, PAGE.read(folder, "quick")


def test_results_are_complete(measured):
    _, said, found = measured
    assert list(found) == ["speed-fit", "speed-gram"]
    assert "scikit-learn-intelex is not installed" in said
    for results in found.values():
        assert results.header["intelex"] is None
        assert {"numpy", "scipy", "scikit-learn"} <= set(results.header["packages"])
        assert results.header["cpus"] >= 1
        assert set(results.header["threads"].values()) == {1}
        assert not results.failures
        for one in results.rows:
            assert next(iter(one["times"])) == "kernelwise"
            for times in one["times"].values():
                assert len(times["wall"]) == len(times["cpu"]) == 2
                assert times["median"] > 0
    assert all(abs(r["times"]["SVC"]["excess"]) < 1e-6 for r in found["speed-fit"].rows)
    assert all(
        t["difference"] < 1e-6 for r in found["speed-gram"].rows for t in r["times"].values()
    )


def test_the_page_is_well_formed(measured):
    folder, _, found = measured
    page = (folder / "benchmarks.md").read_text(encoding="utf-8")
    assert page == PAGE.text(found)
    assert "Measured at tiny sizes" in page
    assert "which is not installed" in page
    assert page.count("Not measured.") == len(PAGE.suites) - 2
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

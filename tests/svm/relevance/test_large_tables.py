"""RelevanceSVC with cells: large tables, one interface."""

import mmap
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import log_loss

from kernelwise import RelevanceSVC
from kernelwise.io import load, save, to_onnx
from kernelwise.scale.cells import fit_cell
from kernelwise.svm.base.predictor import predictor_of
from kernelwise.svm.relevance import large, predictor, reader
from kernelwise.svm.relevance.explaining import background_rows
from kernelwise.svm.relevance.large import time_is_up
from kernelwise.svm.relevance.large_table import release_pages
from kernelwise.svm.relevance.parts import cells


def rings(n, d=5, classes=2, seed=0):
    """Return rows whose first two columns decide, by rings around the origin."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    radius = np.hypot(X[:, 0], X[:, 1])
    y = np.digitize(radius, [1.2] if classes == 2 else [0.8, 1.6])
    wrong = rng.random(n) < 0.05
    return X, np.where(wrong, rng.integers(0, classes, n), y)


@pytest.fixture
def low_switch(monkeypatch):
    """Make tables of over 1,000 rows large."""
    monkeypatch.setattr(reader, "SWITCH", 1000)


def cells_of(model):
    return next(part for part in predictor_of(model).parts if part.name == "cells")


@pytest.fixture(scope="module", params=[2, 3])
def fitted(request):
    X, y = rings(3000, classes=request.param)
    model = RelevanceSVC(large="cells", cell_size=400).fit(X[:2500], y[:2500])
    return model, X, y


def test_cells_have_the_interface_of_other_models(fitted):
    model, X, y = fitted
    assert "cells" in model.parts_
    assert model.members_ == ["cells"] * 3
    assert len(model.kernel_) == len(model.C_) == len(model.gamma_) == 3
    assert_allclose(model.mixture_weights_.sum(), 1)
    assert model.part_importances_.shape == (len(model.parts_), 5)
    assert_array_equal(np.flatnonzero(model.selected_features_), [0, 1])
    assert_allclose(model.feature_weights_.mean(), 1)
    assert model.fit_status_ == 0
    assert len(model.support_) == 0
    shares = model.predict_proba(X[2500:])
    assert_array_equal(model.predict(X[2500:]), shares.argmax(axis=1))
    assert model.score(X[2500:], y[2500:]) > 0.88
    assert log_loss(y[2500:], shares) < 0.4
    sets = model.predict_set(X[2500:], confidence_level=0.9)
    assert 0.85 < sets[np.arange(500), y[2500:]].mean() < 0.95


def test_models_are_stored_and_exports_refuse_by_name(fitted, tmp_path):
    model, X, _ = fitted
    for found in (pickle.loads(pickle.dumps(model)), load(save(model, tmp_path / "model.kw"))):
        assert_array_equal(found.decision_function(X), model.decision_function(X))
        assert_array_equal(found.predict_set(X), model.predict_set(X))
    assert clone(model).get_params() == model.get_params()
    assert all(len(part.left_out) == 0 for part in predictor_of(model).parts)
    with pytest.raises(ValueError, match="part of the mixture cannot be exported to ONNX"):
        to_onnx(model)
    with pytest.raises(ValueError, match="RelevanceSVC mixes the log-odds of several parts"):
        model.to_sklearn()


def test_one_cell_is_an_exact_machine(low_switch):
    X, y = rings(1100)
    part = cells_of(RelevanceSVC(cell_size=1100, n_trees=1).fit(X, y))
    Z, codes = part.columns.apply(X), np.where(y == 1, 1.0, -1.0)[:, None]
    machine = fit_cell(Z, codes, np.ones(1100), part.members[0])
    expected = part.members[0].kernel(Z, Z) @ machine.coef + machine.intercept
    rounding = 2.0**-22 * np.abs(machine.coef).sum()  # coefficients and kernel values are float32
    assert_allclose(part.decision_values(X), expected, atol=rounding)


@pytest.mark.parametrize("categories", [None, [4]], ids=["numbers", "categories"])
def test_threads_do_not_change_the_model(low_switch, categories):
    X, y = rings(2000)
    X[:, 4] = np.abs(X[:, 4]).round()
    options = {"cell_size": 300, "categorical_features": categories}
    one, two, three = (RelevanceSVC(n_jobs=n, **options).fit(X, y) for n in (1, 2, 3))
    assert "cells" in one.parts_
    for other in (two, three):
        assert_array_equal(one.decision_function(X), other.decision_function(X))


def test_the_switch_and_its_parameter(low_switch):
    X, y = rings(1001)
    assert "cells" in RelevanceSVC().fit(X, y).parts_
    assert "cells" not in RelevanceSVC().fit(X[:1000], y[:1000]).parts_
    assert "cells" not in RelevanceSVC(large="exact", max_iter=1).fit(X, y).parts_
    other = RelevanceSVC(kernel="rbf", max_iter=1, calibration=None).fit(X, y)
    assert other.parts_ == ["hinge", "kernel", "linear", "additive"]
    with pytest.raises(ValueError, match='large="cells" needs ensemble=True, kernel="laplacian"'):
        RelevanceSVC(kernel="rbf", large="cells").fit(X, y)


def test_the_type_and_place_of_a_table_do_not_matter(low_switch, tmp_path):
    X, y = rings(1500)
    X = X.astype(np.float32)
    expected = RelevanceSVC().fit(X, y).decision_function(X)
    np.save(tmp_path / "table.npy", X)
    mapped = np.load(tmp_path / "table.npy", mmap_mode="r")
    fitted = RelevanceSVC().fit(mapped, y)
    assert_array_equal(fitted.decision_function(mapped), expected)
    assert vars(fitted)["_training_table_"] is None
    for other in (X.astype(np.float64), np.asfortranarray(X), pd.DataFrame(X)):
        found = RelevanceSVC().fit(other, y)
        assert_array_equal(found.decision_function(other), expected)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_pages_of_a_memory_map_do_not_stay_in_memory(tmp_path):
    X = np.random.default_rng(0).normal(size=(100_000, 60)).astype(np.float32)  # 24 MB
    np.save(tmp_path / "table.npy", X)
    mapped = np.load(tmp_path / "table.npy", mmap_mode="r")

    def megabytes_of_files():
        pages = int(Path("/proc/self/statm").read_text().split()[2])
        return pages * mmap.PAGESIZE / 1e6

    begin = megabytes_of_files()
    assert_array_equal(np.asarray(mapped), X)
    assert megabytes_of_files() > begin + 12
    release_pages(np.asarray(mapped)[10:])
    assert megabytes_of_files() < begin + 6
    assert_array_equal(mapped[-1], X[-1])
    release_pages(X)  # nothing to give back


def test_what_a_user_wrote_into_a_private_map_stays(tmp_path):
    np.save(tmp_path / "table.npy", np.zeros((2000, 3)))
    private = np.load(tmp_path / "table.npy", mmap_mode="c")
    private[:] = 7
    release_pages(private)
    assert (private == 7).all()


def test_a_large_table_is_never_encoded_whole(low_switch, monkeypatch):
    X, y = rings(5000)
    seen = []
    apply = reader.ColumnEncoding.apply

    def counting(self, X):
        seen.append(X.shape[0])
        return apply(self, X)

    monkeypatch.setattr(reader.ColumnEncoding, "apply", counting)
    monkeypatch.setattr("kernelwise.svm.relevance.parts.cell_rows._BLOCK_ROWS", 512)
    monkeypatch.setattr("kernelwise.svm.relevance.parts.cell_rows.SAMPLE_ROWS", 2000)
    monkeypatch.setattr("kernelwise.svm.relevance.parts.cell_rows._LEAST_SAMPLE", 2000)
    RelevanceSVC().fit(X, y)
    assert max(seen) < 2300


def test_missing_values_and_categories(low_switch):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"kind": rng.choice(list("pqr"), 3000), "size": rng.normal(size=3000)})
    X["noise"] = rng.normal(size=3000)
    steps = np.floor(2 * X["size"] + X["kind"].map({"p": 0.0, "q": 0.5, "r": 1.0}))
    y = (steps % 2).to_numpy().astype(int)
    X.loc[rng.random(3000) < 0.1, "size"] = np.nan
    X.loc[::17, "kind"] = None
    model = RelevanceSVC(cell_size=500).fit(X[:2500], y[:2500])
    assert "cells" in model.parts_
    exact = RelevanceSVC(large="exact").fit(X[:2500], y[:2500])
    losses = [log_loss(y[2500:], each.predict_proba(X[2500:])) for each in (model, exact)]
    assert losses[0] < 1.05 * losses[1]
    assert set(np.flatnonzero(model.selected_features_)) <= {0, 1}
    with pytest.raises(ValueError, match="column 'kind' has missing values"):
        RelevanceSVC(missing="error").fit(X, y)


def test_weights_of_rows_and_classes(low_switch):
    X, y = rings(2400)
    half = np.arange(2400) % 2
    weighted = RelevanceSVC(cell_size=400).fit(X, y, sample_weight=half)
    alone = RelevanceSVC(cell_size=400).fit(X[half == 1], y[half == 1])
    # The rows keep their numbers in the table, which pick trees: the models are alike, not equal.
    agree = weighted.predict(X) == alone.predict(X)
    assert agree.mean() > 0.95
    plain = RelevanceSVC(cell_size=400).fit(X, y)
    costly = RelevanceSVC(cell_size=400, class_weight={0: 1, 1: 20}).fit(X, y)
    assert (costly.predict(X) == 1).mean() > (plain.predict(X) == 1).mean() + 0.05
    assert_allclose(
        costly.predict_proba(X).mean(axis=0), plain.predict_proba(X).mean(axis=0), atol=0.05
    )


def test_groups_are_left_out_whole(low_switch):
    # Each row has a near copy, of its own class, in its group; the classes are chance.
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(800, 3)), 2, axis=0) + 1e-3 * rng.normal(size=(1600, 3))
    y = np.repeat(rng.integers(0, 2, 800), 2)
    groups = np.repeat(np.arange(800), 2)
    alone = RelevanceSVC(cell_size=400).fit(X, y)
    together = RelevanceSVC(cell_size=400).fit(X, y, groups=groups)
    sure = [np.abs(model.predict_proba(X)[:, 1] - 0.5).mean() for model in (alone, together)]
    assert sure[1] < 0.5 * sure[0]


def test_many_rows_of_few_kinds(low_switch):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(5000, 3)).astype(float)
    y = (rng.random(5000) < expit(2 * X[:, 0] - 1)).astype(int)
    model = RelevanceSVC(cell_size=200).fit(X, y)
    shares = model.predict_proba(np.array([[0.0, 0, 0], [1.0, 0, 0]]))[:, 1]
    assert_allclose(shares, expit([-1, 1]), atol=0.08)


def test_nothing_to_learn(low_switch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6000, 5)), (rng.random(6000) < 0.1).astype(int)
    model = RelevanceSVC().fit(X[:4000], y[:4000])
    share = y[4000:].mean()
    entropy = -share * np.log(share) - (1 - share) * np.log(1 - share)
    assert log_loss(y[4000:], model.predict_proba(X[4000:])) < 1.05 * entropy


def test_rows_for_explanations_are_rows_of_the_table(low_switch):
    X, y = rings(1500)
    for model in (RelevanceSVC().fit(X, y), RelevanceSVC(large="cells").fit(X[:900], y[:900])):
        kept = background_rows(model)
        assert len(kept.X) == 100
        assert_array_equal(kept.X, X[kept.numbers])
        assert_array_equal(kept.classes, y[kept.numbers])


class KilledError(Exception):
    """Stands for the end of a process."""


def test_a_killed_fit_goes_on_to_the_same_model(low_switch, tmp_path, monkeypatch):
    X, y = rings(2000)
    expected = RelevanceSVC(cell_size=300).fit(X, y).decision_function(X)
    fit_tree, seeds = cells.fit_tree, []

    def dying(table, member, seed, *others, **options):
        seeds.append(seed)
        if len(seeds) == 3:
            raise KilledError
        return fit_tree(table, member, seed, *others, **options)

    monkeypatch.setattr(cells, "fit_tree", dying)
    model = RelevanceSVC(cell_size=300, checkpoint=tmp_path / "trees")
    with pytest.raises(KilledError):
        model.fit(X, y)
    assert len(list((tmp_path / "trees").iterdir())) == 2
    model.fit(X, y)
    assert len(seeds) == 4
    assert seeds[2] == seeds[3]
    assert_array_equal(model.decision_function(X), expected)


def test_trees_of_another_table_are_left_alone(low_switch, tmp_path):
    X, y = rings(1500)
    RelevanceSVC(checkpoint=tmp_path, n_trees=2).fit(X, y)
    with pytest.warns(UserWarning, match=r"holds 2 tree\(s\) of another table"):
        other = RelevanceSVC(checkpoint=tmp_path, n_trees=2).fit(X + 1e-3 * X**2, y)
    plain = RelevanceSVC(n_trees=2).fit(X + 1e-3 * X**2, y)
    assert_array_equal(other.decision_function(X), plain.decision_function(X))
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize("n_trees", [0, 1])
def test_a_fit_out_of_time_has_the_first_trees(low_switch, monkeypatch, n_trees):
    X, y = rings(1500)
    fitted = []
    fit_tree = cells.fit_tree

    def counting(*arguments, **options):
        fitted.append(fit_tree(*arguments, **options))
        return fitted[-1]

    monkeypatch.setattr(cells, "fit_tree", counting)
    monkeypatch.setattr(large, "time_is_up", lambda seconds: lambda: len(fitted) >= n_trees)
    with pytest.warns(UserWarning, match=f"max_time is over: {n_trees} of 3 trees"):
        model = RelevanceSVC(max_time=5.0).fit(X, y)
    assert len(fitted) == n_trees
    assert ("cells" in model.parts_) == (n_trees > 0)
    assert model.score(X, y) > 0.85


def test_time_passes():
    assert not time_is_up(60.0)()
    assert time_is_up(1e-9)()
    assert time_is_up(None) is None


def test_progress_names_the_trees(low_switch, capsys):
    X, y = rings(1200)
    RelevanceSVC(verbose=True).fit(X, y)
    lines = capsys.readouterr().out
    assert "evidence on 1200 rows" in lines
    assert all(f"tree {number}: 1 cells" in lines for number in (1, 2, 3))


@pytest.mark.parametrize("kind", ["cells", "exact"])
def test_blocks_of_a_prediction_do_not_change_it(monkeypatch, kind):
    X, y = rings(2600)
    model = RelevanceSVC(large=kind, cell_size=500).fit(X[:1500], y[:1500])
    expected = model.decision_function(X)
    monkeypatch.setattr(cells, "PREDICT_ROWS", 900)
    monkeypatch.setattr(cells, "_LEAST_BLOCK", 900)
    monkeypatch.setattr(predictor, "_ENCODED_ROWS", 1000)
    monkeypatch.setattr(predictor, "_BLOCK_ROWS", 512)
    assert_allclose(model.decision_function(X), expected, atol=1e-5)


def test_a_checkpoint_that_cannot_be_a_folder_is_refused_before_any_work(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(large, "begin_joint", None)
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    model = RelevanceSVC(large="cells", checkpoint=tmp_path / "file")
    with pytest.raises(
        ValueError, match=r"checkpoint=.*file' cannot be made a folder \(File exists"
    ):
        model.fit(X, y)

"""GeodesicNeighborFeatures: against all shortest paths, and on images of objects that turn."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from kernelwise.transform import GeodesicNeighborFeatures
from tests.loop import loop

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = RNG.integers(0, 4, 40)
FURTHER = RNG.normal(size=(25, 3))
NEW = RNG.normal(size=(15, 3))


# --- Against all shortest paths ------------------------------------------------------------------


def all_paths(nodes, graph_neighbors, metric):
    """Return the lengths of the shortest paths between all nodes, by Floyd and Warshall."""
    n = len(nodes)
    straight = cdist(nodes, nodes, metric)
    paths = np.where(np.eye(n, dtype=bool), 0.0, np.inf)
    for i in range(n):
        others = [j for j in np.argsort(straight[i], kind="stable") if j != i]
        for j in others[:graph_neighbors]:
            paths[i, j] = paths[j, i] = straight[i, j]
    for k in range(n):
        paths = np.minimum(paths, paths[:, k : k + 1] + paths[k])
    return paths


def ranked(lengths, straight, left_out, settings):
    """Return the nearest training rows: those with a way first, then perhaps the rest."""
    order = [
        row
        for row in np.lexsort((np.arange(len(lengths)), straight, lengths))
        if row != left_out and (np.isfinite(lengths[row]) or settings["disconnected"] != "never")
    ]
    return order[: settings["n_neighbors"]]


def naive(rows, y, further, new, settings):
    """Return the columns of the training rows, of the further rows and of new rows."""
    nodes = np.unique(np.vstack([rows, further]), axis=0)
    paths = all_paths(nodes, settings["graph_neighbors"], settings["metric"])

    def node(row):
        return int(np.flatnonzero((nodes == row).all(axis=1))[0])

    sources = [node(row) for row in rows]

    def columns(row, lengths, left_out=None):
        near = ranked(lengths, np.linalg.norm(rows - row, axis=1), left_out, settings)
        return [float(label in y[near]) for label in np.unique(y)]

    def joined(row):
        straight = cdist([row], nodes, settings["metric"])[0]
        nearest = np.argsort(straight)[: settings["graph_neighbors"]]
        return (straight[nearest, None] + paths[np.ix_(nearest, sources)]).min(axis=0)

    return (
        np.array([columns(row, paths[node(row), sources], i) for i, row in enumerate(rows)]),
        np.array([columns(row, paths[node(row), sources]) for row in further]),
        np.array([columns(row, joined(row)) for row in new]),
    )


DEFAULTS = {
    "n_neighbors": 3,
    "graph_neighbors": 3,
    "metric": "euclidean",
    "disconnected": "euclidean",
}
SETTINGS = [
    {},
    {"n_neighbors": 1},
    {"n_neighbors": 7, "graph_neighbors": 1},
    {"n_neighbors": 7, "graph_neighbors": 1, "disconnected": "never"},
    {"graph_neighbors": 2, "metric": "cityblock"},
    {"graph_neighbors": 1, "metric": "chebyshev", "disconnected": "never"},
    {"graph_neighbors": 500},
    {"n_neighbors": 500},
    {"n_neighbors": 500, "graph_neighbors": 1, "disconnected": "never"},
]


@loop("with_copies", [False, True], ids=["distinct", "copies"])
@loop("settings", SETTINGS, ids=str)
def test_columns_are_those_of_all_shortest_paths(settings, with_copies):
    rows, y = X, Y
    if with_copies:  # more of one row than it has joins, and with several labels
        rows, y = np.vstack([X, X[:6], X[[0] * 5]]), np.append(Y, np.arange(11) % 4)
    expected = naive(rows, y, FURTHER, NEW, DEFAULTS | settings)
    features = GeodesicNeighborFeatures(**settings, transductive=FURTHER)
    assert_array_equal(features.fit_transform(rows, y), expected[0])
    assert_array_equal(features.transform(FURTHER), expected[1])
    assert_array_equal(features.transform(NEW), expected[2])


def literal(x, rows, y, every, n_neighbors, graph_neighbors):
    """Return phi_p(x) = 1 where 3NN(x) and train_p share an image, for an image x of all of them.

    3NN(x) are the images, other than x, that are nearest by the shortest paths of the graph.
    """
    lengths = all_paths(every, graph_neighbors, "euclidean")[x]
    straight = np.linalg.norm(every - every[x], axis=1)
    order = [i for i in np.lexsort((straight, lengths)) if i != x]
    nearest = set(order[:n_neighbors])
    trained = {label: {i for i in rows if y[i] == label} for label in np.unique(y[rows])}
    return [float(bool(nearest & trained[label])) for label in sorted(trained)]


@loop("graph_neighbors", [1, 3])
@loop("n_neighbors", [1, 3, 100])
def test_rule_of_the_paper_counts_unlabelled_rows(n_neighbors, graph_neighbors):
    every, labels = np.vstack([X, FURTHER]), np.append(Y, RNG.integers(0, 4, 25))
    trained = np.arange(40)
    features = GeodesicNeighborFeatures(
        n_neighbors, graph_neighbors=graph_neighbors, neighbors="paper", transductive=every
    )
    how = (trained, labels, every, n_neighbors, graph_neighbors)
    found = features.fit_transform(X, Y)
    assert_array_equal(found, [literal(i, *how) for i in trained])
    found = features.transform(FURTHER)
    assert_array_equal(found, [literal(i, *how) for i in range(40, 65)])


def test_rule_of_the_paper_may_mark_no_class():
    rows, further = np.array([[0.0], [1.0]]), np.array([[100.0], [101.0], [102.0], [103.0]])
    settings = {"transductive": further, "graph_neighbors": 1}
    paper = GeodesicNeighborFeatures(3, neighbors="paper", **settings).fit(rows, ["a", "b"])
    assert_array_equal(paper.transform(further), np.zeros((4, 2)))
    assert_array_equal(paper.kneighbors([[103.0]])[1], [[4, 3, 2]])
    assert_array_equal(paper.kneighbors([[103.5]])[1], [[5, 4, 3]])  # a new row
    plain = GeodesicNeighborFeatures(3, **settings).fit(rows, ["a", "b"])
    assert_array_equal(plain.transform(further), np.ones((4, 2)))


def test_rule_of_the_paper_is_the_default_without_further_rows():
    paper, plain = (GeodesicNeighborFeatures(neighbors=each) for each in ("paper", "training"))
    assert_array_equal(paper.fit_transform(X, Y), plain.fit_transform(X, Y))
    assert_array_equal(paper.transform(NEW), plain.transform(NEW))


def test_the_nearest_rows_are_in_order():
    features = GeodesicNeighborFeatures(5).fit(X, Y)
    lengths = all_paths(X, 3, "euclidean")
    np.fill_diagonal(lengths, np.inf)
    assert np.isfinite(np.sort(lengths)[:, :5]).all()
    assert_array_equal(features._training_neighbors(), np.argsort(lengths)[:, :5])


def test_kneighbors_are_the_ends_of_the_shortest_ways():
    features = GeodesicNeighborFeatures(5, transductive=FURTHER).fit(X, Y)
    nodes = np.vstack([X, FURTHER])
    paths = all_paths(nodes, 3, "euclidean")[:, :40]
    straight = cdist(NEW, nodes)
    joins = np.argsort(straight)[:, :3]
    new = (np.take_along_axis(straight, joins, axis=1)[:, :, None] + paths[joins]).min(axis=1)
    for table, ways in ((X, paths[:40]), (FURTHER, paths[40:]), (NEW, new)):
        distances, indices = features.kneighbors(table)
        assert_array_equal(indices, np.argsort(ways)[:, :5])
        assert_allclose(distances, np.sort(ways)[:, :5])
        assert np.isfinite(distances).all()


def test_further_rows_make_a_way():
    """Two arcs of one circle: the near end of the other class is near across, and far along."""
    angles = np.linspace(0, 1.9 * np.pi, 120)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    labelled = np.array([0, 20, 40, 60, 80, 100, 119])
    y = np.array([0, 0, 0, 0, 1, 1, 1])
    alone = GeodesicNeighborFeatures(1).fit(circle[labelled], y)
    along = GeodesicNeighborFeatures(1, transductive=circle).fit(circle[labelled], y)
    rest = np.setdiff1d(np.arange(120), labelled)
    truth = np.eye(2)[(rest >= 70).astype(int)]
    assert_array_equal(along.transform(circle[rest]), truth)
    # The first and the last row are neighbours across the gap, not along the circle.
    assert along.fit_transform(circle[labelled], y)[0].tolist() == [1.0, 0.0]
    assert alone.fit_transform(circle[labelled], y)[0].tolist() == [0.0, 1.0]


def test_rows_of_the_graph_are_recognised_exactly():
    """Far from the origin, distances are too rough to tell that two rows are equal."""
    rows, moved = np.split(np.random.default_rng(1).normal(size=(65, 20)) + 1e7, [40])
    features = GeodesicNeighborFeatures(transductive=moved).fit(rows, Y)
    distances, _ = features._search().kneighbors(moved, n_neighbors=1)
    assert distances.max() > 0
    assert_array_equal(features.kneighbors(moved)[1], features._nearest[40:, :3])


def test_zero_and_minus_zero_are_equal():
    features = GeodesicNeighborFeatures(transductive=[[-0.0, 5.0]]).fit(
        [[0.0, 5.0], [1, 1]], [0, 1]
    )
    assert features._nodes.shape[0] == 2


def test_zero_lengths_between_unequal_rows_are_joins():
    rows = np.array([[1.0, 0.0], [2.0, 0.0], [4.0, 0.0], [0.0, 1.0], [0.0, 2.0], [0.0, 4.0]])
    features = GeodesicNeighborFeatures(2, graph_neighbors=2, metric="cosine", disconnected="never")
    columns = features.fit_transform(rows, [0, 0, 0, 1, 1, 1])
    assert features.n_connected_components_ == 2
    assert_array_equal(columns, np.eye(2)[[0, 0, 0, 1, 1, 1]])


def test_rows_do_not_depend_on_each_other():
    features = GeodesicNeighborFeatures(transductive=FURTHER).fit(X, Y)
    one_by_one = np.vstack([features.transform(row[None]) for row in NEW])
    assert_array_equal(features.transform(NEW), one_by_one)


# --- Few rows ------------------------------------------------------------------------------------


def test_own_labels_do_not_count_on_training_rows_and_do_on_new_ones():
    rows, y = np.arange(5.0)[:, None], np.arange(5)
    features = GeodesicNeighborFeatures(1)
    columns = features.fit_transform(rows, y)
    assert_array_equal(np.diag(columns), 0.0)
    assert_array_equal(columns.sum(axis=1), 1.0)
    assert_array_equal(features.transform(rows), np.eye(5))
    assert GeodesicNeighborFeatures.out_of_fold is True


def test_copies_count_for_each_other():
    columns = GeodesicNeighborFeatures(1).fit_transform([[0.0], [0.0], [1.0]], ["a", "b", "c"])
    assert_array_equal(columns, [[0, 1, 0], [1, 0, 0], [1, 0, 0]])


def test_one_row_has_no_neighbours():
    features = GeodesicNeighborFeatures()
    assert_array_equal(features.fit_transform([[1.0]], ["a"]), [[0.0]])
    assert_array_equal(features.transform([[1.0], [2.0]]), [[1.0], [1.0]])


def test_islands():
    rows = np.array([0, 1, 2, 100, 101, 102, 200.0, 201, 202])[:, None]
    y = np.repeat(["a", "b", "c"], 3)
    further = [[1000.0], [1001.0]]
    settings = {"graph_neighbors": 1, "transductive": further}
    never = GeodesicNeighborFeatures(**settings, disconnected="never")
    assert_array_equal(never.fit_transform(rows, y), np.eye(3)[[0, 0, 0, 1, 1, 1, 2, 2, 2]])
    assert_array_equal(never.transform(further), np.zeros((2, 3)))
    assert never.n_connected_components_ == 4
    table = [[1.0], [201.5], *further]
    ways = [[0, 1, 1], [0.5, 1.5, 1.5], [np.inf] * 3, [np.inf] * 3]
    distances, indices = never.kneighbors(table)
    assert_array_equal(distances, ways)
    assert_array_equal(indices, [[1, 0, 2], [7, 6, 8], [-1] * 3, [-1] * 3])
    after = GeodesicNeighborFeatures(**settings).fit(rows, y)
    assert_array_equal(after.fit_transform(rows, y)[[0, 2, 8]], [[1, 1, 0], [1, 1, 0], [0, 1, 1]])
    assert_array_equal(after.transform([*further, [1002.0]]), [[0, 0, 1]] * 3)
    distances, indices = after.kneighbors(table)
    assert_array_equal(distances, ways)
    assert_array_equal(indices, [[1, 0, 2], [7, 6, 8], [8, 7, 6], [8, 7, 6]])


# --- Tables in and out ---------------------------------------------------------------------------


@loop("form", [sp.csr_array, sp.csr_matrix, sp.coo_array, sp.csc_matrix])
@loop("further", ["sparse", "dense"])
def test_sparse_rows(form, further):
    rows, more, new = (np.where(table > 0.3, table.round(1), 0) for table in (X, FURTHER, NEW))
    dense = GeodesicNeighborFeatures(transductive=more)
    assert len(np.unique(rows, axis=0)) < 40
    sparse = GeodesicNeighborFeatures(transductive=form(more) if further == "sparse" else more)
    assert_array_equal(sparse.fit_transform(form(rows), Y), dense.fit_transform(rows, Y))
    assert sparse._nodes.shape == dense._nodes.shape
    for table in (more, new):
        expected = sparse.transform(form(table))
        assert_array_equal(expected, sparse.transform(table))
        assert_array_equal(dense.transform(form(table)), dense.transform(table))


@loop(("name", "library"), [("pandas", pd), ("polars", pl)])
def test_frames_in_and_out(name, library):
    tables = [library.DataFrame(dict(zip("abc", t.T, strict=True))) for t in (X, FURTHER)]
    labels = np.array(["p", "q", "r", "s"])[Y]
    features = GeodesicNeighborFeatures(transductive=tables[1]).set_output(transform=name)
    training = features.fit_transform(tables[0], labels)
    names = [f"geodesic_neighbor_{label}" for label in "pqrs"]
    assert list(training.columns) == list(features.get_feature_names_out()) == names
    plain = GeodesicNeighborFeatures(transductive=FURTHER)
    assert_array_equal(training.to_numpy(), plain.fit_transform(X, Y))
    assert_array_equal(features.transform(tables[1]).to_numpy(), plain.transform(FURTHER))
    assert_array_equal(features.classes_, list("pqrs"))


def test_clone_and_pickle():
    features = GeodesicNeighborFeatures(2, transductive=FURTHER).fit(X, Y)
    arrived = pickle.loads(pickle.dumps(features))
    assert_array_equal(arrived.transform(NEW), features.transform(NEW))
    assert_array_equal(clone(features).fit_transform(X, Y), features.fit_transform(X, Y))


def test_a_pipeline_learns_from_columns_without_own_labels():
    rng = np.random.default_rng(2)
    noise, y = rng.normal(size=(200, 5)), rng.integers(0, 2, 200)
    model = make_pipeline(GeodesicNeighborFeatures(1), LogisticRegression()).fit(noise, y)
    assert np.abs(model[-1].coef_).max() < 0.6  # own labels would separate the rows
    assert cross_val_score(model, noise, y).mean() < 0.62


# --- Bad input -----------------------------------------------------------------------------------


@loop(
    ("settings", "words"),
    [
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"graph_neighbors": 0}, "graph_neighbors"),
        ({"graph_neighbors": 1.5}, "graph_neighbors"),
        ({"metric": "precomputed"}, "metric"),
        ({"metric": None}, "metric"),
        ({"disconnected": "last"}, "disconnected"),
        ({"n_jobs": 0.5}, "n_jobs"),
        ({"transductive": "test"}, "transductive"),
        ({"transductive": FURTHER[:, :2]}, "transductive must have rows like.* 2 features"),
        ({"transductive": FURTHER[0]}, "transductive must have rows like.*2D array"),
        ({"transductive": np.full((2, 3), np.nan)}, "transductive must have rows like.*NaN"),
    ],
)
def test_parameters_are_refused_by_name(settings, words):
    with pytest.raises(ValueError, match=f"(?s){words}"):
        GeodesicNeighborFeatures(**settings).fit(X, Y)


@loop(
    ("y", "words"),
    [
        (None, "requires y"),
        (Y[:-1], r"numbers of samples: \[40, 39\]"),
        (X[:, 0], "Unknown label type: continuous"),
    ],
)
def test_labels(y, words):
    with pytest.raises(ValueError, match=words):
        GeodesicNeighborFeatures().fit(X, y)


@loop("method", ["transform", "kneighbors"])
def test_before_fit(method):
    with pytest.raises(NotFittedError):
        getattr(GeodesicNeighborFeatures(), method)(X)


# --- In use --------------------------------------------------------------------------------------


def majority(nearest, codes):
    """Return the class of most of the rows, among equals that of the nearest."""
    out = []
    for row in codes[nearest]:
        counts = np.bincount(row)
        out.append(next(code for code in row if counts[code] == counts.max()))
    return np.array(out)


@pytest.fixture(scope="module")
def coil20(data_dir):
    return pd.read_csv(data_dir / "coil20.csv.gz")


@loop(
    ("m", "joins", "accuracy"),
    [
        *((m, 3, accuracy) for m, accuracy in ((6, 0.903), (12, 0.894), (24, 0.911), (48, 0.910))),
        *((6, joins, accuracy) for joins, accuracy in ((2, 0.998), (4, 0.872), (5, 0.853))),
    ],
)
def test_objects_that_turn(coil20, m, joins, accuracy):
    rows, y = coil20.drop(columns="target").to_numpy(float), coil20["target"].to_numpy()
    training = coil20.groupby("target").cumcount().to_numpy() < m
    images, others = rows[training], rows[~training]
    features = GeodesicNeighborFeatures(graph_neighbors=joins, transductive=others)
    features.fit(images, y[training])
    guesses = features.classes_[majority(features.kneighbors(others)[1], features._codes)]
    assert (guesses == y[~training]).mean() == pytest.approx(accuracy, abs=1e-3)

"""Wrong arrays are refused by the binding: never a crash, never a silent copy."""

import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelwise import _native
from tests.loop import loop

N = 6


def floats(*shape, dtype=np.float64):
    return np.random.default_rng(0).normal(size=shape).astype(dtype)


def box():
    return np.full(N, -1.0), np.ones(N)


def arguments():
    """Return good arguments of every function that takes arrays, by its name."""
    lo, hi = box()
    some, K, v = np.arange(3), floats(N, N), floats(N)
    centre, left = np.zeros(2), floats(N, 4)
    singles, limits = floats(N, 4, dtype=np.float32), np.ones((2, 4), dtype=np.float32)
    return {
        "scaled_rows": (floats(N, 2), centre, np.ones(2), np.zeros((N, 4))),
        "shifted_rows": (floats(N, 2), centre, np.ones(2), np.zeros((N, 3))),
        "centred_rows": (floats(N, 2), centre, np.ones(2), True, np.zeros((N, 3))),
        "exp_of_minus_rows": (K,),
        "transpose": (floats(3, N), np.zeros((N, 3))),
        "other_side": (left, np.zeros((4, N))),
        "gauss": (left, left, np.zeros((N, N)), 0, N, N),
        "laplace": (left, left, np.ones(3), False, np.zeros((N, N)), 0, N, N),
        "l1_distances": (left, floats(4, 5), np.zeros((N, 5))),
        "contract": (K, 0, left, floats(4, N), 3, 0, True, np.zeros(3), np.zeros(N)),
        "whole_terms": (left, 0, True, np.zeros(3), np.zeros(N), np.zeros(3)),
        "add_products": (False, left, np.ones(2), some, np.ones(3), some, np.zeros(N)),
        "add_mutual_products": (False, left, np.ones(2), some, np.ones(3), 0, 3, np.zeros(N)),
        "fill_square": (False, left, np.ones(2), some, 0, 3, np.zeros((3, 3), np.uint16)),
        "squeeze_square": (np.zeros((N, N), np.uint16), some),
        "solve_square": (
            *(np.eye(N, dtype=np.uint16) * 65535, v * 0, -np.sign(v), lo, hi, 1e-3, 5, 1e6),
        ),
        "gather": (K, some, some, np.zeros((3, 3))),
        "swap_columns": (K, some, some + 3),
        "add_rows": (K, some, np.ones(3), np.zeros(N)),
        "solve_some": (K @ K.T, np.diag(K @ K.T).copy(), v * 0, -v, lo, hi, some, True, 1e-3, 5),
        "solve_stored": (
            *(K @ K.T, v * 0, v * 0, v, lo, hi, False, 1e-3, 100, 1e6, 0.0, np.zeros(4)),
        ),
        "solve_pairs": (
            *(K @ K.T, np.array([0, 2, 4, N]), np.ones(N), np.zeros((2, N)), np.zeros((2, N))),
            *(np.zeros((3, 4)), *np.zeros((3, 3), np.int64), False, 1e-3, 100, 1e6, 1e6, 0, 3),
        ),
        "sweep": (K @ K.T, v * 0, -v, lo, hi, 0.0, 0.1, 0.1, 0.01, 1e-3, 5),
        "sweep_to_margin": (K @ K.T, v * 0, v, lo, hi, 0.01, 1e-3, 5),
        "project_to_sum": (v, lo, hi, 0.0, np.zeros(N)),
        "repair": (v, lo, hi, 0.0, np.zeros(N)),
        "first_point": (lo, hi, 1.0, np.zeros(N)),
        "reach": (v, v, lo, hi),
        "intercept": (v, v, lo, hi),
        "kkt_violation": (v, v, lo, hi),
        "duality_gap": (v, v, v, v, lo, hi, 0.0),
        "snap": (v.copy(), lo, hi),
        "certify": (v, v, v, lo, hi, 0.0),
        "newton_system": (K, v, some, 1e-9, np.zeros((3, 3)), np.zeros(3)),
        "centre": (v.copy(),),
        "walk": (K, v * 0, lo, hi, v.copy(), some, np.ones(3)),
        "residuals": (v, lo, hi, v, np.ones(N, dtype=bool), np.zeros(N)),
        "squared_gaps": (
            *(floats(2, N), np.argsort(floats(2, N), axis=1), np.arange(N) % 2),
            *(np.ones(N), np.ones(2), np.zeros((2, 2))),
        ),
        "mix": (floats(N, 2).view(np.uint64), np.ones(2, np.uint64), np.zeros(N, np.uint64)),
        "fit_sigmoids": (
            *(floats(2, N), np.ones((2, N)), np.ones((2, N)), 2.5, 0.5, False, 1e-12, 20),
            *(np.ones(2), np.zeros(2)),
        ),
        "limited_distances": (singles, singles[:4, :3].copy(), *limits, np.zeros((N, 3), "f")),
        "limited_contraction": (
            *(singles[:, :3].copy(), singles, singles[:4, :3].copy(), limits[0], np.zeros(4)),
        ),
        "heights_on_lines": (
            *(floats(N, 4), np.array([0, 2]), np.arange(5.0), np.ones(5), np.array([0, 2, 5])),
            *(np.ones(2), np.zeros((N, 2), np.float32)),
        ),
    }


def misaligned(array):
    raw = np.zeros(array.nbytes + 1, dtype=np.uint8)
    out = raw[1:].view(array.dtype).reshape(array.shape)
    out[...] = array
    return out


def with_gaps(array):
    out = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), dtype=array.dtype)[..., ::2]
    out[...] = array
    return out


OF_WRONG_TYPE = {
    "a list": lambda array: array.tolist(),
    "nothing": lambda array: None,
    "integers of 16 bits": lambda array: array.astype(np.int16),
    "complex numbers": lambda array: array.astype(np.complex128),
    "the other byte order": lambda array: array.astype(array.dtype.newbyteorder()),
    "one dimension more": lambda array: array[None],
}
OF_WRONG_LAYOUT = {
    "gaps": with_gaps,
    "backwards": lambda array: array[..., ::-1],
    "off its alignment": misaligned,
    "one entry more": lambda array: np.concatenate([array, array[..., -1:]], axis=-1),
}


# Arguments whose size another one follows: they may be of any size.
ANY_SIZE = {
    ("heights_on_lines", 0),
    ("exp_of_minus_rows", 0),
    ("gather", 0),
    ("swap_columns", 0),
    ("solve_some", 6),
    ("centre", 0),
    ("centred_rows", 4),
    ("squared_gaps", 4),
    ("whole_terms", 0),
    ("add_products", 1),
    ("add_products", 2),
    ("add_products", 5),
    ("add_mutual_products", 1),
    ("add_mutual_products", 2),
    ("fill_square", 1),
    ("fill_square", 2),
}


def cases(ways):
    """Return each way to make each array argument wrong, but for those that change nothing."""
    found = []
    for name, args in arguments().items():
        for place, arg in enumerate(args):
            right = {"one entry more"} if (name, place) in ANY_SIZE else set()
            if isinstance(arg, np.ndarray) and arg.dtype == bool:  # one byte
                right |= {"the other byte order", "off its alignment"}
            if isinstance(arg, np.ndarray):
                found += [pytest.param(name, place, way) for way in ways if way not in right]
    return found


def test_every_function_is_tried():
    without_arrays = {"kept_bytes", "levels_of", "release_memory"}
    functions = {name for name in dir(_native) if callable(getattr(_native, name))}
    functions = {name for name in functions if not name.startswith("_")}
    assert functions - without_arrays == set(arguments())


@loop("name", arguments())
def test_good_arguments_are_taken(name):
    getattr(_native, name)(*arguments()[name])


@loop(("name", "place", "wrong"), cases(OF_WRONG_TYPE))
def test_a_wrong_type_is_a_type_error(name, place, wrong):
    args = list(arguments()[name])
    args[place] = OF_WRONG_TYPE[wrong](args[place])
    with pytest.raises(TypeError):
        getattr(_native, name)(*args)


@loop(("name", "place", "wrong"), cases(OF_WRONG_LAYOUT))
def test_a_wrong_layout_or_size_is_a_value_error(name, place, wrong):
    args = list(arguments()[name])
    args[place] = OF_WRONG_LAYOUT[wrong](args[place])
    with pytest.raises(ValueError, match="must"):
        getattr(_native, name)(*args)


@loop(("name", "place"), [("transpose", 1), ("snap", 0), ("gather", 3)])
def test_an_output_that_must_not_be_written_is_a_type_error(name, place):
    args = arguments()[name]
    args[place].flags.writeable = False
    with pytest.raises(TypeError):
        getattr(_native, name)(*args)


@loop(("name", "place"), [("gather", 1), ("add_rows", 1), ("walk", 5)])
@loop("index", [-1, N, 2**40])
def test_an_index_out_of_range_is_a_value_error(name, place, index):
    args = arguments()[name]
    args[place][1] = index
    with pytest.raises(ValueError, match="within range"):
        getattr(_native, name)(*args)


def test_inputs_that_must_not_be_written_are_taken():
    K, out = floats(N, N), np.zeros((N, N))
    K.flags.writeable = False
    _native.transpose(K, out)
    assert_array_equal(out, K.T)


def test_rows_may_lie_apart_and_nothing_may_be_empty():
    whole, out = floats(2 * N, 9), np.zeros((4, N))
    _native.transpose(whole[::2, 2:6], out)
    assert_array_equal(out, whole[::2, 2:6].T)
    _native.transpose(np.zeros((0, 5)), np.zeros((5, 0)))
    _native.exp_of_minus_rows(np.zeros((3, 0)))
    assert _native.reach(*(np.zeros(0) for _ in range(4))) == (np.inf, -np.inf)


@loop("rows", [(-1, 2, 0), (3, 2, 0), (0, N + 1, 0), (0, 4, 2)])
def test_rows_outside_the_matrix_are_refused(rows):
    left = floats(N, 4)
    with pytest.raises(ValueError, match="must"):
        _native.gauss(left, left, np.zeros((N, N)), *rows)
    with pytest.raises(ValueError, match="must"):
        _native.laplace(left, left, np.ones(1), False, np.zeros((N, N)), *rows)


def test_more_categories_than_columns_are_refused():
    left = floats(N, 4)
    with pytest.raises(ValueError, match="left must"):
        _native.laplace(left, left, np.ones(4), False, np.zeros((N, N)), 0, N, 0)


def test_other_threads_run_meanwhile():
    left, out = floats(3000, 202), np.zeros((3000, 3000))
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    time.sleep(0.02)
    before = counted[0]
    _native.gauss(left, left, out, 0, len(left), 0)
    after = counted[0]
    done.set()
    thread.join()
    assert after > before


def test_work_memory_is_bounded_and_can_be_released():
    n = 1500
    X = floats(n, 4)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    y = np.sign(X[:, 0])
    lo, hi = np.minimum(0, 100 * y), np.maximum(0, 100 * y)
    vectors = np.zeros(n), np.zeros(n), y, lo, hi
    _native.solve_stored(K, *vectors, False, 1e-3, 10**6, 1e9, 0.0, np.zeros(4))
    assert 0 < _native.kept_bytes() <= 2**25
    _native.release_memory()
    assert _native.kept_bytes() == 0


@loop("dtype", [np.float32, np.float64])
@loop("runs", [[(0, 90)], [(3, 40), (50, 91)], [(k, k + 2) for k in range(0, 90, 3)]])
def test_gathered_blocks(runs, dtype):
    K = floats(100, 100, dtype=dtype)
    columns = np.concatenate([np.arange(*run) for run in runs])
    rows = np.array([5, 0, 99])
    for out in (np.zeros((3, len(columns)), dtype), np.zeros((3, len(columns)))):
        _native.gather(K, rows, columns, out)
        assert_array_equal(out, K[np.ix_(rows, columns)])

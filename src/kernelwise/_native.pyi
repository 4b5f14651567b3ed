"""Compiled leaves on plain arrays; native/ has the mathematics above each of them."""

from typing import Any

from numpy.typing import NDArray

from ._typing import Array, Index, Square

level: str
levels: tuple[str, ...]

CONVERGED: int
OUT_OF_STEPS: int
STUCK: int
UNFINISHED: int
NOT_A_NUMBER: int

def levels_of(level: int) -> tuple[str, ...]: ...
def kept_bytes() -> int: ...
def release_memory() -> None: ...

# native/rows.hpp
def scaled_rows(X: Array, centre: Array, root: Array, out: Array) -> float: ...
def shifted_rows(X: Array, centre: Array, scales: Array, out: Array) -> float: ...
def centred_rows(
    X: Array, centre: Array, scales: Array, squares: bool, out: Array
) -> tuple[float, float]: ...
def other_side(left: Array, right: Array) -> None: ...

# native/tiles.hpp, exp_tiles.hpp, gauss.hpp, l1.hpp, contraction.hpp
def exp_of_minus_rows(values: Array) -> None: ...
def gauss(left: Array, other: Array, out: Array, first: int, last: int, stop: int) -> None: ...
def laplace(
    left: Array,
    other: Array,
    weights: Array,
    far: bool,
    out: Array,
    first: int,
    last: int,
    stop: int,
) -> None: ...
def l1_distances(left: Array, right: Array, out: Array) -> None: ...
def contract(
    K: Array,
    start: int,
    left: Array,
    right: Array,
    d: int,
    categories: int,
    squares: bool,
    mixed: Array,
    ends: Array,
) -> None: ...
def whole_terms(
    rows: Array, categories: int, squares: bool, mixed: Array, ends: Array, out: Array
) -> None: ...

# native/fused.hpp, square.hpp
def add_products(
    squared: bool,
    rows: Array,
    weights: Array,
    left: Index,
    change: Array,
    columns: Index,
    out: Array,
) -> None: ...
def add_mutual_products(
    squared: bool,
    rows: Array,
    weights: Array,
    which: Index,
    change: Array,
    first: int,
    last: int,
    out: Array,
) -> None: ...
def fill_square(
    squared: bool, rows: Array, weights: Array, which: Index, first: int, last: int, K: Square
) -> None: ...
def squeeze_square(K: Square, kept: Index) -> None: ...
def solve_square(
    K: Square,
    b: Array,
    g: Array,
    lo: Array,
    hi: Array,
    tol: float,
    max_steps: int,
    most_swept: float,
    kink: Array | None = None,
) -> tuple[float, int, int]: ...

# native/blocks.hpp
def transpose(source: Array, target: Array) -> None: ...
def gather(K: Array, rows: Index, columns: Index, out: Array) -> None: ...
def swap_columns(K: Array, a: Index, b: Index) -> None: ...

# native/smo.hpp, stored.hpp
def add_rows(K: Array, rows: Index, change: Array, out: Array) -> None: ...
def solve_some(
    K: Array,
    diag: Array,
    b: Array,
    gradient: Array,
    lo: Array,
    hi: Array,
    some: Index,
    copies: bool,
    tol: float,
    limit: int,
    kink: Array | None = None,
) -> tuple[int, int]: ...
def solve_stored(
    K: Array,
    b: Array,
    g: Array,
    p: Array,
    lo: Array,
    hi: Array,
    known: bool,
    tol: float,
    max_steps: int,
    most_swept: float,
    total: float,
    certificate: Array,
    kink: Array | None = None,
) -> tuple[float, int, int]: ...

# native/pairs.hpp
def solve_pairs(
    K: Array,
    starts: Index,
    costs: Array,
    dual: Array,
    gradient: Array,
    certificates: Array,
    steps: Index,
    ends: Index,
    vectors: Index,
    warm: bool,
    tol: float,
    max_steps: int,
    most_swept: float,
    most_swept_by_all: float,
    first: int,
    last: int,
) -> int: ...

# native/adatron.hpp
def sweep(
    K: Array,
    b: Array,
    g: Array,
    lo: Array,
    hi: Array,
    total: float,
    nu: float,
    rho: float,
    eta: float,
    tol: float,
    max_epochs: int,
) -> tuple[int, bool]: ...
def sweep_to_margin(
    K: Array, b: Array, p: Array, lo: Array, hi: Array, eta: float, tol: float, max_epochs: int
) -> tuple[int, bool]: ...

# native/box.hpp
def project_to_sum(b: Array, lo: Array, hi: Array, total: float, out: Array) -> bool: ...
def repair(b: Array, lo: Array, hi: Array, total: float, out: Array) -> bool: ...
def first_point(lo: Array, hi: Array, total: float, out: Array) -> bool: ...
def reach(
    b: Array, gradient: Array, lo: Array, hi: Array, kink: Array | None = None
) -> tuple[float, float]: ...
def intercept(
    b: Array, gradient: Array, lo: Array, hi: Array, kink: Array | None = None
) -> float: ...
def kkt_violation(
    b: Array, residual: Array, lo: Array, hi: Array, kink: Array | None = None
) -> float: ...
def duality_gap(
    b: Array,
    gradient: Array,
    pull: Array,
    p: Array,
    lo: Array,
    hi: Array,
    constant: float,
    kink: Array | None = None,
) -> float: ...
def snap(b: Array, lo: Array, hi: Array, kink: Array | None = None) -> None: ...
def certify(
    b: Array,
    gradient: Array,
    p: Array,
    lo: Array,
    hi: Array,
    total: float,
    kink: Array | None = None,
) -> tuple[float, float, float, float]: ...

# native/active_set.hpp
def newton_system(
    K: Array, gradient: Array, free: Index, ridge: float, block: Array, slope: Array
) -> None: ...
def centre(step: Array) -> None: ...
def walk(
    K: Array, b: Array, lo: Array, hi: Array, gradient: Array, free: Index, step: Array
) -> float: ...
def residuals(
    b: Array, lo: Array, hi: Array, gradient: Array, free: NDArray[Any], held: Array
) -> float: ...

# native/energy.hpp, row_keys.hpp, sigmoids.hpp
def squared_gaps(
    Xt: Array, order: Index, classes: Index, weights: Array, factors: Array, out: Array
) -> None: ...
def mix(bits: Array, multipliers: Array, out: Array) -> None: ...
def fit_sigmoids(
    F: Array,
    T: Array,
    W: Array,
    mean: float,
    precision: float,
    fixed: bool,
    enough: float,
    max_steps: int,
    slope: Array,
    intercept: Array,
) -> None: ...

# native/landmarks.hpp
def limited_distances(
    left: Array, right: Array, scales: Array, limits: Array, out: Array
) -> None: ...
def limited_contraction(S: Array, left: Array, right: Array, limits: Array, out: Array) -> None: ...

# native/lines.hpp
def heights_on_lines(
    X: Array,
    columns: Index,
    knots: Array,
    heights: Array,
    stops: Index,
    sizes: Array,
    out: Array,
) -> None: ...

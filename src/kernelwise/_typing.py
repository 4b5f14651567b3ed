"""Names for the types that every layer uses."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.floating[Any]]
Index: TypeAlias = NDArray[np.intp]
Codes: TypeAlias = NDArray[np.int8]  # -1, 0 (not in the machine) and +1
Matrix: TypeAlias = Any  # a dense array or a SciPy sparse matrix in CSR form

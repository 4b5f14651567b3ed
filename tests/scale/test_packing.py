"""Arrays without their zeros: the way there and back, and shapes that do not belong to them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelwise.scale.packing import with_zeros, without_zeros


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (5, 3), (8, 8)])
def test_an_array_comes_back_with_its_type(shape):
    rng = np.random.default_rng(0)
    array = np.where(rng.random(shape) < 0.3, rng.standard_normal(shape), 0).astype(np.float32)
    found = with_zeros(without_zeros({"a": array, "b": 1}, "a"), "a")
    assert found.keys() == {"a", "b"}
    assert found["a"].dtype == array.dtype
    assert_array_equal(found["a"], array)


@pytest.mark.parametrize("shape", [(10**6, 10**6), (-4, -4), (1, 8), (2, 1)])
def test_a_shape_of_other_size_is_refused_before_memory_is_taken(shape):
    state = without_zeros({"a": np.eye(4)}, "a") | {"a_shape": shape}
    with pytest.raises(ValueError, match="does not belong to 2 bytes of places"):
        with_zeros(state, "a")

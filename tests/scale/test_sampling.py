"""Samples by the numbers of rows."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelwise.scale.sampling import key_of, row_keys, sample_rows, uniform, uniform_of

NUMBERS = np.arange(5000)


def test_keys_are_splitmix64():
    # The first output of splitmix64 at state 0 is the mix of one golden step.
    def mix(bits):
        bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB % 2**64
        return bits ^ (bits >> 31)

    golden = 0x9E3779B97F4A7C15
    assert mix(golden) == 0xE220A8397B1DCDAF  # the published first output
    expected = [mix(mix((i + golden) % 2**64) ^ mix((7 + golden) % 2**64)) for i in range(50)]
    assert row_keys(range(50), seed=7).tolist() == expected


@pytest.mark.parametrize("seed", [0, 7, 2**31])
def test_the_key_of_one_row_is_that_of_many(seed):
    numbers = [0, 1, 12345, 2**63 + 11, 2**64 - 1]
    many = np.array(numbers, dtype=np.uint64)
    assert [key_of(number, seed) for number in numbers] == row_keys(many, seed).tolist()
    assert [uniform_of(number, seed) for number in numbers] == uniform(many, seed).tolist()


@pytest.mark.parametrize("size", [0, 1, 300, 5000, 9000])
def test_a_sample_is_that_of_its_blocks(size):
    whole = NUMBERS[sample_rows(NUMBERS, size, seed=3)]
    assert len(whole) == min(size, 5000)
    blocks = np.array_split(np.random.default_rng(0).permutation(NUMBERS), 4)
    gathered = np.concatenate([block[sample_rows(block, size, seed=3)] for block in blocks])
    assert_array_equal(gathered[sample_rows(gathered, size, seed=3)], whole)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_many_rows_are_ordered_by_their_keys_whatever_the_threads(threads):
    numbers = np.random.default_rng(0).permutation(100_000)
    keys = row_keys(numbers, seed=4)
    found = sample_rows(numbers, len(numbers), seed=4, threads=threads)
    assert_array_equal(found, np.argsort(keys))


def test_seeds_pick_different_rows_evenly():
    first, second = (set(sample_rows(NUMBERS, 1000, seed)) for seed in (0, 1))
    assert 130 < len(first & second) < 270  # 200 by chance, with a deviation of 11
    assert abs(uniform(NUMBERS, 0).mean() - 0.5) < 0.02
    assert abs(np.corrcoef(uniform(NUMBERS, 0), NUMBERS)[0, 1]) < 0.06

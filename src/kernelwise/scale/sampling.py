"""Samples that depend on the numbers of rows alone, whatever their order or partition.

A row's key is a bijective hash of its number and a seed. The sample of size m has the m rows of the
least keys, so that the sample of a block, of a node of a tree or of a partition holds what of the
sample of all rows lies in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._threads import run
from .._typing import Index

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # steps of splitmix64
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_ALL_BITS = 2**64 - 1
_UNIT = 2.0**-53  # distance of the 53-bit numbers in [0, 1)
_MANY = 2**16  # keys from which they are sorted by their first byte before they are ordered
_BLOCK = 2**18  # keys that are sorted by their first byte at a time


def row_keys(numbers: Any, seed: int) -> Any:
    """Return the key of each row.

    Parameters
    ----------
    numbers : array-like of int
        The number of each row in the whole table, not negative.
    seed : int
        Picks the hash.

    Returns
    -------
    keys : ndarray of uint64
        The keys; different numbers have different keys.

    Examples
    --------
    >>> from kernelwise.scale.sampling import row_keys
    >>> len(set(row_keys(range(1000), seed=0).tolist()))
    1000
    """
    start = _mixed(np.array([seed], dtype=np.uint64) + _GOLDEN)
    return _mixed(_mixed(np.asarray(numbers).astype(np.uint64) + _GOLDEN) ^ start)


def _mixed(bits: Any) -> Any:
    """Return the bijection of splitmix64."""
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    return bits ^ (bits >> np.uint64(31))


def key_of(number: int, seed: int) -> int:
    """Return the key of one row as `row_keys` does, in a tenth of its time."""
    return _mixed_one(_mixed_one(number + int(_GOLDEN)) ^ _mixed_one(seed + int(_GOLDEN)))


def _mixed_one(bits: int) -> int:
    bits &= _ALL_BITS
    bits = ((bits ^ (bits >> 30)) * int(_FIRST)) & _ALL_BITS
    bits = ((bits ^ (bits >> 27)) * int(_SECOND)) & _ALL_BITS
    return bits ^ (bits >> 31)


def uniform_of(number: int, seed: int) -> float:
    """Return the number of `uniform` for one number."""
    return (key_of(number, seed) >> 11) * _UNIT


def uniform(numbers: Any, seed: int) -> Any:
    """Return a number in [0, 1) for each number, by its key."""
    return (row_keys(numbers, seed) >> np.uint64(11)).astype(np.float64) * _UNIT


def sample_rows(numbers: Any, size: int, seed: int, threads: int = 1) -> Index:
    """Return the places of the rows with the least keys.

    Parameters
    ----------
    numbers : ndarray of shape (n,)
        The number of each row in the whole table.
    size : int
        The size of the sample; all rows where there are no more.
    seed : int
        Picks the sample.
    threads : int, default=1
        Threads that order many rows. They do not change the result.

    Returns
    -------
    rows : ndarray of shape (min(n, size),)
        Places in `numbers`, by ascending key.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelwise.scale.sampling import sample_rows
    >>> numbers = np.arange(100)
    >>> whole = set(numbers[sample_rows(numbers, 10, seed=1)])
    >>> whole == set(numbers[::-1][sample_rows(numbers[::-1], 10, seed=1)])
    True
    """
    keys = row_keys(numbers, seed)
    if len(keys) > size:
        least = np.argpartition(keys, size)[:size]
        return least[np.argsort(keys[least])]
    return np.argsort(keys) if len(keys) < _MANY else _ordered(keys, threads)


def _ordered(keys: Any, threads: int) -> Index:
    """Return the order of many different keys, in half of the time of one sort of all of them."""

    def one_block(start: int) -> tuple[Index, Index]:
        first = (keys[start : start + _BLOCK] >> np.uint64(56)).astype(np.uint8)
        stops = np.append(0, np.cumsum(np.bincount(first, minlength=256)))
        return start + np.argsort(first, kind="stable"), stops  # bytes are sorted in linear time

    def one_byte(byte: int) -> Index:
        own = np.concatenate([rows[stops[byte] : stops[byte + 1]] for rows, stops in blocks])
        return own[np.argsort(keys[own])]

    blocks = run(one_block, range(0, len(keys), _BLOCK), threads)
    return np.concatenate(run(one_byte, range(256), threads))

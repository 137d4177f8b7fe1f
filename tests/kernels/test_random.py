"""Compiled draws consume a generator's bits as NumPy does, and give the same numbers."""

import sys
from typing import Any

import numpy as np
import pytest
from numba import njit

from gameproof.kernels.random import (
    DRAWN_AHEAD,
    draw_normals,
    draw_with_replacement,
    shuffle,
    uniform_int,
)


@njit
def normals(out: Any, rng: Any) -> None:
    draw_normals(out, rng)


@njit
def integers(out: Any, rng: Any, n: int) -> None:
    for k in range(out.size):
        out[k] = uniform_int(rng, n)


def test_normal_draws_equal_numpy_to_the_bit() -> None:
    """A million draws: about 10,000 need the edge of a layer, and 270 the tail."""
    ours, theirs = np.random.default_rng(5), np.random.default_rng(5)
    drawn = np.empty(1_000_000)
    normals(drawn, ours)
    assert np.array_equal(drawn, theirs.standard_normal(drawn.size))
    assert np.abs(drawn).max() > 3.7
    assert ours.bit_generator.state == theirs.bit_generator.state


@pytest.mark.parametrize("n", [1, 2, 3, 7, 2**31 + 1, 2**32 - 1])
def test_bounded_draws_equal_numpy(n: int) -> None:
    ours, theirs = np.random.default_rng(n), np.random.default_rng(n)
    drawn = np.empty(300, dtype=np.int64)
    integers(drawn, ours, n)
    assert drawn.tolist() == [theirs.integers(0, n) for _ in range(300)]
    assert ours.bit_generator.state == theirs.bit_generator.state


@pytest.mark.parametrize("n", [1, 2, 23, 10_000])
def test_draws_with_replacement_equal_numpy(n: int) -> None:
    ours, theirs = np.random.default_rng(n), np.random.default_rng(n)
    order = np.zeros(n, dtype=np.uint32)
    draw_with_replacement(order, ours)
    assert np.array_equal(order, theirs.integers(0, n, size=n))
    assert ours.bit_generator.state == theirs.bit_generator.state


@pytest.mark.parametrize("n", [1, 2, DRAWN_AHEAD, DRAWN_AHEAD + 1, 10_000])
def test_shuffle_makes_the_swaps_of_fisher_and_yates(n: int) -> None:
    """Partners are drawn ahead of their swaps, which must not change the result."""
    order, ours = np.zeros(n, dtype=np.uint32), np.random.default_rng(n)
    held = sys.getrefcount(ours)
    shuffle(order, ours)
    theirs = np.random.default_rng(n)
    expected = list(range(n))
    for i in range(n - 1, 0, -1):
        j = theirs.integers(0, i + 1)
        expected[i], expected[j] = expected[j], expected[i]
    assert np.array_equal(order, expected)
    assert ours.bit_generator.state == theirs.bit_generator.state
    assert sys.getrefcount(ours) == held  # compiled code does not count references

"""Sums, norms and views of vectors equal NumPy's."""

from typing import Any

import numpy as np
import pytest
from numba import njit

from gameproof.kernels import memory, vectors


@njit
def sums(a: Any, b: Any, mask: Any) -> Any:
    return vectors.dot(a, b), vectors.scaled_square(mask, a)


@njit
def length(v: Any) -> float:
    return vectors.norm(v)


@njit
def finite(v: Any) -> bool:
    return vectors.all_finite(v)


@njit
def view(matrix: Any, i: int, start: int, stop: int) -> Any:
    return memory.section(matrix[i], start, stop).copy()


@njit
def bits_of(bits: Any, n: int) -> Any:
    out = np.empty(n, dtype=np.bool_)
    for i in range(n):
        out[i] = memory.bit(bits, i)
    return out


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 11, 100])
def test_sums_equal_numpy(size: int) -> None:
    rng = np.random.default_rng(size)
    a, b = rng.standard_normal((2, size))
    mask = (b > 0).astype(np.float64)
    assert sums(a, b, mask) == pytest.approx((a @ b, mask @ a**2), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e-150, 1.0, 1e150, 1e300])
def test_norm_neither_overflows_nor_vanishes(scale: float) -> None:
    assert length(scale * np.array([3.0, -4.0, 12.0])) == pytest.approx(13 * scale, rel=1e-15)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_all_finite_sees_every_coordinate(bad: float) -> None:
    assert finite(np.array([0.0, -1e308, 1e-320]))
    for c in range(3):
        v = np.zeros(3)
        v[c] = bad
        assert not finite(v)


def test_section_equals_a_slice() -> None:
    matrix = np.arange(35.0).reshape(5, 7)
    for i, start, stop in ((0, 0, 7), (4, 6, 7), (2, 1, 5), (3, 3, 3)):
        assert np.array_equal(view(matrix, i, start, stop), matrix[i, start:stop])


def test_packed_flags_are_read_back() -> None:
    flags = np.random.default_rng(0).random(29) < 0.4
    assert np.array_equal(bits_of(memory.packed(flags), 29), flags)

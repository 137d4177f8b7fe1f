"""Sketches bracket quantiles, and medians in blocks are exact."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from array_source import ArraySource
from gameproof.rows import quantile_sketch
from gameproof.rows.quantile_sketch import QuantileSketch, exact_middles, merged_sketch
from gameproof.rows.row_source import RawRows


@given(
    st.lists(st.lists(st.integers(-30, 30), max_size=60), min_size=1, max_size=12),
    st.integers(0, 2**32 - 1),
)
def test_bracket_holds_the_weighted_quantile(parts: list[list[int]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    arrays = [np.array(part, dtype=np.float64) for part in parts]
    weights = [rng.integers(1, 4, array.size).astype(np.float64) for array in arrays]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantile_sketch, "SIZE", 8)
        patch.setattr(quantile_sketch, "MOST", 16)
        sketch = merged_sketch(map(QuantileSketch.of, arrays, weights))
    values, masses = np.concatenate(arrays), np.concatenate(weights)
    assert sketch.total == masses.sum()
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(masses[order])
    for rank in {1.0, sketch.total / 3, sketch.total / 2, sketch.total} if values.size else ():
        exact = values[order][int(np.searchsorted(reached, rank))]
        low, high = sketch.bracket(rank)
        assert low < exact <= high


def test_error_is_a_small_share_of_many_numbers() -> None:
    rng = np.random.default_rng(0)
    sketch = merged_sketch(QuantileSketch.of(rng.normal(size=10_000)) for _ in range(100))
    assert sketch.values.size <= quantile_sketch.MOST
    assert sketch.error < 0.002 * sketch.total


def columns(raw: RawRows) -> list[np.ndarray]:
    return [raw.X[:, 0], raw.X[raw.X[:, 1] > 2, 1], raw.X[:0, 0]]


@pytest.mark.parametrize("n", [5001, 5000])
def test_middles_are_exact(n: int) -> None:
    X = np.random.default_rng(1).normal(size=(n, 2)).round(3)
    first, second, nothing = exact_middles(ArraySource(X, np.zeros(n), block=300), columns)
    assert first is not None
    assert second is not None
    assert nothing is None
    assert sum(first) / 2 == np.median(X[:, 0])
    assert sum(second) / 2 == np.median(X[X[:, 1] > 2, 1])

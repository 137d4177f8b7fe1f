"""Random numbers that belong to the place of a row in a table.

They do not depend on blocks, files or workers, so that a split or a sample is the same wherever the
rows are. The numbers are those of SplitMix64 (Steele, Lea and Flood, 2014), started at a key and
advanced by the place of the row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Indices, Vector

Bools = NDArray[np.bool_]
# Streams of random numbers: one for splits, one for samples.
TEST, CHOSEN = 0, 1
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def row_draws(places: Indices, seed: int, stream: int) -> Vector:
    """A uniform number in [0, 1) for each place. Streams of one seed are independent.

    >>> row_draws(np.arange(3), seed=0, stream=0).round(3)
    array([0.023, 0.4  , 0.235])
    """
    key = np.random.SeedSequence([seed, stream]).generate_state(1, np.uint64)[0]
    bits = mixed((np.asarray(places).astype(np.uint64) + np.uint64(1)) * _GOLDEN + key)
    found: Vector = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return found


def held_out(places: Indices, share: float, seed: int) -> Bools:
    """Whether each row is among the test rows, a random share of all rows."""
    found: Bools = row_draws(places, seed, TEST) < share
    return found


def sampled(places: Indices, share: float, seed: int = 0) -> Bools:
    """Whether each row is in a random sample of this share of all rows."""
    if share >= 1:
        return np.ones(len(places), dtype=bool)
    found: Bools = row_draws(places, seed, CHOSEN) < share
    return found


def mixed(bits: np.ndarray[tuple[int, ...], np.dtype[np.uint64]]) -> Indices:
    """The finaliser of SplitMix64: every bit of the result depends on every bit given."""
    z = (bits ^ (bits >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))

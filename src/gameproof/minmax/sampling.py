"""`draw_samples`: the samples over which values are averaged to compare points."""

from __future__ import annotations

import numpy as np

from gameproof.core.arguments import Indices


def draw_samples(rng: np.random.Generator, n: int, number: int, noisy: bool) -> Indices:
    """Returns `number` of `n` samples in random order, no two of them equal.

    If there are fewer than `number`, it returns all of them. It repeats them if values are noisy,
    because more values then reduce the noise.
    """
    drawn: Indices = rng.choice(n, size=max(1, min(n, number)), replace=False)
    return np.resize(drawn, number) if noisy and number > n else drawn

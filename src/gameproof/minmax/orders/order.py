"""`Order`: which samples an epoch visits, in which order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from gameproof.core.arguments import Indices
from gameproof.kernels import layout as at
from gameproof.minmax.replaceable_part import ReplaceablePart

# Orders keep the number of a sample in 32 bits.
LONGEST = 2**32


class Order(ReplaceablePart, ABC):
    """Which samples an epoch visits, in which order.

    Examples
    --------
    Every sample once, the later half first:

    >>> import gameproof as gp, numpy as np
    >>> class LaterHalfFirst(gp.Order):
    ...     name = "LH"
    ...     def draw(self, rng, n, epoch):
    ...         return np.roll(np.arange(n), n // 2)
    >>> gp.check_order(LaterHalfFirst())
    """

    name: ClassVar[str] = "own"
    code: ClassVar[int] = at.EXTERNAL

    @abstractmethod
    def draw(self, rng: np.random.Generator, n: int, epoch: int) -> Indices:
        """The n samples of an epoch, in order."""

    def check(self, n: int) -> None:
        """Rejects more samples than 32 bits can number."""
        if n >= LONGEST:
            raise ValueError(f"a problem must have fewer than {LONGEST:,} samples, got {n:,}")


def permutation(rng: np.random.Generator, n: int) -> Indices:
    """Fisher and Yates from the top, with the draws rng.integers(0, i + 1)."""
    order = np.arange(n)
    for i in range(n - 1, 0, -1):
        j = int(rng.integers(0, i + 1))
        order[i], order[j] = order[j], order[i]
    return order

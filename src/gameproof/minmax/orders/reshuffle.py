"""RR: a fresh permutation every epoch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from gameproof.core.arguments import Indices
from gameproof.kernels import layout as at
from gameproof.minmax.orders.order import Order, permutation


@final
@dataclass(frozen=True)
class Reshuffle(Order):
    """RR: a fresh permutation every epoch.

    Examples
    --------
    >>> sorted(Reshuffle().draw(np.random.default_rng(0), 4, 0).tolist())
    [0, 1, 2, 3]
    """

    name: ClassVar[str] = "RR"
    code: ClassVar[int] = at.RESHUFFLE

    def draw(self, rng: np.random.Generator, n: int, epoch: int) -> Indices:
        return permutation(rng, n)

"""SO: one permutation, drawn at the start and used in every epoch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from gameproof.core.arguments import Indices
from gameproof.kernels import layout as at
from gameproof.minmax.orders.order import Order, permutation


@final
@dataclass(frozen=True)
class ShuffleOnce(Order):
    """SO: one permutation, drawn at the start and used in every epoch.

    Examples
    --------
    >>> sorted(ShuffleOnce().draw(np.random.default_rng(0), 4, 0).tolist())
    [0, 1, 2, 3]
    """

    name: ClassVar[str] = "SO"
    code: ClassVar[int] = at.SHUFFLE_ONCE

    def draw(self, rng: np.random.Generator, n: int, epoch: int) -> Indices:
        return permutation(rng, n)

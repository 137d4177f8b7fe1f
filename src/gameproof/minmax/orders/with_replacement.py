"""WR: independent uniform samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from gameproof.core.arguments import Indices
from gameproof.kernels import layout as at
from gameproof.minmax.orders.order import Order


@final
@dataclass(frozen=True)
class WithReplacement(Order):
    """WR: independent uniform samples.

    Examples
    --------
    >>> WithReplacement().draw(np.random.default_rng(0), 5, 0).size
    5
    """

    name: ClassVar[str] = "WR"
    code: ClassVar[int] = at.WITH_REPLACEMENT

    def draw(self, rng: np.random.Generator, n: int, epoch: int) -> Indices:
        return rng.integers(0, n, size=n)

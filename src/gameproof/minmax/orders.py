"""The order in which samples are visited. An epoch is n samples in each of them."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar, final

from gameproof import kernels

# A permutation keeps the number of a sample in 32 bits.
LONGEST = 2**32


class Order(ABC):
    """Which samples a step uses."""

    code: ClassVar[int]

    def check(self, n: int) -> None:
        """Refuses more samples than a permutation has numbers for."""
        if self.code != kernels.WITH_REPLACEMENT and n > LONGEST:
            raise ValueError(
                f"{self!r} keeps a permutation of at most {LONGEST:,} samples, and the problem has "
                f"{n:,}; draw them with order=WithReplacement()"
            )


@final
@dataclass(frozen=True)
class Reshuffle(Order):
    """RR: a fresh permutation every epoch."""

    code: ClassVar[int] = kernels.RESHUFFLE


@final
@dataclass(frozen=True)
class WithReplacement(Order):
    """WR: an independent uniform sample every time."""

    code: ClassVar[int] = kernels.WITH_REPLACEMENT


@final
@dataclass(frozen=True)
class ShuffleOnce(Order):
    """One permutation, drawn at the start, used in every epoch."""

    code: ClassVar[int] = kernels.SHUFFLE_ONCE

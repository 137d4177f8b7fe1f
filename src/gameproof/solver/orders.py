"""The order in which samples are visited. An epoch is n samples in each of them."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar, final

from gameproof import kernels


class Order(ABC):
    """Which samples a step uses."""

    code: ClassVar[int]


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

"""The logistic loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from gameproof.kernels.losses import LOGISTIC
from gameproof.strategic.losses.loss import Loss, Scores


@final
@dataclass(frozen=True)
class Logistic(Loss):
    """The logistic loss log(1 + exp(-y z)).

    It has phi(z) = log(2 cosh(z/2)) = |z|/2 + log(1 + exp(-|z|)) and s = K = 1/2.

    Examples
    --------
    >>> Logistic().value(np.array([0.0]), np.array([1.0]))
    array([0.69314718])
    """

    s = 0.5
    K = 0.5
    kinks = False

    def terms(self, z: Scores) -> tuple[Scores, Scores, Scores]:
        # Newton's method sums these terms over agents. tanh and log1p would be exact for small
        # terms, which do not matter in a sum; one exp is several times faster.
        size = np.abs(z)
        tail = np.exp(-size)
        share = 1 / (1 + tail)
        slope = np.copysign((1 - tail) * share / 2, z)
        return size / 2 + np.log(1 + tail), slope, tail * share**2

    def phi(self, z: Scores) -> Scores:
        size = np.abs(z)
        return size / 2 + np.log1p(np.exp(-size))

    def slope(self, z: Scores) -> Scores:
        return np.tanh(np.asarray(z) / 2) / 2

    def curvature(self, z: Scores) -> Scores:
        return (1 - np.tanh(np.asarray(z) / 2) ** 2) / 4

    @property
    def code(self) -> tuple[int, float]:
        return LOGISTIC, 0.0

"""The pseudo-Huber hinge loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from gameproof.kernels.losses import PSEUDO_HUBER
from gameproof.strategic.losses.loss import Loss, Scores


@final
@dataclass(frozen=True)
class PseudoHuberHinge(Loss):
    """A smooth hinge loss: phi(z) = sqrt(1 + z^2) and s = K = 1.

    Examples
    --------
    >>> PseudoHuberHinge().value(np.array([0.0]), np.array([1.0]))
    array([1.])
    """

    s = 1.0
    K = 1.0
    kinks = False

    def terms(self, z: Scores) -> tuple[Scores, Scores, Scores]:
        phi = np.hypot(1.0, z)
        return phi, z / phi, phi**-3.0

    def phi(self, z: Scores) -> Scores:
        return np.hypot(1.0, z)

    def slope(self, z: Scores) -> Scores:
        return np.asarray(z) / np.hypot(1.0, z)

    def curvature(self, z: Scores) -> Scores:
        return np.hypot(1.0, z) ** -3.0

    @property
    def code(self) -> tuple[int, float]:
        return PSEUDO_HUBER, 0.0

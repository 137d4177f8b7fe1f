"""The Huber hinge loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from gameproof.core.arguments import as_positive
from gameproof.kernels.losses import HUBER
from gameproof.strategic.losses.loss import Loss, Scores


@final
@dataclass(frozen=True)
class HuberHinge(Loss):
    """A hinge loss whose kink at z = 0 is replaced by a parabola.

    It has phi(z) = z^2 / (2 width) for |z| <= width, phi(z) = |z| - width/2 elsewhere, and
    s = K = 1.

    Parameters
    ----------
    width : float, default=1.0
        Half the width of the parabola; positive.

    Raises
    ------
    ValueError
        If `width` is not positive and finite.

    Examples
    --------
    >>> HuberHinge(0.5).value(np.array([-2.0, 0.0, 2.0]), np.ones(3))
    array([ 3.75,  0.  , -0.25])
    """

    width: float = 1.0
    s = 1.0
    K = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", as_positive("width", self.width))

    def phi(self, z: Scores) -> Scores:
        size = np.abs(z)
        inside = np.minimum(size, self.width)
        phi: Scores = inside**2 / (2 * self.width) + (size - inside)
        return phi

    def slope(self, z: Scores) -> Scores:
        return np.clip(np.asarray(z) / self.width, -1.0, 1.0)

    def curvature(self, z: Scores) -> Scores:
        return np.where(np.abs(z) <= self.width, 1 / self.width, 0.0)

    @property
    def code(self) -> tuple[int, float]:
        return HUBER, self.width

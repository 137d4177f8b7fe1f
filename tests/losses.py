"""Scores and a loss in plain Python, for the tests of losses."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gameproof import Logistic, Loss

Array = NDArray[np.float64]

Z = np.unique(
    np.concatenate(
        [
            np.linspace(-50, 50, 2001),
            *(sign * np.geomspace(1e-12, 1e6, 181) for sign in (-1, 1)),
            [0.0],
        ]
    )
)


class Own(Loss):
    """A logistic loss with parts of it replaced."""

    def __init__(self, s: float = 0.5, K: float = 0.5, **parts: Callable[[Array], Array]) -> None:
        self.s = s
        self.K = K
        self.parts = parts

    def phi(self, z: Array) -> Array:
        return self.parts.get("phi", Logistic().phi)(z)

    def slope(self, z: Array) -> Array:
        return self.parts.get("slope", Logistic().slope)(z)

    def curvature(self, z: Array) -> Array:
        return self.parts.get("curvature", Logistic().curvature)(z)

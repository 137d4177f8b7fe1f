"""Losses of the form l(z, y) = phi(z) - s y z, z the score and y in {-1, +1} the label.

phi is convex with Lipschitz constant K, and phi(z) + s z never decreases: then the worst case over
features and labels has a closed form, and the loss of an agent whose score is convex in theta is
convex too. `check_loss` tests all of that on a loss of your own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from gameproof import kernels
from gameproof.arguments import as_positive

Scores = NDArray[np.float64]


class Loss(ABC):
    """phi, its derivative, and the numbers s and K."""

    s: ClassVar[float]
    K: ClassVar[float]

    @abstractmethod
    def phi(self, z: Scores) -> Scores:
        """phi(z)."""

    @abstractmethod
    def slope(self, z: Scores) -> Scores:
        """phi'(z)."""

    @abstractmethod
    def curvature(self, z: Scores) -> Scores:
        """phi''(z), or a bound from above where phi has kinks in its slope."""

    @property
    def code(self) -> tuple[int, float] | None:
        """What the compiled solver calls it, with its parameter; None runs in Python."""
        return None

    def value(self, z: Scores, y: Scores) -> Scores:
        """l(z, y)."""
        return self.phi(z) - self.s * y * z


@final
@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + exp(-yz)): phi(z) = |z|/2 + log(1 + exp(-|z|)), s = K = 1/2."""

    s: ClassVar[float] = 0.5
    K: ClassVar[float] = 0.5

    def phi(self, z: Scores) -> Scores:
        size = np.abs(z)
        return size / 2 + np.log1p(np.exp(-size))

    def slope(self, z: Scores) -> Scores:
        return np.tanh(np.asarray(z) / 2) / 2

    def curvature(self, z: Scores) -> Scores:
        return (1 - np.tanh(np.asarray(z) / 2) ** 2) / 4

    @property
    def code(self) -> tuple[int, float]:
        return kernels.LOGISTIC, 0.0


@final
@dataclass(frozen=True)
class HuberHinge(Loss):
    """phi = z^2/(2 width) within the width, |z| - width/2 outside; s = K = 1."""

    width: float = 1.0
    s: ClassVar[float] = 1.0
    K: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        as_positive("width", self.width)

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
        return kernels.HUBER, self.width


@final
@dataclass(frozen=True)
class PseudoHuberHinge(Loss):
    """phi = sqrt(1 + z^2); s = K = 1."""

    s: ClassVar[float] = 1.0
    K: ClassVar[float] = 1.0

    def phi(self, z: Scores) -> Scores:
        return np.hypot(1.0, z)

    def slope(self, z: Scores) -> Scores:
        return np.asarray(z) / np.hypot(1.0, z)

    def curvature(self, z: Scores) -> Scores:
        return np.hypot(1.0, z) ** -3.0

    @property
    def code(self) -> tuple[int, float]:
        return kernels.PSEUDO_HUBER, 0.0


def check_loss(loss: Loss) -> None:
    """Raises AssertionError, with the claim that fails, where a loss breaks its contract."""
    z = np.concatenate([np.linspace(-40, 40, 4001), [-1e6, -1e3, 1e3, 1e6]])
    z.sort()
    phi, slope = loss.phi(z), loss.slope(z)
    _claim(bool(np.isfinite([phi, slope]).all()), "phi and its slope are finite up to 1e6")
    _claim(loss.s > 0 and loss.K > 0, "s and K are positive")
    _claim(bool((np.diff(slope) >= -1e-12).all()), "phi is convex: its slope never falls")
    _claim(bool((np.abs(slope) <= loss.K + 1e-12).all()), "phi is K-Lipschitz")
    _claim(bool((slope + loss.s >= -1e-12).all()), "phi(z) + s z never decreases")
    # A convex phi lies between its tangents: over each step of the grid it rises at least by the
    # slope on the left and at most by that on the right.
    steps, risen = np.diff(z), np.diff(phi)
    room = 1e-9 * np.maximum(1.0, np.abs(phi[1:]))
    above = risen >= slope[:-1] * steps - room
    _claim(
        bool((above & (risen <= slope[1:] * steps + room)).all()), "slope is the derivative of phi"
    )
    near, step = np.linspace(-5.003, 5.003, 501), 1e-5
    change = (loss.phi(near + step) - loss.phi(near - step)) / (2 * step)
    off = np.abs(change - loss.slope(near))
    bent = np.maximum(loss.curvature(near - step), loss.curvature(near + step))
    _claim(bool((off <= 1e-7 + bent * step).all()), "slope is the derivative of phi")
    bend = np.diff(slope) / steps
    bound = np.maximum(loss.curvature(z[1:]), loss.curvature(z[:-1]))
    inner = np.abs(z[1:]) <= 40
    _claim(
        bool((bend[inner] <= 1.1 * bound[inner] + 0.02).all()),
        "curvature bounds the derivative of slope",
    )


def _claim(holds: bool, claim: str) -> None:
    if not holds:
        raise AssertionError(f"broken: {claim}")

"""Losses of the form l(z, y) = phi(z) - s y z, z the score and y in {-1, +1} the label.

phi is convex with Lipschitz constant K, and phi(z) + s z never decreases: then the worst case over
features and labels has a closed form, and the loss of an agent whose score is convex in theta is
convex too. `check_loss` tests all of that on a loss of your own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numba import njit, types
from numba.core.errors import NumbaError
from numpy.typing import NDArray

from gameproof import kernels
from gameproof.core.arguments import as_positive

Scores = NDArray[np.float64]


class Loss(ABC):
    """phi, its derivative, and the numbers s and K."""

    s: float
    K: float

    @abstractmethod
    def phi(self, z: Scores) -> Scores:
        """phi(z)."""

    @abstractmethod
    def slope(self, z: Scores) -> Scores:
        """phi'(z)."""

    @abstractmethod
    def curvature(self, z: Scores) -> Scores:
        """phi''(z), or a bound from above where phi has kinks in its slope."""

    # Whether the slope may have kinks, so that the curvature jumps.
    kinks: bool = True

    def terms(self, z: Scores) -> tuple[Scores, Scores, Scores]:
        """phi, its slope and its curvature, for those that share their work."""
        return self.phi(z), self.slope(z), self.curvature(z)

    @property
    def code(self) -> tuple[int | kernels.UserLoss, float]:
        """What compiled code calls it, with its parameter."""
        raise TypeError(
            f"{self!r} has no compiled form; make it with CustomLoss(phi, slope, curvature, s, K)"
        )

    def value(self, z: Scores, y: Scores) -> Scores:
        """l(z, y)."""
        return self.phi(z) - self.s * y * z


@final
@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + exp(-yz)): phi(z) = |z|/2 + log(1 + exp(-|z|)), s = K = 1/2."""

    s = 0.5
    K = 0.5
    kinks = False

    def terms(self, z: Scores) -> tuple[Scores, Scores, Scores]:
        # tanh and log1p would be exact where terms are small; in a sum they are small anyway.
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
        return kernels.LOGISTIC, 0.0


@final
@dataclass(frozen=True)
class HuberHinge(Loss):
    """phi = z^2/(2 width) within the width, |z| - width/2 outside; s = K = 1."""

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
        return kernels.HUBER, self.width


@final
@dataclass(frozen=True)
class PseudoHuberHinge(Loss):
    """phi = sqrt(1 + z^2); s = K = 1."""

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
        return kernels.PSEUDO_HUBER, 0.0


@final
class CustomLoss(Loss):
    """A loss of your own, from phi, its slope and its curvature as plain functions of one number.

    They are compiled, so they may use arithmetic, `math` and constants from around them; the
    curvature may be a bound from above where the slope has kinks. `check_loss` is asked at once: a
    loss that breaks its contract would have wrong certificates.

    >>> import math
    >>> smooth = CustomLoss(
    ...     phi=lambda z: math.sqrt(4.0 + z * z),
    ...     slope=lambda z: z / math.sqrt(4.0 + z * z),
    ...     curvature=lambda z: 4.0 / (4.0 + z * z) ** 1.5,
    ...     s=1.0,
    ...     K=1.0,
    ...     name="a wide pseudo-Huber hinge",
    ... )
    >>> check_loss(smooth)
    """

    def __init__(
        self,
        phi: Callable[[float], float],
        slope: Callable[[float], float],
        curvature: Callable[[float], float],
        s: float,
        K: float,
        name: str = "a custom loss",
    ) -> None:
        self.s, self.K, self.name = as_positive("s", s), as_positive("K", K), name
        functions = {"phi": phi, "slope": slope, "curvature": curvature}
        compiled = {part: _compiled(part, function) for part, function in functions.items()}
        self._on_arrays = {part: kernels.elementwise(f) for part, f in compiled.items()}
        self._code = kernels.UserLoss(compiled["phi"], compiled["slope"])
        try:
            check_loss(self)
        except AssertionError as error:
            raise ValueError(f"{name} is no loss of this kind; {error}") from error

    def phi(self, z: Scores) -> Scores:
        return np.asarray(self._on_arrays["phi"](z))

    def slope(self, z: Scores) -> Scores:
        return np.asarray(self._on_arrays["slope"](z))

    def curvature(self, z: Scores) -> Scores:
        return np.asarray(self._on_arrays["curvature"](z))

    @property
    def code(self) -> tuple[kernels.UserLoss, float]:
        return self._code, 0.0

    def __repr__(self) -> str:
        return f"<{self.name}>"


def _compiled(part: str, function: Callable[[float], float]) -> Any:
    """The function compiled for one number, or an error that says what it cannot do."""
    if not callable(function):
        raise TypeError(f"{part} must be a function of one number, got {function!r}")
    plain = getattr(function, "py_func", function)
    compiled = njit(error_model="numpy")(plain)
    try:
        compiled.compile((types.float64,))
    except (NumbaError, TypeError) as error:
        reason = str(error).strip().splitlines()[-1].strip()
        raise TypeError(
            f"{part} cannot be compiled ({reason}); it must be a function of one number, made of "
            "arithmetic and functions of the module math"
        ) from error
    kind = compiled.nopython_signatures[0].return_type
    if kind != types.float64:
        raise TypeError(f"{part} must give a float, and gives {kind}; write 1.0 where it says 1")
    return compiled


def check_loss(loss: Loss) -> None:
    """Raises AssertionError, with the claim that fails, where a loss breaks its contract."""
    if not isinstance(loss, Loss):
        raise TypeError(f"check_loss takes a Loss, got {loss!r}")
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

"""`CustomLoss`: a user's loss, compiled from plain functions of one number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np
from numba import njit, types
from numba.core.errors import NumbaError

from gameproof.core.arguments import as_positive
from gameproof.kernels.jit import elementwise
from gameproof.kernels.losses import UserLoss
from gameproof.strategic.losses.check_loss import check_loss
from gameproof.strategic.losses.loss import Loss, Scores


@final
class CustomLoss(Loss):
    """A loss phi(z) - s y z of your own.

    The three functions are compiled, so they may use arithmetic, the module `math` and constants
    from the enclosing scope. The constructor runs `check_loss`: a loss that breaks its contract
    would make every certificate wrong.

    Parameters
    ----------
    phi, slope, curvature : callable
        phi, phi' and phi'' as functions of one float that return a float. Where phi' has kinks,
        `curvature` may be an upper bound of phi''.
    s : float
        The coefficient of -y z; positive.
    K : float
        The smallest Lipschitz constant of phi; positive.
    name : str, default="a custom loss"
        A name for messages.

    Raises
    ------
    TypeError
        If a function cannot be compiled or does not return a float.
    ValueError
        If the loss breaks its contract, or `s` or `K` is not positive and finite.

    Examples
    --------
    >>> import math
    >>> smooth = CustomLoss(
    ...     phi=lambda z: math.sqrt(4.0 + z * z),
    ...     slope=lambda z: z / math.sqrt(4.0 + z * z),
    ...     curvature=lambda z: 4.0 / (4.0 + z * z) ** 1.5,
    ...     s=1.0,
    ...     K=1.0,
    ...     name="a wide pseudo-Huber hinge",
    ... )
    >>> smooth.value(np.array([0.0]), np.array([1.0]))
    array([2.])
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
        self._on_arrays = {part: elementwise(f) for part, f in compiled.items()}
        self._code = UserLoss(compiled["phi"], compiled["slope"])
        try:
            check_loss(self)
        except AssertionError as error:
            raise ValueError(f"{name} breaks the contract of a Loss; {error}") from error

    def phi(self, z: Scores) -> Scores:
        return np.asarray(self._on_arrays["phi"](z))

    def slope(self, z: Scores) -> Scores:
        return np.asarray(self._on_arrays["slope"](z))

    def curvature(self, z: Scores) -> Scores:
        return np.asarray(self._on_arrays["curvature"](z))

    @property
    def code(self) -> tuple[UserLoss, float]:
        return self._code, 0.0

    def __repr__(self) -> str:
        return f"<{self.name}>"


def _compiled(part: str, function: Callable[[float], float]) -> Any:
    """The function compiled for one float; raises TypeError if that is not possible."""
    if not callable(function):
        raise TypeError(f"{part} must be a function of one number, got {function!r}")
    plain = getattr(function, "py_func", function)
    compiled = njit(error_model="numpy")(plain)
    try:
        compiled.compile((types.float64,))
    except (NumbaError, TypeError) as error:
        reason = str(error).strip().splitlines()[-1].strip()
        raise TypeError(
            f"{part} cannot be compiled ({reason}); write it as a function of one number that uses "
            "arithmetic and the module math only"
        ) from error
    kind = compiled.nopython_signatures[0].return_type
    if kind != types.float64:
        raise TypeError(f"{part} must return a float, got {kind}; write 1.0 instead of 1")
    return compiled

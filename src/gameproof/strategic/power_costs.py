"""Power costs: agents trade the gain in score against the cost of moving.

With the cost g(v) = |v|_p^r / (r zeta^(r-1)), 1/r + 1/q = 1 and 1/p + 1/p* = 1, the convex
conjugate of g gives the response:

    g*(theta) = (zeta/q) |theta|_{p*}^q
    b - x = grad g*(theta)
    <b, theta> = <x, theta> + zeta |theta|_{p*}^q

If only some features can move, theta is replaced by its movable part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import as_number
from gameproof.strategic.gauge import NormGauge

# The power in the paper's experiments, used where the user gives none.
DEFAULT_POWER = 0.05
# Below it, the conjugate degree exceeds 100, and powers of theta overflow.
LEAST_DEGREE = 1.01


@final
@dataclass(frozen=True, eq=False)
class PowerCost(NormGauge):
    """Agents who pay |v|_norm^degree / (degree power^(degree-1)) for a move v.

    Parameters
    ----------
    power : float or array-like of shape (n,)
        How far agents move: one number for all, or one per agent. An agent of power 0 never moves.
    degree : float, default=2.0
        The degree of the cost; at least 1.01 and finite.
    norm : float, default=2.0
        The norm in which a move is measured; at least 1, and possibly inf.
    features : sequence of int, optional
        The positions of the features that can move. By default all can.

    Raises
    ------
    TypeError
        If a parameter is not a number, or `features` are not positions.
    ValueError
        If `power` is negative, `degree` below 1.01, `norm` below 1, or a position is repeated.

    Examples
    --------
    >>> PowerCost(0.5).answers(np.array([2.0, 0.0]), np.zeros((1, 2)), np.array([0]))
    array([[1., 0.]])
    """

    power: float | ArrayLike
    degree: float = 2.0
    norm: float = 2.0
    features: Sequence[int] | None = None

    strength_name = "power"

    def __post_init__(self) -> None:
        super().__post_init__()
        as_number("degree", self.degree)
        if not (np.isfinite(self.degree) and self.degree > 1):
            raise ValueError(
                f"degree must exceed 1 and be finite, got {self.degree}; use a budget, such as "
                "BallBudget(radius), for people who move within a limit"
            )
        if self.degree < LEAST_DEGREE:
            raise ValueError(
                f"degree must be at least {LEAST_DEGREE}, got {self.degree}: moves grow with the "
                "power 1 / (degree - 1) of theta and would overflow; for a cost that is nearly "
                "linear use a budget, such as BallBudget(radius)"
            )


def QuadraticCost(power: float | ArrayLike, features: Sequence[int] | None = None) -> PowerCost:
    """The paper's response: a cost of |v|^2 / (2 power), in the Euclidean norm.

    Agents move by `power` times the movable part of theta.

    Parameters
    ----------
    power : float or array-like of shape (n,)
        How far agents move: one number for all, or one per agent.
    features : sequence of int, optional
        The positions of the features that can move. By default all can.

    Returns
    -------
    PowerCost
        The cost of degree 2 and norm 2.

    Raises
    ------
    ValueError
        If `power` is negative, or a position is repeated.

    Examples
    --------
    >>> cost = QuadraticCost(0.5, features=[0])
    >>> cost.answers(np.array([2.0, 2.0]), np.zeros((1, 2)), np.array([0]))
    array([[1., 0.]])
    """
    return PowerCost(power, degree=2.0, norm=2.0, features=features)


def NoResponse() -> PowerCost:
    """Agents who never move.

    Returns
    -------
    PowerCost
        A cost with power 0.

    Examples
    --------
    >>> NoResponse().answers(np.array([2.0]), np.array([[3.0]]), np.array([0]))
    array([[3.]])
    """
    return PowerCost(0.0)

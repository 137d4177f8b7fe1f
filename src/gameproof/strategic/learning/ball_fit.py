"""Balls, the budgets that `power_fit` finds as costs of infinite degree.

A ball in the infinite norm lets each movable feature move by as much: that is a box. A ball in norm
1 lets one move at a time, at one price for all. They are called so. With one movable feature a
ball, a box with equal sides and a price are the same.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.strategic.budgets import BallBudget, BoxBudget, PriceBudget
from gameproof.strategic.learning.response_fit import Mask, positions
from gameproof.strategic.responses import KnownResponse


def ball_response(radius: float | Vector, movable: Mask, norm: float) -> KnownResponse:
    """The ball, or the box or prices that it is."""
    if movable.sum() > 1 and norm == inf:
        sides: Any = np.reshape(radius, (-1, 1)) if np.ndim(radius) else radius
        return BoxBudget(0.0 - sides * movable, sides * movable)
    if movable.sum() > 1 and norm == 1:
        return PriceBudget(radius, np.where(movable, 1.0, inf))
    return BallBudget(radius, positions(movable), norm)


def ball_described(radius: float, movable: Mask, norm: float) -> str:
    """What the answers fit, as a clause."""
    moving, d = int(movable.sum()), movable.size
    if moving == 1:
        return (
            f"The answers fit a budget on feature {positions(movable)[0]}, as a ball, a box and a "
            f"price are the same on one: {radius:.4g} either way, whatever the size of theta"
        )
    if norm == inf:
        return (
            f"The answers fit a box budget (a ball in norm inf) on {moving} of {d} features, "
            f"whatever the size of theta: each by up to {radius:.4g} either way"
        )
    if norm == 1:
        return (
            f"The answers fit one price for {moving} of {d} features (a ball in norm 1), whatever "
            f"the size of theta: one at a time moves, by up to {radius:.4g}"
        )
    return (
        f"The answers fit a ball budget in norm {norm:.4g} on {moving} of {d} features, whatever "
        f"the size of theta: radius {radius:.4g}"
    )

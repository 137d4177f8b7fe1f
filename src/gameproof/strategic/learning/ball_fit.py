"""Balls, which `power_fit` finds as power costs of infinite degree.

A ball in the infinity norm lets each movable feature move by the radius, so it is reported as a
box. A ball in norm 1 lets one feature move at a time, at the same price for all, so it is reported
as prices. With one movable feature, a ball, a box with equal sides and a price are the same.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.strategic.budgets import BallBudget, BoxBudget, PriceBudget
from gameproof.strategic.feature_mask import Mask, positions
from gameproof.strategic.responses import KnownResponse


def ball_response(radius: float | Vector, movable: Mask, norm: float) -> KnownResponse:
    """The ball, or the box or the prices that it equals."""
    if movable.sum() > 1 and norm == inf:
        sides: Any = np.reshape(radius, (-1, 1)) if np.ndim(radius) else radius
        return BoxBudget(0.0 - sides * movable, sides * movable)
    if movable.sum() > 1 and norm == 1:
        return PriceBudget(radius, np.where(movable, 1.0, inf))
    return BallBudget(radius, positions(movable), norm)


def describe_ball(radius: float, movable: Mask, norm: float) -> str:
    """What the answers fit, as a clause."""
    moving, d = int(movable.sum()), movable.size
    if moving == 1:
        return (
            f"The answers fit a budget on feature {positions(movable)[0]} (on one feature a ball, "
            f"a box and a price are the same): {radius:.4g} either way, whatever the size of theta"
        )
    if norm == inf:
        return (
            f"The answers fit a box budget (a ball in norm inf) on {moving} of {d} features, "
            f"whatever the size of theta: each moves by up to {radius:.4g} either way"
        )
    if norm == 1:
        return (
            f"The answers fit one price for {moving} of {d} features (a ball in norm 1), whatever "
            f"the size of theta: one feature moves at a time, by up to {radius:.4g}"
        )
    return (
        f"The answers fit a ball budget in norm {norm:.4g} on {moving} of {d} features, whatever "
        f"the size of theta: radius {radius:.4g}"
    )

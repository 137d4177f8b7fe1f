"""`Solution`: a point and a gamma for all agents, with bounds of the value of the game."""

from __future__ import annotations

from typing import NamedTuple

from gameproof.core.arguments import Vector
from gameproof.strategic.newton.agent_blocks import Gamma
from gameproof.strategic.newton.barrier import Minimum
from gameproof.strategic.newton.certificate import Tangent
from gameproof.strategic.newton.convex_objective import ConvexObjective


class Solution(NamedTuple):
    """A `Minimum` whose gamma is stored for few agents only.

    The lower bound comes from the tangent. The v of a polished minimum is accurate to rounding."""

    v: Vector
    gamma: Gamma
    lower: float
    upper: float
    multipliers: Vector
    tangent: Tangent
    polished: bool = False

    @property
    def gap(self) -> float:
        """The difference of the bounds."""
        return self.upper - self.lower

    @classmethod
    def of_all(cls, objective: ConvexObjective, found: Minimum) -> Solution:
        """The minimum that the interior-point method found for all agents."""
        gamma = Gamma(found.v, objective.free_agents, found.gamma)
        tangent = Tangent(found.v, None)
        return cls(found.v, gamma, found.lower, found.upper, found.multipliers, tangent)

"""Close to a point: f by its quadratic expansion, and only agents whose t may change its sign.

Of most agents the sign of t is settled near a point v0: their |t_i| is linear there, with
gamma_i = sign t_i. What is left of n agents is a few, and with g and H the gradient and Hessian of
f and of the settled |t_i|,

    value + <g, v - v0> + (v - v0)' H (v - v0) / 2 + (1/n) sum over the few of |t_i|

is what the learner minimises, but for third derivatives and for agents wrongly taken as settled.
"""

from __future__ import annotations

import numpy as np

from gameproof.core.arguments import Indices, Vector
from gameproof.strategic.newton.convex_objective import ConvexSide, Expansion
from gameproof.strategic.newton.objective import Derivatives, Local, Side, gram


class Near(Side):
    """What is above, for a side that is expanded at a point, and some of its free agents."""

    def __init__(self, side: ConvexSide, here: Expansion, agents: Indices) -> None:
        super().__init__(side.problem, side.moves, [part for part, _ in side.parts])
        self.n, self.free = side.n, agents
        self.pull_rows = side.some_pull_rows(agents)
        self.pull_labels = side.some_pull_labels(agents)
        self._middle, self._hessian = here.v, here.hessian
        t = side.pulls_at(here, agents)
        self._value = here.value - float(np.abs(t).sum()) / self.n
        self._gradient = here.gradient - self.pulled(np.sign(t))

    def at(self, v: Vector) -> Local:
        by = v - self._middle
        bend = float(by @ self._hessian @ by) / 2
        return Local(v, np.zeros(0), self._value + float(self._gradient @ by) + bend)

    def derivatives(self, here: Local, bends: Vector, reach: Vector | float = 0.0) -> Derivatives:
        gradient = self._gradient + self._hessian @ (here.v - self._middle)
        own = self.alpha + 1
        hessian = self._hessian.copy()
        hessian[:own, :own] += gram(np.vstack([self.pull_rows, -self.pull_labels]), bends) / self.n
        return Derivatives(gradient, hessian)

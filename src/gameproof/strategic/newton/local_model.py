"""A local model of the objective: a quadratic, and |t| of the agents whose sign may change.

Near a point v0 the sign of t_i is settled for most agents: their |t_i| is linear there, with
gamma_i = sign t_i. The other agents are the active ones. With g and H the gradient and Hessian of f
and of the settled |t_i|, the model is

    value + <g, v - v0> + (v - v0)' H (v - v0) / 2 + (1/n) sum over the active agents of |t_i|

It differs from the objective by third derivatives, and by agents whose sign changes after all.
"""

from __future__ import annotations

import numpy as np

from gameproof.core.arguments import Matrix, Vector
from gameproof.strategic.newton.agent_blocks import Active
from gameproof.strategic.newton.convex_objective import ConvexObjective, Expansion
from gameproof.strategic.newton.objective import Derivatives, Local, Objective


class LocalModel(Objective):
    """The local model at a point v, with these active agents.

    `value` and `gradient` are those of f and of the settled agents."""

    def __init__(
        self,
        objective: ConvexObjective,
        v: Vector,
        settled: tuple[float, Vector],
        hessian: Matrix,
        agents: Active,
    ) -> None:
        super().__init__(objective.problem, objective.moves, [part for part, _ in objective.lifts])
        self.n, self.free = objective.n, agents.agents
        self.pull_rows, self.pull_labels = agents.pull_rows, agents.pull_labels
        self._pulls = np.column_stack([agents.pull_rows, -agents.pull_labels])
        self._middle, self._hessian = v, hessian
        self._value, self._gradient = settled

    @classmethod
    def of(cls, objective: ConvexObjective, here: Expansion, agents: Active) -> LocalModel:
        """The model at a point where every gamma is sign t."""
        model = cls(objective, here.v, (here.value, here.gradient), here.hessian, agents)
        model._value -= float(np.abs(agents.t).sum()) / model.n
        model._gradient = here.gradient - model.pulled(np.sign(agents.t))
        return model

    def at(self, v: Vector) -> Local:
        by = v - self._middle
        bend = float(by @ self._hessian @ by) / 2
        return Local(v, np.zeros(0), self._value + float(self._gradient @ by) + bend)

    def derivatives(self, here: Local, bends: Vector, reach: Vector | float = 0.0) -> Derivatives:
        gradient = self._gradient + self._hessian @ (here.v - self._middle)
        own = self.alpha + 1
        hessian = self._hessian.copy()
        pulls = self._pulls * np.sqrt(bends)[:, None]
        hessian[:own, :own] += pulls.T @ pulls / self.n
        return Derivatives(gradient, hessian)

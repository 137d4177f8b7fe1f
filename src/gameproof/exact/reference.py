"""Certified saddle points of problems whose response is known."""

from __future__ import annotations

from gameproof.problem.barrier import ConvexSide
from gameproof.problem.problem import Saddle
from gameproof.problem.strategic import StrategicProblem


def saddle_point(problem: StrategicProblem) -> Saddle:
    """The saddle point, by Newton's method along a central path, with the duality gap that
    certifies it: `value` is within that gap of the true one.

    >>> import gameproof as gp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 3))
    >>> y = np.sign(X[:, 0] + 0.3 * rng.standard_normal(200))
    >>> people = gp.Population(X, y, gp.QuadraticCost(0.1))
    >>> saddle = gp.saddle_point(gp.StrategicProblem(people, radius=0.05, label_cost=0.5))
    >>> saddle.duality_gap < 1e-8
    True
    """
    problem.require_model("saddle_point")
    side = ConvexSide(problem)
    v, gamma = side.minimise(problem.interior)
    value = problem.robust_value(v)
    gap = value - side.tangent_minimum(v, gamma)
    return Saddle(v, gamma, value, float(gap))

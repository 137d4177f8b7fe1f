"""The saddle point by gradient descent-ascent, the paper's method for its reference solution.

The paper names the method, but not its steps, averages and stopping rule. Here every step uses all
agents, so only the order of summation is random:

    x <- P(x - eta grad_x L),   gamma <- P(gamma + eta n grad_gamma L)

The factor n is the block step of `scale`: the gradient in gamma_i is t_i / n, and in the matching
norm |x|^2 + |gamma|^2 / n both blocks have comparable sizes. In that norm the vector field
(grad_x L, -n grad_gamma L) has a Lipschitz constant of about

    ell = max phi'' |A|^2 / n + |T| / sqrt(n) + 2 (K + s) mean zeta

where A has the derivatives of scores if nobody moves, T the derivatives of the t_i, norms are
spectral, and the last term is due to the paper's response. The step is eta = 1 / ell. Rows of A are
multiplied by the root of an agent's weight, rows of T by the weight.

Where scores have kinks (budgets, and costs in the norms 1 and infinity), gradient steps would jump
across them. There the steps are those of `proximal`.

Steps come in stretches, each as long as all before it together. After each stretch the duality gap
is computed at its average and at its last iterate, and the better of the two is kept. If the gap no
longer falls, eta is halved.
"""

from __future__ import annotations

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.minmax.estimates.exact import Exact
from gameproof.minmax.paper_methods import sgda_rr
from gameproof.minmax.solve import solve
from gameproof.strategic.newton.convex_objective import ConvexObjective
from gameproof.strategic.proximal import Point, Proximal
from gameproof.strategic.robust_problem import StrategicProblem

FIRST_STRETCH = 256
MAX_STEPS = 2**18


def descend_ascend(problem: StrategicProblem, tolerance: float) -> tuple[Vector, Vector, float]:
    """x and gamma with a duality gap of at most `tolerance`, or the best point of MAX_STEPS steps,
    and the gap.

    >>> import gameproof as gp
    >>> people = gp.Population([[1.0], [2.0], [-1.0], [0.5]], [1, 1, -1, -1])
    >>> problem = gp.StrategicProblem(people, radius=0.1, label_cost=0.5)
    >>> _, _, gap = descend_ascend(problem, 1e-6)
    >>> gap <= 1e-6
    True
    """
    objective = ConvexObjective(problem)
    way = Proximal(objective) if _has_kinks(objective) else Plain(problem)
    share, point, done, stretch = 1.0, problem.start, 0, FIRST_STRETCH
    best = (*point, problem.duality_gap(*point))
    while best[2] > tolerance and done < MAX_STEPS:
        average, point = way.taken(point, share, stretch)
        done += stretch
        stretch = min(2 * stretch, MAX_STEPS - done)
        found = [(*pair, problem.duality_gap(*pair)) for pair in (average, point)]
        better = min(found, key=lambda pair: pair[2])
        if better[2] > 0.9 * best[2]:
            share /= 2
        best = min(best, better, key=lambda pair: pair[2])
    return best


def _has_kinks(objective: ConvexObjective) -> bool:
    """Whether scores have no derivative somewhere: powers of norms between 1 and infinity do."""
    return bool(objective.lifts) or (
        objective.lifted > 0 and objective.data.dual_norm in (1.0, np.inf)
    )


class Plain:
    """Gradient steps, compiled."""

    def __init__(self, problem: StrategicProblem) -> None:
        self._problem, self._eta = problem, 1 / _lipschitz(problem)

    def taken(self, point: Point, share: float, number: int) -> tuple[Point, Point]:
        """The average and the last of `number` iterates, with this share of the step 1 / ell."""
        problem, eta = self._problem, share * self._eta
        result = solve(
            problem,
            sgda_rr(gradient=Exact(), step=eta, scale=(1, problem.n), batch=problem.n),
            epochs=number,
            start=point,
            seed=0,
            record_every=number,
            progress=False,
        )
        if result.reason == "interrupted":
            raise KeyboardInterrupt
        return (result.x, result.y), (result.last_x, result.last_y)


def _lipschitz(problem: StrategicProblem) -> float:
    """The constant ell of the module's docstring."""
    people, loss, data, n = problem.population, problem.loss, problem.data, problem.n
    A = np.hstack([np.ones((n, data.start)), people.X])
    T = np.column_stack([loss.s * A, -data.kappa * people.y]) * people.weights[:, None]
    A, T = A * np.sqrt(people.weights)[:, None], T[problem.has_gamma]
    bend = float(loss.curvature(np.linspace(-1.0, 1.0, 201)).max())
    moved = float((people.weights * np.where(people.y < 0, data.zeta, 0.0)).mean())
    coupling = float(np.linalg.norm(T, 2)) / np.sqrt(n) if T.size else 0.0
    return bend * float(np.linalg.norm(A, 2)) ** 2 / n + coupling + 2 * (loss.K + loss.s) * moved

"""The worst-case risk alone, from sums over blocks of rows, wherever they are.

`worst_case` states the mathematics. The risk is the minimum over alpha >= c of

    alpha delta + (1/n) sum_i [l(z_i, y_i) + 2 (g_i - alpha kappa)_+],   g = s y z,

with the (.)_+ for agents whose label may flip. It is convex in alpha. The minimum is at c, or at a
g_i / kappa: at the g above which agents have the weight n delta / (2 kappa). A sketch says where
that is, and a second pass collects the few g near it.

If labels flip one way or not at all, agents with label -1 add l(z_i, -1), whatever alpha is. So
`risk_of_others` leaves them out, and needs no response: `estimate_risk` adds what they answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.rows.cores import one_blas_thread
from gameproof.rows.quantile_sketch import QuantileSketch, merged_sketch
from gameproof.rows.row_blocks import Rows, added
from gameproof.strategic.adversary import affordable_flips, ball_radius
from gameproof.strategic.feature_mask import Mask
from gameproof.strategic.losses.loss import Loss
from gameproof.strategic.newton.block_terms import Terms
from gameproof.strategic.newton.convex_objective import ConvexObjective
from gameproof.strategic.robust_problem import StrategicProblem
from gameproof.strategic.row_problem import RowProblem


class ScoredAgents(NamedTuple):
    """Scores, labels and weights of some agents, and whether their labels may flip."""

    z: Vector
    y: Vector
    weights: Vector
    free: Mask


class Gains(NamedTuple):
    """The g of some agents whose label may flip, with their weights."""

    g: Vector
    weights: Vector


def worst_case_risk(
    problem: StrategicProblem | RowProblem, theta: Vector, intercept: float = 0.0
) -> float:
    """The worst-case risk of theta, in one pass, or in two if labels may flip."""
    objective = ConvexObjective(problem)
    v = objective.lift(problem.join(theta, problem.least_alpha(theta), intercept))
    return _least(problem, theta, _everybody, objective.terms, v)[0]


def risk_of_others(
    problem: StrategicProblem, theta: Vector, intercept: float
) -> tuple[float, float]:
    """The worst-case risk without the losses of agents with label -1, and the best alpha."""
    flips = problem.flips == "one-way"
    return _least(problem, theta, _positive, theta, intercept, flips)


@one_blas_thread()
def _least(
    problem: StrategicProblem | RowProblem,
    theta: Vector,
    scored: Callable[..., ScoredAgents],
    *parameters: Any,
) -> tuple[float, float]:
    """The minimum over alpha for the agents scored(rows, *parameters), and the best alpha."""
    loss, n, kappa = problem.loss, problem.n, problem.label_cost
    rate, radius = problem.least_alpha(theta), ball_radius(problem)
    asked = loss, rate * kappa, scored, parameters
    losses, sketches = zip(*problem.rows.map(_first_look, *asked), strict=True)
    risk = sum(losses)
    if problem.flips == "none":
        return float(risk / n + rate * radius), rate
    affordable = affordable_flips(problem, radius)
    sketch = merged_sketch(sketches)
    low, high = -np.inf, np.inf
    if sketch.total > affordable:
        low, high = sketch.bracket(affordable)
    parts = list(problem.rows.map(_near, *asked, low, high))
    mass, gained = added([part[0] for part in parts])
    near = Gains(*(np.concatenate(each) for each in zip(*(part[1] for part in parts), strict=True)))
    alpha = rate
    if mass + near.weights.sum() > affordable:
        order = np.argsort(-near.g, kind="stable")
        reached = mass + np.cumsum(near.weights[order])
        alpha = float(near.g[order[int(np.searchsorted(reached, affordable))]]) / kappa
    beyond = near.weights @ np.maximum(near.g - alpha * kappa, 0.0)
    flips = gained - mass * alpha * kappa + beyond
    return float(alpha * radius + (risk + 2 * flips) / n), alpha


def _everybody(rows: Rows, terms: Terms, v: Vector) -> ScoredAgents:
    """All of these rows, who move if their label is -1."""
    blocks = list(terms.blocks(rows))
    if not blocks:
        return ScoredAgents(np.zeros(0), rows.y, _weights(rows), np.zeros(0, dtype=bool))
    z = np.concatenate([terms.scores(block, v) for block in blocks])
    return ScoredAgents(z, rows.y, _weights(rows), np.concatenate([block.free for block in blocks]))


def _positive(rows: Rows, theta: Vector, intercept: float, flips: bool) -> ScoredAgents:
    """The rows with label +1, who do not move."""
    chosen = rows.y > 0
    z, y = (rows.X @ theta + intercept)[chosen], rows.y[chosen]
    return ScoredAgents(z, y, _weights(rows)[chosen], np.full(y.size, flips))


def _weights(rows: Rows) -> Vector:
    return np.ones(rows.y.size) if rows.weights is None else rows.weights


def _gains(agents: ScoredAgents, s: float, least: float) -> Gains:
    """g of the agents whose flip is worth more than distance."""
    g = s * agents.y * agents.z
    chosen = agents.free & (g > 0) & (g > least)
    return Gains(g[chosen], agents.weights[chosen])


def _first_look(
    rows: Rows,
    loss: Loss,
    least: float,
    scored: Callable[..., ScoredAgents],
    parameters: tuple[Any, ...],
) -> tuple[float, QuantileSketch]:
    """The sum of the losses, and a sketch of -g: ranks are counted from the largest g down."""
    agents = scored(rows, *parameters)
    gains = _gains(agents, loss.s, least)
    sketch = QuantileSketch.of(-gains.g, gains.weights)
    return float(agents.weights @ loss.value(agents.z, agents.y)), sketch


def _near(
    rows: Rows,
    loss: Loss,
    least: float,
    scored: Callable[..., ScoredAgents],
    parameters: tuple[Any, ...],
    low: float,
    high: float,
) -> tuple[list[float], Gains]:
    """The weight of the agents with -g up to the lower end and the sum of their g, and the agents
    from there to the upper end."""
    g, weights = _gains(scored(rows, *parameters), loss.s, least)
    sure, near = -g <= low, (-g > low) & (-g <= high)
    return [float(weights[sure].sum()), float(weights[sure] @ g[sure])], Gains(
        g[near], weights[near]
    )

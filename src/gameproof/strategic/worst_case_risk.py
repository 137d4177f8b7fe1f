"""The worst-case risk alone, from sums over blocks of rows, wherever they are.

`worst_case` states the mathematics. The risk is the minimum over alpha >= c of

    alpha delta + (1/n) sum_i [l(z_i, y_i) + 2 (g_i - alpha kappa)_+],   g = s y z,

with the (.)_+ for agents whose label may flip. It is convex in alpha. The minimum is at c, or at a
g_i / kappa: at the g above which agents have the weight n delta / (2 kappa). A sketch says where
that is, and a second pass collects the few g near it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.rows.cores import one_blas_thread
from gameproof.rows.quantile_sketch import QuantileSketch, merged_sketch
from gameproof.rows.row_blocks import Rows, added
from gameproof.strategic.adversary import ball_radius
from gameproof.strategic.newton.block_terms import Terms
from gameproof.strategic.newton.convex_objective import ConvexObjective
from gameproof.strategic.robust_problem import StrategicProblem
from gameproof.strategic.row_problem import RowProblem


class Gains(NamedTuple):
    """The g of some agents whose label may flip, with their weights."""

    g: Vector
    weights: Vector


@one_blas_thread()
def worst_case_risk(
    problem: StrategicProblem | RowProblem, theta: Vector, intercept: float = 0.0
) -> float:
    """The worst-case risk of theta, in one pass, or in two if labels may flip."""
    loss, n, radius = problem.loss, problem.n, ball_radius(problem)
    rate = (loss.K + loss.s) * problem.dual_length(theta)
    objective = ConvexObjective(problem)
    v, terms = objective.lift(problem.join(theta, rate, intercept)), objective.terms
    kappa = problem.label_cost
    losses, sketches = zip(*problem.rows.map(_first_look, terms, v, rate * kappa), strict=True)
    risk = sum(losses)
    if problem.flips == "none":
        return float(risk / n + rate * radius)
    affordable = np.inf if kappa == 0 else n * radius / (2 * kappa)
    sketch = merged_sketch(sketches)
    low, high = -np.inf, np.inf
    if sketch.total > affordable:
        low, high = sketch.bracket(affordable)
    parts = list(problem.rows.map(_near, terms, v, rate * kappa, low, high))
    mass, gained = added([part[0] for part in parts])
    near = Gains(*(np.concatenate(each) for each in zip(*(part[1] for part in parts), strict=True)))
    alpha = rate
    if mass + near.weights.sum() > affordable:
        order = np.argsort(-near.g, kind="stable")
        reached = mass + np.cumsum(near.weights[order])
        alpha = float(near.g[order[int(np.searchsorted(reached, affordable))]]) / kappa
    beyond = near.weights @ np.maximum(near.g - alpha * kappa, 0.0)
    flips = gained - mass * alpha * kappa + beyond
    return float(alpha * radius + (risk + 2 * flips) / n)


def _scored(rows: Rows, terms: Terms, v: Vector) -> tuple[Vector, Vector, Vector, Any]:
    """z, y, weights, and whether labels may flip, of these rows."""
    scores, free = [], []
    for block in terms.blocks(rows):
        scores.append(terms.scores(block, v))
        free.append(block.free)
    weights = np.ones(rows.y.size) if rows.weights is None else rows.weights
    if not scores:
        return np.zeros(0), rows.y, weights, np.zeros(0, dtype=bool)
    return np.concatenate(scores), rows.y, weights, np.concatenate(free)


def _gains(scored: tuple[Vector, Vector, Vector, Any], terms: Terms, least: float) -> Gains:
    """g of the agents whose flip is worth more than distance."""
    z, y, weights, free = scored
    g = terms.loss.s * y * z
    chosen = free & (g > 0) & (g > least)
    return Gains(g[chosen], weights[chosen])


def _first_look(rows: Rows, terms: Terms, v: Vector, least: float) -> tuple[float, QuantileSketch]:
    """The sum of the losses, and a sketch of -g: ranks are counted from the largest g down."""
    z, y, weights, free = _scored(rows, terms, v)
    gains = _gains((z, y, weights, free), terms, least)
    return float(weights @ terms.loss.value(z, y)), QuantileSketch.of(-gains.g, gains.weights)


def _near(
    rows: Rows, terms: Terms, v: Vector, least: float, low: float, high: float
) -> tuple[list[float], Gains]:
    """The weight of the agents with -g up to the lower end and the sum of their g, and the agents
    from there to the upper end."""
    g, weights = _gains(_scored(rows, terms, v), terms, least)
    sure, near = -g <= low, (-g > low) & (-g <= high)
    return [float(weights[sure].sum()), float(weights[sure] @ g[sure])], Gains(
        g[near], weights[near]
    )

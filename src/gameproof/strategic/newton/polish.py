"""The last digits of a minimum, by Newton's method on what binds there.

Bounds with a gap of 1e-11 leave a point open to about the root of that, since the value is flat at
the minimum; its equations are not. Which walls bind (h_j = 0) and which agents have t_i = 0, the
interior-point method tells: a multiplier exceeds its slack. The signs of the other t are settled,
and what is left is

    grad f + (1/n) sum gamma_i grad t_i = sum over the binding j of lambda_j grad h_j
    h_j = 0 of the binding walls,   t_i = 0 of the few agents

A curved wall u >= |y|_p has no gradient where u = 0: there u and y are held at 0.

Newton's matrix is singular where the minimum is not unique. A little is added to its diagonal. That
changes steps, but not where they end, and leaves a point where it is along flat directions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.newton.barrier import Minimum
from gameproof.strategic.newton.constraints import Walls
from gameproof.strategic.newton.convex_objective import ConvexSide, Expansion
from gameproof.strategic.newton.local_model import Near

MAX_STEPS, TRIES = 5, 3
# Added to a matrix whose rows are brought to a largest number of about 1, in so many rounds.
ADDED, EVENINGS = 1e-8, 4
# With more agents at 0 than this, and this for each variable, theta is 0 and its digits are known.
MOST, MOST_EACH = 100, 3
# Below this the head of a curve is 0.
COLLAPSED = 1e-8
# Steps end at the first length, relative to the point, or where one is longer than this part of the
# one before: then rounding is all that is left. Up to the third they have converged.
SHORT, SHORTER, CONVERGED = 1e-13, 0.5, 1e-9
# By so much signs may be wrong, and values larger.
SLACK, ROUNDING = 1e-9, 1e-14


class Binding(NamedTuple):
    """What binds: walls, and agents by their place among the free. And what is not held at 0."""

    walls: Indices
    few: Indices
    moving: Indices


def polished(side: ConvexSide, found: Minimum, x: Vector) -> Minimum | None:
    """The minimum by Newton's method from x, which is as good as the point found; None where that
    leads nowhere: what binds was not clear, or the value is not as low."""
    walls, start = Walls(side), side.expand(side.lift(x))
    allowed = start.value + ROUNDING * max(1.0, abs(start.value))
    if not found.forces.size:
        return None
    binding = _binding(walls, found, side.pulls_at(start, side.free))
    if binding.few.size > MOST + MOST_EACH * side.size:
        return None
    for _ in range(TRIES):
        here, pushes, length = _solution(side, walls, binding, start, found)
        own = pushes[: binding.walls.size]
        outward = own > SLACK * np.abs(pushes).max(initial=0.0)
        if not outward.any():
            break
        binding = binding._replace(walls=binding.walls[~outward])
    beyond = side.n * np.abs(pushes[own.size :]).max(initial=0.0) > 1 + SLACK
    if length > CONVERGED or here.value > allowed or outward.any() or beyond:
        return None
    return _certified(side, walls, found, here, binding, pushes)


def _solution(
    side: ConvexSide, walls: Walls, binding: Binding, here: Expansion, found: Minimum
) -> tuple[Expansion, Vector, float]:
    """Newton's method from here: a point; the multipliers of walls, with a minus, and of agents;
    and the length of the last step, relative to the point."""
    pushes = np.append(-found.forces[binding.walls], found.gamma[binding.few] / side.n)
    still = np.setdiff1d(np.arange(side.size), binding.moving)
    if still.size:
        here = _expanded(side, here.v, still)
    heads = [walls.curves[j].head for j in binding.walls if j < len(walls.curves)]
    last, size = np.inf, float(np.abs(found.v).max())
    for _ in range(MAX_STEPS):
        near = Near(side, here, side.free[binding.few])
        by, change = _step(walls, near, binding, here.v, pushes)
        length = float(np.abs(by).max()) / size
        if not length <= SHORTER * last:
            break
        pushes, last = pushes + change, length
        if length < SHORT:
            break
        here = _expanded(side, here.v + by, still)
        if (here.v[heads] <= 0).any():
            return here, pushes, np.inf
    return here, pushes, last


def _expanded(side: ConvexSide, v: Vector, still: Indices) -> Expansion:
    """At the nearest point of the set, with 0 for what is held there."""
    inside = v.copy()
    inside[still] = 0.0
    return side.expand(side.lift(side.problem.x_set.project(side.unlifted(inside))))


def _certified(
    side: ConvexSide,
    walls: Walls,
    found: Minimum,
    here: Expansion,
    binding: Binding,
    pushes: Vector,
) -> Minimum:
    """The point with its own gamma and bound from below, or with those found where they are
    better."""
    few, t = binding.few, side.pulls_at(here, side.free)
    near, gamma, forces = Near(side, here, side.free[few]), np.sign(t), np.zeros(walls.number)
    held = binding.walls.size
    own, forces[binding.walls] = np.clip(side.n * pushes[held:], -1.0, 1.0), -pushes[:held]
    change, gamma[few] = own - gamma[few], own
    value = here.value + float((change * t[few]).sum()) / side.n
    lower = side.least(here.v, value, here.gradient + near.pulled(change), forces)
    if lower < found.lower:
        return found._replace(v=here.v, upper=here.value)
    return Minimum(here.v, gamma, lower, here.value, forces)


def _binding(walls: Walls, found: Minimum, t: Vector) -> Binding:
    """What has a multiplier above its slack where the interior-point method ends: there the product
    of the two is the same for all. Where the head of a curve is 0 so is its body, and what other
    walls hold to that."""
    v, still = found.v, np.zeros(found.v.size, dtype=bool)
    held = walls.heights(v) < found.forces
    for j in np.flatnonzero(held[: len(walls.curves)]):
        curve = walls.curves[j]
        if v[curve.head] < COLLAPSED:
            still[curve.head], still[curve.body], held[j] = True, True, False
    rows = np.flatnonzero(held)
    bound = np.zeros((walls.number, v.size), dtype=bool)
    bound[rows] = walls.slopes(v, rows) != 0
    touched = held & bound[:, still].any(axis=1) & (np.arange(held.size) >= len(walls.curves))
    still |= bound[touched].any(axis=0)
    few = np.flatnonzero(np.abs(t) < (1 - np.abs(found.gamma)) / 2)
    return Binding(np.flatnonzero(held & ~touched), few, np.flatnonzero(~still))


def _step(
    walls: Walls, near: Near, binding: Binding, v: Vector, pushes: Vector
) -> tuple[Vector, Vector]:
    """Newton's step: of v, and of the pushes."""
    held, moving, first = binding.walls, binding.moving, binding.walls.size
    rows = np.zeros((pushes.size, v.size))
    rows[:first] = walls.slopes(v, held)
    rows[first:, : near.alpha], rows[first:, near.alpha] = near.pull_rows.T, -near.pull_labels
    misses = np.append(walls.heights(v)[held], near.pulls(v))
    local = near.derivatives(near.at(v), np.zeros(binding.few.size))
    hessian = local.hessian + walls.bend(v, -pushes, held)
    gradient, by = local.gradient + pushes @ rows, np.zeros(v.size)
    by[moving], change = _solved(
        hessian[np.ix_(moving, moving)], rows[:, moving], gradient[moving], misses
    )
    return by, change


def _solved(
    hessian: Matrix, rows: Matrix, gradient: Vector, misses: Vector
) -> tuple[Vector, Vector]:
    """by and change with hessian by + rows' change = -gradient and rows by = -misses, nearly."""
    d, number = len(hessian), len(rows)
    whole = np.block([[hessian, rows.T], [rows, np.zeros((number, number))]])
    scale = np.ones(d + number)
    for _ in range(EVENINGS):
        largest = np.abs(whole * np.outer(scale, scale)).max(axis=1, initial=0.0)
        scale /= np.sqrt(np.where(largest > 0, largest, 1.0))
    added = ADDED * np.append(np.ones(d), -np.ones(number))
    even = whole * np.outer(scale, scale) + np.diag(added)
    found = scale * np.linalg.solve(even, -scale * np.append(gradient, misses))
    return found[:d], found[d:]

"""The last digits of a minimum, by Newton's method on the binding constraints.

The value is flat at the minimum, so a gap of 1e-11 determines a point to about 3e-6. The equations
of the minimum determine it to rounding. The interior-point method shows which constraints bind
(h_j = 0) and which agents have t_i = 0: their multiplier exceeds their slack. The signs of the
other t are known, and the equations are

    grad f + (1/n) sum gamma_i grad t_i = sum over the binding j of lambda_j grad h_j
    h_j = 0 for the binding constraints,   t_i = 0 for the few agents

A curved constraint u >= |y|_p has no gradient at u = 0. If u is 0, then u and y are held at 0.

Newton's matrix is singular if the minimum is not unique. A small number is added to its diagonal.
That changes the steps but not their limit. Along flat directions only rounding moves the point, and
far more than elsewhere, so that steps are measured by their effect on the equations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.newton.agent_blocks import Active, Gamma
from gameproof.strategic.newton.certificate import Tangent
from gameproof.strategic.newton.constraints import Constraints
from gameproof.strategic.newton.convex_objective import ConvexObjective, Expansion
from gameproof.strategic.newton.local_model import LocalModel
from gameproof.strategic.newton.solution import Solution

MAX_STEPS, TRIES = 5, 3
# The number added to the diagonal, and the rounds of scaling that bring the largest entry of each
# row to about 1.
ADDED, EVENINGS = 1e-8, 4
# With more agents at t = 0 than MOST + MOST_EACH per variable, theta is 0 and needs no more digits.
MOST, MOST_EACH = 100, 3
# A head of a curved constraint below this counts as 0.
COLLAPSED = 1e-8
# Steps end at the effect SHORT, relative to that of the point; the next effect would be about the
# square of the last. They also end when a step has more than SHORTER times the effect of the one
# before, because then only rounding is left. They have converged if the last effect is less than
# CONVERGED.
SHORT, SHORTER, CONVERGED = 1e-15, 0.5, 1e-9
# The tolerance for the signs of multipliers, and for values.
SLACK, ROUNDING = 1e-9, 1e-14


class Binding(NamedTuple):
    """The binding constraints, the agents with t = 0, and the coordinates that are not held at
    0."""

    constraints: Indices
    few: Active
    moving: Indices


def polished(objective: ConvexObjective, found: Solution, x: Vector) -> Solution | None:
    """The minimum by Newton's method from x, which is as good as the point found.

    None if it was unclear which constraints bind, or if the value is not as low."""
    if not found.multipliers.size:
        return None
    constraints, start = Constraints(objective), objective.lift(x)
    binding = _binding(constraints, found, objective.selected(start, found.gamma.agents))
    if binding.few.t.size > MOST + MOST_EACH * objective.size:
        return None
    here = _expanded(objective, binding, start)
    allowed = here.value + ROUNDING * max(1.0, abs(here.value))
    for _ in range(TRIES):
        ahead, pushes, effect = _solution(objective, constraints, binding, here, found)
        own = pushes[: binding.constraints.size]
        outward = own > SLACK * np.abs(pushes).max(initial=0.0)
        if not outward.any():
            break
        binding = binding._replace(constraints=binding.constraints[~outward])
    beyond = objective.n * np.abs(pushes[own.size :]).max(initial=0.0) > 1 + SLACK
    if effect > CONVERGED or ahead.value > allowed or outward.any() or beyond:
        return None
    return _certified(objective, constraints, found, ahead, binding, pushes)


def _solution(
    objective: ConvexObjective,
    constraints: Constraints,
    binding: Binding,
    here: Expansion,
    found: Solution,
) -> tuple[Expansion, Vector, float]:
    """Newton's method from here.

    Returns a point, minus the multipliers of the constraints followed by those of the agents, and
    the effect of the last step on the equations, relative to that of the point."""
    first = _values_of(found.gamma, binding.few.agents) / objective.n
    pushes = np.append(-found.multipliers[binding.constraints], first)
    still = np.setdiff1d(np.arange(objective.size), binding.moving)
    if still.size:
        here = _expanded(objective, binding, here.v, still)
    heads = [constraints.curves[j].head for j in binding.constraints if j < len(constraints.curves)]
    last = np.inf
    for _ in range(MAX_STEPS):
        model = LocalModel(objective, here.v, here.held, here.hessian, binding.few)
        by, change, effect = _step(constraints, model, binding, here.v, pushes)
        if not effect <= SHORTER * last:
            break
        pushes, last = pushes + change, effect
        if effect < SHORT:
            break
        here = _expanded(objective, binding, here.v + by, still)
        if (here.v[heads] <= 0).any():
            return here, pushes, np.inf
        if effect**2 < SHORT:
            return here, pushes, effect**2
    return here, pushes, last


def _values_of(gamma: Gamma, agents: Indices) -> Vector:
    """The values of agents that are exceptions of gamma."""
    values: Vector = gamma.values[np.searchsorted(gamma.agents, agents)]
    return values


def _expanded(
    objective: ConvexObjective, binding: Binding, v: Vector, still: Indices | None = None
) -> Expansion:
    """The expansion at v, with gamma = 0 held for the agents with t = 0; at the nearest point of
    the set, with 0 for the coordinates held at 0, if those are given."""
    agents = binding.few.agents
    if still is not None:
        inside = v.copy()
        inside[still] = 0.0
        v = objective.lift(objective.problem.x_set.project(objective.unlifted(inside)))
    return objective.expand(v, None, Gamma(v, agents, np.zeros(agents.size)))


def _certified(
    objective: ConvexObjective,
    constraints: Constraints,
    found: Solution,
    here: Expansion,
    binding: Binding,
    pushes: Vector,
) -> Solution:
    """The point with its own gamma and lower bound, or with those of `found` if its bound is
    better."""
    few, held, multipliers = binding.few, binding.constraints.size, np.zeros(constraints.number)
    own = np.clip(objective.n * pushes[held:], -1.0, 1.0)
    multipliers[binding.constraints] = -pushes[:held]
    model = LocalModel(objective, here.v, here.held, here.hessian, few)
    value = here.held[0] + float(own @ model.pulls(here.v)) / objective.n
    gradient = here.held[1] + model.pulled(own)
    lower = objective.least(here.v, value, gradient, multipliers)
    if lower < found.lower:
        return found._replace(v=here.v, upper=here.value, polished=True)
    gamma = Gamma(here.v, few.agents, own)
    tangent = Tangent(here.v, multipliers)
    return Solution(here.v, gamma, lower, here.value, multipliers, tangent, polished=True)


def _binding(constraints: Constraints, found: Solution, known: Active) -> Binding:
    """The constraints and agents whose multiplier exceeds their slack at the end of the
    interior-point method, where the product of the two is the same for all. If the head of a curved
    constraint is 0, so are its body and the coordinates that other constraints tie to it."""
    v, still = found.v, np.zeros(found.v.size, dtype=bool)
    held = constraints.heights(v) < found.multipliers
    for j in np.flatnonzero(held[: len(constraints.curves)]):
        curve = constraints.curves[j]
        if v[curve.head] < COLLAPSED:
            still[curve.head], still[curve.body], held[j] = True, True, False
    rows = np.flatnonzero(held)
    bound = np.zeros((constraints.number, v.size), dtype=bool)
    bound[rows] = constraints.slopes(v, rows) != 0
    touched = held & bound[:, still].any(axis=1) & (np.arange(held.size) >= len(constraints.curves))
    still |= bound[touched].any(axis=0)
    values = _values_of(found.gamma, known.agents)
    # The distance between the t of neighbours, where t that are not 0 begin.
    spacing = np.abs(known.t).max(initial=0.0) / max(1, known.t.size)
    few = known.part(np.abs(known.t) < (1 - np.abs(values)) * spacing)
    return Binding(np.flatnonzero(held & ~touched), few, np.flatnonzero(~still))


def _step(
    constraints: Constraints, model: LocalModel, binding: Binding, v: Vector, pushes: Vector
) -> tuple[Vector, Vector, float]:
    """Newton's step: the changes of v and of the pushes, and the effect of the step."""
    held, moving, first = binding.constraints, binding.moving, binding.constraints.size
    rows = np.zeros((pushes.size, v.size))
    rows[:first] = constraints.slopes(v, held)
    rows[first:, : model.alpha], rows[first:, model.alpha] = model.pull_rows, -model.pull_labels
    misses = np.append(constraints.heights(v)[held], model.pulls(v))
    local = model.derivatives(model.at(v), np.zeros(binding.few.t.size))
    hessian = local.hessian + constraints.bend(v, -pushes, held)
    gradient, by = local.gradient + pushes @ rows, np.zeros(v.size)
    by[moving], change, effect = _newton_system(
        hessian[np.ix_(moving, moving)], rows[:, moving], gradient[moving], misses, v[moving]
    )
    return by, change, effect


def _newton_system(
    hessian: Matrix, rows: Matrix, gradient: Vector, misses: Vector, v: Vector
) -> tuple[Vector, Vector, float]:
    """Solves hessian by + rows' change = -gradient and rows by = -misses for by and change, up to
    the small number on the diagonal.

    Returns both, and the size of what `by` adds to the left-hand sides, relative to the size of v,
    when the largest coefficient of each equation and of each unknown is about 1."""
    d, number = len(hessian), len(rows)
    whole = np.block([[hessian, rows.T], [rows, np.zeros((number, number))]])
    scale = np.ones(d + number)
    for _ in range(EVENINGS):
        largest = np.abs(whole * np.outer(scale, scale)).max(axis=1, initial=0.0)
        scale /= np.sqrt(np.where(largest > 0, largest, 1.0))
    added = ADDED * np.append(np.ones(d), -np.ones(number))
    even = whole * np.outer(scale, scale)
    step = np.linalg.solve(even + np.diag(added), -scale * np.append(gradient, misses))
    size = float(np.abs(v / scale[:d]).max(initial=0.0)) or 1.0
    effect = float(np.abs(even[:, :d] @ step[:d]).max(initial=0.0)) / size
    found = scale * step
    return found[:d], found[d:], effect

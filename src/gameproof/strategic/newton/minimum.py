"""The minimum of the convex objective: by a barrier for few agents, by Newton's method for many.

Up to some thousand agents, `barrier` solves the problem. For more, a subsample gives a starting
point v, and

    v <- the minimum of the local model at v (`local_model`): a quadratic, and |t| of active agents

is Newton's method for a function that is smooth except for |t|. A step passes over all agents once,
at a cost of O(n d^2), and a handful of steps reach rounding. The active agents are those whose t
the last step brought near 0. A step that does not lower the value is shortened, and more agents
become active.

The bounds hold for all agents. Their gamma is that of the active agents, and sign t for the
others. Where they do not close, or most agents have a t near 0, the barrier takes all agents.

Three steps follow. Among equally good classifiers a small one is chosen (`ties`). The last digits
come from the equations of the minimum (`polish`). Coefficients that are 0 at the minimum are set to
0 (`zeros`).
"""

from __future__ import annotations

import numpy as np

from gameproof.core.arguments import Indices, Vector
from gameproof.strategic.newton.barrier import Minimum, minimise
from gameproof.strategic.newton.certificate import Certificate, Tangent, certify
from gameproof.strategic.newton.convex_objective import ConvexObjective, Expansion
from gameproof.strategic.newton.local_model import LocalModel
from gameproof.strategic.newton.polish import polished
from gameproof.strategic.newton.ties import without_ties
from gameproof.strategic.newton.zeros import RESIDUE, SMALL, TARGET, with_zeros
from gameproof.strategic.robust_objective import RobustObjective

# With fewer agents than this, in all or per variable, no subsample is taken. THINNER is the
# subsampling factor.
FEW, FEW_EACH = 8000, 100
THINNER = 10
# The value at the minimum of a sample has an error of about (number of variables) / (sample size).
# That minimum, and the first one of the local model, are computed to this share of the error.
ROUGH = 0.05
# If the final gap is larger than this, the barrier is applied to all agents.
POOR = 1e-9
# Active are the agents whose t may reach 0 in the next step: |t| is below its expected change. That
# is at first SAMPLED times the typical error of a sample's minimum, and then the change in the last
# step, times SETTLING after a full step, since the next one will be shorter.
SAMPLED, SETTLING = 3.0, 0.3
# The number of active agents: at least FEWEST per variable, at most the share MOST of all agents.
FEWEST, MOST = 2, 0.25
MAX_STEPS, MAX_HALVINGS, MAX_MISSES = 20, 4, 3
ROUNDING = 1e-14


def minimum(problem: RobustObjective, gamma: Vector | None = None) -> Minimum:
    """The minimum over x of L(x, gamma); without a gamma, of the maximum of L(x, .). The gamma of
    agents that are not free is 0."""
    x, found, _ = _solved(ConvexObjective(problem, gamma), problem, gamma)
    return found._replace(v=x)


def certified_minimum(problem: RobustObjective) -> tuple[Vector, Vector, Certificate]:
    """x and gamma at the minimum over x of the maximum of L(x, .), with their certificate."""
    objective = ConvexObjective(problem)
    x, found, first = _solved(objective, problem, None)
    tangents = [Tangent(first.v, None)]
    if found is not first and found.multipliers.size:
        tangents.append(Tangent(found.v, found.multipliers))
    return x, found.gamma, certify(objective, x, found.gamma, tangents)


def certified_gap(problem: RobustObjective, x: Vector, gamma: Vector) -> Certificate:
    """The certificate of a point x and a gamma."""
    given = _minimum(ConvexObjective(problem, gamma), problem.interior, TARGET)
    return certify(ConvexObjective(problem), x, gamma, [Tangent(given.v, None)])


def _solved(
    objective: ConvexObjective, problem: RobustObjective, gamma: Vector | None
) -> tuple[Vector, Minimum, Minimum]:
    """x, the polished minimum in terms of v, and the minimum before it was polished."""
    found, everyone = _minimum(objective, problem.interior, TARGET), np.zeros(objective.n)
    x, first = objective.unlifted(found.v), found
    if gamma is None:
        x, small = without_ties(problem, x), SMALL
        better = polished(objective, found, x)
        if better is not None:
            found, x, small = better, objective.unlifted(better.v), RESIDUE
        x = with_zeros(problem, x, found.lower, found.upper, small)
    everyone[objective.free] = found.gamma
    return x, found._replace(gamma=everyone), first


def _minimum(objective: ConvexObjective, start: Vector, target: float) -> Minimum:
    if objective.n < max(FEW, FEW_EACH * objective.size):
        return minimise(objective, start, target)
    sample = objective.sample(objective.n // THINNER)
    rough = ROUGH * objective.size / sample.n
    found = _refined(objective, start, _minimum(sample, start, rough).v, target, rough)
    if found.gap > max(target, POOR) * max(1.0, abs(found.upper)):
        found = min(found, minimise(objective, start, target), key=lambda end: end.gap)
    return found


def _refined(
    objective: ConvexObjective, start: Vector, v: Vector, target: float, rough: float
) -> Minimum:
    """The Newton iterate from v with the closest bounds. The first local model is solved to the
    precision `rough`."""
    here, misses = objective.expand(v), 0
    t = objective.pulls_at(here, objective.free)
    best = Minimum(v, np.sign(t), -np.inf, here.value, np.zeros(0))
    # What a sample leaves open, relative to the size of what it is about.
    unsure = SAMPLED * np.sqrt(THINNER * objective.size / objective.n)
    reach = np.full(t.size, unsure * _typical(t))
    for _ in range(MAX_STEPS):
        few = _few(t, reach, FEWEST * objective.size)
        if few.size > MOST * objective.n:
            break
        model = LocalModel(objective, here, objective.free[few])
        inner = minimise(model, start, max(target / 3, rough))
        whole = objective.expand(inner.v, here.z)
        change = np.abs(objective.pulls_at(whole, objective.free) - t)
        reach = change + _typical(change)
        ahead = _descended(objective, here, whole, inner.gap)
        if ahead is whole:
            reach *= SETTLING
        here, t = ahead, objective.pulls_at(ahead, objective.free)
        found = _bounded(objective, model, few, here, t, inner)
        misses = 0 if found.gap < best.gap / 2 else misses + 1
        best = min(best, found, key=lambda end: end.gap)
        if best.gap <= target * max(1.0, abs(best.upper)) or misses > MAX_MISSES:
            break
        rough = min(rough / 10, found.gap**2)
    return best


def _few(t: Vector, reach: Vector, least: int) -> Indices:
    """Positions in t of the active agents: those within reach of 0, and at least the `least`
    nearest ones."""
    size = np.abs(t)
    if size.size > least:
        reach = np.maximum(reach, np.partition(size, least)[least])
    return np.flatnonzero(size <= reach)


def _typical(values: Vector) -> float:
    """The root mean square."""
    return float(np.sqrt((values**2).sum() / max(1, values.size)))


def _descended(
    objective: ConvexObjective, here: Expansion, whole: Expansion, slack: float
) -> Expansion:
    """The expansion after a full step, or after the longest part of it that does not raise the
    value by more than the slack and rounding; `here` if there is none."""
    allowed = here.value + slack + ROUNDING * max(1.0, abs(here.value))
    ahead = whole
    for _ in range(MAX_HALVINGS):
        if ahead.value <= allowed:
            return ahead
        ahead = objective.expand((here.v + ahead.v) / 2, here.z)
    return ahead if ahead.value <= allowed else here


def _bounded(
    objective: ConvexObjective,
    model: LocalModel,
    few: Indices,
    here: Expansion,
    t: Vector,
    inner: Minimum,
) -> Minimum:
    """The point with gamma of the active agents, and the bounds for both."""
    gamma = np.sign(t)
    change, gamma[few] = inner.gamma - gamma[few], inner.gamma
    value = here.value + float((change * t[few]).sum()) / objective.n
    lower = objective.least(here.v, value, here.gradient + model.pulled(change))
    return Minimum(here.v, gamma, lower, here.value, inner.multipliers)

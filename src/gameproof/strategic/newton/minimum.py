"""The minimum of the convex objective: by a barrier for few agents, by Newton's method for many.

Up to some thousand agents, `barrier` solves the problem. For more, a subsample gives a starting
point v, and

    v <- the minimum of the local model at v (`local_model`): a quadratic, and |t| of active agents

is Newton's method for a function that is smooth except for |t|. A step passes over all agents once,
at a cost of O(n d^2), and a handful of steps reach rounding. The active agents are those whose t
the last step brought near 0. A step that does not lower the value is shortened, and more agents
become active.

The bounds hold for all agents. Their gamma is that of the active agents, and sign t for the
others. Where they do not close, or many agents have a t near 0, the barrier takes all agents, if
their rows are in memory.

Three steps follow, the first two as soon as the bounds are close. Among equally good classifiers a
small one is chosen (`ties`). The last digits come from the equations of the minimum (`polish`).
Coefficients that are 0 at the minimum are set to 0 (`zeros`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.rows.cores import one_blas_thread
from gameproof.strategic.newton.agent_blocks import Active, Gamma, Reach
from gameproof.strategic.newton.barrier import POOR, Minimum, minimise
from gameproof.strategic.newton.certificate import Certificate, Tangent, certify
from gameproof.strategic.newton.convex_objective import ConvexObjective, Expansion
from gameproof.strategic.newton.local_model import LocalModel
from gameproof.strategic.newton.polish import polished
from gameproof.strategic.newton.solution import Solution
from gameproof.strategic.newton.ties import without_ties
from gameproof.strategic.newton.zeros import RESIDUE, SMALL, TARGET, with_zeros
from gameproof.strategic.robust_parameters import RobustParameters

# With fewer agents than this, in all or per variable, no subsample is taken. THINNER is the
# subsampling factor.
FEW, FEW_EACH = 8000, 100
THINNER = 10
# The numbers of a sample of rows that are not in memory, at most.
SAMPLE = 2**24
# The value at the minimum of a sample has an error of about (number of variables) / (sample size).
# That minimum, and the first one of the local model, are computed to this share of the error.
ROUGH = 0.05
# Active are the agents whose t may reach 0 in the next step: |t| is below its expected change. That
# is at first SAMPLED times the typical error of a sample's minimum, and then the change in the last
# step, times SETTLING after a full step, since the next one will be shorter.
SAMPLED, SETTLING = 3.0, 0.3
# The number of active agents: at least FEWEST per variable, at most the share MOST of all agents.
FEWEST, MOST = 2, 0.25
MAX_STEPS, MAX_HALVINGS, MAX_MISSES = 20, 4, 3
# From a gap of CLOSE, a step leads to about NEAR, where the equations of the minimum are tried. Its
# local model is solved to the target, to see which constraints bind.
CLOSE, NEAR = 3e-3, 1e-6
ROUNDING = 1e-14


def minimum(problem: RobustParameters[Any], gamma: Vector | None = None) -> Minimum:
    """The minimum over x of L(x, gamma); without a gamma, of the maximum of L(x, .). The gamma of
    agents that are not free is 0."""
    with one_blas_thread():
        objective = ConvexObjective(problem, gamma)
        x, found = _solved(objective, gamma is None)
        everyone = objective.everyone(found.gamma)
    return Minimum(x, everyone, found.lower, found.upper, found.multipliers)


def certified_minimum(
    problem: RobustParameters[Any], start: Vector | None = None
) -> tuple[Vector, Vector, Certificate]:
    """x and gamma at the minimum over x of the maximum of L(x, .), with their certificate.

    With many agents, a `start` near the minimum takes the place of a subsample."""
    with one_blas_thread():
        objective = ConvexObjective(problem)
        x, gamma, certificate = certified_solution(objective, start)
        return x, objective.everyone(gamma), certificate


def certified_solution(
    objective: ConvexObjective, start: Vector | None = None
) -> tuple[Vector, Gamma, Certificate]:
    """`certified_minimum` of an objective, with gamma stored for few agents."""
    x, found = _solved(objective, True, start)
    return x, found.gamma, certify(objective, x, found.gamma, found.tangent)


def rough_minimum(
    problem: RobustParameters[Any], start: Vector | None, target: float
) -> tuple[Vector, float, float]:
    """x within about `target` of the minimum, its value, and the gap between its bounds, without a
    certificate: to compare settings."""
    with one_blas_thread():
        objective = ConvexObjective(problem)
        found = _minimum_within(objective, target, start)
        x, value = objective.unlifted(found.v), objective.robust_value
        x = with_zeros(problem, x, found.lower, found.upper, SMALL, value)
        return x, found.upper, found.gap


def certified_gap(problem: RobustParameters[Any], x: Vector, gamma: Vector) -> Certificate:
    """The certificate of a point x and a gamma."""
    with one_blas_thread():
        given = _minimum_within(ConvexObjective(problem, gamma), TARGET)
        everyone = Gamma(given.v, np.arange(gamma.size), gamma)
        return certify(ConvexObjective(problem), x, everyone, Tangent(given.v, None))


def _solved(
    objective: ConvexObjective, polish: bool, start: Vector | None = None
) -> tuple[Vector, Solution]:
    """x, and the minimum in terms of v."""
    found = _minimum_within(objective, TARGET, start, polish=polish)
    x, small = objective.unlifted(found.v), RESIDUE
    if polish:
        if not found.polished:
            x, small = without_ties(objective, x), SMALL
        value = objective.robust_value
        x = with_zeros(objective.problem, x, found.lower, found.upper, small, value)
    return x, found


def _polished(objective: ConvexObjective, found: Solution) -> Solution | None:
    """The minimum with its last digits, at a small one of equally good classifiers."""
    return polished(objective, found, without_ties(objective, objective.unlifted(found.v)))


def _minimum_within(
    objective: ConvexObjective,
    target: float,
    near: Vector | None = None,
    *,
    polish: bool = False,
) -> Solution:
    """The minimum to this gap, by the barrier or by Newton's method, from `near` if that helps."""
    if objective.n < max(FEW, FEW_EACH * objective.size):
        return _of_all(objective, target, polish)
    number = objective.n // THINNER
    if not objective.rows.in_memory:
        number = min(number, SAMPLE // objective.size)
    found = None
    if near is not None:
        found = _refined(objective, objective.lift(near), target, number, polish)
    enough = max(target, POOR)
    if found is None or not _is_closed(found, enough):
        v = _minimum_within(objective.sample(number), _rough(objective, number)).v
        found = _refined(objective, v, target, number, polish)
    if not _is_closed(found, enough) and objective.rows.in_memory:
        # The bounds did not close: the barrier takes all agents.
        whole = _of_all(objective, target, polish)
        found = min(found, whole, key=lambda end: end.gap)
    return found


def _rough(objective: ConvexObjective, number: int) -> float:
    """The precision to which the minimum of a sample of this many agents is worth computing."""
    share: float = ROUGH * objective.size / number
    return share


def _of_all(objective: ConvexObjective, target: float, polish: bool) -> Solution:
    """The minimum by the barrier, with all agents."""
    found = Solution.of_all(objective, minimise(objective, target))
    return (_polished(objective, found) or found) if polish else found


def _refined(
    objective: ConvexObjective, v: Vector, target: float, number: int, polish: bool
) -> Solution:
    """The Newton iterate from v with the closest bounds. v is the minimum of a sample of this many
    agents; its error is the precision to which the first local model is solved."""
    rough = _rough(objective, number)
    here, misses = objective.expand(v), 0
    nobody = Gamma(v, np.zeros(0, dtype=np.int64), np.zeros(0))
    best = Solution(v, nobody, -np.inf, here.value, np.zeros(0), Tangent(v, None))
    # The expected error of t at the minimum of a sample, relative to the typical t.
    unsure = SAMPLED * np.sqrt(objective.size / number)
    reach = Reach(v, v, 0.0, unsure * here.typical, FEWEST * objective.size)
    for _ in range(MAX_STEPS):
        few = objective.active(here.v, reach, MOST * objective.n)
        if few is None:
            break
        inner = minimise(LocalModel.of(objective, here, few), max(target / 3, rough))
        held = Gamma(inner.v, few.agents, inner.gamma)
        whole = objective.expand(inner.v, here.v, held)
        ahead = _descended(objective, here, whole, inner.gap, held)
        factor = SETTLING if ahead is whole else 1.0
        reach = Reach(here.v, whole.v, factor, factor * whole.moved, reach.least)
        here = ahead
        found = _bounded(objective, few, here, inner)
        misses = 0 if found.gap < best.gap / 2 else misses + 1
        best, closed = min(best, found, key=lambda end: end.gap), _is_closed(found, target)
        if polish and rough <= target and _is_closed(found, NEAR):
            better = _polished(objective, found)
            if better is not None and (closed or _is_closed(better, target)):
                return better
        if closed or misses > MAX_MISSES:
            break
        rough = min(rough / 10, found.gap**2) if found.gap > CLOSE else 0.0
    return best


def _is_closed(found: Solution, target: float) -> bool:
    """Whether the gap is at most the target, relative to the value."""
    return found.gap <= target * max(1.0, abs(found.upper))


def _descended(
    objective: ConvexObjective, here: Expansion, whole: Expansion, slack: float, held: Gamma
) -> Expansion:
    """The expansion after a full step, or after the longest part of it that does not raise the
    value by more than the slack and rounding; at the start of the step if there is none."""
    allowed = here.value + slack + ROUNDING * max(1.0, abs(here.value))
    ahead = whole
    for _ in range(MAX_HALVINGS):
        if ahead.value <= allowed:
            return ahead
        ahead = objective.expand((here.v + ahead.v) / 2, here.v, held)
    return ahead if ahead.value <= allowed else objective.expand(here.v, None, held)


def _bounded(objective: ConvexObjective, few: Active, here: Expansion, inner: Minimum) -> Solution:
    """The point with gamma of the active agents, and the bounds for both."""
    value, gradient = here.held
    lower = objective.least(here.v, value, gradient)
    gamma = Gamma(here.v, few.agents, inner.gamma)
    tangent = Tangent(here.v, None)
    return Solution(here.v, gamma, lower, here.value, inner.multipliers, tangent)

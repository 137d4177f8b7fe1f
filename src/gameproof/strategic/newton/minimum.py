"""The minimum of the convex side: of few agents by a barrier, of many by Newton's method.

Some thousand agents are left to `barrier`. Of more, a sample gives a point v to begin with, and

    v <- the minimum of what `Near` makes of the side at v: a quadratic, and |t| of a few agents

is Newton's method for a function that is smooth but for |t|. All agents are passed over once a
step, at a cost of O(n d^2), and as Newton's method does it ends at rounding after a handful of
steps. Which agents are the few, the last step tells: those whose t it brought near 0. A step that
does not lower the value is cut, and more agents join the few.

The bounds are those of all agents, at a gamma that is the few agents' own and sign t for the
others. Where they do not close, or most agents have a t near 0, the barrier takes all agents.

Of classifiers that are equally good a small one is chosen (`ties`), the last digits come from the
equations of the minimum (`polish`), and what is 0 becomes 0 (`zeros`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gameproof.core.arguments import Indices, Vector
from gameproof.strategic.newton.barrier import Minimum, minimise
from gameproof.strategic.newton.convex_objective import ConvexSide, Expansion
from gameproof.strategic.newton.local_model import Near
from gameproof.strategic.newton.polish import polished
from gameproof.strategic.newton.ties import without_ties
from gameproof.strategic.newton.zeros import RESIDUE, SMALL, TARGET, with_zeros

if TYPE_CHECKING:
    from gameproof.strategic.robust_problem import StrategicProblem

# Of fewer agents than this, in all or for each variable, no sample is taken; it is this much
# smaller than what it is of.
FEW, FEW_EACH = 8000, 100
THINNER = 10
# The value at the minimum of a sample is off by about (number of variables) / (its size): it is
# found to this part of that, and so is the first minimum near it.
ROUGH = 0.05
# Where the gap is this large after all, a method for all agents is asked.
POOR = 1e-9
# The few are those whose t may come to 0 in the next step, being smaller than its expected change:
# at first SAMPLED times what the minimum of a sample is typically off by, then what the last step
# changed, times SETTLING where that was a whole step, for the next will be shorter.
SAMPLED, SETTLING = 3.0, 0.3
# The few are at least so many for each variable, and at most this part of all agents.
FEWEST, MOST = 2, 0.25
MAX_STEPS, MAX_HALVINGS, MAX_MISSES = 20, 4, 3
ROUNDING = 1e-14


def minimum(problem: StrategicProblem, gamma: Vector | None = None) -> Minimum:
    """Over x, of L(x, gamma), or where none is given of its maximum over gamma. Its own gamma is 0
    for agents that are not free."""
    side, start = ConvexSide(problem, gamma), problem.interior
    found, everyone = _minimum(side, start, TARGET), np.zeros(side.n)
    x = side.unlifted(found.v)
    if gamma is None:
        x, small = without_ties(problem, x), SMALL
        better = polished(side, found, x)
        if better is not None:
            found, x, small = better, side.unlifted(better.v), RESIDUE
        x = with_zeros(problem, x, found.lower, found.upper, small)
    everyone[side.free] = found.gamma
    return found._replace(v=x, gamma=everyone)


def _minimum(side: ConvexSide, start: Vector, target: float) -> Minimum:
    if side.n < max(FEW, FEW_EACH * side.size):
        return minimise(side, start, target)
    sample = side.sample(side.n // THINNER)
    rough = ROUGH * side.size / sample.n
    found = _refined(side, start, _minimum(sample, start, rough).v, target, rough)
    if found.gap > max(target, POOR) * max(1.0, abs(found.upper)):
        found = min(found, minimise(side, start, target), key=lambda end: end.gap)
    return found


def _refined(side: ConvexSide, start: Vector, v: Vector, target: float, rough: float) -> Minimum:
    """The best by its bounds of Newton's iterates from v on, the first found roughly."""
    here, misses = side.expand(v), 0
    t = side.pulls_at(here, side.free)
    best = Minimum(v, np.sign(t), -np.inf, here.value, np.zeros(0))
    # What a sample leaves open, relative to the size of what it is about.
    unsure = SAMPLED * np.sqrt(THINNER * side.size / side.n)
    reach = np.full(t.size, unsure * _typical(t))
    for _ in range(MAX_STEPS):
        few = _few(t, reach, FEWEST * side.size)
        if few.size > MOST * side.n:
            break
        near = Near(side, here, side.free[few])
        inner = minimise(near, start, max(target / 3, rough))
        whole = side.expand(inner.v, here.z)
        change = np.abs(side.pulls_at(whole, side.free) - t)
        reach = change + _typical(change)
        ahead = _descended(side, here, whole, inner.gap)
        if ahead is whole:
            reach *= SETTLING
        here, t = ahead, side.pulls_at(ahead, side.free)
        found = _bounded(side, near, few, here, t, inner)
        misses = 0 if found.gap < best.gap / 2 else misses + 1
        best = min(best, found, key=lambda end: end.gap)
        if best.gap <= target * max(1.0, abs(best.upper)) or misses > MAX_MISSES:
            break
        rough = min(rough / 10, found.gap**2)
    return best


def _few(t: Vector, reach: Vector, least: int) -> Indices:
    """Places in t of those within reach of 0, and of the nearest ones."""
    size = np.abs(t)
    if size.size > least:
        reach = np.maximum(reach, np.partition(size, least)[least])
    return np.flatnonzero(size <= reach)


def _typical(values: Vector) -> float:
    """The root of the mean square."""
    return float(np.sqrt((values**2).sum() / max(1, values.size)))


def _descended(side: ConvexSide, here: Expansion, whole: Expansion, slack: float) -> Expansion:
    """After a whole step, or as much of it as does not raise the value by more than the slack and
    rounding; or where that is nothing, here."""
    allowed = here.value + slack + ROUNDING * max(1.0, abs(here.value))
    ahead = whole
    for _ in range(MAX_HALVINGS):
        if ahead.value <= allowed:
            return ahead
        ahead = side.expand((here.v + ahead.v) / 2, here.z)
    return ahead if ahead.value <= allowed else here


def _bounded(
    side: ConvexSide, near: Near, few: Indices, here: Expansion, t: Vector, inner: Minimum
) -> Minimum:
    """A point with the gamma that the few have as their own, and the bounds for these."""
    gamma = np.sign(t)
    change, gamma[few] = inner.gamma - gamma[few], inner.gamma
    value = here.value + float((change * t[few]).sum()) / side.n
    lower = side.least(here.v, value, here.gradient + near.pulled(change))
    return Minimum(here.v, gamma, lower, here.value, inner.forces)

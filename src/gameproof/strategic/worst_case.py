"""The adversary's answer to a deployed theta: the worst-case risk, and the distribution behind it.

With the answers b_i(theta), scores z_i, the loss l(z, y) = phi(z) - s y z, a ball of radius delta
in the distance |cost (x - x')| + kappa |y - y'| and c = (K + s) |theta / cost|, the worst-case risk
is (below |theta| and |x - x'| stand for these two norms)

    min over alpha >= c of  alpha delta + (1/n) sum_i [l(z_i, y_i) + 2 (s y_i z_i - alpha kappa)_+]

the (.)_+ for those agents only whose label may flip: with label +1, all, or none. Twice
(s y z - alpha kappa)_+ is |s z - y alpha kappa| - alpha kappa + s y z, so this is the problem's
robust value, minimised over alpha.

From above. For each alpha it bounds the risk on the ball: a unit of budget costs alpha, and an atom
gains at most the supremum of l(z', y') - alpha (|x' - b_i| + kappa |y' - y_i|). Given y', that is
convex in x' along each ray from b_i, and bounded just when alpha >= c; then x' = b_i is best. What
is left is the choice of y': a flip turns l(z, y) into l(z, -y) = l(z, y) + 2 s y z and costs
2 kappa. The function of alpha is convex and piecewise linear, with slope
delta - (2 kappa/n) #{i : s y_i z_i > alpha kappa}. So its minimiser is c or the breakpoint
s y z / kappa of the agent whose flip would exceed the budget: the one of rank
floor(n delta / (2 kappa)) + 1. The cap alpha_max is no part of the adversary, and is left out.

From below. Budget buys two things. Flips: s y_i z_i / kappa a unit, 2 kappa / n for all of agent i;
bought from the dearest gain down, as long as they give c a unit or more, the last one in part.
Then distance: an atom of label y' that moves by D against its label, to b - y' D theta / |theta|,
gains

    phi(z - y' t) - phi(z) + s t = (K + s) t - h(t),   t = D |theta|,   h(t) >= 0 concave, h(0) = 0

where h grows by what phi's slope lacks to K. All budget R that is left goes to a mass p of one
atom, so t = R |theta| / p, and c R - p h(R |theta| / p) is gained. Where phi has slope K already at
an atom (HuberHinge beyond its width), h = 0 and the worst case is attained. Otherwise p h(./p)
falls to 0 with p and is never 0: the worst case is approached by ever less mass ever farther away,
and p is halved from 1/n until the shortfall is at most the tolerance.

Budget spent in these ways gains what the bound from above costs, so both are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gameproof.core.arguments import Indices, Matrix, Vector, as_positive
from gameproof.strategic.adversary import (
    EPS,
    ball_radius,
    best_flips,
    checked_intercept,
    checked_theta,
)
from gameproof.strategic.losses.loss import Loss
from gameproof.strategic.robust_problem import StrategicProblem

MAX_HALVINGS = 200


@final
@dataclass(frozen=True, eq=False)
class Distribution:
    """Weighted atoms: features, a label, and the agent each comes from.

    `distance` is how far an atom's features are from its agent's answer, by the cost of features,
    `flipped` whether its label is another; so the transport cost is the sum of
    weights (distance + 2 kappa flipped).
    """

    weights: Vector
    features: Matrix
    labels: Vector
    agent: Indices
    distance: Vector
    flipped: NDArray[np.bool_]

    def risk(self, loss: Loss, theta: ArrayLike, intercept: float = 0.0) -> float:
        """The mean loss of theta under this distribution."""
        scores = self.features @ np.asarray(theta, dtype=np.float64) + intercept
        return float(self.weights @ loss.value(scores, self.labels))


@final
@dataclass(frozen=True, eq=False)
class Moves:
    """Who is changed: agents whose label flips, and agents who move, with the mass of each."""

    flipped: Indices
    flipped_mass: Vector
    moved: Indices
    moved_mass: Vector
    distance: Vector

    def __str__(self) -> str:
        parts = []
        if self.flipped.size:
            mass = float(self.flipped_mass.sum())
            parts.append(f"flipped: {_agents(self.flipped.size)}, mass {mass:.3g}")
        if self.moved.size:
            mass, far = float(self.moved_mass.sum()), float(self.distance.max())
            parts.append(f"moved: {_agents(self.moved.size)}, mass {mass:.3g}, by {far:.3g}")
        return "; ".join(parts) or "nobody is changed"


@final
@dataclass(frozen=True, eq=False)
class WorstCase:
    """The worst-case risk of a theta and who brings it about.

    value
        The largest risk on the ball, exact to rounding.
    alpha
        What a unit more of radius adds to it: the (smallest) minimiser of the bound from above.
    distribution
        On the ball, with a risk of `value` - `shortfall`.
    attained
        Whether the shortfall is 0, to rounding; `note` says it in a sentence.
    radius, cost
        The radius of the ball, and what of it the distribution spends.
    """

    value: float
    alpha: float
    distribution: Distribution
    attained: bool
    shortfall: float
    radius: float
    cost: float
    note: str
    moves: Moves = field(repr=False)


def worst_case(
    problem: StrategicProblem,
    theta: ArrayLike,
    intercept: float | None = None,
    *,
    tolerance: float = 1e-6,
) -> WorstCase:
    """The worst-case risk of a deployed theta and a distribution that attains it, or comes within
    `tolerance` of it where none attains it; see the module.

    Nobody is asked: the response must be known. Any theta and intercept will do, inside the
    problem's bounds or not. The cap alpha_max is left out: where `alpha` exceeds it, the problem's
    own objective is larger than the worst-case risk. For the printed form, whose radius delta is
    the exact form's delta - kappa n-/n, the ball is of that smaller radius, named in `note`.

    >>> import gameproof as gp
    >>> people = gp.Population([[3.0], [0.5], [2.0], [-1.0]], [1, 1, -1, -1], gp.QuadraticCost(0.2))
    >>> problem = gp.StrategicProblem(people, radius=0.3, label_cost=0.5, loss=gp.HuberHinge())
    >>> worst = worst_case(problem, [0.8])
    >>> round(worst.value, 6), worst.alpha, str(worst.moves)
    (1.702448, 1.6, 'flipped: 1 agent, mass 0.25; moved: 1 agent, mass 0.25, by 0.2')
    >>> worst.note
    'The distribution attains the worst case.'
    >>> round(worst.distribution.risk(problem.loss, [0.8]), 6), round(worst.cost, 6)
    (1.702448, 0.3)
    """
    problem.require_model("worst_case")
    deployed = checked_theta(problem, theta)
    offset = checked_intercept(problem, intercept)
    tolerance = as_positive("tolerance", tolerance)
    people, loss, radius = problem.population, problem.loss, ball_radius(problem)
    answers = people.X.copy()
    asked = np.flatnonzero(people.y < 0)
    answers[asked] = people.response.answers(deployed, people.X[asked], asked)
    scores = answers @ deployed + offset

    length = problem.dual_length(deployed)
    rate = (loss.K + loss.s) * length
    share, left, alpha = best_flips(problem, loss.s * people.y * scores, rate, radius)
    gains = 2 * loss.s * people.y * scores
    losses = people.weights * (loss.value(scores, people.y) + share * gains)
    value = float(losses.mean()) + rate * left

    labels = np.where(share == 1, -people.y, people.y)
    rounding = 8 * EPS * max(1.0, abs(value))
    each = people.weights / people.n
    mover, mass, shortfall = _mover(
        loss, scores, labels, left * length, float(each.min()), max(tolerance, rounding)
    )
    # The feature changes that add most to a score, by a unit of distance.
    steepest = deployed / problem.feature_cost**2 / length if length > 0 else deployed
    distribution = _distribution(
        answers, people.y, each, share, mover, mass, left / mass if mass else 0.0, steepest
    )
    prices = distribution.distance + np.where(distribution.flipped, 2 * problem.label_cost, 0.0)
    attained = shortfall <= rounding
    return WorstCase(
        value=value,
        alpha=alpha,
        distribution=distribution,
        attained=attained,
        shortfall=0.0 if attained else shortfall,
        radius=radius,
        cost=float(distribution.weights @ prices),
        note=_note(problem, attained, shortfall, radius, alpha),
        moves=_moves(distribution),
    )


def _mover(
    loss: Loss, scores: Vector, labels: Vector, pushed: float, mass: float, tolerance: float
) -> tuple[int, float, float]:
    """Who moves, with which mass p, and the shortfall p h(t), t = pushed / p, with `pushed` the
    budget left times |theta|. Anybody may move with any of the masses tried: `mass`, the first, is
    the smallest weight; and nobody's label is turned in part where budget is left."""
    if pushed == 0:
        return 0, 0.0, 0.0
    phi = loss.phi(scores)
    for _ in range(MAX_HALVINGS):
        t = pushed / mass
        lost = loss.K * t - (loss.phi(scores - labels * t) - phi)
        mover = int(np.argmin(lost))
        shortfall = max(0.0, mass * float(lost[mover]))
        if shortfall <= tolerance:
            return mover, mass, shortfall
        mass /= 2
    raise ArithmeticError(
        f"the slope of {loss!r} does not come near its K = {loss.K}, so the worst case is smaller "
        "than the bound; give the loss its least Lipschitz constant"
    )


def _distribution(
    answers: Matrix,
    own: Vector,
    each: Vector,
    share: Vector,
    mover: int,
    mass: float,
    distance: float,
    steepest: Vector,
) -> Distribution:
    """Three kinds of atoms: labels kept, labels flipped, and the one that moves; by agent."""
    n = own.size
    everyone = np.arange(n, dtype=np.int64)
    kept, turned = (1 - share) * each, share * each
    mover_flipped = bool(share[mover] == 1)
    (turned if mover_flipped else kept)[mover] -= mass
    agent = np.concatenate([everyone, everyone, [mover]])
    flipped = np.concatenate([np.zeros(n, bool), np.ones(n, bool), [mover_flipped]])
    weights = np.concatenate([kept, turned, [mass]])
    labels = np.where(flipped, -own[agent], own[agent])
    apart = np.zeros(2 * n + 1)
    apart[-1] = distance
    features = answers[agent]
    if mass:
        features[-1] -= labels[-1] * distance * steepest
    rows = np.flatnonzero(weights > 0)
    rows = rows[np.argsort(agent[rows], kind="stable")]
    return Distribution(
        weights[rows], features[rows], labels[rows], agent[rows], apart[rows], flipped[rows]
    )


def _moves(distribution: Distribution) -> Moves:
    weights = distribution.weights * distribution.flipped
    mass = np.bincount(distribution.agent, weights).astype(np.float64)
    far = distribution.distance > 0
    flipped = np.flatnonzero(mass)
    return Moves(
        flipped,
        mass[flipped],
        distribution.agent[far],
        distribution.weights[far],
        distribution.distance[far],
    )


def _note(
    problem: StrategicProblem, attained: bool, shortfall: float, radius: float, alpha: float
) -> str:
    said = [
        "The distribution attains the worst case."
        if attained
        else "No distribution attains the worst case: it is approached by ever less mass ever "
        f"farther away, and this distribution falls short of it by {shortfall:.2g}."
    ]
    if problem.form == "printed":
        said.append(
            f"The printed form's radius {problem.radius:g} is a ball of radius {radius:.6g}."
        )
    if alpha > problem.alpha_max:
        said.append(
            f"alpha is {alpha:.6g}, above the problem's cap alpha_max = {problem.alpha_max:g}, so "
            "the problem's own objective is larger than this worst-case risk."
        )
    return " ".join(said)


def _agents(number: int) -> str:
    return f"{number} agent{'' if number == 1 else 's'}"

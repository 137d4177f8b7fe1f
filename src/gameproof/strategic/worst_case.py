"""The adversary's answer to a deployed theta: the worst-case risk, and a distribution behind it.

Write b_i for the answers, z_i for the scores, l(z, y) = phi(z) - s y z for the loss, delta for the
radius of the ball in the distance |cost (x - x')| + kappa |y - y'|, and c = (K + s) |theta / cost|.
Below, |theta| and |x - x'| stand for these two norms. The worst-case risk is

    min over alpha >= c of  alpha delta + (1/n) sum_i [l(z_i, y_i) + 2 (s y_i z_i - alpha kappa)_+]

with the (.)_+ only for agents whose label may flip: those with label +1, all, or none. Since
2 (s y z - alpha kappa)_+ = |s z - y alpha kappa| - alpha kappa + s y z, this is the problem's
robust value, minimised over alpha.

Upper bound. Every alpha bounds the risk on the ball: a unit of budget costs alpha, and an atom
gains at most the supremum of l(z', y') - alpha (|x' - b_i| + kappa |y' - y_i|). Given y', this is
convex in x' along each ray from b_i, and bounded if and only if alpha >= c; then x' = b_i is best.
The choice of y' is left: a flip turns l(z, y) into l(z, -y) = l(z, y) + 2 s y z and costs 2 kappa.
The bound is convex and piecewise linear in alpha, with slope
delta - (2 kappa/n) #{i : s y_i z_i > alpha kappa}. Its minimiser is c, or the breakpoint
s y z / kappa of the agent whose flip would exceed the budget: the agent of rank
floor(n delta / (2 kappa)) + 1. The cap alpha_max does not restrict the adversary and is left out.

Lower bound. The budget buys two things. First flips: they gain s y_i z_i / kappa per unit, and
flipping agent i completely costs 2 kappa / n. They are bought in the order of gain, as long as they
gain at least c per unit, the last one in part. Then distance: an atom of label y' that moves by D
against its label, to b - y' D theta / |theta|, gains

    phi(z - y' t) - phi(z) + s t = (K + s) t - h(t),   t = D |theta|,   h(t) >= 0 concave, h(0) = 0

where h' is the difference of K and the slope of phi. All budget R that is left goes to a mass p of
one atom, so t = R |theta| / p, and the gain is c R - p h(R |theta| / p). If phi has slope K at an
atom already (HuberHinge beyond its width), h = 0 and the worst case is attained. Otherwise p h(./p)
falls to 0 with p but is never 0. Less and less mass, farther and farther away, approaches the worst
case, and p is halved from 1/n until the shortfall is at most the tolerance.

Budget spent in this way gains what the upper bound charges for it, so both bounds are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Matrix, Vector, as_positive
from gameproof.strategic.adversary import EPS, as_intercept, as_theta, ball_radius, best_flips
from gameproof.strategic.losses.loss import Loss
from gameproof.strategic.population import Population
from gameproof.strategic.responses import KnownResponse, Sight
from gameproof.strategic.robust_problem import StrategicProblem
from gameproof.strategic.worst_case_distribution import (
    AdversaryMoves,
    Distribution,
    make_distribution,
)

MAX_HALVINGS = 200


@final
@dataclass(frozen=True, eq=False)
class WorstCase:
    """The worst-case risk of a theta, and the distribution behind it.

    `worst_case` returns it.

    Attributes
    ----------
    value : float
        The largest risk on the ball, exact up to rounding.
    alpha : float
        The increase of the value per unit of radius: the smallest minimiser of the upper bound.
    distribution : Distribution
        A distribution on the ball with a risk of `value` - `shortfall`.
    attained : bool
        Whether the shortfall is 0, up to rounding.
    shortfall : float
        How far the risk of the distribution is below `value`.
    radius : float
        The radius of the ball.
    cost : float
        The distance of the distribution from the answers; at most `radius`.
    note : str
        Whether the worst case is attained, in a sentence.
    moves : AdversaryMoves
        Which agents are changed.

    Examples
    --------
    >>> import gameproof as gp
    >>> people = gp.Population([[3.0], [0.5], [2.0], [-1.0]], [1, 1, -1, -1])
    >>> problem = gp.StrategicProblem(people, radius=0.3, label_cost=0.5, loss=gp.HuberHinge())
    >>> gp.worst_case(problem, [0.8]).attained
    True
    """

    value: float
    alpha: float
    distribution: Distribution
    attained: bool
    shortfall: float
    radius: float
    cost: float
    note: str
    moves: AdversaryMoves = field(repr=False)


def worst_case(
    problem: StrategicProblem,
    theta: ArrayLike,
    intercept: float | None = None,
    *,
    tolerance: float = 1e-6,
) -> WorstCase:
    """The worst-case risk of a deployed theta, with a distribution that attains or approaches it.

    Nobody is asked, so the response function must be available; `estimate_risk` asks people
    instead. The cap alpha_max is left out: if `alpha` exceeds it, the problem's own objective is
    larger than the worst-case risk. For the printed form, whose radius delta corresponds to
    delta - kappa n-/n in the exact form, the ball has that smaller radius.

    Parameters
    ----------
    problem : StrategicProblem
        The agents, the loss and the adversary.
    theta : array-like of shape (d,)
        The coefficients; they need not lie within the problem's bounds.
    intercept : float, optional
        The intercept; required if the problem has one.
    tolerance : float, default=1e-6
        The largest shortfall of the distribution if none attains the worst case.

    Returns
    -------
    WorstCase
        The risk, the distribution and a summary.

    Raises
    ------
    TypeError
        If the population shows only answers or scores.
    ValueError
        If `theta`, `intercept` or `tolerance` is invalid, or the radius is infinite.
    AnswerError
        If a response of your own returns invalid answers.

    Examples
    --------
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
    _require_response(problem.population)
    deployed = as_theta(problem, theta)
    offset = as_intercept(problem, intercept)
    tolerance = as_positive("tolerance", tolerance)
    people, loss, radius = problem.population, problem.loss, ball_radius(problem)
    answers = _unasked_answers(people, deployed)
    scores = answers @ deployed + offset

    length = problem.dual_length(deployed)
    rate = problem.least_alpha(deployed)
    pull = loss.s * people.y * scores  # half of what a flip gains
    share, left, alpha = best_flips(problem, pull, rate, radius)
    losses = people.weights * (loss.value(scores, people.y) + share * (2 * pull))
    value = float(losses.mean()) + rate * left

    labels = np.where(share == 1, -people.y, people.y)
    rounding = 8 * EPS * max(1.0, abs(value))
    weights = people.weights / people.n
    mover, mass, shortfall = _choose_mover(
        loss, scores, labels, left * length, float(weights.min()), max(tolerance, rounding)
    )
    distance = left / mass if mass else 0.0
    # The change in features that raises a score most, per unit of distance.
    steepest = deployed / problem.feature_cost**2 / length if length > 0 else deployed
    distribution = make_distribution(
        answers, people.y, weights, share, mover, mass, distance * steepest, distance
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
        moves=AdversaryMoves.of(distribution),
    )


def _require_response(people: Population) -> None:
    """Raises if only asking gives answers."""
    if people.sight < Sight.RESPONSE:
        raise TypeError(
            "worst_case needs the response function, and this population shows "
            f"{people.sight.name.lower()} only; estimate_risk asks for fresh answers"
        )


def _unasked_answers(people: Population, theta: Vector) -> Matrix:
    """The answers of all agents, from the response function, without counting them as asked."""
    if not isinstance(people.response, KnownResponse):
        # A copy of the population validates the answers, and counts them for itself.
        copy = Population(people.X, people.y, people.response, one_label=True)
        return copy.ask(theta, np.arange(people.n))
    answers: Matrix = people.X.copy()
    movers = people.movers
    answers[movers] = people.response.answers(theta, people.X[movers], movers)
    return answers


def _choose_mover(
    loss: Loss, scores: Vector, labels: Vector, pushed: float, mass: float, tolerance: float
) -> tuple[int, float, float]:
    """The agent that moves, its mass p, and the shortfall p h(t) with t = pushed / p.

    `pushed` is the budget left times |theta|. The first `mass` tried is the smallest weight, so any
    agent can move with any mass tried; and if budget is left, no label is flipped in part."""
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
        f"the slope of {loss!r} stays away from its K = {loss.K}, so the worst case is smaller "
        "than the bound; give the loss its smallest Lipschitz constant"
    )


def _note(
    problem: StrategicProblem, attained: bool, shortfall: float, radius: float, alpha: float
) -> str:
    sentences = [
        "The distribution attains the worst case."
        if attained
        else "No distribution attains the worst case: distributions with less and less mass, "
        f"farther and farther away, approach it. This one falls short of it by {shortfall:.2g}."
    ]
    if problem.form == "printed":
        sentences.append(
            f"The printed form's radius {problem.radius:g} corresponds to a ball of radius "
            f"{radius:.6g}."
        )
    if alpha > problem.alpha_max:
        sentences.append(
            f"alpha is {alpha:.6g}, above the problem's cap alpha_max = {problem.alpha_max:g}, so "
            "the problem's own objective is larger than this worst-case risk."
        )
    return " ".join(sentences)

"""`LearnedResponse`: what a pilot study shows, as a response with intervals and a verdict."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.feature_mask import Mask, positions
from gameproof.strategic.learning.budget_fit import BudgetFit
from gameproof.strategic.learning.choose_family import choose_family, fit_same_family
from gameproof.strategic.learning.diagnosis import judge
from gameproof.strategic.learning.pilot import Pilot
from gameproof.strategic.learning.power_fit import PowerFit
from gameproof.strategic.learning.response_fit import Intervals, ResponseFit
from gameproof.strategic.learning.response_intervals import (
    ball_intervals,
    budget_intervals,
    intervals_if_nobody_moves,
    power_intervals,
)
from gameproof.strategic.population import Population
from gameproof.strategic.power_costs import NoResponse
from gameproof.strategic.responses import KnownResponse


@dataclass(frozen=True, eq=False)
class LearnedResponse:
    """A response learned from answers, with intervals and a verdict on the fit.

    `learn_response` returns it.

    Attributes
    ----------
    response : KnownResponse
        A `PowerCost`; or, if moves do not grow with theta, a `BallBudget`, a `BoxBudget` or a
        `PriceBudget`.
    power : float
        The power of a cost, the radius of a ball, or the budget if the smallest price is 1. For a
        box it is 1, since the response holds the bounds. If it differs by agent and not all agents
        were asked, it is the mean over those asked, and the response uses that mean.
    degree : float
        The degree of the cost; infinite for a budget.
    norm : float
        The norm in which moves are measured.
    features : list of int
        The features that move.
    intervals : dict
        Pairs (low, high), each valid at the requested level: "power" and "degree" always; "norm",
        and "radius" for a ball; "lower" and "upper" for a box, as pairs of vectors that are
        unbounded for signs that the pilot never deployed; "budget" and "prices" for prices.
        "features" is a pair of lists: the features that surely move, and those that may.
    by_agent : bool
        Whether powers differ by agent.
    agents, powers : ndarray
        The agents asked, and the power of each.
    fits : bool
        Whether the answers fit the response.
    sentence : str
        What was found, and what to do next.
    residual : float
        The root mean square prediction error at the last deployment, for a fit without that
        deployment, relative to the root mean square move.
    noise : float
        The standard deviation of the noise in one number answered.
    n_answers, n_deployments : int
        What the pilot study used.
    pilot : Pilot
        The questions and answers.
    errors : ndarray
        Answered less predicted moves, one row per answer.
    delay : int
        The number of deployments by which people answer late. The response is then the one that
        fits their answers to the older theta, although `fits` is false.

    Examples
    --------
    >>> from gameproof.strategic.learning.learn_response import learn_response
    >>> from gameproof.strategic.power_costs import QuadraticCost
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> learned = learn_response(Population(X, [1, -1] * 25, QuadraticCost(0.2)))
    >>> learned.fits, round(learned.power, 6), learned.features
    (True, 0.2, [0, 1, 2])
    """

    response: KnownResponse
    power: float
    degree: float
    norm: float
    features: list[int]
    intervals: Intervals
    by_agent: bool
    agents: Indices
    powers: Vector
    fits: bool
    sentence: str
    residual: float
    noise: float
    n_answers: int
    n_deployments: int
    pilot: Pilot = field(repr=False)
    errors: Matrix = field(repr=False)
    delay: int = 0

    def model(self, population: Population) -> Population:
        """The same agents with the learned response, which can be evaluated without asking them.

        Parameters
        ----------
        population : Population
            The population from which the response was learned.

        Returns
        -------
        Population
            A population with the same features, labels and weights.
        """
        return Population(population.X, population.y, self.response, weights=population.weights)


def response_from_pilot(
    pilot: Pilot, population: Population, given: Mask | None, level: float
) -> LearnedResponse:
    """What the answers show, on the given features or on those found."""
    movers = population.n_movers
    choice = choose_family(pilot, given)
    best = choice.best
    intervals: Intervals
    if not (best.movable.any() and best.strengths().any()):
        best = PowerFit(pilot, np.zeros(pilot.n_features, dtype=bool), False)
        intervals = intervals_if_nobody_moves(pilot, level)
    elif isinstance(best, BudgetFit):
        intervals = budget_intervals(best, movers, level)
    else:
        best, intervals = power_intervals(best, choice.power, movers, level, given is not None)
        if best.v == 0:
            intervals |= ball_intervals(best, choice, movers, level)
            intervals["radius"] = intervals["power"]
    strengths, seen, asked = best.strengths(), best.groups.agents, np.unique(pilot.agents)
    mean = float(strengths.mean())
    strength: float | Vector = mean
    if best.by_agent and seen.size == movers:
        strength = np.full(population.n, mean)
        strength[seen] = strengths
    verdict = judge(best, () if choice.holds else (choice.power, *choice.budgets))
    if verdict.delay:
        late = response_from_pilot(pilot.lagged(verdict.delay), population, given, level)
        return replace(
            late,
            fits=False,
            sentence=verdict.sentence,
            n_answers=int(pilot.agents.size),
            n_deployments=len(pilot.thetas),
            pilot=pilot,
            delay=verdict.delay,
        )
    return LearnedResponse(
        response=best.response(strength) if mean > 0 else NoResponse(),
        power=mean * best.scale,
        degree=best.degree,
        norm=best.norm,
        features=positions(best.movable),
        intervals=intervals,
        by_agent=best.by_agent,
        agents=asked,
        powers=best.scale * (strengths if best.by_agent else np.full(asked.size, mean)),
        fits=verdict.fits,
        sentence=verdict.sentence,
        residual=_held_out_error(best, given),
        noise=best.noise,
        n_answers=int(pilot.agents.size),
        n_deployments=len(pilot.thetas),
        pilot=pilot,
        errors=best.residuals(),
    )


def _held_out_error(best: ResponseFit, given: Mask | None) -> float:
    """The prediction error at the last deployment, for a fit without it, relative to the moves."""
    pilot = best.pilot
    last = pilot.deployment == len(pilot.thetas) - 1
    before = fit_same_family(best, pilot.select(~last), given)
    seen = before.groups.agents
    held_out = pilot.select(last & np.isin(pilot.agents, seen) if before.by_agent else last)
    strengths = before.strengths()
    own = strengths[np.searchsorted(seen, held_out.agents)] if before.by_agent else strengths[0]
    unit = replace(before, pilot=held_out).unit_moves()
    left = held_out.moves - np.reshape(own, (-1, 1)) * unit
    size = float((held_out.moves**2).sum())
    return float(np.sqrt((left**2).sum() / size)) if size > 0 else 0.0

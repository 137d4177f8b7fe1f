"""`LearnedResponse`: what a pilot study shows, as a response with intervals and a verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import t as t_distribution

from gameproof.core.arguments import Indices, Vector
from gameproof.strategic.learning.diagnosis import judge
from gameproof.strategic.learning.families import Choice, chosen, same_family
from gameproof.strategic.learning.linear_fit import LinearFit
from gameproof.strategic.learning.movable import sure_and_possible
from gameproof.strategic.learning.parameter_intervals import (
    inverse,
    mean_error,
    power_interval,
    profile,
    rounded,
)
from gameproof.strategic.learning.pilot import Pilot
from gameproof.strategic.learning.power_fit import PowerFit, fitted
from gameproof.strategic.learning.response_fit import Fit, Intervals, Mask, positions
from gameproof.strategic.population import Population
from gameproof.strategic.power_costs import NoResponse
from gameproof.strategic.responses import KnownResponse


@dataclass(frozen=True, eq=False)
class LearnedResponse:
    """A response learnt from answers, and whether it fits them: a `PowerCost`, or where moves do
    not grow with theta a `BallBudget`, a `BoxBudget` or a `PriceBudget` of infinite degree.

    `power` is the power, the radius of a ball, or the budget at prices in units of the smallest;
    for a box it is 1, as bounds are in the response. Where it differs by agent and not all agents
    were seen, it is the mean, and so is the response's.
    `intervals` hold at the level asked for, each by itself: "power" and "degree" of all; "norm"
    and, of a ball, "radius"; of a box "lower" and "upper", pairs of vectors, unbounded where the
    pilot never saw the sign; of prices "budget" and "prices". "features" is a pair of lists, those
    that surely move and those that may."""

    response: KnownResponse
    power: float
    degree: float
    norm: float
    features: list[int]
    intervals: Intervals
    by_agent: bool  # whether powers differ by agent
    agents: Indices  # those seen
    powers: Vector  # and the power of each
    fits: bool
    sentence: str
    residual: (
        float  # root mean square left unexplained at a deployment held back, relative to moves
    )
    noise: float  # standard deviation of one number answered
    n_answers: int
    n_deployments: int

    def model(self, population: Population) -> Population:
        """The same people, answering as learnt: nobody is asked."""
        return Population(population.X, population.y, self.response, weights=population.weights)


def learned_from(
    pilot: Pilot, population: Population, told: Mask | None, level: float
) -> LearnedResponse:
    """What the answers show, on the features told or found."""
    movers = int((population.y < 0).sum())
    choice = chosen(pilot, told)
    best = choice.best
    intervals: Intervals
    if not (best.movable.any() and best.powers().any()):
        best, intervals = _nobody(pilot, level)
    elif isinstance(best, LinearFit):
        intervals = _of_sizes(best, movers, level)
    else:
        best, intervals = _of_power(best, choice.power, movers, level, told is not None)
        if best.v == 0:
            intervals |= _of_ball(best, choice, movers, level) | {"radius": intervals["power"]}
    powers, seen, asked = best.powers(), best.people[0], np.unique(pilot.agents)
    mean = float(powers.mean())
    given: float | Vector = mean
    if best.by_agent and seen.size == movers:
        given = np.full(population.n, mean)
        given[seen] = powers
    verdict = judge(best, () if choice.holds else (choice.power, *choice.budgets))
    return LearnedResponse(
        response=best.response(given) if mean > 0 else NoResponse(),
        power=mean * best.scale,
        degree=best.degree,
        norm=best.norm,
        features=positions(best.movable),
        intervals=intervals,
        by_agent=best.by_agent,
        agents=asked,
        powers=best.scale * (powers if best.by_agent else np.full(asked.size, mean)),
        fits=verdict.fits,
        sentence=verdict.sentence,
        residual=_held_back(best, told),
        noise=best.noise,
        n_answers=int(pilot.agents.size),
        n_deployments=len(pilot.thetas),
    )


def _nobody(pilot: Pilot, level: float) -> tuple[PowerFit, Intervals]:
    """Power 0, and how large it could be for a quadratic cost on all features."""
    d = pilot.thetas.shape[1]
    everywhere = PowerFit(pilot, np.ones(d, dtype=bool), False)
    unit = everywhere.unit()
    error = np.sqrt(everywhere.variance / max(float((unit**2).sum()), 1e-300))
    quantile = float(t_distribution.ppf(level, everywhere.freedom))
    moved = bool(np.abs(pilot.moves).max() > pilot.floor)
    highest = float(everywhere.powers()[0] + quantile * error) if moved else 0.0
    return PowerFit(pilot, np.zeros(d, dtype=bool), False), {
        "power": (0.0, highest),
        "degree": (1.0, np.inf),
        "norm": (1.0, np.inf),
        "features": ([], list(range(d))),
    }


def _of_power(
    best: PowerFit, free: PowerFit, movers: int, level: float, told: bool
) -> tuple[PowerFit, Intervals]:
    """The fit with degree and norm made round where the answers allow, and the intervals."""
    ball = best.v == 0
    alone = int(best.movable.sum()) == 1  # then every norm is the same
    if alone:
        free, best = fitted(free, w=0.5), best.at(best.v, 0.5)
    about = free
    if ball:
        about = best if alone else fitted(best, v=0.0)
    v = profile(free, "v", level)
    w = (0.0, 1.0) if alone else profile(about, "w", level)
    power = power_interval(about, movers, level)
    surely = possibly = best.movable
    if not told:
        surely, possibly = sure_and_possible(about, level, w)
    found: Intervals = {
        "power": power,
        "degree": (inverse(v[1]), np.inf if ball else inverse(v[0])),
        "norm": (inverse(w[1]), inverse(w[0])),
        "features": (positions(surely), positions(possibly)),
    }
    return best if ball else rounded(free, v, w, level), found


def _of_ball(ball: PowerFit, choice: Choice, movers: int, level: float) -> Intervals:
    """Of the bounds of a box or of prices, where the ball is one: they may differ by a little."""
    names = {np.inf: ("lower", "upper"), 1.0: ("budget", "prices")}.get(ball.norm, ())
    if int(ball.movable.sum()) == 1:
        names = ()
    for fit in choice.budgets:
        if fit.norm == ball.norm:
            every = _of_sizes(fit, movers, level)
            return {name: every[name] for name in names}
    return {}


def _of_sizes(best: LinearFit, movers: int, level: float) -> Intervals:
    powers = best.powers()
    share = mean_error(powers[best.shown], movers, level) if best.by_agent else 0.0
    found = best.intervals(level, share)
    if "budget" in found:
        power = found["budget"]
    else:
        size = max(float((best.predicted() ** 2).sum()), 1e-300)
        quantile = float(t_distribution.ppf((1 + level) / 2, best.freedom))
        width = float(np.hypot(quantile * np.sqrt(best.variance / size), share))
        power = (max(1 - width, 0.0), 1 + width)
    return {"power": power, "degree": best.degrees(level)} | found


def _held_back(best: Fit, told: Mask | None) -> float:
    """What a fit without the last deployment leaves unexplained of its answers."""
    pilot = best.pilot
    last = pilot.which == len(pilot.thetas) - 1
    before = same_family(best, pilot.only(~last), told)
    seen, _ = before.people
    rows = last & np.isin(pilot.agents, seen) if before.by_agent else last
    after = pilot.only(rows)
    powers = before.powers()
    own = powers[np.searchsorted(seen, after.agents)] if before.by_agent else powers[0]
    unit = replace(before, pilot=after).unit()
    left = after.moves - np.reshape(own, (-1, 1)) * unit
    size = float((after.moves**2).sum())
    return float(np.sqrt((left**2).sum() / size)) if size > 0 else 0.0

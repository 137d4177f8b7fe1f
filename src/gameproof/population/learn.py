"""`learn_response`: how people answer, learnt from a few dozen answers.

A pilot study (`pilot`) is asked, a power cost fitted to it (`power_fit`, `movable`) and judged
(`fit_tests`, `breaks`). Where the answers fit, the problem can be solved as if the response were
known; where they do not, the sentence says what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import t as t_distribution

from gameproof.arguments import Indices, Vector, as_count, as_number, as_positive
from gameproof.errors import BudgetExceeded
from gameproof.population.breaks import judge
from gameproof.population.intervals import power_interval, profile, rounded
from gameproof.population.movable import best_fit, sure_and_possible
from gameproof.population.pilot import Pilot, run_pilot
from gameproof.population.population import Population
from gameproof.population.power_fit import Fit, Mask, fitted
from gameproof.population.responses import NoResponse, PowerCost, Sight

DEPLOYMENTS = 6
# Answers asked by default; where it takes more to learn, up to the second.
ANSWERS, MOST_ANSWERS = 60, 300


@dataclass(frozen=True, eq=False)
class LearnedResponse:
    """A power cost learnt from answers, and whether it fits them.

    Where powers differ and not all agents were seen, `power` and the response have their mean.
    `intervals` hold at the level asked for, each by itself; that of "features" is a pair of lists,
    those that surely move and those that may."""

    response: PowerCost
    power: float
    degree: float
    norm: float
    features: list[int]
    intervals: dict[str, tuple[Any, Any]]
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


def learn_response(
    population: Population,
    *,
    answers: int | None = None,
    deployments: int | None = None,
    size: float = 2.0,
    features: Sequence[int] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> LearnedResponse:
    """The power, degree, norm and movable features of people's cost, with intervals and a verdict.

    At most `answers` are asked, at `deployments` distinct theta, the largest of which spreads
    scores by about `size`. By default they are 60 at 6; where only scores are seen, at d + 3, of
    2 answers at least, if that is 300 or less: with too few, all features are taken to move.
    `features`, where they are known, are the movable ones. The verdict's false-alarm rate is 1%,
    and intervals hold at `level`, where noise has mean zero and the same size in every answer.

    >>> rng = np.random.default_rng(0)
    >>> people = Population(rng.standard_normal((50, 3)), [1, -1] * 25, PowerCost(0.2, degree=3.0))
    >>> learnt = learn_response(people, answers=24, deployments=4)
    >>> learnt.fits, learnt.degree, learnt.norm, learnt.features, round(learnt.power, 6)
    (True, 3.0, 2.0, [0, 1, 2], 0.2)
    """
    population.require_both_labels()
    if answers is None:
        enough = enough_answers(population, features)
        answers = enough if enough <= MOST_ANSWERS else ANSWERS
    number, times, alone = _plan(population, answers, deployments, features)
    as_positive("size", size)
    if not 0 < as_number("level", level) < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    if features is not None:
        PowerCost(1.0, features=features).fit(population.n, population.d)
    pilot = run_pilot(population, number, times, size, alone, as_count("seed", seed, least=0))
    movers = int((population.y < 0).sum())
    told = None
    assumed = pilot.scores and not alone and features is None
    if features is not None or assumed:
        told = PowerCost(1.0, features=features).movable(population.d)
    learnt = _learnt(pilot, population, told, movers, level)
    if assumed and not learnt.fits:  # which may be all that is wrong
        return replace(learnt, sentence=_too_few(pilot))
    return learnt


def deployments_one_by_one(d: int) -> int:
    """As many as it takes to find the features that move by scores: each alone, then three."""
    return d + 3


def enough_answers(population: Population, features: Sequence[int] | None = None) -> int:
    """As many as it takes to learn from; by scores, features that move are found one by one."""
    alone = population.sight < Sight.ANSWERS and features is None
    return max(ANSWERS, 2 * deployments_one_by_one(population.d)) if alone else ANSWERS


def _too_few(pilot: Pilot) -> str:
    d = pilot.thetas.shape[1]
    wanted = deployments_one_by_one(d)
    return (
        f"The answers do not fit a power cost on all {d} features, and {pilot.agents.size} scores "
        f"at {len(pilot.thetas)} deployments are too few to find those that move: that takes "
        f"{2 * wanted} at {wanted}, or features that are known."
    )


def _plan(
    population: Population, answers: int, deployments: int | None, features: Sequence[int] | None
) -> tuple[int, int, bool]:
    """Agents a deployment, deployments, and whether features are deployed alone first."""
    as_count("answers", answers)
    singles = population.sight < Sight.ANSWERS and features is None
    wanted = deployments_one_by_one(population.d)
    if deployments is None:
        times = wanted if singles and 2 * wanted <= answers else DEPLOYMENTS
    else:
        times = as_count("deployments", deployments, least=3)
    if answers < 2 * times:
        raise ValueError(
            f"answers must be at least 2 a deployment, {2 * times} in all, got {answers}"
        )
    each = min(answers // times, int((population.y < 0).sum()))
    left = population.remaining
    if left is not None and each * times > left:
        least = 2 * times
        way_out = (
            f"Give answers={left} or less." if left >= least else f"It takes {least} at least."
        )
        raise BudgetExceeded(
            f"learning needs {each * times} answers and the budget of {population.budget} has "
            f"{left} left; nobody was asked. {way_out}"
        )
    return each, times, singles and times >= wanted


def _learnt(
    pilot: Pilot, population: Population, told: Mask | None, movers: int, level: float
) -> LearnedResponse:
    best = best_fit(pilot, told)
    intervals: dict[str, tuple[Any, Any]]
    if best.movable.any() and best.powers().any():
        best, intervals = _with_intervals(best, movers, level, told is not None)
    else:
        best, intervals = _nobody(pilot, level)
    powers, seen, asked = best.powers(), best.people[0], np.unique(pilot.agents)
    power = float(powers.mean())
    degree, norm = _inverse(best.v), _inverse(best.w)
    chosen = _positions(best.movable)
    given: Any = power
    if best.by_agent and seen.size == movers:
        given = np.full(population.n, power)
        given[seen] = powers
    verdict = judge(best)
    return LearnedResponse(
        response=PowerCost(given, degree, norm, chosen) if power > 0 else NoResponse(),
        power=power,
        degree=degree,
        norm=norm,
        features=chosen,
        intervals=intervals,
        by_agent=best.by_agent,
        agents=asked,
        powers=powers if best.by_agent else np.full(asked.size, power),
        fits=verdict.fits,
        sentence=verdict.sentence,
        residual=_held_back(pilot, told),
        noise=best.noise,
        n_answers=int(pilot.agents.size),
        n_deployments=len(pilot.thetas),
    )


def _nobody(pilot: Pilot, level: float) -> tuple[Fit, dict[str, tuple[Any, Any]]]:
    """Power 0, and how large it could be for a quadratic cost on all features."""
    d = pilot.thetas.shape[1]
    everywhere = Fit(pilot, np.ones(d, dtype=bool), False)
    unit = everywhere.unit()
    error = np.sqrt(everywhere.variance / max(float((unit**2).sum()), 1e-300))
    quantile = float(t_distribution.ppf(level, everywhere.freedom))
    moved = bool(np.abs(pilot.moves).max() > pilot.floor)
    highest = float(everywhere.powers()[0] + quantile * error) if moved else 0.0
    return Fit(pilot, np.zeros(d, dtype=bool), False), {
        "power": (0.0, highest),
        "degree": (1.0, np.inf),
        "norm": (1.0, np.inf),
        "features": ([], list(range(d))),
    }


def _with_intervals(
    best: Fit, movers: int, level: float, told: bool
) -> tuple[Fit, dict[str, tuple[Any, Any]]]:
    """The fit with degree and norm made round where the answers allow, and the intervals."""
    alone = int(best.movable.sum()) == 1  # then every norm is the same
    if alone:
        best = fitted(best, w=0.5)
    v = profile(best, "v", level)
    w = (0.0, 1.0) if alone else profile(best, "w", level)
    power = power_interval(best, movers, level)
    surely = possibly = best.movable
    if not told:
        surely, possibly = sure_and_possible(best, level, w)
    nice = rounded(best, v, w, level)
    return nice, {
        "power": power,
        "degree": (1 / v[1], 1 / v[0]),
        "norm": (_inverse(w[1]), _inverse(w[0])),
        "features": (_positions(surely), _positions(possibly)),
    }


def _positions(mask: Mask) -> list[int]:
    return [int(c) for c in np.flatnonzero(mask)]


def _inverse(number: float) -> float:
    return 1 / float(number) if number > 0 else float(np.inf)


def _held_back(pilot: Pilot, told: Mask | None) -> float:
    """What a fit without the last deployment leaves unexplained of its answers."""
    last = pilot.which == len(pilot.thetas) - 1
    before = best_fit(pilot.only(~last), told)
    seen, _ = before.people
    rows = last & np.isin(pilot.agents, seen) if before.by_agent else last
    after = pilot.only(rows)
    powers = before.powers()
    own = powers[np.searchsorted(seen, after.agents)] if before.by_agent else powers[0]
    unit = replace(before, pilot=after).unit()
    left = after.moves - np.reshape(own, (-1, 1)) * unit
    size = float((after.moves**2).sum())
    return float(np.sqrt((left**2).sum() / size)) if size > 0 else 0.0

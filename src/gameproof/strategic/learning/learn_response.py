"""`learn_response`: how people answer, learnt from a few dozen answers.

A pilot study (`pilot`) is asked. Power costs and balls (`power_fit`, `movable`), boxes (`box_fit`)
and prices (`price_fit`) are fitted to it, one is chosen (`families`) and judged (`fit_tests`,
`breaks`). Where the answers fit, the problem can be solved as if the response were known; where
they do not, the sentence says what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gameproof.core.arguments import as_count, as_number, as_positive
from gameproof.core.errors import BudgetExceeded
from gameproof.strategic.learning.fit_tests import nobody_moves
from gameproof.strategic.learning.learned_response import LearnedResponse, learned_from
from gameproof.strategic.learning.movable import ALPHA
from gameproof.strategic.learning.pilot import Pilot, run_pilot
from gameproof.strategic.learning.pilot_design import Plan, doubles
from gameproof.strategic.population import Population
from gameproof.strategic.power_costs import PowerCost
from gameproof.strategic.responses import Sight

DEPLOYMENTS = 6
# Answers asked by default; where it takes more to learn, up to the second.
ANSWERS, MOST_ANSWERS = 60, 300
# Scores an agent, below which people who differ are not told apart for sure.
EACH_AGENT = 4


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
    """How people answer: a power cost, or where moves do not grow with theta a budget, a ball, a
    box or prices; with intervals and a verdict.

    At most `answers` are asked, at `deployments` distinct theta, the largest of which spreads
    scores by about `size`. By default they are 60 at 6; where only scores are seen, at d + 3, of
    2 answers at least, if that is 300 or less: with too few, all features are taken to move. Where
    one feature moves at a time, and by scores where a budget has to be seen from both sides, there
    are more deployments, of 2 answers at least: up to d + 5, and 2 d + 3.
    `features`, where they are known, are the movable ones. The verdict's false-alarm rate is 1%,
    and intervals hold at `level`, where noise has mean zero and the same size in every answer.

    >>> from gameproof.strategic.responses import BlackBox
    >>> rng = np.random.default_rng(0)
    >>> people = Population(rng.standard_normal((50, 3)), [1, -1] * 25, PowerCost(0.2, degree=3.0))
    >>> learnt = learn_response(people, answers=24, deployments=4)
    >>> learnt.fits, learnt.degree, learnt.norm, learnt.features, round(learnt.power, 6)
    (True, 3.0, 2.0, [0, 1, 2], 0.2)
    >>> up_only = lambda theta, agents: people.X[agents] + [2, 0, 0] * (theta > 0)
    >>> learn_response(Population(people.X, people.y, BlackBox(up_only))).response
    BoxBudget(lower=array([0., 0., 0.]), upper=array([2., 0., 0.]), claims=())
    """
    most = answers
    if answers is None:
        enough = enough_answers(population, features)
        answers, most = enough if enough <= MOST_ANSWERS else ANSWERS, MOST_ANSWERS
    return learn_within(population, answers, most, deployments, size, features, level, seed)


def learn_within(
    population: Population,
    answers: int,
    most: int | None = None,
    deployments: int | None = None,
    size: float = 2.0,
    features: Sequence[int] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> LearnedResponse:
    """As `learn_response`, with `answers` unless features have to be told apart, which may take
    more, up to `most`."""
    population.require_both_labels()
    plan = _plan(population, answers, most, deployments, features)
    as_positive("size", size)
    if not 0 < as_number("level", level) < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    pilot = run_pilot(population, plan, size, as_count("seed", seed, least=0))
    told = None
    assumed = pilot.scores and features is None and not pilot.alone(0).any()
    if features is not None or assumed:
        told = PowerCost(1.0, features=features).movable(population.d)
    learnt = learned_from(pilot, population, told, level)
    if assumed and not learnt.fits:  # which may be all that is wrong
        return replace(learnt, sentence=_too_few(pilot))
    if _one_sided(pilot, learnt):
        wanted = 2 * (2 * plan.features.size + 3)
        more = f"By scores, features that move up and down by different amounts take {wanted}."
        return replace(learnt, sentence=f"{learnt.sentence} {more}")
    if pilot.scores and learnt.power == 0 and nobody_moves(pilot) < ALPHA:
        sentence = (
            f"Some scores rise, and {learnt.n_answers} are too few to find the features behind it: "
            f"ask for {2 * learnt.n_answers} or more, or give features that are known."
        )
        return replace(learnt, fits=False, sentence=sentence)
    if pilot.scores and learnt.by_agent and learnt.n_answers < EACH_AGENT * learnt.agents.size:
        return replace(learnt, sentence=f"{learnt.sentence} {_few_an_agent(learnt)}")
    return learnt


def _few_an_agent(learnt: LearnedResponse) -> str:
    return (
        f"People differ, and {learnt.n_answers} scores of {learnt.agents.size} of them leave open "
        f"which features move and how: ask for {EACH_AGENT * learnt.agents.size} or more."
    )


def _one_sided(pilot: Pilot, learnt: LearnedResponse) -> bool:
    """Whether scores may be those of a box, and features were not deployed alone with both signs:
    bounds that differ cannot be told apart then."""
    if not pilot.scores or learnt.fits:
        return False
    first, second = (pilot.which == k for k in (0, 1))
    replies = [(pilot.agents[rows], pilot.moves[rows]) for rows in (first, second)]
    single = (pilot.thetas != 0).sum(axis=1) == 1
    return doubles(*replies) and not (pilot.thetas[single] < 0).any()


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
        f"The answers fit no power cost or budget on all {d} features, and {pilot.agents.size} "
        f"scores at {len(pilot.thetas)} deployments are too few to find those that move: that "
        f"takes {2 * wanted} at {wanted}, or features that are known."
    )


def _plan(
    population: Population,
    answers: int,
    most: int | None,
    deployments: int | None,
    features: Sequence[int] | None,
) -> Plan:
    as_count("answers", answers)
    if features is not None:
        PowerCost(1.0, features=features).fit(population.n, population.d)
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
    limit = np.inf if left is None else left
    able = np.arange(population.d) if features is None else np.array(sorted(features), dtype=int)
    return Plan(
        each=each,
        deployments=times,
        answers=int(min(answers, limit)),
        most=int(min(max(answers, most or 0), limit)),
        fixed=deployments is not None,
        alone=singles and times >= wanted,
        features=able,
    )

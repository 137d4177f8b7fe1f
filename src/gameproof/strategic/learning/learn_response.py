"""`learn_response`: learns how people answer from a few dozen answers.

A pilot study is run (`run_pilot`). Power costs and balls (`power_fit`, `find_movable`), boxes
(`box_fit`) and prices (`price_fit`) are fitted to its answers. One family is chosen
(`choose_family`) and judged (`diagnosis`). If the answers fit, the problem can be solved as if the
response were known. If not, the sentence says what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gameproof.core.arguments import Vector, as_count, as_number, as_positive
from gameproof.strategic.feature_mask import feature_mask
from gameproof.strategic.inquiry import Inquiry, Replies, ask_now
from gameproof.strategic.learning.find_movable import ALPHA
from gameproof.strategic.learning.fit_tests import p_nobody_moves
from gameproof.strategic.learning.learned_response import LearnedResponse, response_from_pilot
from gameproof.strategic.learning.pilot import Pilot
from gameproof.strategic.learning.pilot_design import may_double
from gameproof.strategic.learning.pilot_plan import (
    ANSWERS,
    MOST_ANSWERS,
    deployments_one_by_one,
    enough_answers,
    make_plan,
)
from gameproof.strategic.learning.run_pilot import run_pilot
from gameproof.strategic.population import Population

# With fewer scores per agent than this, agents who differ may not be told apart.
SCORES_PER_AGENT = 4
LEVEL = 0.95  # the level of intervals


def learn_response(
    population: Population,
    *,
    answers: int | None = None,
    deployments: int | None = None,
    size: float = 2.0,
    features: Sequence[int] | None = None,
    level: float = LEVEL,
    seed: int = 0,
) -> LearnedResponse:
    """Learns how people answer, from a pilot study of a few dozen answers.

    The response is a power cost; or, if moves do not grow with theta, a ball, a box or prices.

    Parameters
    ----------
    population : Population
        The people to ask. Answers count toward its budget.
    answers : int, optional
        The most answers to ask for, at least 2 per deployment. By default 60, or as many as it
        takes up to 300: if only scores are seen, each feature is deployed alone, and with both
        signs if the response may be a budget. With too few scores, all features are assumed to
        move.
    deployments : int, optional
        The number of distinct theta, at least 3. By default 6; d + 3 if only scores are seen; and
        more if one feature moves at a time (up to d + 5), or if budgets are learned from scores (up
        to 2 d + 3).
    size : float, default=2.0
        The standard deviation of scores at the largest theta deployed.
    features : sequence of int, optional
        The movable features, if they are known. By default they are found.
    level : float, default=0.95
        The level of the intervals. They hold if noise has mean zero and the same size in every
        answer.
    seed : int, default=0
        The seed of the random choices: whom to ask, and which theta to deploy.

    Returns
    -------
    LearnedResponse
        The response, its intervals, and a verdict with a false-alarm rate of 1 %.

    Raises
    ------
    ValueError
        If an argument is out of range, or all labels are the same.
    TypeError
        If an argument has the wrong type.
    BudgetExceeded
        If the population's budget does not allow the answers; nobody is asked.

    Examples
    --------
    >>> import numpy as np
    >>> from gameproof.strategic.power_costs import PowerCost
    >>> from gameproof.strategic.responses import BlackBox
    >>> rng = np.random.default_rng(0)
    >>> people = Population(rng.standard_normal((50, 3)), [1, -1] * 25, PowerCost(0.2, degree=3.0))
    >>> learned = learn_response(people, answers=24, deployments=4)
    >>> learned.fits, learned.degree, learned.norm, learned.features, round(learned.power, 6)
    (True, 3.0, 2.0, [0, 1, 2], 0.2)
    >>> up_only = lambda theta, agents: people.X[agents] + [2, 0, 0] * (theta > 0)
    >>> learn_response(Population(people.X, people.y, BlackBox(up_only))).response
    BoxBudget(lower=array([0., 0., 0.]), upper=array([2., 0., 0.]), claims=())
    """
    most = answers
    if answers is None:
        enough = enough_answers(population, features)
        answers, most = enough if enough <= MOST_ANSWERS else ANSWERS, MOST_ANSWERS
    inquiry = learn_within(population, answers, most, deployments, size, features, level, seed)
    return ask_now(inquiry, population)


def learn_within(
    population: Population,
    answers: int,
    most: int | None = None,
    deployments: int | None = None,
    size: float = 2.0,
    features: Sequence[int] | None = None,
    level: float = LEVEL,
    seed: int = 0,
) -> Inquiry[LearnedResponse]:
    """`learn_response` as an inquiry, with `answers`, or up to `most` if features have to be told
    apart."""
    population.require_both_labels()
    plan = make_plan(population, answers, most, deployments, features)
    as_positive("size", size)
    if not 0 < as_number("level", level) < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    pilot = yield from run_pilot(population, plan, size, as_count("seed", seed, least=0))
    all_assumed = pilot.scores_only and features is None and not pilot.alone(0).any()
    given = None
    if features is not None or all_assumed:
        given = feature_mask(features, population.d)
    learned = response_from_pilot(pilot, population, given, level)
    if all_assumed and not learned.fits:
        return replace(learned, sentence=_too_few_to_find_features(pilot))
    if _may_be_one_sided(pilot, learned):
        wanted = 2 * (2 * plan.features.size + 3)
        more = (
            f"Learning from scores how far features move up and how far they move down takes "
            f"{wanted} answers."
        )
        return replace(learned, sentence=f"{learned.sentence} {more}")
    if pilot.scores_only and learned.power == 0 and p_nobody_moves(pilot) < ALPHA:
        sentence = (
            f"Some scores rise, but {learned.n_answers} answers are too few to find the features "
            f"that cause it: ask for {2 * learned.n_answers} or more, or give features if you know "
            "them."
        )
        return replace(learned, fits=False, sentence=sentence)
    few_scores = learned.n_answers < SCORES_PER_AGENT * learned.agents.size
    if pilot.scores_only and learned.by_agent and few_scores:
        return replace(learned, sentence=f"{learned.sentence} {_too_few_per_agent(learned)}")
    return learned


def learn_from_more(
    learned: LearnedResponse, population: Population, theta: Vector, replies: Replies
) -> LearnedResponse:
    """What is learned with the answers to one more deployment, if features are seen."""
    own = population.X[replies.agents]
    moves = replies.answers - own
    pilot = learned.pilot.with_answers(theta, replies.agents, own, moves)
    return response_from_pilot(pilot, population, None, LEVEL)


def _too_few_per_agent(learned: LearnedResponse) -> str:
    agents = learned.agents.size
    return (
        f"People differ, and {learned.n_answers} scores from {agents} agents do not show for sure "
        f"which features move and how: ask for {SCORES_PER_AGENT * agents} or more."
    )


def _too_few_to_find_features(pilot: Pilot) -> str:
    d = pilot.n_features
    wanted = deployments_one_by_one(d)
    return (
        f"The answers fit no power cost or budget on all {d} features, and {pilot.agents.size} "
        f"scores at {len(pilot.thetas)} deployments are too few to find those that move: ask for "
        f"{2 * wanted} scores at {wanted} deployments, or give features if you know them."
    )


def _may_be_one_sided(pilot: Pilot, learned: LearnedResponse) -> bool:
    """Whether the scores may come from a box whose bounds cannot be told apart, because features
    were not deployed alone with both signs."""
    if not pilot.scores_only or learned.fits:
        return False
    first, second = (pilot.deployment == k for k in (0, 1))
    replies = [(pilot.agents[rows], pilot.moves[rows]) for rows in (first, second)]
    single = (pilot.thetas != 0).sum(axis=1) == 1
    return may_double(*replies) and not (pilot.thetas[single] < 0).any()

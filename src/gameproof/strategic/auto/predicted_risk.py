"""`predicted_risk`: the worst-case risk of a classifier by a learned response."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.strategic.auto.pilot_study import errors_of, others, relative_half_width
from gameproof.strategic.auto.simulation import people_of_model
from gameproof.strategic.inquiry import Replies
from gameproof.strategic.learning.learned_response import LearnedResponse
from gameproof.strategic.responses import KnownResponse
from gameproof.strategic.risk import RiskEstimate, risk_of_replies
from gameproof.strategic.robust_problem import StrategicProblem


def predicted_risk(
    problem: StrategicProblem, learned: LearnedResponse, theta: Vector, offset: float
) -> RiskEstimate | None:
    """The risk if people respond as learned, between that of people who are stronger and weaker by
    as much as the answers allow. None if the answers do not fit, or numbers overflow."""
    if not learned.fits:
        return None
    cases = [(learned.response, 1.0), *others(learned, relative_half_width(learned))]
    risks = [_risk(problem, learned, theta, offset, *case) for case in cases]
    values = [each.value for each in risks]
    if not np.isfinite(values).all():
        return None
    return replace(risks[0], low=min(values), high=max(values), n_queries=learned.n_answers)


def _risk(
    problem: StrategicProblem,
    learned: LearnedResponse,
    theta: Vector,
    offset: float,
    response: KnownResponse,
    factor: float,
) -> RiskEstimate:
    people, _ = people_of_model(problem, response, errors_of(learned), factor, seed=0)
    movers = people.movers
    replies = Replies(movers, people.scores(theta, movers))
    return risk_of_replies(problem.with_population(people), theta, offset, replies, 0.95)

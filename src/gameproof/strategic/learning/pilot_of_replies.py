"""A `Pilot` from the replies to any deployments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gameproof.core.arguments import Matrix, Vector
from gameproof.strategic.inquiry import Replies
from gameproof.strategic.learning.pilot import Pilot
from gameproof.strategic.population import Population
from gameproof.strategic.responses import Sight


def moves_of(population: Population, theta: Vector, replies: Replies) -> Matrix:
    """How far people moved, or by how much their scores rose."""
    own = population.X[replies.agents]
    if population.sight < Sight.ANSWERS:
        return (replies.scores(theta) - own @ theta)[:, None]
    return replies.answers - own


def pilot_of_replies(
    population: Population, thetas: Sequence[Vector], replies: Sequence[Replies]
) -> Pilot:
    """The replies to each theta, in order of deployment."""
    scores_only = population.sight < Sight.ANSWERS
    agents = np.concatenate([each.agents for each in replies])
    own = population.X[agents]
    moves = np.concatenate(
        [moves_of(population, *each) for each in zip(thetas, replies, strict=True)]
    )
    largest = np.abs(own).max() * (max(np.abs(t).sum() for t in thetas) if scores_only else 1.0)
    rounding = 64 * np.finfo(float).eps * max(float(largest), float(np.abs(moves).max()))
    deployment = np.repeat(np.arange(len(thetas)), [each.agents.size for each in replies])
    return Pilot(np.array(thetas), deployment, agents, own, moves, scores_only, rounding)

"""How many answers and deployments a pilot study may use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gameproof.core.arguments import Indices, as_count
from gameproof.core.errors import BudgetExceeded
from gameproof.strategic.feature_mask import feature_mask, require_columns, require_positions
from gameproof.strategic.population import Population
from gameproof.strategic.responses import Sight

DEPLOYMENTS = 6
# Answers asked by default, and the most that are asked by default where that is not enough.
ANSWERS, MOST_ANSWERS = 60, 300


class PilotPlan(NamedTuple):
    """What a pilot study may use."""

    each: int  # agents per deployment
    deployments: int
    answers: int  # in all, unless more deployments are needed than these pay for
    most: int  # answers in all, even then
    fixed: bool  # whether the number of deployments may not be exceeded
    alone: bool  # whether each feature is deployed alone, if only scores are seen
    features: Indices  # the features that may move


def make_plan(
    population: Population,
    answers: int,
    most: int | None,
    deployments: int | None,
    features: Sequence[int] | None,
) -> PilotPlan:
    """The plan for these arguments of `learn_response`; raises if they cannot be met."""
    as_count("answers", answers)
    if features is not None:
        require_positions(features)
        require_columns(features, population.d)
    alone = _needs_features_alone(population, features)
    wanted = deployments_one_by_one(population.d)
    if deployments is None:
        times = wanted if alone and 2 * wanted <= answers else DEPLOYMENTS
    else:
        times = as_count("deployments", deployments, least=3)
    if answers < 2 * times:
        raise ValueError(
            f"answers must be at least 2 per deployment, {2 * times} in all, got {answers}"
        )
    each = min(answers // times, population.n_movers)
    left = population.records.obtainable
    if left is not None and each * times > left:
        least = 2 * times
        way_out = (
            f"Give answers={left} or less." if left >= least else f"It takes at least {least}."
        )
        raise BudgetExceeded(
            f"learning needs {each * times} answers and the budget of {population.budget} has "
            f"{left} left; nobody was asked. {way_out}"
        )
    limit = np.inf if left is None else left
    return PilotPlan(
        each=each,
        deployments=times,
        answers=int(min(answers, limit)),
        most=int(min(max(answers, most or 0), limit)),
        fixed=deployments is not None,
        alone=alone and times >= wanted,
        features=np.flatnonzero(feature_mask(features, population.d)),
    )


def deployments_one_by_one(d: int) -> int:
    """The deployments it takes to find the movable features from scores: each feature alone, and
    three of all features."""
    return d + 3


def enough_answers(population: Population, features: Sequence[int] | None = None) -> int:
    """The answers it takes to learn a response. From scores, movable features are found one by
    one."""
    if not _needs_features_alone(population, features):
        return ANSWERS
    return max(ANSWERS, 2 * deployments_one_by_one(population.d))


def _needs_features_alone(population: Population, features: Sequence[int] | None) -> bool:
    """Whether movable features have to be found, from scores only."""
    return population.sight < Sight.ANSWERS and features is None

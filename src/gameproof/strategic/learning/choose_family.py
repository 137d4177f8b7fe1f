"""Which family of responses the answers show: a power cost, a ball, a box or prices.

Every family is fitted. Among the fits that the answers do not refute, the one with the smallest
Schwarz criterion is chosen (`fit_tests`). If several fits are exact, that is the simplest one; if
there is noise, a family with more parameters has to explain more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gameproof.strategic.feature_mask import Mask, feature_mask
from gameproof.strategic.learning.box_fit import BoxFit
from gameproof.strategic.learning.budget_fit import BudgetFit
from gameproof.strategic.learning.find_movable import ALPHA, fit_power_cost
from gameproof.strategic.learning.fit_tests import (
    is_exact,
    is_refuted,
    p_same_strength,
    schwarz_criterion,
)
from gameproof.strategic.learning.pilot import Pilot
from gameproof.strategic.learning.power_fit import PowerFit, fit_power
from gameproof.strategic.learning.price_fit import PriceFit
from gameproof.strategic.learning.response_fit import ResponseFit

NEAR_BALL = 0.3  # a cost with 1/degree above this cannot be a ball


class FamilyChoice(NamedTuple):
    """The chosen fit, and the fits it was chosen from."""

    best: PowerFit | BudgetFit
    holds: bool  # whether the answers do not refute it
    power: PowerFit  # the best power cost of any degree
    budgets: list[BudgetFit]  # the best box and the best prices


def choose_family(pilot: Pilot, given: Mask | None = None) -> FamilyChoice:
    """The best fit that is not refuted, or else the best; on the given features, or on those
    found."""
    power = fit_power_cost(pilot, given)
    if not power.movable.any() or (power.v > NEAR_BALL and is_exact(power)):
        return FamilyChoice(power, not is_refuted(power), power, [])
    fits = [_fit_budget(family, pilot, given) for family in (BoxFit, PriceFit)]
    budgets = [fit for fit in fits if fit is not None]
    candidates: list[PowerFit | BudgetFit] = [power, *_balls(power), *budgets]
    ordered = sorted(candidates, key=schwarz_criterion)
    holding = next((fit for fit in ordered if not is_refuted(fit)), None)
    return FamilyChoice(holding or ordered[0], holding is not None, power, budgets)


def fit_same_family(fit: ResponseFit, pilot: Pilot, given: Mask | None) -> ResponseFit:
    """The best fit of the same family to other answers."""
    if isinstance(fit, BudgetFit):
        found = _fit_budget(type(fit), pilot, given)
        return found or PowerFit(pilot, np.zeros_like(fit.movable), False)
    power = fit_power_cost(pilot, given)
    return fit_power(power, v=0.0) if fit.degree == np.inf else power


def _balls(power: PowerFit) -> list[PowerFit]:
    """Balls, and costs of degree 2, with round and with fitted norms; none if moves grow too
    clearly for a ball."""
    found: list[PowerFit] = []
    if power.v > NEAR_BALL:
        return found
    for v in (0.0, 0.5):
        found += [power.at(v, w) for w in (0.5, 0.0, 1.0)] + [fit_power(power, v=v)]
    return found


def _fit_budget(family: type[BudgetFit], pilot: Pilot, given: Mask | None) -> BudgetFit | None:
    """The best budget of a family, by agent if strengths differ."""
    allowed = feature_mask(None, pilot.n_features) if given is None else given
    common = family.fit(pilot, allowed, False)
    if common is None or not common.movable.any():
        return None
    by_agent = family.fit(pilot, allowed, True)
    if by_agent is not None and p_same_strength(common, by_agent) < ALPHA:
        return by_agent
    return common

"""Which kind of response answers show: a power cost, a ball, a box or prices.

Each is fitted. Of those that the answers do not refute, each at the false-alarm rate of the
verdict, the one with the smallest N log(mean square unexplained) + k log N is taken (Schwarz's
criterion), for N numbers answered and k numbers fitted, round ones not counted. So where several
give the answers exactly, the simplest is taken; where noise leaves it open, a family with more
numbers has to earn them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gameproof.strategic.learning.box_fit import BoxFit, fit_box
from gameproof.strategic.learning.fit_tests import (
    EACH,
    criterion,
    depends_on_start,
    is_exact,
    lack_of_fit,
    powers_differ,
)
from gameproof.strategic.learning.linear_fit import LinearFit
from gameproof.strategic.learning.movable import ALPHA, best_fit
from gameproof.strategic.learning.pilot import Pilot
from gameproof.strategic.learning.power_fit import PowerFit, fitted
from gameproof.strategic.learning.price_fit import fit_price
from gameproof.strategic.learning.response_fit import Fit, Mask

NEAR_BALL = 0.3  # 1/degree, above which a cost is not taken for a ball


class Choice(NamedTuple):
    """What was fitted, and what to go by."""

    best: PowerFit | LinearFit
    holds: bool  # whether the answers do not refute it
    power: PowerFit  # of any degree
    budgets: list[LinearFit]  # boxes and prices


def chosen(pilot: Pilot, told: Mask | None = None) -> Choice:
    """The fit to go by, on the features told or found: one that is not refuted, if there is."""
    power = best_fit(pilot, told)
    if not power.movable.any() or (power.v > NEAR_BALL and is_exact(power)):
        return Choice(power, not refuted(power), power, [])
    budgets = [_budget(fit, pilot, told) for fit in (fit_box, fit_price)]
    found = [fit for fit in budgets if fit is not None]
    everyone: list[PowerFit | LinearFit] = [power, *_balls(power), *found]
    ordered = sorted(everyone, key=criterion)
    holding = next((fit for fit in ordered if not refuted(fit)), None)
    return Choice(holding or ordered[0], holding is not None, power, found)


def same_family(fit: Fit, pilot: Pilot, told: Mask | None) -> Fit:
    """The best of the same kind for other answers."""
    if isinstance(fit, PowerFit):
        other = best_fit(pilot, told)
        return other if fit.v else fitted(other, v=0.0)
    found = _budget(fit_box if isinstance(fit, BoxFit) else fit_price, pilot, told)
    return found or PowerFit(pilot, np.zeros_like(fit.movable), False)


def refuted(fit: Fit) -> bool:
    """Whether a test finds structure in what the fit leaves unexplained."""
    if is_exact(fit):
        return False
    return min(lack_of_fit(fit), depends_on_start(fit), fit.growth()) < EACH


def _balls(power: PowerFit) -> list[PowerFit]:
    """Costs of infinite degree, or of degree 2, with a norm that is round or not; none where moves
    grow too clearly for a ball."""
    found: list[PowerFit] = []
    if power.v > NEAR_BALL:
        return found
    for v in (0.0, 0.5):
        found += [power.at(v, w) for w in (0.5, 0.0, 1.0)] + [fitted(power, v=v)]
    return found


def _budget(
    fit: Callable[[Pilot, Mask | None, bool], LinearFit | None], pilot: Pilot, told: Mask | None
) -> LinearFit | None:
    """By agent where strengths differ."""
    common = fit(pilot, told, False)
    if common is None or not common.movable.any():
        return None
    mine = fit(pilot, told, True)
    return mine if mine is not None and powers_differ(common, mine) < ALPHA else common

"""The intervals that `LearnedResponse` reports, for each family of responses."""

from __future__ import annotations

import numpy as np
from scipy.stats import t as t_distribution

from gameproof.strategic.feature_mask import positions
from gameproof.strategic.learning.budget_fit import BudgetFit
from gameproof.strategic.learning.choose_family import FamilyChoice
from gameproof.strategic.learning.find_movable import sure_and_possible
from gameproof.strategic.learning.parameter_intervals import (
    power_interval,
    profile_interval,
    reciprocal,
    relative_mean_error,
    with_round_parameters,
)
from gameproof.strategic.learning.pilot import Pilot
from gameproof.strategic.learning.power_fit import PowerFit, fit_power
from gameproof.strategic.learning.response_fit import Intervals


def intervals_if_nobody_moves(pilot: Pilot, level: float) -> Intervals:
    """Intervals around power 0. The largest power is that of a quadratic cost on all features."""
    d = pilot.n_features
    quadratic = PowerFit(pilot, np.ones(d, dtype=bool), False)
    size = max(float((quadratic.unit_moves() ** 2).sum()), 1e-300)
    error = np.sqrt(quadratic.variance / size)
    quantile = float(t_distribution.ppf(level, quadratic.freedom))
    moved = bool(np.abs(pilot.moves).max() > pilot.rounding)
    return {
        "power": (0.0, float(quadratic.strengths()[0] + quantile * error) if moved else 0.0),
        "degree": (1.0, np.inf),
        "norm": (1.0, np.inf),
        "features": ([], list(range(d))),
    }


def power_intervals(
    best: PowerFit, free: PowerFit, movers: int, level: float, given: bool
) -> tuple[PowerFit, Intervals]:
    """The fit with round parameters where the answers allow them, and its intervals.

    `best` is the chosen power cost or ball, `free` the best power cost of any degree, and `given`
    whether the user named the movable features."""
    ball = best.v == 0
    one_feature = int(best.movable.sum()) == 1  # then all norms are the same
    if one_feature:
        free, best = fit_power(free, w=0.5), best.at(best.v, 0.5)
    centre = free
    if ball:
        centre = best if one_feature else fit_power(best, v=0.0)
    v = profile_interval(free, "v", level)
    w = (0.0, 1.0) if one_feature else profile_interval(centre, "w", level)
    surely = possibly = best.movable
    if not given:
        surely, possibly = sure_and_possible(centre, level, w)
    found: Intervals = {
        "power": power_interval(centre, movers, level),
        "degree": (reciprocal(v[1]), np.inf if ball else reciprocal(v[0])),
        "norm": (reciprocal(w[1]), reciprocal(w[0])),
        "features": (positions(surely), positions(possibly)),
    }
    return best if ball else with_round_parameters(free, v, w, level), found


def ball_intervals(ball: PowerFit, choice: FamilyChoice, movers: int, level: float) -> Intervals:
    """If the ball is a box or a price, the intervals of the bounds or prices, which may differ
    slightly from one another."""
    names = {np.inf: ("lower", "upper"), 1.0: ("budget", "prices")}.get(ball.norm, ())
    if int(ball.movable.sum()) == 1:
        names = ()
    for fit in choice.budgets:
        if fit.norm == ball.norm:
            found = budget_intervals(fit, movers, level)
            return {name: found[name] for name in names}
    return {}


def budget_intervals(best: BudgetFit, movers: int, level: float) -> Intervals:
    """The intervals of a box or of prices."""
    error = 0.0
    if best.by_agent:
        error = relative_mean_error(best.strengths()[best.identified], movers, level)
    found = best.intervals(level, error)
    if "budget" in found:
        power = found["budget"]
    else:
        size = max(float((best.predicted() ** 2).sum()), 1e-300)
        fit_error = best.t_quantile(level) * np.sqrt(best.variance / size)
        width = float(np.hypot(fit_error, error))
        power = (max(1 - width, 0.0), 1 + width)
    return {"power": power, "degree": best.degree_interval(level)} | found

"""Which features move: the slope of each feature's moves on what a power cost predicts.

The slope of feature c compares its moves with those that the fit would predict if c could move: 1
if it moves as predicted, 0 if it does not move. A slope above 1/2 makes the feature movable, and
the interval of the slope says which features surely move and which may.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.stats import t as t_distribution

from gameproof.core.arguments import Vector
from gameproof.strategic.feature_mask import Mask
from gameproof.strategic.learning.fit_tests import p_nobody_moves, p_same_strength
from gameproof.strategic.learning.pilot import Pilot
from gameproof.strategic.learning.power_fit import PowerFit, fit_power, moves_of_unit_power

ALPHA = 0.01  # the rate at which noise alone makes agents move, or makes strengths differ
MAX_ROUNDS = 6


def fit_power_cost(pilot: Pilot, given: Mask | None = None) -> PowerFit:
    """The best power cost, on the given features or on those found; by agent if powers differ."""
    if p_nobody_moves(pilot) >= ALPHA:
        return PowerFit(pilot, np.zeros(pilot.n_features, dtype=bool), False)
    if given is not None:
        common = fit_power(PowerFit(pilot, given, False))
        by_agent = fit_power(replace(common, by_agent=True))
    else:
        common = _fit_and_find(pilot, False)
        if not common.movable.any():
            return common
        by_agent = _fit_and_find(pilot, True, common.movable)
    return by_agent if p_same_strength(common, by_agent) < ALPHA else common


def _fit_and_find(pilot: Pilot, by_agent: bool, start: Mask | None = None) -> PowerFit:
    """Alternates between fitting the cost and finding the features that move."""
    movable = _first_guess(pilot) if start is None else start
    fit, tried = PowerFit(pilot, movable, by_agent), [movable]
    for _ in range(MAX_ROUNDS):
        if not movable.any():
            return fit
        fit = fit_power(replace(fit, movable=movable))
        slope, _error = feature_slopes(fit)
        movable = slope > 0.5
        if any(np.array_equal(movable, other) for other in tried):
            break
        tried.append(movable)
    if movable.any() and not np.array_equal(movable, fit.movable):
        other = fit_power(replace(fit, movable=movable))
        return min(fit, other, key=lambda each: float((each.residuals() ** 2).sum()))
    return fit


def _first_guess(pilot: Pilot) -> Mask:
    """Features whose moves have the sign of theta, by two standard errors."""
    if pilot.scores_only:
        rises = [pilot.moves[pilot.alone(c), 0] for c in range(pilot.n_features)]
        return np.array([_moves_with(rise, np.ones_like(rise), pilot.rounding) for rise in rises])
    signs = np.sign(pilot.thetas)[pilot.deployment]
    pairs = zip(pilot.moves.T, signs.T, strict=True)
    return np.array([_moves_with(moves, sign, pilot.rounding) for moves, sign in pairs])


def _moves_with(moves: Vector, signs: Vector, rounding: float) -> bool:
    if not moves.size:
        return False
    along = moves * signs
    error = along.std() / np.sqrt(along.size)
    return bool(along.mean() > max(2 * error, rounding)) or bool(
        # With norm 1, a feature moves rarely and without noise.
        np.mean(np.abs(moves) <= rounding) > 0.3 and along.max() > rounding
    )


def feature_slopes(fit: PowerFit) -> tuple[Vector, Vector]:
    """The slope of each feature and its standard error, infinite if nothing could be seen."""
    pilot, powers = fit.pilot, fit.strength_of_answers()
    d = fit.movable.size
    slope, error = np.zeros(d), np.full(d, np.inf)
    for c in range(d):
        movable = fit.movable | (np.arange(d) == c)
        unit = moves_of_unit_power(pilot.thetas, fit.v, fit.w, movable, pilot.scores_only)
        unit = unit[pilot.deployment]
        rows = pilot.alone(c) if pilot.scores_only else np.ones(powers.size, dtype=bool)
        column = 0 if pilot.scores_only else c
        expected, moves = powers[rows] * unit[rows, column], pilot.moves[rows, column]
        size = float(expected @ expected)
        if size <= pilot.rounding**2:
            continue
        slope[c] = expected @ moves / size
        left = moves - slope[c] * expected
        variance = max(float(left @ left) / max(left.size - 1, 1), pilot.rounding**2)
        error[c] = np.sqrt(variance / size)
    return slope, error


def sure_and_possible(
    fit: PowerFit, level: float, inverse_norms: tuple[float, ...]
) -> tuple[Mask, Mask]:
    """The features that surely move and those that may, at every one of these inverse norms."""
    d = fit.movable.size
    surely, possibly = fit.movable.copy(), fit.movable.copy()
    quantile = float(t_distribution.ppf(1 - (1 - level) / (2 * d), fit.freedom))
    for w in inverse_norms:
        slope, error = feature_slopes(fit.at(fit.v, w))
        with np.errstate(invalid="ignore"):
            surely &= slope - quantile * error > 0
            possibly |= slope + quantile * error >= 1
    return surely, possibly

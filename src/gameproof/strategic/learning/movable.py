"""Which features move: a slope for each, 1 where it moves as the fitted cost says, 0 where not.

The slope of feature c is that of its moves on what the model would have if c could move. It decides
at 1/2; the interval says which features are sure to move and which might.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.stats import t as t_distribution

from gameproof.core.arguments import Vector
from gameproof.strategic.learning.fit_tests import nobody_moves, powers_differ
from gameproof.strategic.learning.pilot import Pilot
from gameproof.strategic.learning.power_fit import PowerFit, fitted, shapes
from gameproof.strategic.learning.response_fit import Mask

ALPHA = 0.01  # the rate at which noise alone makes people move, or powers differ
ROUNDS = 6


def best_fit(pilot: Pilot, told: Mask | None = None) -> PowerFit:
    """The fit, on the features told or found; by agent where powers differ."""
    if nobody_moves(pilot) >= ALPHA:
        return PowerFit(pilot, np.zeros(pilot.thetas.shape[1], dtype=bool), False)
    if told is not None:
        common = fitted(PowerFit(pilot, told, False))
        mine = fitted(replace(common, by_agent=True))
    else:
        common = fit_with_features(pilot, False)
        if not common.movable.any():
            return common
        mine = fit_with_features(pilot, True, common.movable)
    return mine if powers_differ(common, mine) < ALPHA else common


def fit_with_features(pilot: Pilot, by_agent: bool, start: Mask | None = None) -> PowerFit:
    """The fit on the features that move, found by turns."""
    movable = _guess(pilot) if start is None else start
    fit, tried = PowerFit(pilot, movable, by_agent), [movable]
    for _ in range(ROUNDS):
        if not movable.any():
            return fit
        fit = fitted(replace(fit, movable=movable))
        slope, _error = slopes(fit)
        movable = slope > 0.5
        if any(np.array_equal(movable, other) for other in tried):
            break
        tried.append(movable)
    if movable.any() and not np.array_equal(movable, fit.movable):
        return min(fit, fitted(replace(fit, movable=movable)), key=lambda each: _all_left(each))
    return fit


def _all_left(fit: PowerFit) -> float:
    return float((fit.residuals() ** 2).sum())


def _guess(pilot: Pilot) -> Mask:
    """Features whose moves go with theta, by two standard errors."""
    if pilot.scores:
        d = pilot.thetas.shape[1]
        rises = [pilot.moves[pilot.alone(c), 0] for c in range(d)]
        return np.array([_clear(rise, np.ones_like(rise), pilot.floor) for rise in rises])
    signs = np.sign(pilot.thetas)[pilot.which]
    pairs = zip(pilot.moves.T, signs.T, strict=True)
    return np.array([_clear(moves, sign, pilot.floor) for moves, sign in pairs])


def _clear(moves: Vector, signs: Vector, floor: float) -> bool:
    if not moves.size:
        return False
    with_theta = moves * signs
    error = with_theta.std() / np.sqrt(with_theta.size)
    return bool(with_theta.mean() > max(2 * error, floor)) or bool(
        # One that moves rarely but exactly: features of norm 1.
        np.mean(np.abs(moves) <= floor) > 0.3 and with_theta.max() > floor
    )


def slopes(fit: PowerFit) -> tuple[Vector, Vector]:
    """The slope of each feature, and its standard error: infinite where nothing was to be seen."""
    pilot, own = fit.pilot, fit.powers()[fit.people[1]]
    d = fit.movable.size
    slope, error = np.zeros(d), np.full(d, np.inf)
    for c in range(d):
        able = fit.movable | (np.arange(d) == c)
        unit = shapes(pilot.thetas, fit.v, fit.w, able, pilot.scores)[pilot.which]
        rows = pilot.alone(c) if pilot.scores else np.ones(own.size, dtype=bool)
        at = 0 if pilot.scores else c
        expected, moves = own[rows] * unit[rows, at], pilot.moves[rows, at]
        size = float(expected @ expected)
        if size <= pilot.floor**2:
            continue
        slope[c] = expected @ moves / size
        left = moves - slope[c] * expected
        variance = max(float(left @ left) / max(left.size - 1, 1), pilot.floor**2)
        error[c] = np.sqrt(variance / size)
    return slope, error


def sure_and_possible(
    fit: PowerFit, level: float, inverse_norms: tuple[float, ...]
) -> tuple[Mask, Mask]:
    """Features that certainly move, and those that may, for each of these inverse norms."""
    d = fit.movable.size
    surely, possibly = fit.movable.copy(), fit.movable.copy()
    quantile = float(t_distribution.ppf(1 - (1 - level) / (2 * d), fit.freedom))
    for w in inverse_norms:
        slope, error = slopes(fit.at(fit.v, w))
        with np.errstate(invalid="ignore"):
            surely &= slope - quantile * error > 0
            possibly |= slope + quantile * error >= 1
    return surely, possibly

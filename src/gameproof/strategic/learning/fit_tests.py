"""Whether answers fit a response: tests of what the fit leaves unexplained.

Noise of mean zero is no refutation. Structure is: deployments whose answers are off on average,
moves that grow otherwise than the response says (`Fit.growth`), answers that depend on where people
start. Each test gives a p-value; the three share the false-alarm rate of the verdict.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.stats import binom, chi2
from scipy.stats import f as f_distribution
from scipy.stats import t as t_distribution

from gameproof.strategic.learning.pilot import Pilot
from gameproof.strategic.learning.power_fit import PowerFit
from gameproof.strategic.learning.response_fit import Fit

FALSE_ALARM = 0.01
EACH = FALSE_ALARM / 3  # of the tests
EXACT = 1e-7  # residuals below this, relative to the largest move, are none


def is_exact(fit: Fit) -> bool:
    """Whether the model gives every answer, but for floating-point rounding."""
    largest = float(np.abs(fit.pilot.moves).max())
    return float(np.abs(fit.residuals()).max()) <= max(EXACT * largest, fit.pilot.floor)


def criterion(fit: Fit) -> float:
    """Schwarz's, smaller is better: N log(mean square unexplained) + k log N for N numbers answered
    and k numbers fitted. Differences that are rounding do not count."""
    moves = fit.pilot.moves
    moved = np.abs(moves).max(axis=0) > fit.pilot.floor
    number = moves[:, moved].size
    least = (EXACT * float(np.abs(moves).max())) ** 2
    mean = max(float((fit.residuals() ** 2).sum()) / number, least)
    return float(number * np.log(mean) + fit.complexity * np.log(number))


def lack_of_fit(fit: Fit) -> float:
    """p-value of deployments off on average, against the variation among those asked the same.

    For each feature, F = (between deployments / D) / (within / nu); the sum of D F over features is
    compared with a scaled chi-square of its mean and variance."""
    if fit.by_agent:  # a power of one's own explains any single answer's length
        often = fit.pilot.of_those_asked_again()
        fit = replace(fit, pilot=often) if often.agents.size else fit
    pilot, left = fit.pilot, fit.residuals()
    powers = fit.powers()[fit.people[1]]
    weights = powers if powers.any() else np.ones_like(powers)
    moved = np.abs(pilot.moves).max(axis=0) > pilot.floor
    d, deployments = int(moved.sum()), len(pilot.thetas)
    if not d:
        return 1.0
    off = np.array(
        [np.bincount(pilot.which, weights * column, deployments) for column in left[:, moved].T]
    )
    sizes = np.bincount(pilot.which, weights**2, deployments)
    between = (off**2 / np.where(sizes > 0, sizes, 1.0)).sum(axis=1)
    fitted = fit.people[0].size - 1
    nu = max(len(pilot.which) - deployments - fitted / max(int(fit.columns.sum()), 1), 5.0)
    within = np.maximum((left[:, moved] ** 2).sum(axis=0) - between, 0.0) / nu
    statistic = float((between / np.maximum(within, pilot.floor**2)).sum())
    freedom = max(deployments * d - fit.shared, 1)
    mean = freedom * nu / (nu - 2)
    variance = freedom * 2 * nu**2 * (deployments + nu - 2) / ((nu - 2) ** 2 * (nu - 4))
    scale = variance / (2 * mean)
    return float(chi2.sf(statistic / scale, mean / scale))


def depends_on_start(fit: Fit) -> float:
    """p-value of residuals that go with where people start: answers cut at bounds do."""
    pilot, unit = fit.pilot, fit.unit()
    if pilot.scores:
        return 1.0
    residuals, left, outward = fit.residuals(), [], []
    for c in np.flatnonzero(fit.movable):
        sign, off = np.sign(unit[:, c]), residuals[:, c]
        noise = float(off.std())
        spread = float(pilot.own[:, c].std())
        if noise <= pilot.floor or spread == 0:
            continue
        for k in range(len(pilot.thetas)):
            rows = (pilot.which == k) & (sign != 0)
            if rows.sum() > 1:
                r, x = (sign * off)[rows], (sign * pilot.own[:, c])[rows]
                left.append((r - r.mean()) / noise)
                outward.append((x - x.mean()) / spread)
    if not left:
        return 1.0
    a, b = np.concatenate(left), np.concatenate(outward)
    freedom = max(a.size - len(left) - fit.people[0].size, 3)
    slope = float(a @ b / (b @ b))
    rest = a - slope * b
    error = np.sqrt(float(rest @ rest) / freedom / float(b @ b))
    return float(2 * t_distribution.sf(abs(slope) / max(error, 1e-300), freedom))


def powers_differ(common: Fit, by_agent: Fit) -> float:
    """p-value of powers that differ among the agents seen."""
    more = by_agent.people[0].size - 1
    if more < 1 or by_agent.unexplained().size - more <= 3:
        return 1.0
    gain = max(common.rss - by_agent.rss, 0.0) / more
    if gain <= common.pilot.floor**2:
        return 1.0
    return float(f_distribution.sf(gain / by_agent.variance, more, by_agent.freedom))


def nobody_moves(pilot: Pilot) -> float:
    """p-value of people who move at all, with theta or not: against answers that are noise."""
    still = PowerFit(pilot, np.zeros(pilot.thetas.shape[1], dtype=bool), False)
    toward = pilot.moves[:, 0]
    if not pilot.scores:
        toward = (pilot.moves * pilot.thetas[pilot.which]).sum(axis=1)
    error = max(float(toward.std(ddof=1)), pilot.floor) / np.sqrt(toward.size)
    with_theta = float(t_distribution.sf(toward.mean() / error, toward.size - 1))
    tests = [with_theta, lack_of_fit(still)]
    moved = toward[np.abs(toward) > pilot.floor]
    if 0 < 2 * moved.size < toward.size and (moved > 0).all():
        return 0.0  # noise would not leave most answers as they were, to the last bit
    if moved.size < toward.size:
        tests.append(float(binom.sf((moved > 0).sum() - 1, moved.size, 0.5)))
    return min(1.0, 2 * min(tests))

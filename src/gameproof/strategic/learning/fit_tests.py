"""Statistical tests of a fit, and the criterion by which fits are compared.

Noise of mean zero does not refute a fit. Structure in the residuals does: deployments with a
nonzero mean residual, moves that do not grow as the response says (`ResponseFit.p_growth`), or
answers that depend on the agents' own features. Functions named p_… return p-values. The three
tests share the false-alarm rate of the verdict.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.stats import binom, chi2
from scipy.stats import f as f_distribution
from scipy.stats import t as t_distribution

from gameproof.strategic.learning.pilot import Pilot
from gameproof.strategic.learning.power_fit import PowerFit
from gameproof.strategic.learning.response_fit import ResponseFit

FALSE_ALARM = 0.01
EACH_TEST = FALSE_ALARM / 3
EXACT = 1e-7  # residuals below this, relative to the largest move, count as 0


def is_exact(fit: ResponseFit) -> bool:
    """Whether the fit predicts every answer, up to rounding."""
    largest = float(np.abs(fit.pilot.moves).max())
    return float(np.abs(fit.residuals()).max()) <= max(EXACT * largest, fit.pilot.rounding)


def is_refuted(fit: ResponseFit) -> bool:
    """Whether a test finds structure in the residuals."""
    if is_exact(fit):
        return False
    return min(p_lack_of_fit(fit), p_start_dependence(fit), fit.p_growth()) < EACH_TEST


def schwarz_criterion(fit: ResponseFit) -> float:
    """N log(mean squared residual) + k log N, for N numbers answered and k parameters. Smaller is
    better. Differences of the size of rounding do not count."""
    moves = fit.pilot.moves
    moved = np.abs(moves).max(axis=0) > fit.pilot.rounding
    number = moves[:, moved].size
    least = (EXACT * float(np.abs(moves).max())) ** 2
    mean = max(float((fit.residuals() ** 2).sum()) / number, least)
    return float(number * np.log(mean) + fit.n_parameters * np.log(number))


def p_lack_of_fit(fit: ResponseFit) -> float:
    """Tests mean residuals of deployments against the variation among agents asked the same.

    For each feature, F = (between deployments / D) / (within / nu). The sum of D F over features is
    compared with a scaled chi-square distribution of the same mean and variance."""
    if fit.by_agent:  # an agent's own strength explains the length of a single answer
        repeated = fit.pilot.repeated()
        fit = replace(fit, pilot=repeated) if repeated.agents.size else fit
    pilot, left = fit.pilot, fit.residuals()
    strengths = fit.strength_of_answers()
    weights = strengths if strengths.any() else np.ones_like(strengths)
    moved = np.abs(pilot.moves).max(axis=0) > pilot.rounding
    d, deployments = int(moved.sum()), len(pilot.thetas)
    if not d:
        return 1.0
    sums = np.array(
        [
            np.bincount(pilot.deployment, weights * column, deployments)
            for column in left[:, moved].T
        ]
    )
    sizes = np.bincount(pilot.deployment, weights**2, deployments)
    between = (sums**2 / np.where(sizes > 0, sizes, 1.0)).sum(axis=1)
    n_strengths = (fit.groups.number - 1) / max(int(fit.fitted_columns.sum()), 1)
    nu = max(len(pilot.deployment) - deployments - n_strengths, 5.0)
    within = np.maximum((left[:, moved] ** 2).sum(axis=0) - between, 0.0) / nu
    statistic = float((between / np.maximum(within, pilot.rounding**2)).sum())
    freedom = max(deployments * d - fit.n_shared, 1)
    mean = freedom * nu / (nu - 2)
    variance = freedom * 2 * nu**2 * (deployments + nu - 2) / ((nu - 2) ** 2 * (nu - 4))
    scale = variance / (2 * mean)
    return float(chi2.sf(statistic / scale, mean / scale))


def p_start_dependence(fit: ResponseFit) -> float:
    """Tests whether residuals depend on the agents' own features, as they do if answers are
    clipped at bounds."""
    pilot, unit = fit.pilot, fit.unit_moves()
    if pilot.scores_only:
        return 1.0
    residuals, left, outward = fit.residuals(), [], []
    for c in np.flatnonzero(fit.movable):
        sign, errors = np.sign(unit[:, c]), residuals[:, c]
        noise = float(errors.std())
        spread = float(pilot.features[:, c].std())
        if noise <= pilot.rounding or spread == 0:
            continue
        for k in range(len(pilot.thetas)):
            rows = (pilot.deployment == k) & (sign != 0)
            if rows.sum() > 1:
                r, x = (sign * errors)[rows], (sign * pilot.features[:, c])[rows]
                left.append((r - r.mean()) / noise)
                outward.append((x - x.mean()) / spread)
    if not left:
        return 1.0
    a, b = np.concatenate(left), np.concatenate(outward)
    freedom = max(a.size - len(left) - fit.groups.number, 3)
    slope = float(a @ b / (b @ b))
    rest = a - slope * b
    error = np.sqrt(float(rest @ rest) / freedom / float(b @ b))
    return float(2 * t_distribution.sf(abs(slope) / max(error, 1e-300), freedom))


def p_same_strength(common: ResponseFit, by_agent: ResponseFit) -> float:
    """Tests whether all agents have the same strength, by an F test of the two fits."""
    more = by_agent.groups.number - 1
    if more < 1 or by_agent.fitted_residuals().size - more <= 3:
        return 1.0
    gain = max(common.rss - by_agent.rss, 0.0) / more
    if gain <= common.pilot.rounding**2:
        return 1.0
    return float(f_distribution.sf(gain / by_agent.variance, more, by_agent.freedom))


def p_nobody_moves(pilot: Pilot) -> float:
    """Tests whether all moves are noise: against moves with theta, and against any structure."""
    nobody = PowerFit(pilot, np.zeros(pilot.n_features, dtype=bool), False)
    toward = pilot.moves[:, 0]
    if not pilot.scores_only:
        toward = (pilot.moves * pilot.thetas[pilot.deployment]).sum(axis=1)
    error = max(float(toward.std(ddof=1)), pilot.rounding) / np.sqrt(toward.size)
    with_theta = float(t_distribution.sf(toward.mean() / error, toward.size - 1))
    tests = [with_theta, p_lack_of_fit(nobody)]
    moved = toward[np.abs(toward) > pilot.rounding]
    if 0 < 2 * moved.size < toward.size and (moved > 0).all():
        return 0.0  # noise would not leave most answers exactly at the agents' own features
    if moved.size < toward.size:
        tests.append(float(binom.sf((moved > 0).sum() - 1, moved.size, 0.5)))
    return min(1.0, 2 * min(tests))

"""Prices fitted to answers: agents move the one feature that gains most for its price.

With r_c = budget / price_c, agents move the feature with the largest r_c |theta_c|, by r_c. That
feature is the leader of the deployment. Each deployment shows its leader, and how far it moves. The
r of a feature that never led is at most what would have made it lead, and 0 if nobody moved where
it had a coefficient. Only budget / price can be seen, so the smallest price is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse
from scipy.optimize import nnls

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.budgets import PriceBudget
from gameproof.strategic.feature_mask import Mask, positions
from gameproof.strategic.learning.budget_fit import (
    BudgetFit,
    Entries,
    clearly_positive,
    design_matrix,
    listed,
    separate_sizes,
)
from gameproof.strategic.learning.fit_tests import EXACT, schwarz_criterion
from gameproof.strategic.learning.pilot import Pilot
from gameproof.strategic.learning.response_fit import Intervals

DOUBTFUL = 3.0  # a residual of this many standard errors makes a leader doubtful
CANDIDATES = 12  # other leaders that are tried then
STARTS = (2.0, 3.5)  # standard errors by which a leader must move, at two starts of the search
MARGIN = 1e-9  # the relative lead of a leader, so that rounding does not decide who leads
NOBODY = -1  # in place of a leader


@dataclass(frozen=True)
class PriceFit(BudgetFit):
    """Prices. The sizes are r: how far the whole budget moves each feature."""

    leaders: Indices  # the feature that moves at each deployment, or NOBODY

    norm = 1.0

    @classmethod
    def fit(cls, pilot: Pilot, allowed: Mask, by_agent: bool) -> Self | None:
        if pilot.scores_only:
            starts = [_leaders_from_scores(pilot, allowed)]
        else:
            starts = [_leaders_from_moves(pilot, allowed, errors) for errors in STARTS]
        fits = [
            cls._solved(pilot, by_agent, leaders)
            for leaders in starts
            if leaders is not None and leaders.max() >= 0
        ]
        if not fits:
            return None
        fit = min(fits, key=schwarz_criterion)._with_better_leaders(allowed)
        return fit.with_movable() if fit.sizes.any() else None

    @classmethod
    def _solved(cls, pilot: Pilot, by_agent: bool, leaders: Indices) -> Self:
        movable = np.isin(np.arange(pilot.n_features), leaders)
        return cls(pilot, movable, by_agent, movable.astype(float), leaders).solve()

    def _with_better_leaders(self, allowed: Mask) -> Self:
        """The fit with other leaders where that fits better: at deployments with few answers,
        noise may hide the leader, and other deployments show it."""
        fit, pilot, noise = self, self.pilot, np.sqrt(self.variance)
        if noise <= EXACT * float(np.abs(pilot.moves).max()):
            return fit
        for k in range(len(pilot.thetas)):
            rows = pilot.deployment == k
            total = np.abs(fit.residuals()[rows].sum(axis=0))
            if total.max() / np.sqrt(max(int(rows.sum()), 1)) > DOUBTFUL * noise:
                sizes = np.abs(pilot.thetas[k]) * allowed
                others = [int(c) for c in np.argsort(-sizes)[:CANDIDATES] if sizes[c] > 0]
                here = np.arange(len(fit.leaders)) == k
                tries = [
                    self._solved(pilot, fit.by_agent, np.where(here, c, fit.leaders))
                    for c in (NOBODY, *others)
                ]
                fit = min((fit, *tries), key=schwarz_criterion)
        return fit

    @property
    def scale(self) -> float:
        return float(self.sizes.max())

    def design(self) -> sparse.csr_array:
        return _design(self.pilot, _leaders_of_sizes(self.pilot, self.sizes))

    def fitting_design(self) -> sparse.csr_array:
        return _design(self.pilot, self.leaders)

    def solve_sizes(self, design: Entries, strengths: Vector) -> Vector:
        sizes, weights = separate_sizes(design, strengths, self.pilot.moves.ravel())
        return _nearest_with_leaders(self.pilot.thetas, self.leaders, sizes, weights)

    def sized_features(self) -> Mask:
        return self.sizes > 0

    @property
    def prices(self) -> Vector:
        """Prices in units of the smallest; infinite for features that never moved."""
        with np.errstate(divide="ignore"):
            found: Vector = self.sizes.max() / self.sizes
        return found

    def response(self, strength: float | Vector) -> PriceBudget:
        return PriceBudget(np.multiply(strength, self.sizes.max()), self.prices)

    def describe(self) -> str:
        prices = [f"{c} at {self.prices[c]:.4g}" for c in positions(self.movable)]
        return (
            f"The answers fit prices on {len(prices)} of {self.movable.size} features and a budget "
            f"of {self.sizes.max():.4g}, whatever the size of theta: {listed(prices)}"
        )

    def intervals(self, level: float, mean_error: float) -> Intervals:
        # price_c is the largest of r_b / r_c over all b, so its interval follows from the ratios.
        quantile = self.t_quantile(level)
        moved, sizes = self.movable, self.sizes
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(moved, self.standard_errors() / sizes, 0.0)
        width = np.hypot(quantile * relative, mean_error) + 1e-10
        budget_low = float((sizes * np.maximum(1 - width, 0.0))[moved].max())
        budget_high = float((sizes * (1 + width))[moved].max())
        apart = quantile * np.hypot(relative[moved][:, None], relative[moved]) + 1e-10
        np.fill_diagonal(apart, 0.0)
        ratios = sizes[moved][:, None] / sizes[moved]
        low, high = np.ones(moved.size), np.full(moved.size, np.inf)
        low[moved] = (ratios * np.exp(-apart)).max(axis=0)
        high[moved] = (ratios * np.exp(apart)).max(axis=0)
        largest = self._largest_sizes(width, quantile)
        with np.errstate(divide="ignore"):
            low[~moved] = np.maximum(sizes.max() / largest[~moved], 1.0)
        return {
            "budget": (budget_low, budget_high),
            "prices": (low, high),
            "features": (positions(moved), positions(np.isfinite(low))),
            "norm": (1.0, 1.0),
        }

    def _largest_sizes(self, width: Vector, quantile: float) -> Vector:
        """The largest size at which each feature would not have led the deployments that it did not
        lead.

        The sizes of leaders may be larger by a relative `width`. Where nobody was seen to move,
        moves may be larger by `quantile` standard errors."""
        pilot, largest = self.pilot, np.full(self.sizes.size, np.inf)
        for k, (theta, leader) in enumerate(zip(np.abs(pilot.thetas), self.leaders, strict=True)):
            here, rows = theta > 0, pilot.deployment == k
            if leader >= 0:
                gain = theta[leader] * self.sizes[leader] * (1 + width[leader])
            else:
                moved = pilot.moves[rows].mean(axis=0)
                toward = moved if pilot.scores_only else moved * pilot.thetas[k]
                error = float(np.sqrt(self.variance / max(int(rows.sum()), 1)))
                beyond = quantile * error * (1.0 if pilot.scores_only else theta)
                noisy = error > 2 * pilot.rounding
                gain = max(float((toward + beyond).max()), 0.0) if noisy else 0.0
            largest[here] = np.minimum(largest[here], gain / theta[here])
        return largest


def _design(pilot: Pilot, leaders: Indices) -> sparse.csr_array:
    """The design in which the leader of each deployment moves."""
    k = np.flatnonzero(leaders >= 0)
    return design_matrix(pilot, k, leaders[k], leaders[k], pilot.n_features)


def _leaders_of_sizes(pilot: Pilot, sizes: Vector) -> Indices:
    """The feature that gains most at each deployment."""
    gains = np.abs(pilot.thetas) * sizes
    return np.where(gains.any(axis=1), gains.argmax(axis=1), NOBODY)


def _leaders_from_moves(pilot: Pilot, allowed: Mask, errors: float) -> Indices:
    """At each deployment the feature that moved farthest with theta, if that is by more than
    `errors` standard errors of the noise that the other features show."""
    number, d = pilot.thetas.shape
    found, means, counts = np.full(number, NOBODY), np.zeros(number), np.zeros(number)
    others = np.ones(pilot.moves.shape, dtype=bool)
    for k in range(number):
        rows = pilot.deployment == k
        along = (pilot.moves[rows] * np.sign(pilot.thetas[k]) * allowed).sum(axis=0)
        found[k], counts[k] = int(along.argmax()), rows.sum()
        means[k] = along[found[k]] / max(counts[k], 1)
        others[rows, found[k]] = False
    noise = float(np.sqrt(np.mean(pilot.moves[others] ** 2))) if d > 1 else pilot.moves.std()
    least = errors * noise / np.sqrt(np.maximum(counts, 1))
    found[means <= np.maximum(least, pilot.rounding)] = NOBODY
    return found


def _leaders_from_scores(pilot: Pilot, allowed: Mask) -> Indices | None:
    """The leaders that follow from features deployed alone; None if some were not."""
    d = pilot.n_features
    sizes = np.zeros(d)
    for c in positions(allowed):
        rows = pilot.alone(c)
        if not rows.any():
            return None
        rises, rounding = pilot.rises_per_unit(rows, c), pilot.rounding_of(c)
        noiseless = np.abs(pilot.moves).min() <= pilot.rounding and rises.max() > rounding
        if noiseless or clearly_positive(rises, d, rounding):
            sizes[c] = rises.mean()
    return _leaders_of_sizes(pilot, sizes)


def _nearest_with_leaders(
    thetas: Matrix, leaders: Indices, sizes: Vector, weights: Vector
) -> Vector:
    """The sizes nearest to these, in the norm of the weights, at which the leaders lead. Features
    that never lead have size 0.

    This is least distance programming, solved by nonnegative least squares (Lawson and Hanson)."""
    found = np.where(weights > 0, sizes, 0.0)
    lengths = np.abs(thetas)
    led = (leaders >= 0)[:, None] & (lengths > 0) & (weights > 0)
    led[np.arange(leaders.size), leaders] = False
    k, other = np.nonzero(led)
    leader = leaders[k]
    gains, largest = lengths[k, leader], (1 + MARGIN) * lengths[k, other]
    missing = largest * found[other] - gains * found[leader]
    if (missing <= 0).all():
        return found
    constraints = np.zeros((k.size, sizes.size))
    constraints[np.arange(k.size), leader] = gains
    constraints[np.arange(k.size), other] = -largest
    root = np.sqrt(np.where(weights > 0, weights, 1.0))
    system = np.vstack([(constraints / root).T, missing])
    target = np.append(np.zeros(sizes.size), 1.0)
    left = target - system @ nnls(system, target)[0]
    step: Vector = -left[:-1] / left[-1] if abs(left[-1]) > 1e-14 else np.zeros(sizes.size)
    nearest: Vector = np.maximum(found + step / root, 0.0)
    return nearest

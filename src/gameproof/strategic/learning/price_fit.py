"""Prices fitted to answers: one feature moves at a time, the one that gains most for its price.

With r_c = budget / price_c, people move the feature with the largest r_c |theta_c|, by r_c. Each
deployment shows who leads, the feature that moves, and how far. A feature that led nowhere has an
r of at most what would have made it lead; one that had a coefficient where nobody moved has none.
Prices are in units of the smallest: only budget / price can be seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.optimize import nnls
from scipy.stats import t as t_distribution

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.budgets import PriceBudget
from gameproof.strategic.learning.fit_tests import EXACT, criterion
from gameproof.strategic.learning.linear_fit import LinearFit, clearly_positive, squares
from gameproof.strategic.learning.pilot import Pilot
from gameproof.strategic.learning.response_fit import Intervals, Mask, positions

ERRORS, TRIED = (
    3.0,
    12,
)  # standard errors that make a leader doubtful, and how many others are tried
MARGIN = 1e-9  # by which a leader leads, so that rounding does not decide who does


@dataclass(frozen=True)
class PriceFit(LinearFit):
    """Prices: sizes are r, how far the whole budget moves each feature."""

    leaders: Indices  # the feature that moves at each deployment; -1 for nobody

    norm = 1.0

    @property
    def scale(self) -> float:
        return float(self.sizes.max())

    def design(self) -> sparse.csr_array:
        gains = np.abs(self.pilot.thetas) * self.sizes
        leads = np.where(gains.any(axis=1), gains.argmax(axis=1), -1)
        return _design(self.pilot, leads)

    def begun(self) -> sparse.csr_array:
        return _design(self.pilot, self.leaders)

    def solved(self, rows: sparse.csr_array, strengths: Vector) -> Vector:
        weights, toward = squares(rows, strengths, self.pilot.moves.ravel())
        free = np.maximum(toward, 0.0) / np.where(weights > 0, weights, 1.0)
        return _leading(self.pilot.thetas, self.leaders, free, weights)

    @property
    def prices(self) -> Vector:
        """In units of the smallest; infinite for features that never moved."""
        with np.errstate(divide="ignore"):
            found: Vector = self.sizes.max() / self.sizes
        return found

    def response(self, strength: float | Vector) -> PriceBudget:
        """With a budget times the strength, which may be one number an agent."""
        return PriceBudget(np.multiply(strength, self.sizes.max()), self.prices)

    def described(self) -> str:
        prices = [f"{c} at {self.prices[c]:.4g}" for c in np.flatnonzero(self.movable)]
        shown = ", ".join(prices[:4]) + (", …" if len(prices) > 4 else "")
        return (
            f"The answers fit prices on {len(prices)} of {self.movable.size} features and a budget "
            f"of {self.sizes.max():.4g}, whatever the size of theta: {shown}"
        )

    def intervals(self, level: float, share: float) -> Intervals:
        """Of the budget and each price; `share` is by how much the mean strength may be wrong.

        price_c is the largest of r_b / r_c over all b, so that its ends are those of the ratios."""
        quantile = float(t_distribution.ppf((1 + level) / 2, self.freedom))
        moved, sizes = self.movable, self.sizes
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(moved, self.errors() / sizes, 0.0)
        width = np.hypot(quantile * relative, share) + 1e-10
        ends = [(sizes * np.maximum(1 - width, 0.0))[moved], (sizes * (1 + width))[moved]]
        apart = quantile * np.hypot(relative[moved][:, None], relative[moved]) + 1e-10
        np.fill_diagonal(apart, 0.0)
        ratios = sizes[moved][:, None] / sizes[moved]
        low, high = np.ones(moved.size), np.full(moved.size, np.inf)
        low[moved] = (ratios * np.exp(-apart)).max(axis=0)
        high[moved] = (ratios * np.exp(apart)).max(axis=0)
        most = _most(self, width, quantile)
        with np.errstate(divide="ignore"):
            low[~moved] = np.maximum(sizes.max() / most[~moved], 1.0)
        return {
            "budget": (float(ends[0].max()), float(ends[1].max())),
            "prices": (low, high),
            "features": (positions(moved), positions(np.isfinite(low))),
            "norm": (1.0, 1.0),
        }


def fit_price(pilot: Pilot, told: Mask | None, by_agent: bool) -> PriceFit | None:
    """The best prices; None where the answers cannot show them."""
    d = pilot.thetas.shape[1]
    allowed = np.ones(d, dtype=bool) if told is None else told
    starts = [_leaders_by_score(pilot, allowed)]
    if not pilot.scores:
        starts = [_leaders(pilot, allowed, errors) for errors in (2.0, 3.5)]
    fits = [_fitted(pilot, by_agent, at) for at in starts if at is not None and at.max() >= 0]
    if not fits:
        return None
    fit = _improved(min(fits, key=criterion), allowed)
    return replace(fit, movable=fit.sizes > 0) if fit.sizes.any() else None


def _improved(fit: PriceFit, allowed: Mask) -> PriceFit:
    """With other leaders where that fits better: at deployments of few answers, noise may hide who
    leads, and others show it."""
    pilot, noise = fit.pilot, np.sqrt(fit.variance)
    if noise <= EXACT * float(np.abs(pilot.moves).max()):
        return fit
    for k in range(len(pilot.thetas)):
        rows = pilot.which == k
        off = np.abs(fit.residuals()[rows].sum(axis=0)) / np.sqrt(max(int(rows.sum()), 1))
        if off.max() > ERRORS * noise:
            sizes = np.abs(pilot.thetas[k]) * allowed
            able = [int(c) for c in np.argsort(-sizes)[:TRIED] if sizes[c] > 0]
            tries = [
                _fitted(
                    pilot, fit.by_agent, np.where(np.arange(len(fit.leaders)) == k, c, fit.leaders)
                )
                for c in (-1, *able)
            ]
            fit = min((fit, *tries), key=criterion)
    return fit


def _fitted(pilot: Pilot, by_agent: bool, leaders: Indices) -> PriceFit:
    movable = np.isin(np.arange(pilot.thetas.shape[1]), leaders)
    return PriceFit(pilot, movable, by_agent, movable.astype(float), leaders).best()


def _leaders(pilot: Pilot, allowed: Mask, errors: float) -> Indices:
    """At each deployment, the feature that moved farthest with theta, if it did by more standard
    errors than that, by the noise that all the others show."""
    number, d = pilot.thetas.shape
    found, means, sizes = np.full(number, -1), np.zeros(number), np.zeros(number)
    others = np.ones(pilot.moves.shape, dtype=bool)
    for k in range(number):
        rows = pilot.which == k
        along = (pilot.moves[rows] * np.sign(pilot.thetas[k]) * allowed).sum(axis=0)
        found[k], sizes[k] = int(along.argmax()), rows.sum()
        means[k] = along[found[k]] / max(sizes[k], 1)
        others[rows, found[k]] = False
    noise = float(np.sqrt(np.mean(pilot.moves[others] ** 2))) if d > 1 else pilot.moves.std()
    least = errors * noise / np.sqrt(np.maximum(sizes, 1))
    found[means <= np.maximum(least, pilot.floor)] = -1
    return found


def _leaders_by_score(pilot: Pilot, allowed: Mask) -> Indices | None:
    """The same from features deployed alone; None where some were not."""
    d = pilot.thetas.shape[1]
    sizes = np.zeros(d)
    for c in positions(allowed):
        rows = pilot.alone(c)
        if not rows.any():
            return None
        rises = pilot.moves[rows, 0] / np.abs(pilot.thetas[pilot.which[rows], c])
        exact = np.abs(pilot.moves).min() <= pilot.floor and rises.max() > pilot.floor_of(c)
        if exact or clearly_positive(rises, d, pilot.floor_of(c)):
            sizes[c] = rises.mean()
    gains = np.abs(pilot.thetas) * sizes
    return np.where(gains.any(axis=1), gains.argmax(axis=1), -1)


def _leading(thetas: Matrix, leaders: Indices, free: Vector, weights: Vector) -> Vector:
    """The sizes nearest to the free ones for which leaders lead: least distance programming, by
    nonnegative least squares (Lawson and Hanson). Those who never lead are 0."""
    rows = []
    for theta, leader in zip(np.abs(thetas), leaders, strict=True):
        for other in np.flatnonzero((weights > 0) & (theta > 0)):
            if leader >= 0 and other != leader:
                row = np.zeros(free.size)
                row[leader], row[other] = theta[leader], -(1 + MARGIN) * theta[other]
                rows.append(row)
    found = np.where(weights > 0, free, 0.0)
    if not rows or (np.array(rows) @ found >= 0).all():
        return found
    root = np.sqrt(np.where(weights > 0, weights, 1.0))
    against = np.array(rows) / root
    missing = -(np.array(rows) @ found)
    system = np.vstack([against.T, missing])
    target = np.append(np.zeros(free.size), 1.0)
    left = target - system @ nnls(system, target)[0]
    step: Vector = -left[:-1] / left[-1] if abs(left[-1]) > 1e-14 else np.zeros(free.size)
    nearest: Vector = np.maximum(found + step / root, 0.0)
    return nearest


def _most(fit: PriceFit, width: Vector, quantile: float) -> Vector:
    """The largest size with which a feature would not have led where it did not, for sizes that may
    be larger by these shares, and moves by as many standard errors where nobody was seen to."""
    pilot, most = fit.pilot, np.full(fit.sizes.size, np.inf)
    for k, (theta, leader) in enumerate(zip(np.abs(pilot.thetas), fit.leaders, strict=True)):
        here, rows = theta > 0, pilot.which == k
        if leader >= 0:
            gain = theta[leader] * fit.sizes[leader] * (1 + width[leader])
        else:
            moved = pilot.moves[rows].mean(axis=0)
            toward = moved if pilot.scores else moved * pilot.thetas[k]
            error = float(np.sqrt(fit.variance / max(int(rows.sum()), 1)))
            beyond = quantile * error * (1.0 if pilot.scores else theta)
            noisy = error > 2 * pilot.floor
            gain = max(float((toward + beyond).max()), 0.0) if noisy else 0.0
        most[here] = np.minimum(most[here], gain / theta[here])
    return most


def _design(pilot: Pilot, leaders: Indices) -> sparse.csr_array:
    number, d = pilot.thetas.shape
    k = np.flatnonzero(leaders >= 0)
    lead = pilot.thetas[k, leaders[k]]
    if pilot.scores:
        entries, rows, height = np.abs(lead), k, number
    else:
        entries, rows, height = np.sign(lead), k * d + leaders[k], number * d
    return sparse.csr_array((entries, (rows, leaders[k])), shape=(height, d))

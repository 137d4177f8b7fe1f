"""Shifts of distributions between two tables of people who cannot be matched.

A person with rank u before is assumed to have rank u after. No other pairing explains the change of
a distribution by smaller moves, so real moves are at least as large. People refused before cannot
be identified in the table after. If the accepted stay where they are, up to drift, removing their
distribution from everyone's leaves that of the refused:

    F_refused after = (F_after − (1 − r) F_accepted before) / r,   r the share refused before.

Drift is measured among "safe" people well above the threshold, who have no reason to game: in both
tables the people with the highest scores, as many as half of the people accepted before.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ks_2samp

from gameproof.core.arguments import Vector
from gameproof.tables.budget_learning.evidence import Codes
from gameproof.tables.budget_learning.groups import SMALLEST_GROUP

RANKS = np.linspace(0.05, 0.95, 181)  # further out, shifts are mostly noise
CELLS = 1000  # larger groups are summarised by this many cells of equal size
DRAWS = 200  # bootstrap samples
EXACT = 250_000  # pairs up to which exact p-values are computed
REFUSED, MIDDLE, SAFE = 0, 1, 2


class Sides(NamedTuple):
    """The side of each person: `REFUSED`, `SAFE`, or `MIDDLE` between the two.

    In the table after, nobody is known to have been refused before, so everyone who is not safe is
    `MIDDLE`.
    """

    before: Codes
    after: Codes

    @classmethod
    def of(cls, before: Vector, after: Vector) -> Sides | None:
        """The sides by scores; None if one of the groups is too small."""
        known = [scores[~np.isnan(scores)] for scores in (before, after)]
        if not all(part.size for part in known):
            return None
        share = float(np.mean(known[0] > 0))
        codes = []
        for scores, part in zip((before, after), known, strict=True):
            with np.errstate(invalid="ignore"):
                safe = scores > max(float(np.quantile(part, 1 - share / 2)), 0.0)
            codes.append(np.where(safe, SAFE, MIDDLE))
        with np.errstate(invalid="ignore"):
            codes[0] = np.where(before <= 0, REFUSED, codes[0])
        counts = [(codes[0] == REFUSED).sum(), *((each == SAFE).sum() for each in codes)]
        return cls(codes[0], codes[1]) if min(counts) >= SMALLEST_GROUP else None


class Cells(NamedTuple):
    """Sorted values, the group of each, and the number of people that each represents."""

    values: Vector
    groups: Codes
    sizes: Vector

    @classmethod
    def of(cls, values: Vector, groups: Codes) -> Cells:
        """One cell per person in small groups, and `CELLS` cells in large ones."""
        parts = []
        for each in np.unique(groups):
            own = np.sort(values[groups == each])
            if own.size > CELLS:
                middles = (np.arange(CELLS) + 0.5) / CELLS
                cells = own[(middles * own.size).astype(np.int64)]
                parts.append((cells, each, own.size / CELLS))
            else:
                parts.append((own, each, 1.0))
        found = np.concatenate([cells for cells, _, _ in parts])
        order = np.argsort(found, kind="stable")
        labels = np.concatenate([np.full(cells.size, each) for cells, each, _ in parts])
        sizes = np.concatenate([np.full(cells.size, size) for cells, _, size in parts])
        return cls(found[order], labels[order].astype(np.int64), sizes[order])

    def drawn(self, rng: np.random.Generator) -> list[Cells]:
        """Bootstrap samples of the same size."""
        n = self.sizes.sum()
        counts = rng.multinomial(round(float(n)), self.sizes / n, size=DRAWS)
        return [self._replace(sizes=each) for each in counts.astype(np.float64)]

    def moved(self, by: float) -> Cells:
        """All values shifted by `by`."""
        return self._replace(values=self.values + by)

    def among(self, lowest: int, highest: int) -> Cells:
        """The cells of the groups from `lowest` to `highest`."""
        rows = (self.groups >= lowest) & (self.groups <= highest)
        return Cells(self.values[rows], self.groups[rows], self.sizes[rows])

    def at(self, ranks: Vector) -> Vector:
        """The quantiles at these ranks."""
        return _inverse(self.values, np.cumsum(self.sizes), ranks)

    def below(self, values: Vector) -> Vector:
        """The share of people at or below each value."""
        reached = np.concatenate([[0.0], np.cumsum(self.sizes)])
        found: Vector = reached[np.searchsorted(self.values, values, side="right")] / reached[-1]
        return found


def shifts(before: Cells, after: Cells) -> Vector:
    """The shift at each rank: of people refused before if they are known, else of everyone."""
    refused = before.groups == REFUSED
    if not refused.any():
        return after.at(RANKS) - before.at(RANKS)
    accepted, r = before.among(MIDDLE, SAFE), before.sizes[refused].sum() / before.sizes.sum()
    if not r or not accepted.sizes.sum():
        return np.zeros(RANKS.size)
    left = (after.below(after.values) - (1 - r) * accepted.below(after.values)) / r
    reached = np.maximum.accumulate(np.clip(left, 0.0, 1.0))
    reached[-1] = 1.0
    return _inverse(after.values, reached, RANKS) - before.among(REFUSED, REFUSED).at(RANKS)


def beyond_the_safe(before: Cells, after: Cells) -> float:
    """How much further the others shifted than the safe, averaged over ranks."""
    rest = after.among(MIDDLE, MIDDLE).at(RANKS) - before.among(REFUSED, MIDDLE).at(RANKS)
    return float(rest.mean() - safe_shifts(before, after).mean())


def safe_shifts(before: Cells, after: Cells) -> Vector:
    """The shift at each rank of people well above the threshold."""
    return after.among(SAFE, SAFE).at(RANKS) - before.among(SAFE, SAFE).at(RANKS)


def changed_at_all(before: Vector, after: Vector) -> float:
    """The p-value of the Kolmogorov-Smirnov test that both have the same distribution."""
    if not before.size or not after.size:
        return 1.0
    method = "exact" if before.size * after.size <= EXACT else "asymp"
    with warnings.catch_warnings():  # SciPy falls back to the asymptotic value
        warnings.simplefilter("ignore", RuntimeWarning)
        return float(ks_2samp(before, after, method=method).pvalue)


def by_rank(before: Vector, after: Vector, rng: np.random.Generator) -> Vector:
    """For each value before, the value after of the same rank; ties are in random order."""
    order: NDArray[np.int64] = np.lexsort((rng.random(before.size), before))
    places = ((np.arange(before.size) + 0.5) / before.size * after.size).astype(np.int64)
    found = np.empty(before.size)
    found[order] = np.sort(after)[places]
    return found


def _inverse(values: Vector, reached: Vector, ranks: Vector) -> Vector:
    """The values at which a cumulative count reaches these shares of its total."""
    places = np.searchsorted(reached, ranks * reached[-1] * (1 - 1e-12))
    found: Vector = values[np.minimum(places, values.size - 1)]
    return found

"""Budgets whose moves are linear in a few sizes: boxes and prices.

At a deployment every number moved is a known multiple of one size (by scores, a sum of them), so
that for given strengths of the agents the sizes are least squares, and for given sizes the
strengths are. The two take turns; strengths have the mean 1. Moves do not grow with theta: the
model with the factor |theta|^rate says how sure that is, and rate = 1/(degree - 1).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from math import inf
from typing import Self

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsmr
from scipy.stats import t as t_distribution

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.learning.response_fit import Fit, Intervals, Mask

TURNS = 300
CLEAR = 0.01  # the rate at which noise alone makes any of the sizes positive


@dataclass(frozen=True)
class LinearFit(Fit):
    """A fit of sizes."""

    sizes: Vector

    degree = inf

    @abstractmethod
    def intervals(self, level: float, share: float) -> Intervals:
        """Of what the sizes stand for; `share` is by how much the mean strength may be wrong
        beside, as not all agents were seen."""

    @abstractmethod
    def design(self) -> sparse.csr_array:
        """What moves at each deployment are of the sizes: a row a deployment and column."""

    @abstractmethod
    def solved(self, rows: sparse.csr_array, strengths: Vector) -> Vector:
        """The sizes that fit best, for what each number answered is of them at strength 1, and the
        strength behind each number."""

    def begun(self) -> sparse.csr_array:
        """The design to fit with."""
        return self.design()

    def differing(self, low: float, high: float) -> str:
        return f"budgets differ, from {low:.4g} to {high:.4g} times that"

    def unit(self) -> Matrix:
        at: Matrix = (self.design() @ self.sizes).reshape(len(self.pilot.thetas), -1)
        return at[self.pilot.which]

    @property
    def shared(self) -> int:
        return int((self.sizes > 0).sum())

    @property
    def complexity(self) -> int:
        return self.people[0].size - 1 + self.shared

    def numbers(self, design: sparse.csr_array) -> sparse.csr_array:
        """What each number answered is of the sizes at strength 1; 0 where it does not count."""
        pilot = self.pilot
        width = pilot.moves.shape[1]
        rows = design[(pilot.which[:, None] * width + np.arange(width)).ravel()]
        if self.kept is not None:
            rows = sparse.diags_array(self.kept.ravel().astype(float)) @ rows
        return sparse.csr_array(rows)

    def whose(self) -> Indices:
        """The group behind each number answered."""
        return np.repeat(self.people[1], self.pilot.moves.shape[1])

    def best(self) -> Self:
        """With the sizes that fit best."""
        rows, whose, groups = self.numbers(self.begun()), self.whose(), self.people[0].size
        moves, strengths = self.pilot.moves.ravel(), np.ones(groups)
        sizes = self.solved(rows, strengths[whose])
        for _ in range(TURNS if self.by_agent else 0):
            unit = rows @ sizes
            top = np.bincount(whose, unit * moves, groups)
            bottom = np.bincount(whose, unit * unit, groups)
            shown = bottom > 0
            found = np.where(shown, np.maximum(top, 0.0) / np.where(shown, bottom, 1.0), np.nan)
            mean = float(np.mean(found[shown])) if shown.any() else 0.0
            if mean == 0:
                break
            found = np.where(shown, found / mean, 1.0)
            close = np.abs(found - strengths).max() <= 1e-13
            strengths = found
            sizes = self.solved(rows, strengths[whose])
            if close:
                break
        return replace(self, sizes=sizes)

    def refitted(self, kept: Mask) -> Self:
        return replace(self, kept=kept).best()

    def errors(self) -> Vector:
        """Standard errors of the sizes: infinite where the answers say nothing of one."""
        rows = self.numbers(self.design())
        rows = sparse.diags_array(self.powers()[self.whose()]) @ rows
        gram = sparse.csr_array(rows.T @ rows)
        diagonal = gram.diagonal()
        known = diagonal > 0
        variances = np.full(self.sizes.size, np.inf)
        variances[known] = self.variance / diagonal[known]
        if self.pilot.scores and known.any():  # one number is of several sizes
            matrix = gram.toarray()[np.ix_(known, known)]
            inverse = np.linalg.pinv(matrix, rcond=1e-12, hermitian=True)
            variances[known] = self.variance * inverse.diagonal()
        found: Vector = np.sqrt(variances)
        return found

    def rate(self) -> tuple[float, float]:
        """The power of theta with which moves grow, 0 for a budget, and its standard error."""
        pilot, unit = self.pilot, self.unit()
        gains = unit[:, 0] if pilot.scores else (unit * pilot.thetas[pilot.which]).sum(axis=1)
        moving = gains > 0
        logs = np.log(np.where(moving, gains, 1.0))
        logs -= logs[moving].mean() if moving.any() else 0.0
        predicted = self.predicted()
        term = (predicted * logs[:, None]).ravel()
        known = [self.numbers(self.design())[:, np.flatnonzero(self.sizes > 0)]]
        if self.by_agent:
            whose = self.whose()
            known[0] = sparse.diags_array(self.powers()[whose]) @ known[0]
            own = (np.arange(term.size), whose)
            shape = (term.size, self.people[0].size)
            known.append(sparse.csr_array((predicted.ravel(), own), shape=shape))
        every = sparse.hstack(known)
        term = term - every @ lsmr(every, term, atol=1e-13, btol=1e-13)[0]
        size, left = float(term @ term), self.residuals().ravel()
        if size <= 1e-16 * float((predicted**2).sum()):
            return 0.0, np.inf
        return float(term @ left) / size, float(np.sqrt(self.variance / size))

    def growth(self) -> float:
        if not self.movable.any() or self.rss <= self.pilot.floor**2:
            return 1.0
        rate, error = self.rate()
        return float(2 * t_distribution.sf(abs(rate) / error, self.freedom))

    def degrees(self, level: float) -> tuple[float, float]:
        """The degrees for which moves would grow as little as they do, an infinite one among them:
        the limit of a cost that is ever steeper."""
        rate, error = self.rate()
        highest = rate + float(t_distribution.ppf((1 + level) / 2, self.freedom)) * error
        return (1 + 1 / highest if highest > 0 else np.inf), np.inf


def squares(rows: sparse.csr_array, strengths: Vector, moves: Vector) -> tuple[Vector, Vector]:
    """The sums of squares of what numbers are of each size, and of their products with moves."""
    weights: Vector = rows.power(2).T @ strengths**2
    toward: Vector = rows.T @ (strengths * moves)
    return weights, toward


def clearly_positive(values: Vector, number: int, floor: float) -> bool:
    """Whether these moves are more than noise around 0, at a rate shared by `number` such tests."""
    if not values.size or values.max() <= floor:
        return False
    alpha = CLEAR / max(number, 1)
    if values.min() >= -floor and 0.5**values.size < alpha:
        return True  # noise would be negative for once
    error = max(float(values.std(ddof=1)) if values.size > 1 else 0.0, floor)
    statistic = float(values.mean()) * np.sqrt(values.size) / error
    return bool(t_distribution.sf(statistic, max(values.size - 1, 1)) < alpha)

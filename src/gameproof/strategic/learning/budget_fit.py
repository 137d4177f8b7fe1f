"""`BudgetFit`: what fits of boxes and of prices share.

Such a budget is described by a few sizes. Every number answered is a known multiple of one size
(every score: a known sum of multiples), so moves = strength * (design @ sizes). Given strengths,
the sizes are a least-squares problem, and given sizes, the strengths are. `solve` alternates
between the two, with strengths of mean 1.

A budget's moves do not grow with theta. To test that, a factor |theta|^rate is added to the model,
with rate = 1 / (degree - 1): `growth_rate` estimates it.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from math import inf
from typing import NamedTuple, Self

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsmr
from scipy.stats import t as t_distribution

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.feature_mask import Mask
from gameproof.strategic.learning.pilot import Pilot
from gameproof.strategic.learning.response_fit import Intervals, ResponseFit

MAX_ALTERNATIONS = 300
FALSE_ALARM = 0.01  # the rate at which noise alone makes any size positive
LISTED = 4  # features listed in a description


class Entries(NamedTuple):
    """The nonzero entries of a design, row by row. `solve` multiplies by the same small design
    hundreds of times, and sparse matrices take longer to build than to multiply."""

    rows: Indices
    columns: Indices
    values: Vector
    shape: tuple[int, int]

    @classmethod
    def of(cls, design: sparse.csr_array) -> Self:
        entries = design.tocoo()
        return cls(entries.row, entries.col, entries.data, design.shape)

    def times(self, sizes: Vector) -> Vector:
        """design @ sizes."""
        return _sums(self.rows, self.values * sizes[self.columns], self.shape[0])

    def transposed_times(self, numbers: Vector) -> Vector:
        """design.T @ numbers."""
        return _sums(self.columns, self.values * numbers[self.rows], self.shape[1])

    def dense(self) -> Matrix:
        """The design as an array."""
        found = np.zeros(self.shape)
        found[self.rows, self.columns] = self.values
        return found


def _sums(places: Indices, parts: Vector, number: int) -> Vector:
    return np.bincount(places, parts, number).astype(np.float64, copy=False)


@dataclass(frozen=True)
class BudgetFit(ResponseFit):
    """A fit of the sizes of a budget."""

    sizes: Vector

    degree = inf

    @classmethod
    @abstractmethod
    def fit(cls, pilot: Pilot, allowed: Mask, by_agent: bool) -> Self | None:
        """The best fit on the allowed features; None if the answers cannot show one."""

    @abstractmethod
    def design(self) -> sparse.csr_array:
        """Moves at strength 1 are design @ sizes: one row per deployment and column."""

    def fitting_design(self) -> sparse.csr_array:
        """The design that `solve` fits the sizes with."""
        return self.design()

    @abstractmethod
    def solve_sizes(self, design: Entries, strengths: Vector) -> Vector:
        """The best sizes, given the design and the strength of each number answered."""

    @abstractmethod
    def sized_features(self) -> Mask:
        """The features that move according to the sizes."""

    @abstractmethod
    def intervals(self, level: float, mean_error: float) -> Intervals:
        """Intervals of the parameters. `mean_error` is the relative error of the mean strength,
        because not all agents were asked."""

    def describe_range(self, low: float, high: float) -> str:
        return f"budgets differ, from {low:.4g} to {high:.4g} times that"

    def unit_moves(self) -> Matrix:
        moves: Matrix = (self.design() @ self.sizes).reshape(len(self.pilot.thetas), -1)
        return moves[self.pilot.deployment]

    @property
    def n_shared(self) -> int:
        return int((self.sizes > 0).sum())

    @property
    def n_parameters(self) -> int:
        return self.groups.number - 1 + self.n_shared

    def rows_of_numbers(self, design: sparse.csr_array) -> sparse.csr_array:
        """The row of the design of each number answered; 0 for numbers that are not included."""
        pilot = self.pilot
        width = pilot.moves.shape[1]
        rows = design[(pilot.deployment[:, None] * width + np.arange(width)).ravel()]
        if self.included is not None:
            rows = sparse.diags_array(self.included.ravel().astype(float)) @ rows
        return sparse.csr_array(rows)

    def groups_of_numbers(self) -> Indices:
        """The group of each number answered."""
        return np.repeat(self.groups.of_answer, self.pilot.moves.shape[1])

    def solve(self) -> Self:
        """This fit with the best sizes."""
        design = Entries.of(self.rows_of_numbers(self.fitting_design()))
        groups, number = self.groups_of_numbers(), self.groups.number
        moves, strengths = self.pilot.moves.ravel(), np.ones(number)
        sizes = self.solve_sizes(design, strengths[groups])
        for _ in range(MAX_ALTERNATIONS if self.by_agent else 0):
            unit = design.times(sizes)
            numerator = np.bincount(groups, unit * moves, number)
            denominator = np.bincount(groups, unit * unit, number)
            known = denominator > 0
            found = np.maximum(numerator, 0.0) / np.where(known, denominator, 1.0)
            mean = float(np.mean(found[known])) if known.any() else 0.0
            if mean == 0:
                break
            found = np.where(known, found / mean, 1.0)
            converged = np.abs(found - strengths).max() <= 1e-13
            strengths = found
            sizes = self.solve_sizes(design, strengths[groups])
            if converged:
                break
        return replace(self, sizes=sizes)

    def with_movable(self) -> Self:
        """This fit with the movable features that follow from the sizes."""
        return replace(self, movable=self.sized_features())

    def refit(self, included: Mask) -> Self:
        return replace(self, included=included).solve()

    def standard_errors(self) -> Vector:
        """Standard errors of the sizes; infinite for sizes that the answers do not show."""
        rows = self.rows_of_numbers(self.design())
        rows = sparse.diags_array(self.strengths()[self.groups_of_numbers()]) @ rows
        gram = sparse.csr_array(rows.T @ rows)
        diagonal = gram.diagonal()
        known = diagonal > 0
        variances = np.full(self.sizes.size, np.inf)
        variances[known] = self.variance / diagonal[known]
        if self.pilot.scores_only and known.any():  # a score depends on several sizes
            matrix = gram.toarray()[np.ix_(known, known)]
            inverse = np.linalg.pinv(matrix, rcond=1e-12, hermitian=True)
            variances[known] = self.variance * inverse.diagonal()
        found: Vector = np.sqrt(variances)
        return found

    def growth_rate(self) -> tuple[float, float]:
        """The power of theta with which moves grow, 0 for a budget, and its standard error."""
        pilot, unit = self.pilot, self.unit_moves()
        gains = unit[:, 0]
        if not pilot.scores_only:
            gains = (unit * pilot.thetas[pilot.deployment]).sum(axis=1)
        moving = gains > 0
        logs = np.log(np.where(moving, gains, 1.0))
        logs -= logs[moving].mean() if moving.any() else 0.0
        predicted = self.predicted()
        term = (predicted * logs[:, None]).ravel()
        # Remove from the new term what the sizes and strengths explain already.
        rows = self.rows_of_numbers(self.design())[:, np.flatnonzero(self.sizes > 0)]
        known = [rows]
        if self.by_agent:
            groups = self.groups_of_numbers()
            entries = (np.arange(term.size), groups)
            shape = (term.size, self.groups.number)
            known = [
                sparse.diags_array(self.strengths()[groups]) @ rows,
                sparse.csr_array((predicted.ravel(), entries), shape=shape),
            ]
        explained = sparse.hstack(known)
        term = term - explained @ lsmr(explained, term, atol=1e-13, btol=1e-13)[0]
        size, left = float(term @ term), self.residuals().ravel()
        if size <= 1e-16 * float((predicted**2).sum()):
            return 0.0, np.inf
        return float(term @ left) / size, float(np.sqrt(self.variance / size))

    def p_growth(self) -> float:
        if not self.movable.any() or self.rss <= self.pilot.rounding**2:
            return 1.0
        rate, error = self.growth_rate()
        return float(2 * t_distribution.sf(abs(rate) / error, self.freedom))

    def degree_interval(self, level: float) -> tuple[float, float]:
        """The degrees at which moves would grow as little as they do; infinity is among them."""
        rate, error = self.growth_rate()
        highest = rate + self.t_quantile(level) * error
        return (1 + 1 / highest if highest > 0 else np.inf), np.inf


def design_matrix(
    pilot: Pilot, deployments: Indices, features: Indices, columns: Indices, n_sizes: int
) -> sparse.csr_array:
    """The design in which feature c of deployment k moves by the size in a given column, in the
    direction of theta, for each (k, c, column)."""
    number, d = pilot.thetas.shape
    coefficients = pilot.thetas[deployments, features]
    if pilot.scores_only:
        entries, rows, height = np.abs(coefficients), deployments, number
    else:
        entries, rows, height = np.sign(coefficients), deployments * d + features, number * d
    return sparse.csr_array((entries, (rows, columns)), shape=(height, n_sizes))


def separate_sizes(design: Entries, strengths: Vector, moves: Vector) -> tuple[Vector, Vector]:
    """The nonnegative least-squares sizes if every number depends on one size, and the weight (sum
    of squares) behind each."""
    weights = design._replace(values=design.values**2).transposed_times(strengths**2)
    along = design.transposed_times(strengths * moves)
    sizes: Vector = np.maximum(along, 0.0) / np.where(weights > 0, weights, 1.0)
    return sizes, weights


def clearly_positive(values: Vector, n_tests: int, rounding: float) -> bool:
    """Whether these moves are more than noise around 0, with a false-alarm rate that is shared by
    `n_tests` such tests."""
    if not values.size or values.max() <= rounding:
        return False
    alpha = FALSE_ALARM / max(n_tests, 1)
    if values.min() >= -rounding and 0.5**values.size < alpha:
        return True  # noise around 0 would be negative at least once
    error = max(float(values.std(ddof=1)) if values.size > 1 else 0.0, rounding)
    statistic = float(values.mean()) * np.sqrt(values.size) / error
    return bool(t_distribution.sf(statistic, max(values.size - 1, 1)) < alpha)


def listed(items: list[str]) -> str:
    """The first few items of a list, for a sentence."""
    return ", ".join(items[:LISTED]) + (", …" if len(items) > LISTED else "")

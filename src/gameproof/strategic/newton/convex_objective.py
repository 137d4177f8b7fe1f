"""The convex objective of a strategic problem, which the learner minimises.

With x = (intercept, theta, alpha) in the capped cone and t_i = s z_i - y_i kappa alpha it is

    f(x) + (1/n) sum over the free i of |t_i|
    f(x) = slope alpha + (1/n) sum_i [phi(z_i) + l_i z_i]

An agent is free if its gamma is maximised out: |t| is the largest gamma t. If gamma is given,
gamma_i t_i is part of f, and no agent is free. Agents with a gamma never move, so t is linear in x.
An agent's weight multiplies all of its terms, including |t_i| and gamma_i t_i; in the code, t_i
contains the weight.

Lifting. The scores of agents who move rise by zeta N^q with N = |theta|_{p*} of the movable part.
For p* < 2 the second derivatives of N are unbounded where a coordinate vanishes, and for p* = 1 and
p* = inf N has kinks. Then N is taken of new variables: of u with u_c >= |theta_c|, or, for
p* = inf, of one number u >= |theta_c| for all c. N never decreases in u, and the objective never
decreases in N, so the smallest u is optimal. The variable is v = x, or v = (x, u). Budgets have
variables of their own (`lifts`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.newton.lifts import lifts_of
from gameproof.strategic.newton.objective import Derivatives, Local, Objective, combined, gram, sums
from gameproof.strategic.norms import NormPower, power_of_norm
from gameproof.strategic.robust_objective import RobustObjective

# Agents per block, few enough for their data to fit into the cache.
BLOCK = 4096


class Expansion(NamedTuple):
    """Scores, value, gradient and Hessian at one v. Every free gamma_i is fixed at sign t_i, so the
    value is that of the objective."""

    v: Vector
    z: Vector
    value: float
    gradient: Vector
    hessian: Matrix


class Block(NamedTuple):
    """The data of some agents: derivatives of scores (one column per agent), labels times kappa,
    coefficients l, powers zeta, weights, whether gamma is maximised out, and whether they move."""

    agents: slice
    rows: Matrix
    label: Vector
    linear: Vector
    zeta: Vector
    weights: Vector | float
    free: NDArray[np.bool_]
    moves: NDArray[np.bool_]


class ConvexObjective(Objective):
    """The objective of a problem: with gamma given or maximised out, for all or some agents."""

    def __init__(
        self,
        problem: RobustObjective,
        gamma: Vector | None = None,
        agents: Indices | slice = slice(None),
    ) -> None:
        people, data = problem.population, problem.data
        parts = lifts_of(people)
        rise = np.where(people.y < 0, data.zeta, 0.0) * data.movable.any() * (not parts)
        super().__init__(problem, bool(rise.any()), parts)
        self._given, self._loss = gamma, problem.loss
        labels, own, everyone = people.y[agents], problem.has_gamma[agents], problem.has_gamma
        self.n = labels.size
        self._weights = people.weights[agents] if people.weighted else None
        # One row for the intercept, if there is one, for each feature and for each variable of a
        # budget: rows are contiguous because all sums run over agents.
        self._rows = np.empty((self.alpha, self.n))
        self._rows[: data.start], self._rows[self.theta] = 1.0, people.X[agents].T
        self._add_budgets(np.arange(people.n)[agents], labels < 0)
        self._zeta = rise[agents]
        self._linear, self._slope = np.where(own, 0.0, -data.s * labels), data.slope
        if gamma is None:
            self.free = np.flatnonzero(own)
            # For large alpha, |t| of a free agent is about kappa alpha, so the mean of |t| grows
            # with alpha by kappa times the share of free agents. That share differs between a
            # sample and the population: the slope of alpha corrects for it.
            whole = float((people.weights * everyone).mean())
            self._slope += data.kappa * (whole - float(self._counted(own).mean()))
        else:
            self.free = np.zeros(0, dtype=np.int64)
            self._linear += data.s * np.where(own, gamma[agents], 0.0)
            pulled = people.weights * np.where(everyone, gamma, 0.0) * people.y
            self._slope -= data.kappa * float(pulled.mean())
        self._moves = (labels < 0) & problem.anybody_moves
        self._label, self._is_free = data.kappa * labels, own & (gamma is None)

    def _add_budgets(self, agents: Indices, moves: NDArray[np.bool_]) -> None:
        """Fills the rows of the variables of budgets. They are 0 for agents who do not move."""
        for part, at in self.lifts:
            self._rows[at : at + part.count] = 0.0
            self._rows[at : at + part.count, moves] = part.rows(agents[moves])
            own = part.shifted(self._rows[self.theta, moves], agents[moves])
            self._rows[self.theta, moves] = own

    def blocks(self) -> Iterator[Block]:
        """All agents, in blocks that fit into the cache."""
        for start in range(0, self.n, BLOCK):
            b = slice(start, start + BLOCK)
            weights = 1.0 if self._weights is None else self._weights[b]
            yield Block(
                b,
                self._rows[:, b],
                self._label[b],
                self._linear[b],
                self._zeta[b],
                weights,
                self._is_free[b],
                self._moves[b],
            )

    def power_at(self, v: Vector) -> float:
        """The rise of the score of an agent of power 1."""
        return self.power_derivatives(v).value if self.moves else 0.0

    def sample(self, number: int) -> ConvexObjective:
        """The objective of a sample of about this many agents, spread by the golden ratio: evenly,
        and without a period that the data may share."""
        total = self.problem.population.n
        golden = (np.sqrt(5.0) - 1) / 2
        places = np.unique((golden * np.arange(number) % 1.0 * total).astype(np.int64))
        return ConvexObjective(self.problem, self._given, places)

    @cached_property
    def pull_rows(self) -> Matrix:  # type: ignore[override]
        return self.some_pull_rows(self.free)

    @cached_property
    def pull_labels(self) -> Vector:  # type: ignore[override]
        return self.some_pull_labels(self.free)

    def some_pull_rows(self, agents: Indices) -> Matrix:
        """`pull_rows` of some agents."""
        rows: Matrix = self._counted(self.data.s * self._rows[:, agents], agents)
        return rows

    def some_pull_labels(self, agents: Indices) -> Vector:
        """`pull_labels` of some agents."""
        labels: Vector = self._counted(self._label[agents], agents)
        return labels

    def pulls_at(self, here: Expansion, agents: Indices) -> Vector:
        """t of some agents, computed exactly as in the expansion, since signs matter."""
        t: Vector = self._pull(here.z[agents], self._label[agents], here.v)
        weighted: Vector = self._counted(t, agents)
        return weighted

    def _pull(self, z: Vector, label: Vector, v: Vector) -> Vector:
        t: Vector = self.data.s * z - label * v[self.alpha]
        return t

    def _counted(self, values: Any, agents: Indices | slice = slice(None)) -> Any:
        """Values times the weights of their agents."""
        return values if self._weights is None else values * self._weights[agents]

    def power_derivatives(self, v: Vector) -> NormPower:
        return power_of_norm(v[self.risers], self.norm, self.data.degree)

    @property
    def risers(self) -> Indices:
        """The coordinates of v whose norm raises scores."""
        return np.arange(self.alpha + 1, self.size) if self.lifted else self.movable

    def at(self, v: Vector) -> Local:
        z = combined(v[: self.alpha], self._rows) + self._zeta * self.power_derivatives(v).value
        terms = self._counted(self._loss.phi(z) + self._linear * z)
        return Local(v, z, float(self._slope * v[self.alpha] + terms.mean()))

    def gradient(self, v: Vector) -> Vector:
        """The gradient of f alone, for methods that need no more."""
        power = self.power_derivatives(v)
        z = combined(v[: self.alpha], self._rows) + self._zeta * power.value
        by_z = self._counted(self._loss.slope(z) + self._linear)
        gradient = np.zeros(self.size)
        gradient[: self.alpha] = sums(self._rows, by_z) / self.n
        gradient[self.alpha] = self._slope
        if self.moves:
            gradient[self.risers] += float((by_z * self._zeta).mean()) * power.gradient
        return gradient

    def derivatives(self, here: Local, bends: Vector, reach: Vector | float = 0.0) -> Derivatives:
        """See `Objective.derivatives`. The curvature of phi is at least its mean over scores within
        `reach`, so that kinks of phi' that a step may cross are taken into account."""
        loss, rows, n, zeta, at = self._loss, self._rows, self.n, self._zeta, self.alpha
        by_z = self._counted(loss.slope(here.z) + self._linear)
        curvature = np.maximum(loss.curvature(here.z), self._mean_curvature(here.z, reach))
        curvature = self._counted(curvature)
        gradient, hessian = np.zeros(self.size), np.zeros((self.size, self.size))
        gradient[:at], gradient[at] = sums(rows, by_z) / n, self._slope
        both = curvature.copy()
        both[self.free] += loss.s**2 * self._counted(self._counted(bends, self.free), self.free)
        hessian[:at, :at] = gram(rows, both) / n
        hessian[at, :at] = -sums(self.pull_rows, bends * self.pull_labels) / n
        hessian[:at, at] = hessian[at, :at]
        hessian[at, at] = float((bends * self.pull_labels**2).sum()) / n
        cross = sums(rows, curvature * zeta) / n
        own = float((curvature * zeta**2).mean())
        push = float((by_z * zeta).mean())
        return self._risen(here.v, Derivatives(gradient, hessian), cross, own, push)

    def _mean_curvature(self, z: Vector, reach: Vector | float) -> Vector:
        width, slope = np.maximum(reach, 1e-6), self._loss.slope
        mean: Vector = (slope(z + width) - slope(z - width)) / (2 * width)
        return mean

    def _risen(
        self, v: Vector, found: Derivatives, cross: Vector, own: float, push: float
    ) -> Derivatives:
        """Adds the terms of agents who move, whose scores also rise by zeta times the power.

        `found` has the derivatives through the features only. cross, own and push are the means of
        phi'' zeta x, of phi'' zeta^2 and of zeta times the derivative in z."""
        if not self.moves:
            return found
        rise, padded, power = np.zeros(self.size), np.zeros(self.size), self.power_derivatives(v)
        rise[self.risers], padded[: self.alpha] = power.gradient, cross
        mixed = np.outer(padded, rise)
        hessian = found.hessian + mixed + mixed.T + own * np.outer(rise, rise)
        hessian[np.ix_(self.risers, self.risers)] += push * power.hessian
        return Derivatives(found.gradient + push * rise, hessian)

    def expand(self, v: Vector, z_before: Vector | None = None) -> Expansion:
        """The expansion at v, in one pass over blocks of agents. If phi' has kinks, the curvature
        is averaged over the change of the scores since `z_before`."""
        z, blocks = np.empty(self.n), range(0, self.n, BLOCK)
        totals = (self._totals(slice(b, b + BLOCK), v, z, z_before) for b in blocks)
        value, by_v, hessian, *rises = (total / self.n for total in reduce(_added, totals))
        by_v[self.alpha] += self._slope
        found = self._risen(v, Derivatives(by_v, hessian), *rises)
        return Expansion(v, z, value + self._slope * v[self.alpha], *found)

    def _totals(self, b: slice, v: Vector, z: Vector, z_before: Vector | None) -> list[Any]:
        """What a block of agents adds to the value, the gradient, the Hessian, and to cross, own
        and push of `_risen`. Overwrites the block's part of z."""
        rows, label, linear, at = self._rows[:, b], self._label[b], self._linear[b], self.alpha
        here = np.einsum("c,cn->n", v[:at], rows, out=z[b])
        if self.moves:
            here += self._zeta[b] * self.power_derivatives(v).value
        phi, slope, curvature = self._loss.terms(here)
        if z_before is not None and self._loss.kinks:
            reach = np.abs(here - z_before[b])
            curvature = np.maximum(curvature, self._mean_curvature(here, reach))
        t = self._pull(here, label, v)
        gamma = np.sign(t) * self._is_free[b]
        by_z = self._counted(slope + linear + self.data.s * gamma, b)
        value = float(self._counted(phi + linear * here + gamma * t, b).sum())
        curvature = self._counted(curvature, b)
        by_v, hessian = np.zeros(self.size), np.zeros((self.size, self.size))
        by_v[:at], by_v[at] = sums(rows, by_z), -float(self._counted(label * gamma, b).sum())
        hessian[:at, :at] = gram(rows, curvature)
        if not self.moves:
            return [value, by_v, hessian, np.zeros(at), 0.0, 0.0]
        zeta = self._zeta[b]
        bent = curvature * zeta
        own, push = float((bent * zeta).sum()), float((by_z * zeta).sum())
        return [value, by_v, hessian, sums(rows, bent), own, push]


def _added(one: list[Any], other: list[Any]) -> list[Any]:
    return [a + b for a, b in zip(one, other, strict=True)]

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
p* = inf N has kinks. Then N is applied to new variables: to u with u_c >= |theta_c|, or, for
p* = inf, to one number u >= |theta_c| for all c. N never decreases in u, and the objective never
decreases in N, so the smallest u is optimal. The variable is v = x, or v = (x, u). Budgets have
variables of their own (`lifts`).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.rows.array_rows import ArrayRows
from gameproof.rows.cores import on_cores
from gameproof.rows.row_blocks import RowBlocks
from gameproof.strategic.newton.agent_blocks import Active, Block, Gamma, Reach
from gameproof.strategic.newton.block_terms import (
    Sums,
    Terms,
    active,
    expanded,
    selected,
    signs,
    turned_labels,
    value_sum,
)
from gameproof.strategic.newton.lifts import lifts_of
from gameproof.strategic.newton.objective import Derivatives, Local, Objective
from gameproof.strategic.newton.score_rows import ScoreRows
from gameproof.strategic.norms import NormPower
from gameproof.strategic.robust_parameters import RobustParameters

# The rows of a large product that one core computes, and the entries from which that pays.
SHARE, LARGE = 1024, 2**17


class Expansion(NamedTuple):
    """Value, gradient and Hessian at one v. Every free gamma_i is fixed at sign t_i, so the value
    is that of the objective.

    `held` is the value and the gradient for another gamma, `typical` the root mean square of t, and
    `moved` that of its change since another point."""

    v: Vector
    value: float
    gradient: Vector
    hessian: Matrix
    held: tuple[float, Vector]
    typical: float
    moved: float


class ConvexObjective(Objective):
    """The objective of a problem: with gamma given or maximised out, for all agents or a sample.

    `rows` are the agents' rows, by default those of the problem's population."""

    def __init__(
        self,
        problem: RobustParameters[Any],
        gamma: Vector | None = None,
        rows: RowBlocks | None = None,
        *,
        sample: bool = False,
    ) -> None:
        people, data = problem.population, problem.data
        parts = lifts_of(people)
        moves = bool(data.reach.any() and data.zeta.any() and not parts)
        super().__init__(problem, moves, parts)
        self._given, self._loss, self._sampled = gamma, problem.loss, sample
        self.rows = problem.rows if rows is None else rows
        self.n = self.rows.n
        self.terms = Terms(
            loss=problem.loss,
            kappa=float(data.kappa),
            flips=problem.flips,
            start=data.start,
            alpha=self.alpha,
            size=self.size,
            lifts=self.lifts,
            strength=data.zeta,
            moves=moves,
            anybody_moves=problem.anybody_moves,
            risers=self.risers,
            norm=self.norm,
            degree=float(data.degree),
            gamma=gamma,
        )
        self._slope = data.slope
        if gamma is not None:
            (turned,) = self.rows.sum(turned_labels, self.terms)
            self._slope -= data.kappa * turned / self.n
        elif sample:
            # For large alpha, |t| of a free agent is about kappa alpha, so the mean of |t| grows
            # with alpha by kappa times the share of free agents. That share differs between a
            # sample and the population: the slope of alpha corrects for it.
            own = float(self._all.counted(self._all.free * 1.0).mean())
            self._slope += data.kappa * (problem.free_share - own)

    def sample(self, number: int) -> ConvexObjective:
        """The objective of a sample of about this many agents, spread by the golden ratio: evenly,
        and without a period that the data may share."""
        golden = (np.sqrt(5.0) - 1) / 2
        places = np.unique((golden * np.arange(number) % 1.0 * self.n).astype(np.int64))
        rows = ArrayRows.of(self.rows.take(places))
        return ConvexObjective(self.problem, self._given, rows, sample=True)

    # --- passes over blocks of agents

    def expand(
        self, v: Vector, before: Vector | None = None, held: Gamma | None = None
    ) -> Expansion:
        """The expansion at v, in one pass. If phi' has kinks, the curvature is averaged over the
        change of the scores since `before`."""
        total = self.rows.sum(expanded, self.terms, v, before, held)
        mean = Sums(*(each / self.n for each in total))
        mean.gradient[self.alpha] += self._slope
        value = mean.value + self._slope * v[self.alpha]
        through_features = Derivatives(mean.gradient, mean.hessian)
        found = self._risen(v, through_features, mean.cross, mean.own, mean.push)
        free = max(self.problem.free_share, 1 / self.n)
        return Expansion(
            v=v,
            value=float(value),
            gradient=found.gradient,
            hessian=found.hessian,
            held=(float(value + mean.held_value), found.gradient + mean.held_gradient),
            typical=float(np.sqrt(mean.squares / free)),
            moved=float(np.sqrt(mean.moved / free)),
        )

    def active(self, v: Vector, reach: Reach, most: float) -> Active | None:
        """The free agents whose t, at v, is within reach of 0; None if they are more than `most`,
        whose rows might fill the memory."""
        parts, number = [], 0
        for few, near in self.rows.map(active, self.terms, v, reach):
            parts.append(few)
            number += near
            if number > most:
                return None
        found = Active.joined(parts)
        size, limit = np.abs(found.t), np.inf
        if size.size > reach.least:
            limit = np.partition(size, reach.least)[reach.least]

        def pulls(u: Vector) -> Vector:
            t: Vector = found.pull_rows @ u[: self.alpha] - found.pull_labels * u[self.alpha]
            return t

        near = reach.includes(size, lambda after, before: pulls(after) - pulls(before))
        return _at_most(most, found.part(near | (size <= limit)))

    def selected(self, v: Vector, agents: Indices) -> Active:
        """The free agents among these, with t at v."""
        return Active.joined(list(self.rows.map(selected, self.terms, v, agents)))

    def everyone(self, gamma: Gamma) -> Vector:
        """gamma of each agent; 0 for agents who are not free."""
        return np.concatenate(list(self.rows.map(signs, self.terms, gamma)))

    def robust_value(self, x: Vector) -> float:
        """The value at x: the largest L(x, .)."""
        v = self.lift(x)
        (total,) = self.rows.sum(value_sum, self.terms, v)
        return float(self._slope * v[self.alpha] + total / self.n)

    # --- all agents at once, for the interior-point method

    @cached_property
    def _all(self) -> Block:
        """The data of all agents."""
        return self.terms.block(self.rows.gathered())

    @cached_property
    def free(self) -> Indices:  # type: ignore[override]
        return np.flatnonzero(self._all.free)

    @property
    def free_agents(self) -> Indices:
        """The places of the free agents in the table."""
        return self._all.places[self.free]

    @cached_property
    def pull_rows(self) -> Matrix:  # type: ignore[override]
        rows: Matrix = self.data.s * self._all.rows.part(self.free).dense()
        return rows if self._all.weights is None else rows * self._all.weights[self.free, None]

    @cached_property
    def pull_labels(self) -> Vector:  # type: ignore[override]
        labels: Vector = self._all.counted(self._all.label)[self.free]
        return labels

    def power_derivatives(self, v: Vector) -> NormPower:
        """The rise of the score of an agent of power 1, with its derivatives."""
        return self.terms.power(v)

    @property
    def risers(self) -> Indices:
        """The coordinates of v whose norm raises scores."""
        return np.arange(self.alpha + 1, self.size) if self.lifted else self.movable

    def at(self, v: Vector) -> Local:
        everyone = self._all
        z = self.terms.scores(everyone, v)
        values = everyone.counted(self._loss.phi(z) + everyone.linear * z)
        return Local(v, z, float(self._slope * v[self.alpha] + values.mean()))

    def gradient(self, v: Vector) -> Vector:
        """The gradient of f alone, for methods that need no more."""
        everyone = self._all
        by_z = everyone.counted(self._loss.slope(self.terms.scores(everyone, v)) + everyone.linear)
        gradient = np.zeros(self.size)
        gradient[: self.alpha] = everyone.rows.weighed(by_z) / self.n
        gradient[self.alpha] = self._slope
        if self.moves:
            push = float((by_z * everyone.zeta).mean())
            gradient[self.risers] += push * self.power_derivatives(v).gradient
        return gradient

    def derivatives(self, here: Local, bends: Vector, reach: Vector | float = 0.0) -> Derivatives:
        """See `Objective.derivatives`. The curvature of phi is at least its mean over scores within
        `reach`, so that kinks of phi' that a step may cross are taken into account."""
        loss, everyone, n, at = self._loss, self._all, self.n, self.alpha
        rows, zeta, counted = everyone.rows, everyone.zeta, everyone.counted
        by_z, near = counted(loss.slope(here.z) + everyone.linear), loss.curvature(here.z)
        curvature = counted(np.maximum(near, self.terms.mean_curvature(here.z, reach)))
        gradient, hessian = np.zeros(self.size), np.zeros((self.size, self.size))
        gradient[:at], gradient[at] = rows.weighed(by_z) / n, self._slope
        both, squared = curvature.copy(), counted(counted(np.ones(n)))
        both[self.free] += loss.s**2 * bends * squared[self.free]
        hessian[:at, :at] = self._gram(rows, both) / n
        hessian[at, :at] = -((bends * self.pull_labels) @ self.pull_rows) / n
        hessian[:at, at] = hessian[at, :at]
        hessian[at, at] = float((bends * self.pull_labels**2).sum()) / n
        found = Derivatives(gradient, hessian)
        if not self.moves:
            return found
        cross, own = rows.weighed(curvature * zeta) / n, float((curvature * zeta**2).mean())
        return self._risen(here.v, found, cross, own, float((by_z * zeta).mean()))

    def _gram(self, rows: ScoreRows, weights: Vector) -> Matrix:
        """rows' diag(weights) rows, on all cores if it is large."""
        n, d = rows.features.shape

        def part(start: int) -> Matrix:
            chosen = slice(start, start + SHARE)
            return rows.part(chosen).gram(weights[chosen])

        total = np.zeros((self.alpha,) * 2)
        cores = None if n * d >= LARGE else 1
        for each in on_cores(part, range(0, n, SHARE), cores):
            total += each
        return total

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


def _at_most(most: float, few: Active) -> Active | None:
    return few if few.agents.size <= most else None

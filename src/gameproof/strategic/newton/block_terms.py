"""What a block of rows adds to the sums of Newton's method.

`Terms` holds the numbers of an objective that all agents share. It contains no rows, so it can be
sent to where the rows are. Its functions of a block are

    expanded        value, gradient and Hessian, and how much t changed since another point
    value_sum       the value alone
    active          the agents whose t may reach 0
    selected        the agents at given places
    signs           gamma
    turned_labels   weight gamma y, if gamma is given
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.rows.row_blocks import Rows, added
from gameproof.strategic.losses.loss import Loss
from gameproof.strategic.newton.agent_blocks import NOBODY, Active, Block, Gamma, Reach
from gameproof.strategic.newton.lift import Lift
from gameproof.strategic.newton.score_rows import ScoreRows
from gameproof.strategic.norms import NormPower, power_of_norm


@dataclass(frozen=True, eq=False)
class Terms:
    """The numbers of an objective that all agents share.

    `gamma` is given (one entry per agent) or maximised out. `strength` has one entry, or one per
    agent; it is 0 unless scores rise by a power."""

    loss: Loss
    kappa: float
    flips: str
    start: int
    alpha: int
    size: int
    lifts: list[tuple[Lift, int]]
    strength: Vector
    moves: bool
    anybody_moves: bool
    risers: Indices
    norm: float
    degree: float
    gamma: Vector | None = None

    def can_flip(self, y: Vector) -> NDArray[np.bool_]:
        """Whether the adversary may flip these labels."""
        return y > 0 if self.flips == "one-way" else np.full(y.size, self.flips == "both")

    def block(self, rows: Rows) -> Block:
        """The data of these rows."""
        y, s = rows.y, self.loss.s
        can_flip = self.can_flip(y)
        linear = np.where(can_flip, 0.0, -s * y)
        if self.gamma is not None:
            linear += s * np.where(can_flip, self.gamma[rows.places], 0.0)
        zeta: Vector | float = 0.0
        if self.moves:
            own = self.strength if self.strength.size == 1 else self.strength[rows.places]
            zeta = np.where(y < 0, own, 0.0)
        return Block(
            rows.places,
            self._score_rows(rows),
            self.kappa * y,
            linear,
            zeta,
            rows.weights,
            can_flip if self.gamma is None else np.zeros(y.size, dtype=bool),
            (y < 0) & self.anybody_moves,
        )

    def _score_rows(self, rows: Rows) -> ScoreRows:
        """The derivatives of scores. Those in variables of budgets are 0 for agents who do not
        move."""
        features, own = rows.X, np.zeros((rows.y.size, self._place.max(initial=-1) + 1))
        movers = np.flatnonzero(rows.y < 0) if self.lifts else NOBODY
        if movers.size and any(lift.shifts for lift, _ in self.lifts):
            features = features.copy()
        for lift, columns, numbers in self._parts if movers.size else ():
            agents, given = rows.places[movers], None
            if rows.own is not None and lift.own_count:
                given = rows.own[movers, numbers]
            own[movers, columns] = lift.rows(agents, given)[: columns.stop - columns.start].T
            if lift.shifts:
                features[movers] = lift.shifted(features[movers].T, agents, given).T
        return ScoreRows(self.start, features, own, self._place)

    @cached_property
    def _parts(self) -> list[tuple[Lift, slice, slice]]:
        """The parts of a budget, with their columns among those that differ, and with the numbers
        of an agent that they depend on."""
        found, column, number = [], 0, 0
        for lift, _ in self.lifts:
            width = 1 if lift.same_columns else lift.count
            columns, numbers = slice(column, column + width), slice(number, number + lift.own_count)
            found.append((lift, columns, numbers))
            column, number = columns.stop, numbers.stop
        return found

    @cached_property
    def _place(self) -> Indices:
        """For each variable of a budget, its column among those that differ."""
        places = [
            np.minimum(np.arange(columns.start, columns.start + lift.count), columns.stop - 1)
            for lift, columns, _ in self._parts
        ]
        return np.concatenate([NOBODY, *places])

    def power(self, v: Vector) -> NormPower:
        """The rise of the score of an agent of power 1, with its derivatives."""
        return power_of_norm(v[self.risers], self.norm, self.degree)

    def scores(self, block: Block, v: Vector) -> Vector:
        """z of the agents of a block."""
        z = block.rows.times(v[: self.alpha])
        if self.moves:
            z += block.zeta * self.power(v).value
        return z

    def pulls(self, block: Block, z: Vector, v: Vector) -> Vector:
        """t of the agents of a block, without their weights."""
        t: Vector = self.loss.s * z - block.label * v[self.alpha]
        return t

    def blocks(self, rows: Rows) -> Iterator[Block]:
        """The data of these rows, piece by piece."""
        return map(self.block, rows.pieces())

    def mean_curvature(self, z: Vector, reach: Vector | float) -> Vector:
        """The mean of phi'' over scores within reach."""
        width, slope = np.maximum(reach, 1e-6), self.loss.slope
        mean: Vector = (slope(z + width) - slope(z - width)) / (2 * width)
        return mean


class Sums(NamedTuple):
    """Sums over some agents, from which an expansion is made; or their means."""

    value: float
    gradient: Vector
    hessian: Matrix
    # Of agents who move: phi'' zeta x, phi'' zeta^2, and zeta times the derivative in z.
    cross: Vector
    own: float
    push: float
    squares: float  # t^2
    moved: float  # the squared change of t since another point
    # What agents add if they have the gamma that is held.
    held_value: float
    held_gradient: Vector


def expanded(
    rows: Rows, terms: Terms, v: Vector, before: Vector | None, held: Gamma | None
) -> list[Any]:
    """The fields of `Sums` over these rows, with changes of t since `before`, and with the gamma
    of `held`."""
    return added(_piece(block, terms, v, before, held) for block in terms.blocks(rows))


def _piece(
    block: Block, terms: Terms, v: Vector, before: Vector | None, held: Gamma | None
) -> Sums:
    at, s, A, z = terms.alpha, terms.loss.s, block.rows, terms.scores(block, v)
    phi, slope, curvature = terms.loss.terms(z)
    t = terms.pulls(block, z, v)
    changed = 0.0
    if before is not None:
        z_before = terms.scores(block, before)
        if terms.loss.kinks:
            curvature = np.maximum(curvature, terms.mean_curvature(z, np.abs(z - z_before)))
        change = block.counted(t - terms.pulls(block, z_before, before))[block.free]
        changed = float(change @ change)
    gamma = np.sign(t) * block.free
    by_z = block.counted(slope + block.linear + s * gamma)
    value = float(block.counted(phi + block.linear * z + gamma * t).sum())
    curvature = block.counted(curvature)
    by_v, hessian = np.zeros(terms.size), np.zeros((terms.size, terms.size))
    by_v[:at], by_v[at] = A.weighed(by_z), -float(block.counted(block.label * gamma).sum())
    hessian[:at, :at] = A.gram(curvature)
    cross, own, push = np.zeros(at), 0.0, 0.0
    if terms.moves:
        bent = curvature * block.zeta
        cross, own, push = A.weighed(bent), float(bent @ block.zeta), float(by_z @ block.zeta)
    pulled = block.counted(t)[block.free]
    held_value, held_gradient = _held(block, terms, t, gamma, held)
    return Sums(
        value=value,
        gradient=by_v,
        hessian=hessian,
        cross=cross,
        own=own,
        push=push,
        squares=float(pulled @ pulled),
        moved=changed,
        held_value=held_value,
        held_gradient=held_gradient,
    )


def _held(
    block: Block, terms: Terms, t: Vector, gamma: Vector, held: Gamma | None
) -> tuple[float, Vector]:
    """What a change from sign t to the gamma of `held` adds to value and gradient."""
    by_v = np.zeros(terms.size)
    where, values = (NOBODY, np.zeros(0)) if held is None else held.within(block.places)
    if not where.size:
        return 0.0, by_v
    change = values - gamma[where]
    if block.weights is not None:
        change = change * block.weights[where]
    by_v[: terms.alpha] = terms.loss.s * block.rows.part(where).weighed(change)
    by_v[terms.alpha] = -float(change @ block.label[where])
    return float(change @ t[where]), by_v


def active(rows: Rows, terms: Terms, v: Vector, reach: Reach) -> tuple[Active, int]:
    """The free agents of these rows whose t, at v, is within reach of 0, and the `least` nearest
    ones; and how many are within reach."""
    pieces = [_active_piece(block, terms, v, reach) for block in terms.blocks(rows)]
    return Active.joined([few for few, _ in pieces]), sum(near for _, near in pieces)


def _active_piece(block: Block, terms: Terms, v: Vector, reach: Reach) -> tuple[Active, int]:
    def pulls(u: Vector) -> Vector:
        return terms.pulls(block, terms.scores(block, u), u)

    t = block.counted(pulls(v))
    size = np.where(block.free, np.abs(t), np.inf)
    near = reach.includes(size, lambda after, before: block.counted(pulls(after) - pulls(before)))
    near &= block.free
    number = int(near.sum())
    if reach.least < size.size:
        limit = np.partition(size, reach.least)[reach.least]
        near |= (size <= limit) & block.free
    return _chosen(block, terms, t, np.flatnonzero(near)), number


def selected(rows: Rows, terms: Terms, v: Vector, agents: Indices) -> Active:
    """The free agents among these."""
    gamma = Gamma(v, agents, np.zeros(agents.size))
    found = []
    for block in terms.blocks(rows):
        where, _ = gamma.within(block.places)
        t = block.counted(terms.pulls(block, terms.scores(block, v), v))
        found.append(_chosen(block, terms, t, where[block.free[where]]))
    return Active.joined(found)


def _chosen(block: Block, terms: Terms, t: Vector, where: Indices) -> Active:
    weights = 1.0 if block.weights is None else block.weights[where]
    labels = weights * block.label[where]
    pull_rows = (terms.loss.s * block.rows.part(where).dense().T * weights).T
    return Active(block.places[where], pull_rows, labels, t[where])


def signs(rows: Rows, terms: Terms, gamma: Gamma) -> Vector:
    """gamma of each of these rows; 0 for agents who are not free."""
    found = []
    for block in terms.blocks(rows):
        own = block.free * np.sign(terms.pulls(block, terms.scores(block, gamma.v), gamma.v))
        where, values = gamma.within(block.places)
        own[where] = values
        found.append(own)
    return np.concatenate(found)


def value_sum(rows: Rows, terms: Terms, v: Vector) -> list[float]:
    """The sum of phi + l z + |t| over these rows."""
    total = 0.0
    for block in terms.blocks(rows):
        z = terms.scores(block, v)
        t = np.abs(terms.pulls(block, z, v)) * block.free
        total += float(block.counted(terms.loss.phi(z) + block.linear * z + t).sum())
    return [total]


def turned_labels(rows: Rows, terms: Terms) -> list[float]:
    """The sum of weight gamma y over the agents of these rows whose gamma is given."""
    assert terms.gamma is not None
    turned = np.where(terms.can_flip(rows.y), terms.gamma[rows.places], 0.0) * rows.y
    return [float((turned if rows.weights is None else turned * rows.weights).sum())]

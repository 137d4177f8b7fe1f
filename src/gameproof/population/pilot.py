"""The pilot study: which theta to deploy, and whom to ask, to learn how people answer.

A deployment costs more than an answer, so there are few, each answered by several agents. All
features get a coefficient, of sizes that differ by up to a factor of 4: how moves follow them shows
the norm. The second deployment is twice the first: how moves grow shows the degree. Half of those
asked are a panel, asked every time; the others are new each time, so that more people are seen.

Where only one feature moves at a time (norm 1), those that have moved get the smallest coefficients
from then on: the next to move is a new one, or shows that there is none. Where only scores are
seen, one number a deployment, each feature is deployed alone before all are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gameproof.arguments import Indices, Matrix, Vector
from gameproof.population.population import Population
from gameproof.population.responses import Sight

SPREAD = 4.0  # between the largest and the smallest coefficient, in units of the features' scale
SIZES = (0.25, 0.7, 0.9, 0.35)  # of the deployments after the first two, which are 0.5 and 1
ROWS = 10_000  # as many rows as give the features' scale


@dataclass(frozen=True)
class Pilot:
    """What was asked and what came back, one row an answer."""

    thetas: Matrix  # deployments x features
    which: Indices  # the deployment of each answer
    agents: Indices
    own: Matrix  # the agents' own features
    moves: Matrix  # answers x features: b - x; of scores, answers x 1: <b, theta> - <x, theta>
    scores: bool
    floor: float  # moves below it are rounding of floating-point numbers

    def lagged(self, delay: int) -> Pilot:
        """As if people had answered an older theta; answers to none are left out."""
        late = self.only(self.which >= delay)
        return replace(late, which=late.which - delay)

    def of_those_asked_again(self) -> Pilot:
        """The answers of those who were asked more than once."""
        return self.only(np.bincount(self.agents)[self.agents] > 1)

    def only(self, rows: NDArray[np.bool_]) -> Pilot:
        """These answers alone."""
        return replace(
            self,
            which=self.which[rows],
            agents=self.agents[rows],
            own=self.own[rows],
            moves=self.moves[rows],
        )


def run_pilot(
    population: Population, each: int, deployments: int, size: float, alone: bool, seed: int
) -> Pilot:
    """Deploys, asks `each` agents a time, and records; `alone` starts with single features."""
    rng = np.random.default_rng(seed)
    scale = feature_scale(population, rng)
    scores = population.sight < Sight.ANSWERS
    groups = _groups(np.flatnonzero(population.y < 0), each, rng)
    thetas, which, agents, moves = [], [], [], []
    order = _Order(population.d, rng)
    design = _Design(order, scale, size, alone)
    for k in range(deployments):
        theta = design.theta(k)
        asked = next(groups)
        own = population.X[asked]
        if scores:
            moved = (population.scores(theta, asked) - own @ theta)[:, None]
        else:
            moved = population.ask(theta, asked) - own
            order.look(theta, moved)
        thetas.append(theta)
        which.append(np.full(asked.size, k))
        agents.append(asked)
        moves.append(moved)
    everyone = np.concatenate(agents)
    own = population.X[everyone]
    known = np.abs(own).max() * (max(np.abs(t).sum() for t in thetas) if scores else 1.0)
    found = np.concatenate(moves)
    floor = 64 * np.finfo(float).eps * max(float(known), float(np.abs(found).max()))
    return Pilot(np.array(thetas), np.concatenate(which), everyone, own, found, scores, floor)


def feature_scale(population: Population, rng: np.random.Generator) -> Vector:
    """The standard deviation of each feature; of those that do not vary, a typical one."""
    rows = np.arange(population.n)
    if population.n > ROWS:
        rows = np.sort(rng.choice(population.n, ROWS, replace=False))
    spread = population.X[rows].std(axis=0)
    varies = spread > 1e-12 * np.abs(population.X[rows]).max(axis=0, initial=1e-300)
    typical = float(np.median(spread[varies])) if varies.any() else 1.0
    found: Vector = np.where(varies, spread, typical)
    return found


def _groups(movers: Indices, each: int, rng: np.random.Generator) -> Iterator[Indices]:
    """Whom to ask, time after time: the panel, and others in turn."""
    shuffled = rng.permutation(movers)
    panel = shuffled[: each if movers.size <= each else (each + 1) // 2]
    others, at = shuffled[panel.size :], 0
    while True:
        fresh = min(each - panel.size, others.size)
        turn = others[(at + np.arange(fresh)) % max(others.size, 1)]
        at += fresh
        yield np.sort(np.concatenate([panel, turn]))


class _Order:
    """Which features get the large coefficients."""

    def __init__(self, d: int, rng: np.random.Generator) -> None:
        self.rng = rng
        self.ranks: Vector = np.zeros(d)  # below 0: known to move, or not to

    def draw(self) -> Vector:
        """Coefficients with signs, of sizes between 1 and 1/SPREAD."""
        d = self.ranks.size
        priority = np.lexsort((self.rng.random(d), -self.ranks))
        sizes = np.empty(d)
        sizes[priority] = SPREAD ** -np.linspace(0.0, 1.0, d) if d > 1 else 1.0
        signed: Vector = sizes * self.rng.choice([-1.0, 1.0], d)
        return signed

    def look(self, theta: Vector, moves: Matrix) -> None:
        """Where one feature moved alone, it ranks last from now on, and what it beat is out."""
        mean = np.abs(moves.mean(axis=0))
        unsure = 4 * moves.std(axis=0) / np.sqrt(len(moves))
        clear = mean > np.maximum(unsure, 1e-9 * mean.max(initial=1e-300))
        if clear.sum() != 1:
            return
        moved = int(np.argmax(clear))
        self.ranks[np.abs(theta) > np.abs(theta[moved])] = -0.5
        self.ranks[moved] = -1.0


class _Design:
    """The deployments in turn: features alone where asked for, a direction, twice it, others."""

    def __init__(self, order: _Order, scale: Vector, size: float, alone: bool) -> None:
        self.order, self.scale, self.size, self.alone = order, scale, size, alone
        self.first: Vector | None = None

    def theta(self, k: int) -> Vector:
        d = self.scale.size
        if self.alone and k < d:
            single: Vector = np.where(np.arange(d) == k, self.size / self.scale, 0.0)
            return single
        if self.first is None:
            self.first = 0.5 * self._scaled(self.order.draw())
            return self.first
        step = k - d if self.alone else k
        if step == 1:
            return 2 * self.first
        return SIZES[(step - 2) % len(SIZES)] * self._scaled(self.order.draw())

    def _scaled(self, coefficients: Vector) -> Vector:
        """With scores that spread by `size`, for features of this scale."""
        found: Vector = self.size * coefficients / np.linalg.norm(coefficients) / self.scale
        return found

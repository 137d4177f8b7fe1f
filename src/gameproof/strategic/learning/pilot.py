"""The pilot study: which theta to deploy, and whom to ask, to learn how people answer.

A deployment costs more than an answer, so there are few, each answered by several agents
(`pilot_design`). Half of those asked are a panel, asked every time; the others are new each time,
so that more people are seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.learning.pilot_design import Design, Plan
from gameproof.strategic.population import Population
from gameproof.strategic.responses import Sight

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

    def alone(self, feature: int) -> NDArray[np.bool_]:
        """The answers to deployments of this feature and no other."""
        at = self.thetas != 0
        rows: NDArray[np.bool_] = (at[:, feature] & (at.sum(axis=1) == 1))[self.which]
        return rows

    def floor_of(self, feature: int) -> float:
        """The floor of a feature's moves; of scores, where it is deployed alone."""
        if not self.scores:
            return self.floor
        alone = np.abs(self.thetas[self.which[self.alone(feature)], feature])
        return self.floor / float(alone.min(initial=np.inf))

    def only(self, rows: NDArray[np.bool_]) -> Pilot:
        """These answers alone."""
        return replace(
            self,
            which=self.which[rows],
            agents=self.agents[rows],
            own=self.own[rows],
            moves=self.moves[rows],
        )


def run_pilot(population: Population, plan: Plan, size: float, seed: int) -> Pilot:
    """Deploys, asks and records."""
    rng = np.random.default_rng(seed)
    scale = feature_scale(population, rng)
    scores = population.sight < Sight.ANSWERS
    groups = _Groups(np.flatnonzero(population.y < 0), plan.each, rng)
    thetas: list[Vector] = []
    which, agents, moves = [], [], []
    questions = Design(plan, scale, size, rng).questions(scores)
    question = next(questions)
    while True:
        theta, asked = question.theta, groups.next(question.number, question.again)
        own = population.X[asked]
        if scores:
            moved = (population.scores(theta, asked) - own @ theta)[:, None]
        else:
            moved = population.ask(theta, asked) - own
        which.append(np.full(asked.size, len(thetas)))
        thetas.append(theta)
        agents.append(asked)
        moves.append(moved)
        try:
            question = questions.send((asked, moved))
        except StopIteration:
            break
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


class _Groups:
    """Whom to ask, time after time: the panel, and others in turn."""

    def __init__(self, movers: Indices, each: int, rng: np.random.Generator) -> None:
        shuffled = rng.permutation(movers)
        self._first = shuffled[:each]
        self._panel = shuffled[: each if movers.size <= each else (each + 1) // 2]
        self._others, self._at = shuffled[self._panel.size :], 0

    def next(self, number: int, again: bool) -> Indices:
        """As many agents, half of them of the panel or more; or of those asked first."""
        if again:
            return np.sort(self._first[:number])
        others = self._others
        panel = self._panel[: max(number - others.size, (number + 1) // 2)]
        turn = others[(self._at + np.arange(number - panel.size)) % max(others.size, 1)]
        self._at += turn.size
        return np.sort(np.concatenate([panel, turn]))

"""A pilot study as an inquiry: deploy theta, ask a group of agents, record their moves.

A deployment costs more than an answer, so a pilot has few deployments with several answers each
(`pilot_design`). Half of the agents asked are a panel that is asked every time. The others are new
each time, so that more agents are seen.
"""

from __future__ import annotations

import numpy as np

from gameproof.core.arguments import Indices, Vector
from gameproof.strategic.inquiry import Deployment, Inquiry, Replies
from gameproof.strategic.learning.pilot import Pilot
from gameproof.strategic.learning.pilot_design import Design
from gameproof.strategic.learning.pilot_of_replies import moves_of, pilot_of_replies
from gameproof.strategic.learning.pilot_plan import PilotPlan
from gameproof.strategic.population import Population
from gameproof.strategic.responses import Sight

SCALE_ROWS = 10_000  # rows that are enough to estimate the scale of each feature


def run_pilot(population: Population, plan: PilotPlan, size: float, seed: int) -> Inquiry[Pilot]:
    """Deploys, asks and records, as `plan` allows."""
    rng = np.random.default_rng(seed)
    scale = feature_scale(population, rng)
    scores_only = population.sight < Sight.ANSWERS
    groups = _Groups(population.movers, plan.each, rng)
    thetas: list[Vector] = []
    told: list[Replies] = []
    questions = Design(plan, scale, size, rng).questions(scores_only)
    question = next(questions)
    while True:
        theta = question.theta
        replies = yield Deployment(theta, groups.next(question.number, question.again))
        thetas.append(theta)
        told.append(replies)
        try:
            question = questions.send((replies.agents, moves_of(population, theta, replies)))
        except StopIteration:
            return pilot_of_replies(population, thetas, told)


def feature_scale(population: Population, rng: np.random.Generator) -> Vector:
    """The standard deviation of each feature; the median one for features that do not vary."""
    rows = np.arange(population.n)
    if population.n > SCALE_ROWS:
        rows = np.sort(rng.choice(population.n, SCALE_ROWS, replace=False))
    spread = population.X[rows].std(axis=0)
    varies = spread > 1e-12 * np.abs(population.X[rows]).max(axis=0, initial=1e-300)
    typical = float(np.median(spread[varies])) if varies.any() else 1.0
    found: Vector = np.where(varies, spread, typical)
    return found


class _Groups:
    """The agents to ask at each deployment: the panel, and others in rotation."""

    def __init__(self, movers: Indices, each: int, rng: np.random.Generator) -> None:
        shuffled = rng.permutation(movers)
        self._first = shuffled[:each]
        self._panel = shuffled[: each if movers.size <= each else (each + 1) // 2]
        self._others, self._next = shuffled[self._panel.size :], 0

    def next(self, number: int, again: bool) -> Indices:
        """`number` agents, at least half of them from the panel; if `again`, agents who were asked
        at the first deployment."""
        if again:
            return np.sort(self._first[:number])
        others = self._others
        panel = self._panel[: max(number - others.size, (number + 1) // 2)]
        new = others[(self._next + np.arange(number - panel.size)) % max(others.size, 1)]
        self._next += new.size
        return np.sort(np.concatenate([panel, new]))

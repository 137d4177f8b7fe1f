"""Checking a learned model with fresh answers at its own saddle point.

A few agents are asked first, preferably agents who were never asked before. If all of them answer
exactly as predicted, more answers would add little: if a share p of the people deviates, m answers
miss all of them with probability (1 - p)^m. If one deviates, the size of the deviation matters, and
the rest is asked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.auto.simulation import Simulation
from gameproof.strategic.inquiry import Deployment, Inquiry
from gameproof.strategic.learning.fit_tests import EXACT
from gameproof.strategic.population import Population

# Agents asked first, and in all.
FIRST, ALL = 24, 60
# A check passes within this many standard errors, or if risks differ by less than NEAR.
ERRORS, NEAR = 3.0, 1e-3
# Risks are of size 1, so smaller differences are rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class ModelCheck:
    """What fresh answers say about the model's saddle point."""

    number: int  # agents asked
    predicted: float  # the worst-case risk according to the model
    answered: float  # the worst-case risk according to the answers
    error: float  # the standard error of the difference
    ignoring: float  # the worst-case risk of theta = 0
    deviation: float  # how far the mean move is from the model's, relative to it

    @property
    def agrees(self) -> bool:
        """Whether the model predicted the risk."""
        return abs(self.answered - self.predicted) <= max(ERRORS * self.error, NEAR)

    @property
    def useful(self) -> bool:
        """Whether the classifier, by the answers, is no worse than ignoring the data."""
        return self.answered <= self.ignoring + max(ERRORS * self.error, NEAR)

    @property
    def sentence(self) -> str:
        """What was found."""
        difference = abs(self.answered - self.predicted)
        start = f"Fresh answers of {self.number} agents to its saddle point"
        if difference <= ROUNDING and self.error <= ROUNDING:
            return f"{start} give a worst-case risk of {self.answered:.4g}, exactly as predicted."
        verdict = "do not agree with it"
        if difference <= ERRORS * self.error:
            verdict = "agree with it"
        elif self.agrees:
            verdict = f"differ from it by less than {NEAR:g}"
        error = f" ± {self.error:.1g} (one standard error)" if self.error > ROUNDING else ""
        return (
            f"{start} {verdict}: the worst-case risk is {self.answered:.4g}{error}, predicted "
            f"{self.predicted:.4g}."
        )


def check_model(
    model: Simulation, people: Population, seen: Indices, first: int, number: int, seed: int
) -> Inquiry[ModelCheck | None]:
    """Asks `first` agents, and up to `number` if one of them deviates from the model.

    `seen` are the agents who were asked before. Returns None if fewer than two can be asked."""
    problem, saddle = model.problem, model.saddle
    theta, _ = problem.split(saddle.x)
    order = _unseen_first(np.flatnonzero(people.y < 0), seen, seed)[:number]
    if order.size < 2:
        return None
    replies = yield Deployment(theta, np.sort(order[:first]))
    agents, scores = replies.agents, replies.scores(theta)
    expected = problem.population.scores(theta, agents)
    if order.size > first and not _is_exact(scores, expected, people.X[agents], theta):
        replies = yield Deployment(theta, np.sort(order[first:]))
        agents = np.concatenate([agents, replies.agents])
        scores = np.concatenate([scores, replies.scores(theta)])
        expected = problem.population.scores(theta, agents)
    offset, labels = problem.offset(saddle.x), np.full(agents.size, -1.0)
    losses = (problem.loss.value(s + offset, labels) for s in (scores, expected))
    excess = people.weights[agents] * np.subtract(*losses)
    share = float(np.mean(people.y < 0))
    predicted = problem.robust_value(saddle.x)
    rise = float((expected - people.X[agents] @ theta).mean())
    return ModelCheck(
        number=agents.size,
        predicted=predicted,
        answered=predicted + share * float(excess.mean()),
        error=share * float(excess.std(ddof=1)) / np.sqrt(agents.size),
        ignoring=problem.robust_value(np.zeros_like(saddle.x)),
        deviation=_relative_deviation(scores - expected, rise),
    )


def _unseen_first(movers: Indices, seen: Indices, seed: int) -> Indices:
    """The movers in random order, with those who were asked before at the end."""
    shuffled = np.random.default_rng([seed, 1]).permutation(movers)
    order: Indices = shuffled[np.argsort(np.isin(shuffled, seen), kind="stable")]
    return order


def _is_exact(scores: Vector, expected: Vector, features: Matrix, theta: Vector) -> bool:
    """Whether scores are as expected, up to rounding."""
    moved = float(np.abs(expected - features @ theta).max())
    rounding = 64 * np.finfo(float).eps * float((np.abs(features) @ np.abs(theta)).max())
    return float(np.abs(scores - expected).max()) <= max(EXACT * moved, rounding)


def _relative_deviation(errors: Vector, size: float) -> float:
    """How far the mean error may be from 0, relative to `size`.

    If size is 0, nobody should move, and the deviation is 1 if the mean error is more than noise
    and 0 if it is not."""
    mean, margin = abs(float(errors.mean())), 2 * float(errors.std(ddof=1)) / np.sqrt(errors.size)
    return (mean + margin) / abs(size) if size else float(mean > margin)

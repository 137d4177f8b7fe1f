"""Checking a learned model with fresh answers at its own saddle point.

A few agents are asked first, preferably agents who were never asked before. If all of them answer
exactly as predicted, more answers would add little: if a share p of the people deviates, m answers
miss all of them with probability (1 - p)^m. If one deviates, the size of the deviation matters, and
the rest is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.auto.simulation import ModelOfPeople
from gameproof.strategic.inquiry import Deployment, Inquiry, Replies, joined
from gameproof.strategic.learning.fit_tests import EXACT
from gameproof.strategic.population import Population

# Agents asked first, and in all.
FIRST, ALL = 24, 60
# A check passes within this many standard errors, or if risks differ by less than NEAR.
ERRORS, NEAR = 3.0, 1e-3
# Risks are of size 1, so smaller differences are rounding.
ROUNDING = 1e-12
# A relative change of theta that nobody notices.
UNNOTICED = 1e-13


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
        """Whether the classifier, by the answers, is clearly better than ignoring the data."""
        return self.answered < self.ignoring - ERRORS * self.error

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


class CompletedCheck(NamedTuple):
    """A check, and the answers of its last deployment."""

    check: ModelCheck
    theta: Vector
    replies: Replies


def check_model(
    model: ModelOfPeople,
    people: Population,
    *,
    seen: Indices,
    first: int,
    number: int,
    seed: int,
    delay: int = 0,
    doubt: float = 0.0,
) -> Inquiry[CompletedCheck | None]:
    """Asks `first` agents, and up to `number` if one of them deviates from the model.

    `seen` are the agents who were asked before; `doubt` is the standard error of the predicted risk
    itself. People who answer `delay` deployments late are shown the classifier that many times
    before. Returns None if fewer than two can be asked."""
    theta, offset = model.classifier
    order = _unseen_first(people.movers, seen, seed)[:number]
    if order.size < 2:
        return None
    for k in range(delay, 0, -1):
        # A change too small to notice makes each of these a deployment of its own.
        yield Deployment((1 + k * UNNOTICED) * theta, order[:2], offset)
    replies = yield Deployment(theta, np.sort(order[:first]), offset)
    expected = model.by_agent(model.scores(theta), replies.agents)
    exact = _is_exact(replies.scores(theta), expected, people.X[replies.agents], theta)
    if order.size > first and not exact:
        replies = joined(replies, (yield Deployment(theta, np.sort(order[first:]), offset)))
    return CompletedCheck(_judged(model, people, replies, doubt), theta, replies)


def _judged(model: ModelOfPeople, people: Population, replies: Replies, doubt: float) -> ModelCheck:
    """What these answers to the model's saddle point say about it."""
    theta, offset = model.classifier
    problem, agents = model.simulation.problem, replies.agents
    scores, predicted_scores = replies.scores(theta), model.scores(theta)
    losses = problem.loss.value(scores + offset, np.full(agents.size, -1.0))
    predicted_losses = problem.loss.value(
        predicted_scores + offset, np.full(predicted_scores.size, -1.0)
    )
    excess = people.weights[agents] * (losses - model.by_agent(predicted_losses, agents))
    share = float(np.mean(people.y < 0))
    expected = model.by_agent(predicted_scores, agents)
    rise = float((expected - people.X[agents] @ theta).mean())
    sampling = share * float(excess.std(ddof=1)) / np.sqrt(agents.size)
    return ModelCheck(
        number=agents.size,
        predicted=model.risk(model.x),
        answered=model.risk(model.x) + share * float(excess.mean()),
        error=float(np.hypot(sampling, doubt)),
        ignoring=model.risk(np.zeros_like(model.x)),
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

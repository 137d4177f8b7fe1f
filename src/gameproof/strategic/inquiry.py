"""Inquiries: asking people as a conversation that can pause after every deployment.

An inquiry is a generator. It yields a deployment (theta, and whom to ask), is sent the replies, and
continues until it returns what it found. It asks nobody itself and draws every random number from
its seed, so seed and replies determine all of it. `ask_now` answers from a population at once; a
live study answers the same inquiry over days.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple, TypeVar

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.population import Population
from gameproof.strategic.responses import Sight

T = TypeVar("T")


class Deployment(NamedTuple):
    """A theta to deploy, and the agents to ask. All of them have label -1.

    Nobody's answer depends on the intercept, but a classifier in use has one."""

    theta: Vector
    agents: Indices
    intercept: float = 0.0


class Replies(NamedTuple):
    """Who answered a deployment, and how.

    If people stay silent, others may have answered in their place.
    """

    agents: Indices
    answers: Matrix  # one row of features per agent, or one score

    def scores(self, theta: Vector) -> Vector:
        """The scores <b, theta> of the answers."""
        found: Vector = self.answers if self.answers.ndim == 1 else self.answers @ theta
        return found


def joined(one: Replies, other: Replies) -> Replies:
    """The replies to two deployments of the same theta."""
    return Replies(*(np.concatenate(parts) for parts in zip(one, other, strict=True)))


Inquiry = Generator[Deployment, Replies, T]


class AnswerCount:
    """Counts the answers to inquiries."""

    def __init__(self) -> None:
        self.number = 0

    def of(self, inquiry: Inquiry[T]) -> Inquiry[T]:
        """The same inquiry, whose answers are counted."""
        try:
            deployment = next(inquiry)
            while True:
                replies = yield deployment
                self.number += int(replies.agents.size)
                deployment = inquiry.send(replies)
        except StopIteration as end:
            result: T = end.value
            return result


def ask_now(inquiry: Inquiry[T], population: Population) -> T:
    """Answers every deployment of an inquiry from a population, and returns what it found."""
    try:
        deployment = next(inquiry)
        while True:
            deployment = inquiry.send(_asked(population, deployment))
    except StopIteration as end:
        result: T = end.value
        return result


def _asked(population: Population, deployment: Deployment) -> Replies:
    theta, agents = deployment.theta, deployment.agents
    if population.sight < Sight.ANSWERS:
        return Replies(agents, population.scores(theta, agents))
    return Replies(agents, population.ask(theta, agents))

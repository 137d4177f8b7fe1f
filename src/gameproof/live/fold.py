"""`Fold`: the state of a study, as what its method makes of the answers, in order of position.

A fold replays the closed deployments of a ledger. It remembers how far it has come, so that it
reads every deployment once. It is only a cache: a new one comes to the same state.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.live import chain
from gameproof.live.facts import (
    AnswerRow,
    DeploymentRow,
    LedgerError,
    QuestionRow,
    Status,
    exact_bytes,
    exact_numbers,
)
from gameproof.live.ledger import Ledger
from gameproof.live.specification import Specification
from gameproof.live.study_method import Found, StudyMethod
from gameproof.strategic.inquiry import Deployment, Replies
from gameproof.strategic.robust_problem import StrategicProblem

# Another processor may round differently. Larger differences mean another version or other data.
ROUNDING = 1e-8


class Deployed(NamedTuple):
    """A classifier as a deployment stores it."""

    theta: Vector
    intercept: float


def stored_classifier(problem: StrategicProblem, theta: Vector, intercept: float) -> bytes:
    """The exact bits of a classifier; the intercept comes first if there is one."""
    head = [] if problem.intercept is None else [intercept]
    return exact_bytes(np.concatenate([head, theta]))


def read_classifier_bits(problem: StrategicProblem, stored: bytes) -> Deployed:
    """The classifier of `stored_classifier`."""
    numbers = exact_numbers(stored)
    if problem.intercept is None:
        return Deployed(numbers, 0.0)
    return Deployed(numbers[1:], float(numbers[0]))


def replies_by_position(
    questions: Sequence[QuestionRow], used: Sequence[AnswerRow], width: int | None
) -> Replies:
    """The answers to a deployment in order of position: features, or scores without a width."""
    asked = {question.id: question for question in questions}
    ordered = sorted(used, key=lambda answer: asked[answer.question].position)
    agents = np.array([asked[answer.question].agent for answer in ordered], dtype=np.int64)
    numbers = [exact_numbers(answer.body) for answer in ordered]
    shape = (len(ordered),) if width is None else (len(ordered), width)
    return Replies(agents, np.array(numbers).reshape(shape))


@final
class Fold:
    """The method of a study, after all closed deployments of a ledger."""

    def __init__(self, ledger: Ledger, study: int, specification: Specification) -> None:
        self._ledger, self._study = ledger, study
        self._specification, self._problem = specification, specification.problem
        self._method = StudyMethod(specification.problem, specification.settings)
        self._inquiry = self._method.inquiry()
        self.next: Deployment | None = next(self._inquiry, None)
        self.n_deployments = 0
        self.n_answers = 0

    @property
    def phase(self) -> str:
        """What the answers to `next` are for."""
        return self._method.phase

    def found(self) -> Found:
        """What is recommended after the deployments so far."""
        return self._method.found()

    def catch_up(self) -> list[DeploymentRow]:
        """Replays the deployments that were closed since the last call. Returns those that are
        left: the open one, if there is one."""
        rows = self._ledger.deployments(self._study, self.n_deployments)
        while rows and rows[0].closed is not None:
            row = rows.pop(0)
            self._require_same(row)
            self.send(self._replies(row.number))
        return rows

    def send(self, replies: Replies) -> None:
        """Takes the replies to `next`. A deployment that nobody answered ends the study."""
        self.n_deployments += 1
        self.n_answers += replies.agents.size
        if self.next is None or not replies.agents.size:
            self.next = None
            return
        try:
            self.next = self._inquiry.send(replies)
        except StopIteration:
            self.next = None

    def _replies(self, number: int) -> Replies:
        answers = self._ledger.answers(self._study, number)
        used = {answer.id for answer in answers if answer.status is Status.COUNTED}
        if any(answer.status is Status.WITHDRAWN for answer in answers):
            used = self._used_at_closing(number)
        width = None if self._specification.sees_scores else self._problem.population.d
        questions = self._ledger.questions(self._study, number)
        return replies_by_position(questions, [a for a in answers if a.id in used], width)

    def _used_at_closing(self, number: int) -> set[int]:
        """The answers that a closed deployment used, some of which were withdrawn later."""
        for event in self._ledger.events(self._study, [chain.CLOSED]):
            body = json.loads(event.body)
            if body["deployment"] == number:
                return set(body["counted"])
        return set()

    def _require_same(self, row: DeploymentRow) -> None:
        """Raises if the method would have deployed something else."""
        if self.next is not None:
            expected = stored_classifier(self._problem, self.next.theta, self.next.intercept)
            if row.theta == expected or _nearly(row.theta, expected):
                return
        raise LedgerError(
            "replay-differs",
            f"deployment {row.number} does not follow from the answers before it: it was made by "
            "another version of gameproof, or a row was changed; verify() names changed rows",
        )


def _nearly(stored: bytes, expected: bytes) -> bool:
    one, other = exact_numbers(stored), exact_numbers(expected)
    return one.shape == other.shape and np.allclose(one, other, rtol=ROUNDING, atol=ROUNDING)

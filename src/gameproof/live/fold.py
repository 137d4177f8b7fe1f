"""`Fold`: the state of a study, as what its method makes of the answers, in order of position.

A fold replays the closed deployments of a ledger. It remembers how far it has come, so that it
reads every deployment once. It is only a cache: a new one comes to the same state.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
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
# Up to this many deployments are read one by one.
FEW = 4
Used = tuple[DeploymentRow, Sequence[QuestionRow], Sequence[AnswerRow]]


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
    numbers = exact_numbers(b"".join(answer.body for answer in ordered))
    return Replies(agents, numbers if width is None else numbers.reshape(len(ordered), width))


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
        self.asked: Counter[int] = Counter()  # how often each agent was asked

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
        closed = [row for row in rows if row.closed is not None]
        for row, questions, used in self._used(closed):
            self.take(row, questions, used)
        return rows[len(closed) :]

    def take(
        self, row: DeploymentRow, questions: Sequence[QuestionRow], used: Sequence[AnswerRow]
    ) -> None:
        """Takes the answers that a deployment used. One that nobody answered ends the study."""
        self._require_same(row)
        width = None if self._specification.sees_scores else self._problem.population.d
        self.n_deployments += 1
        self.n_answers += len(used)
        self.asked.update(question.agent for question in questions)
        if not used:
            self.next = None
            return
        try:
            self.next = self._inquiry.send(replies_by_position(questions, used, width))
        except StopIteration:
            self.next = None

    def _used(self, rows: Sequence[DeploymentRow]) -> Iterator[Used]:
        """The questions of closed deployments and the answers that they used."""
        questions, answers = self._facts_of(rows)
        withdrawn = [a for found in answers.values() for a in found if a.status is Status.WITHDRAWN]
        at_closing = self._used_at_closing() if withdrawn else {}
        for row in rows:
            kept = at_closing.get(row.number, ())
            there = answers.get(row.number, [])
            used = [
                a
                for a in there
                if a.status is Status.COUNTED or (a.status is Status.WITHDRAWN and a.id in kept)
            ]
            yield row, questions.get(row.number, []), used

    def _facts_of(
        self, rows: Sequence[DeploymentRow]
    ) -> tuple[dict[int, list[QuestionRow]], dict[int, list[AnswerRow]]]:
        """Questions and answers by deployment: of these few, or of all at once."""
        ledger, study = self._ledger, self._study
        if len(rows) <= FEW:
            numbers = [row.number for row in rows]
            return (
                {number: ledger.questions(study, number) for number in numbers},
                {number: ledger.answers(study, number) for number in numbers},
            )
        questions: dict[int, list[QuestionRow]] = {}
        answers: dict[int, list[AnswerRow]] = {}
        place: dict[int, int] = {}
        told = ledger.answers(study)
        for question in ledger.questions(study):
            questions.setdefault(question.deployment, []).append(question)
            place[question.id] = question.deployment
        for answer in told:
            answers.setdefault(place[answer.question], []).append(answer)
        return questions, answers

    def _used_at_closing(self) -> dict[int, set[int]]:
        """The answers that closed deployments used, some of which were withdrawn later."""
        bodies = [json.loads(e.body) for e in self._ledger.events(self._study, [chain.CLOSED])]
        return {body["deployment"]: set(body["counted"]) for body in bodies}

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

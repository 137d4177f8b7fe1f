"""`MemoryLedger`: the contract of `Ledger` in plain Python, for tests and simulations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from threading import Lock, RLock
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar, final

from gameproof.live import chain
from gameproof.live.facts import (
    AnswerRow,
    Counts,
    DeploymentRow,
    EventRow,
    ExposureRow,
    Facts,
    QuestionRow,
    Receipt,
    Status,
    StudyRow,
    digest,
)
from gameproof.live.ledger import Ledger, NextDeployment, is_held
from gameproof.live.refusals import (
    name_taken,
    question_closed,
    same_again,
    unknown_answer,
    unknown_question,
    unknown_study,
)
from gameproof.live.schema import SCHEMA_VERSION

P = ParamSpec("P")
T = TypeVar("T")


class _Lease(NamedTuple):
    """Who holds a question, from when to when."""

    holder: str
    granted: float
    expires: float


NOBODY = _Lease("", 0.0, 0.0)


@dataclass
class _Study:
    """The facts of one study."""

    row: StudyRow
    deployments: list[DeploymentRow] = field(default_factory=list)
    questions: dict[int, QuestionRow] = field(default_factory=dict)
    answers: dict[int, AnswerRow] = field(default_factory=dict)
    leases: dict[int, _Lease] = field(default_factory=dict)
    exposures: list[ExposureRow] = field(default_factory=list)
    events: list[EventRow] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def log(self, kind: str, body: str, now: float) -> EventRow:
        event = chain.linked(self.events[-1] if self.events else None, kind, body, now)
        self.events.append(event)
        return event

    def counted(self, question: int) -> int | None:
        for answer in self.answers.values():
            if answer.question == question and answer.status is Status.COUNTED:
                return answer.id
        return None

    def is_open(self, question: QuestionRow) -> bool:
        """Whether an answer to this question can count, if there is none yet."""
        closed = self.deployments[question.deployment].closed is not None
        return not closed and not self.is_replaced(question)

    def is_replaced(self, question: QuestionRow) -> bool:
        """Whether another person is asked at the same position."""
        return any(
            other.attempt > question.attempt
            for other in self.questions.values()
            if (other.deployment, other.position) == (question.deployment, question.position)
        )


def _whole(
    method: Callable[Concatenate[MemoryLedger, P], T],
) -> Callable[Concatenate[MemoryLedger, P], T]:
    """A method during which no other one runs."""

    @wraps(method)
    def alone(self: MemoryLedger, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._lock:
            return method(self, *args, **kwargs)

    return alone


@final
class MemoryLedger(Ledger):
    """A ledger that is gone when its process ends."""

    def __init__(self) -> None:
        self._studies: list[_Study] = []
        self._lock = RLock()
        self._last_id = 0

    def _new_id(self) -> int:
        self._last_id += 1
        return self._last_id

    @_whole
    def create(self, name: str, specification: str, fingerprint: str, now: float) -> StudyRow:
        if name in self.names():
            raise name_taken(name)
        row = StudyRow(
            len(self._studies), name, specification, fingerprint, SCHEMA_VERSION, float(now)
        )
        study = _Study(row)
        study.log(chain.CREATED, chain.created_body(row), float(now))
        self._studies.append(study)
        return row

    @_whole
    def study(self, name: str) -> StudyRow:
        for study in self._studies:
            if study.row.name == name:
                return study.row
        raise unknown_study(name, self.names())

    @_whole
    def names(self) -> list[str]:
        return sorted(study.row.name for study in self._studies)

    @_whole
    def available(self, study: int, limit: int, holder: str, now: float) -> list[QuestionRow]:
        own, free = [], []
        facts = self._studies[study]
        for question in self.questions(study):
            if not facts.is_open(question) or facts.counted(question.id) is not None:
                continue
            lease = facts.leases.get(question.id, NOBODY)
            if lease.holder == holder:
                own.append(question)
            elif not is_held(lease.granted, lease.expires, now):
                free.append(question)
        return (own + free)[:limit]

    @_whole
    def lease(
        self, study: int, limit: int, holder: str, until: float, now: float
    ) -> list[QuestionRow]:
        facts, chosen = self._studies[study], self.available(study, limit, holder, now)
        shown = {(each.question, each.holder) for each in facts.exposures}
        for question in chosen:
            facts.leases[question.id] = _Lease(holder, now, until)
            if (question.id, holder) not in shown:
                facts.exposures.append(ExposureRow(question.id, holder, now))
        return chosen

    @_whole
    def replace_silent(self, study: int, question: int, agent: int, now: float) -> QuestionRow:
        facts = self._studies[study]
        old = facts.questions.get(question)
        if old is None:
            raise unknown_question(question)
        if not facts.is_open(old) or facts.counted(question) is not None:
            raise question_closed(question)
        new = old._replace(id=self._new_id(), attempt=old.attempt + 1, agent=int(agent))
        facts.questions[new.id] = new
        facts.log(chain.REPLACED, chain.replaced_body(old, new), now)
        return new

    @_whole
    def tell(self, study: int, question: int, key: str, body: bytes, now: float) -> Receipt:
        facts = self._studies[study]
        for answer in facts.answers.values():
            if answer.key == key:
                return same_again(answer, question, body)
        if question not in facts.questions:
            raise unknown_question(question)
        status = Status.COUNTED
        if not facts.is_open(facts.questions[question]):
            status = Status.LATE
        elif facts.counted(question) is not None:
            status = Status.CONFLICT
        answer = AnswerRow(
            self._new_id(), question, key, bytes(body), digest(body), status, float(now)
        )
        facts.answers[answer.id] = answer
        if status is Status.LATE:
            facts.log(chain.LATE, chain.late_body(answer), now)
        return Receipt(answer.id, status)

    @_whole
    def withdraw(self, study: int, answer: int, reason: str, now: float) -> None:
        facts = self._studies[study]
        if answer not in facts.answers:
            raise unknown_answer(answer)
        if facts.answers[answer].status is Status.WITHDRAWN:
            return
        facts.answers[answer] = facts.answers[answer]._replace(status=Status.WITHDRAWN)
        facts.log(chain.WITHDRAWN, chain.withdrawn_body(facts.answers[answer], reason), now)

    @_whole
    def advance(
        self,
        study: int,
        closing: int | None,
        counted: Sequence[int],
        opening: NextDeployment | None,
        now: float,
    ) -> bool:
        facts = self._studies[study]
        last = len(facts.deployments) - 1 if facts.deployments else None
        if closing != last or (last is not None and facts.deployments[last].closed is not None):
            return False
        if closing is not None:
            there = self.answers(study, closing)
            if sorted(a.id for a in there if a.status is Status.COUNTED) != sorted(counted):
                return False
            facts.deployments[closing] = facts.deployments[closing]._replace(closed=float(now))
            new = [answer for answer in there if answer.status is not Status.LATE]
            shown = self.exposures(study, closing)
            facts.log(chain.CLOSED, chain.closed_body(closing, counted, new, shown), now)
        if opening is not None:
            self._open(facts, opening, now)
        return True

    def _open(self, facts: _Study, opening: NextDeployment, now: float) -> None:
        number, theta = len(facts.deployments), bytes(opening.theta)
        facts.deployments.append(DeploymentRow(number, theta, digest(theta), float(now), None))
        rows = [
            QuestionRow(self._new_id(), number, position, 0, int(agent))
            for position, agent in enumerate(opening.agents)
        ]
        facts.questions |= {row.id: row for row in rows}
        facts.log(chain.DEPLOYED, chain.deployed_body(number, theta, rows), now)

    @contextmanager
    def advancing(self, study: int) -> Iterator[bool]:
        lock = self._studies[study].lock
        held = lock.acquire(blocking=False)
        try:
            yield held
        finally:
            if held:
                lock.release()

    @_whole
    def deployments(self, study: int, first: int = 0) -> list[DeploymentRow]:
        return self._studies[study].deployments[first:]

    @_whole
    def newest(self, study: int) -> DeploymentRow | None:
        rows = self._studies[study].deployments
        return rows[-1] if rows else None

    @_whole
    def questions(self, study: int, deployment: int | None = None) -> list[QuestionRow]:
        found = self._studies[study].questions.values()
        chosen = [q for q in found if deployment is None or q.deployment == deployment]
        return sorted(chosen, key=lambda q: (q.deployment, q.position, q.attempt))

    @_whole
    def answers(self, study: int, deployment: int | None = None) -> list[AnswerRow]:
        facts = self._studies[study]
        return [
            answer
            for answer in facts.answers.values()
            if deployment is None or facts.questions[answer.question].deployment == deployment
        ]

    @_whole
    def exposures(self, study: int, deployment: int | None = None) -> list[ExposureRow]:
        facts = self._studies[study]
        return [
            shown
            for shown in facts.exposures
            if deployment is None or facts.questions[shown.question].deployment == deployment
        ]

    @_whole
    def events(self, study: int, kinds: Sequence[str] | None = None) -> list[EventRow]:
        return [e for e in self._studies[study].events if kinds is None or e.kind in kinds]

    @_whole
    def facts(self, study: int) -> Facts:
        return Facts(
            self.deployments(study),
            self.questions(study),
            self.answers(study),
            self.exposures(study),
            self.events(study),
        )

    @_whole
    def counts(self, study: int, now: float) -> Counts:
        facts = self._studies[study]
        by_status = Counter(answer.status for answer in facts.answers.values())
        answered = {a.question for a in facts.answers.values() if a.status is Status.COUNTED}
        empty = [q for q in facts.questions.values() if q.id not in answered]
        pending = [q.id for q in empty if facts.is_open(q)]
        replaced = [q for q in facts.questions.values() if facts.is_replaced(q)]
        withdrawn = {a.question for a in facts.answers.values() if a.status is Status.WITHDRAWN}
        closed = [q for q in empty if facts.deployments[q.deployment].closed is not None]
        return Counts(
            deployments=len(facts.deployments),
            questions=len(facts.questions),
            counted=by_status[Status.COUNTED],
            late=by_status[Status.LATE],
            conflicts=by_status[Status.CONFLICT],
            withdrawn=by_status[Status.WITHDRAWN],
            pending=len(pending),
            leased=sum(is_held(*facts.leases.get(q, NOBODY)[1:], now) for q in pending),
            replaced=len(replaced),
            unanswered=sum(not facts.is_replaced(q) and q.id not in withdrawn for q in closed),
        )

    @_whole
    def note(self, study: int, kind: str, body: str, now: float) -> EventRow:
        return self._studies[study].log(kind, body, now)

"""`Fold`: the state of a study, which its method computes from the answers in order of position.

A fold replays the closed deployments of a ledger. It remembers how far it has come, so that it
reads every deployment once. It is only a cache: a new fold reaches the same state.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import final

from gameproof.core.errors import StateFileError
from gameproof.live import chain
from gameproof.live.checkpoint import Checkpoint, FactsDigest, from_bytes, to_bytes
from gameproof.live.facts import (
    AnswerRow,
    AtDeployment,
    DeploymentRow,
    LedgerError,
    QuestionRow,
    Status,
    by_deployment,
)
from gameproof.live.ledger import Ledger
from gameproof.live.row_contents import (
    replies_by_position,
    same_up_to_rounding,
    stored_classifier,
)
from gameproof.live.specification import Specification
from gameproof.live.study_method import BestSoFar, MethodProgress, StudyMethod
from gameproof.strategic.inquiry import Deployment

# Up to this many deployments are read one by one.
FEW = 4
# A checkpoint is stored after this many processor seconds.
WORTH_KEEPING = 0.25
Used = tuple[DeploymentRow, Sequence[QuestionRow], Sequence[AnswerRow]]


@final
class Fold:
    """The method of a study, after all closed deployments of a ledger."""

    def __init__(self, ledger: Ledger, study: int, specification: Specification) -> None:
        self._ledger, self._study = ledger, study
        self._specification, self._problem = specification, specification.problem
        self._begin(None)

    @cached_property
    def _text(self) -> str:
        """What the study is."""
        return self._specification.to_json()

    def _begin(self, progress: MethodProgress | None) -> None:
        """Begins at the first question, or after some progress."""
        self._method = StudyMethod(self._problem, self._specification.settings)
        self._inquiry = self._method.inquiry(progress)
        self.next: Deployment | None = next(self._inquiry, None)
        self.n_deployments = 0
        self.n_answers = 0
        self.asked: Counter[int] = Counter()  # how often each agent was asked
        self._told, self._since = FactsDigest(), 0.0

    @property
    def phase(self) -> str:
        """What the answers to `next` are for."""
        return self._method.phase

    def found(self) -> BestSoFar:
        """What is recommended after the deployments so far."""
        return self._method.found()

    def catch_up(self) -> list[DeploymentRow]:
        """Replays the deployments that were closed since the last call. Returns those that are
        left: the open one, if there is one."""
        rows = self._ledger.deployments(self._study, self.n_deployments)
        closed = [row for row in rows if row.closed is not None]
        left = rows[len(closed) :]
        used = self._used(closed)
        if not self.n_deployments and len(closed) > FEW:
            used = self._after_checkpoint(list(used), left)
        for each in used:
            self.take(*each)
        return left

    def _after_checkpoint(self, used: list[Used], left: list[DeploymentRow]) -> Iterator[Used]:
        """What is left to replay after the checkpoint, if there is one that follows from the
        facts."""
        saved = self._checkpoint()
        if saved is not None and FEW < saved.n_deployments <= len(used):
            skipped, rest = used[: saved.n_deployments], used[saved.n_deployments :]
            told = FactsDigest()
            for each in skipped:
                told.add(*each)
            if told.value() == saved.facts and self._resumes(saved.progress, skipped, rest, left):
                for _, questions, answers in skipped:
                    self._count(questions, answers)
                self._told = told
                return iter(rest)
        return iter(used)

    def _checkpoint(self) -> Checkpoint | None:
        stored = self._ledger.checkpoint(self._study)
        return None if stored is None else from_bytes(stored, self._text)

    def _resumes(
        self,
        progress: MethodProgress,
        skipped: Sequence[Used],
        rest: Sequence[Used],
        left: Sequence[DeploymentRow],
    ) -> bool:
        """Resumes after some progress. If what follows is not what was deployed, begins anew."""
        try:
            self._begin(progress)
            following = [each[0] for each in rest] or list(left)
            if following:
                self._require_same(following[0])
            elif progress.risk is not None:
                self._require_classifier(skipped[-1][0])
        except (LedgerError, ValueError, StateFileError):
            self._begin(None)
            return False
        return True

    def _require_classifier(self, row: DeploymentRow) -> None:
        """Raises if the recommended classifier is not the one that the last answers were given
        to."""
        x = self.found().x
        theta, offset = self._problem.split(x)[0], self._problem.offset(x)
        if row.theta != stored_classifier(self._problem, theta, offset):
            raise self._differs(row)

    def keep(self) -> None:
        """Stores a checkpoint if a replay would take long by now."""
        progress = self._method.progress
        if self._since < WORTH_KEEPING or progress is None:
            return
        self._since = 0.0
        checkpoint = Checkpoint(self.n_deployments, self._told.value(), progress)
        content = to_bytes(checkpoint, self._text)
        self._ledger.keep_checkpoint(self._study, content)

    def take(
        self, row: DeploymentRow, questions: Sequence[QuestionRow], used: Sequence[AnswerRow]
    ) -> None:
        """Takes the answers that a deployment used. One that nobody answered ends the study."""
        self._require_same(row)
        began = time.thread_time()
        width = None if self._specification.sees_scores else self._problem.population.d
        self._count(questions, used)
        self._told.add(row, questions, used)
        if not used:
            self.next = None
            return
        try:
            self.next = self._inquiry.send(replies_by_position(questions, used, width))
        except StopIteration:
            self.next = None
        self._since += time.thread_time() - began

    def _count(self, questions: Sequence[QuestionRow], used: Sequence[AnswerRow]) -> None:
        self.n_deployments += 1
        self.n_answers += len(used)
        self.asked.update(question.agent for question in questions)

    def _used(self, rows: Sequence[DeploymentRow]) -> Iterator[Used]:
        """The questions of closed deployments and the answers that they used."""
        facts = self._facts_of(rows)
        told = [answer.status for each in facts.values() for answer in each.answers]
        at_closing = self._used_at_closing() if Status.WITHDRAWN in told else {}
        for row in rows:
            kept = at_closing.get(row.number, ())
            questions, answers = facts[row.number]
            used = [
                a
                for a in answers
                if a.status is Status.COUNTED or (a.status is Status.WITHDRAWN and a.id in kept)
            ]
            yield row, questions, used

    def _facts_of(self, rows: Sequence[DeploymentRow]) -> dict[int, AtDeployment]:
        """Questions and answers by deployment: of these few, or of all at once."""
        ledger, study = self._ledger, self._study
        if len(rows) > FEW:
            answers = ledger.answers(study)  # before the questions, so that none is missing
            return by_deployment(ledger.questions(study), answers)
        numbers = [row.number for row in rows]
        return {
            k: AtDeployment(ledger.questions(study, k), ledger.answers(study, k)) for k in numbers
        }

    def _used_at_closing(self) -> dict[int, set[int]]:
        """The answers that closed deployments used, some of which were withdrawn later."""
        bodies = [json.loads(e.body) for e in self._ledger.events(self._study, [chain.CLOSED])]
        return {body["deployment"]: set(body["counted"]) for body in bodies}

    def _require_same(self, row: DeploymentRow) -> None:
        """Raises if the method would have deployed something else."""
        if self.next is not None:
            expected = stored_classifier(self._problem, self.next.theta, self.next.intercept)
            if len(row.theta) == len(expected) and same_up_to_rounding([row.theta], expected).all():
                return
        raise self._differs(row)

    @staticmethod
    def _differs(row: DeploymentRow) -> LedgerError:
        return LedgerError(
            "replay-differs",
            f"deployment {row.number} does not follow from the answers before it: it was made by "
            "another version of gameproof, or a row was changed; verify() names changed rows",
        )

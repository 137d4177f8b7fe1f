"""`Study`: a study with real people, as a fold of their answers.

The state of a study is what its method computes from the counted answers, in order of deployment
and position. Nothing else is remembered: a process that opens the study replays the answers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Any, Self, final

from numpy.typing import ArrayLike

from gameproof.core.arguments import Vector, as_count, as_positive
from gameproof.core.errors import GameproofError
from gameproof.live.advance import PAUSED, PHASE, RESUMED
from gameproof.live.chain import as_json
from gameproof.live.facts import LedgerError, QuestionRow, Receipt, Status, StudyRow, digest
from gameproof.live.given import answer_body, given_id, given_text, storable
from gameproof.live.learnt import Learnt
from gameproof.live.ledger import Ledger, Told
from gameproof.live.reports import (
    LiveDeployment,
    LiveQuestion,
    Recommendation,
    StudyStatus,
    recommendation_sentence,
    study_status,
)
from gameproof.live.row_contents import read_classifier_bits
from gameproof.live.specification import Specification
from gameproof.live.study_frames import (
    answer_frame,
    deployment_frame,
    fact_frames,
)
from gameproof.live.study_state import StudyState
from gameproof.live.study_table import StudyTable
from gameproof.live.verify import verify

HOUR = 3600.0
# Answers in one transaction. Others who tell wait for it.
MOST_TOGETHER = 500


@final
class Study:
    """A study with real people. `create` and `open` make one.

    Any number of processes may ask and tell at once. Whoever calls `ask` or `advance` also advances
    the study, if nobody else is doing so. Threads may share a study.

    Attributes
    ----------
    name, id : str, int
        The study's name, and its number in its ledger.
    problem : StrategicProblem
        The people, the loss and the adversary.
    settings : Settings
        How the study asks.
    specification : Specification
        Everything that the study needs besides its answers.
    """

    def __init__(
        self,
        ledger: Ledger,
        row: StudyRow,
        specification: Specification,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.name, self.problem = row.name, specification.problem
        self.settings = specification.settings
        self.ledger, self._row, self.id = ledger, row, row.id
        self.specification, self._clock = specification, clock
        self._state = StudyState(ledger, row.id, specification)
        self._learnt, self._learnt_alone = Learnt(ledger, row.id, specification), Lock()
        self._agents: dict[int, int] = {}  # of questions, as far as they were looked up

    def __repr__(self) -> str:
        return f"Study({self.name!r}, {self.settings.method_name}, {self.problem.name})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @cached_property
    def table(self) -> StudyTable | None:
        """The columns of the study's table; None without a table."""
        stored = self.specification.table
        return None if stored is None else StudyTable.from_json(stored)

    @property
    def sees_scores(self) -> bool:
        """Whether answers are scores instead of features."""
        return self.specification.sees_scores

    @property
    def answer_names(self) -> list[str]:
        """The columns of an answer in `history`, in order."""
        return ["score"] if self.sees_scores else self._numbered("x")

    def _numbered(self, letter: str) -> list[str]:
        """A column for each feature, with its name in a study of a table: "x3: savings"."""
        if self.table is None:
            return [f"{letter}{c}" for c in range(self.problem.population.d)]
        return [f"{letter}{c}: {name}" for c, name in enumerate(self.table.template.names)]

    def with_clock(self, clock: Callable[[], float]) -> Study:
        """The same study by another clock, for simulations and tests."""
        other = Study(self.ledger, self._row, self.specification, clock)
        other._state = self._state
        other._learnt, other._learnt_alone = self._learnt, self._learnt_alone
        return other

    # --- asking

    @property
    def deployment(self) -> LiveDeployment | None:
        """The current deployment; None if the study is finished."""
        row = self.ledger.newest(self.id)
        if row is None or row.closed is not None:
            return None
        theta, intercept = read_classifier_bits(self.problem, row.theta)
        questions = self.ledger.questions(self.id, row.number)
        answers = self.ledger.answers(self.id, row.number)
        return LiveDeployment(
            number=row.number,
            theta=theta,
            intercept=intercept,
            phase=self._phase(),
            opened=row.opened,
            n_questions=sum(question.attempt == 0 for question in questions),
            n_answered=sum(answer.status is Status.COUNTED for answer in answers),
            model=self._model(theta, intercept),
        )

    def ask(
        self,
        limit: int = 1,
        holder: str = "anybody",
        lease: float = HOUR,
        *,
        advance: bool = True,
    ) -> list[LiveQuestion]:
        """Up to `limit` open questions, leased to `holder` for `lease` seconds.

        Nobody else is given them meanwhile; the same holder gets its questions again. The list is
        empty if the study is paused or finished, or if others hold all open questions. The study
        advances first if there are fewer than `limit` open questions, unless `advance` is False."""
        number, seconds = as_count("limit", limit), as_positive("lease", lease)
        holder = given_text("holder", holder)
        if self._is_paused():
            return []
        # Advancing may replace silent people, so it comes before anybody is shown a question.
        if advance and len(self._available(number, holder)) < number:
            self.advance()
        now = self._clock()
        rows = self.ledger.lease(self.id, number, holder, now + seconds, now)
        if not rows:
            return []
        [deployed] = {row.deployment for row in rows}
        stored = self.ledger.deployments(self.id, deployed)[0].theta
        theta, intercept = read_classifier_bits(self.problem, stored)
        return [self._question(row, theta, intercept, now + seconds) for row in rows]

    def _available(self, limit: int, holder: str) -> list[QuestionRow]:
        return self.ledger.available(self.id, limit, holder, self._clock())

    def _question(
        self, row: QuestionRow, theta: Vector, intercept: float, expires: float
    ) -> LiveQuestion:
        person = self.person(row.agent)
        place = (row.deployment, row.position, row.attempt)
        return LiveQuestion(row.id, row.agent, person, theta, intercept, *place, expires)

    def person(self, agent: int) -> str:
        """Who the row of this index is: the value in the table's key column, or the index."""
        return str(agent) if self.table is None else self.table.person(agent)

    # --- telling

    def tell(
        self, question_id: int, answer: ArrayLike | Mapping[str, Any], key: str | None = None
    ) -> Receipt:
        """Stores an answer: the reported features, or a score if the study sees scores only.

        In a study of a table, a mapping from columns to values is also accepted. When this method
        returns, the answer is on disk. The same key and answer again return the same receipt.
        Without a key, the answer itself is the key.

        Raises AnswerError if the answer has the wrong form, and LedgerError "unknown-question" or
        "key-reused". Nothing is stored then."""
        return self.ledger.tell(self.id, *self._told(question_id, answer, key), self._clock())

    def tell_many(
        self, answers: Iterable[tuple[int, ArrayLike | Mapping[str, Any], str | None]]
    ) -> list[Receipt | GameproofError | ValueError]:
        """Stores (question, answer, key) as if they were told one after the other, but faster.

        Gives a receipt for each answer, or the error with which `tell` would refuse it. When this
        method returns, all answers with a receipt are on disk."""
        replies: list[Receipt | GameproofError | ValueError | None] = []
        valid: list[Told] = []
        for each in answers:
            try:
                valid.append(self._told(*each))
                replies.append(None)
            except (GameproofError, ValueError) as error:
                replies.append(error)
        stored = iter(self._stored(valid))
        return [next(stored) if reply is None else reply for reply in replies]

    def _stored(self, valid: Sequence[Told]) -> Iterator[Receipt | LedgerError]:
        for start in range(0, len(valid), MOST_TOGETHER):
            part = valid[start : start + MOST_TOGETHER]
            yield from self.ledger.tell_many(self.id, part, self._clock())

    def _told(
        self, question_id: int, answer: ArrayLike | Mapping[str, Any], key: str | None = None
    ) -> Told:
        """An answer as the ledger stores it."""
        question = given_id("question_id", question_id)
        body = answer_body(self.specification, self.table, question, answer, self.features_of)
        key = f"question {question}: {digest(body)}" if key is None else given_text("key", key)
        return Told(question, key, body)

    def features_of(self, question_id: int) -> Vector | None:
        """The features of a question's person before any change; None for an unknown question."""
        if question_id not in self._agents:
            self._agents = {each.id: each.agent for each in self.ledger.questions(self.id)}
        agent = self._agents.get(question_id)
        return None if agent is None else self.problem.population.X[agent]

    def withdraw(self, answer_id: int, reason: str) -> None:
        """Withdraws an answer. While its deployment is open, its question is asked again.

        Deployments that followed from the answer stay as they were, since people have seen them;
        the answer no longer enters risk estimates."""
        answer = given_id("answer_id", answer_id)
        self.ledger.withdraw(self.id, answer, storable("reason", str(reason)), self._clock())

    # --- advancing

    def advance(self) -> int:
        """Closes the deployment if its answers are complete and opens the next one, as often as
        possible; replaces silent people. Returns how many deployments were closed: 0 if somebody
        else is advancing the study."""
        return 0 if self._is_paused() else self._state.advance(self._clock)

    def close_deployment(self, number: int | None = None) -> bool:
        """Closes the current deployment now, with those who answered. False if nobody did.

        Raises LedgerError "deployment-closed" if a number is given and the current deployment has
        another one, so that a repeated call does not close the next deployment."""
        return self._state.close_deployment(number, self._clock())

    def finish(self, reason: str = "") -> None:
        """Ends the study: closes the current deployment and asks nobody any more."""
        self._state.finish(self._clock(), storable("reason", str(reason)))

    def pause(self, reason: str = "") -> None:
        """Asks nobody until `resume`. Answers to open questions still count."""
        if not self._is_paused():
            self.ledger.note(self.id, PAUSED, as_json({"reason": str(reason)}), self._clock())

    def resume(self) -> None:
        """Ends a pause."""
        if self._is_paused():
            self.ledger.note(self.id, RESUMED, "{}", self._clock())

    def _is_paused(self) -> bool:
        events = self.ledger.events(self.id, [PAUSED, RESUMED])
        return bool(events) and events[-1].kind == PAUSED

    def _phase(self) -> str:
        events = self.ledger.events(self.id, [PHASE])
        return str(json.loads(events[-1].body)["phase"]) if events else ""

    # --- reading

    def status(self) -> StudyStatus:
        """How far the study is. Changes nothing."""
        newest = self.ledger.newest(self.id)
        return study_status(
            self.name,
            self.settings,
            self.ledger.counts(self.id, self._clock()),
            self._phase(),
            paused=self._is_paused(),
            finished=newest is not None and newest.closed is not None,
        )

    def recommend(self) -> Recommendation:
        """The classifier to use, from the closed deployments. Changes nothing.

        Its risk, and what was learned about the response, also use late answers."""
        found, n_answers, n_deployments, final = self._state.outcome()
        now = self._clock()
        rows = self.ledger.deployments(self.id)[:n_deployments]
        theta, alpha = self.problem.split(found.x)
        intercept = self.problem.offset(found.x)
        with self._learnt_alone:
            risk = self._learnt.risk(theta, intercept, rows, now)
            response = self._learnt.response(rows, now)
        return Recommendation(
            theta=theta,
            intercept=intercept,
            alpha=alpha,
            risk=None if risk is None else risk.risk,
            ground=None if risk is None else risk.ground,
            n_answers=n_answers,
            n_deployments=n_deployments,
            final=final,
            sentence=recommendation_sentence(risk, found.why, n_answers, n_deployments),
            why=found.why,
            learnt="" if response is None else response.sentence,
            model=self._model(theta, intercept),
        )

    def _model(self, theta: Vector, intercept: float) -> Any | None:
        return None if self.table is None else self.table.model(theta, intercept)

    def history(self, deployment: int | None = None) -> Any:
        """A pandas data frame with one row per answer, at all deployments or at one: deployment,
        position, attempt, agent, person, status, key, time and the answer, as the method sees it:
        in a study of a table, these are prepared features, such as "x3: savings"."""
        return answer_frame(self.ledger, self.id, self.answer_names, self.person, deployment)

    def deployments(self) -> Any:
        """A pandas data frame with one row per deployment: theta, times, counts and the worst-case
        risk by its answers, late ones included, with its 95 % interval."""
        return deployment_frame(self.ledger, self.id, self.specification, self._numbered("theta"))

    def fact_frames(self) -> dict[str, Any]:
        """Data frames of all questions, exposures and events, by these names."""
        return fact_frames(self.ledger, self.id)

    def verify(self) -> list[str]:
        """Sentences that name every row that was changed outside gameproof; none if the hash
        chain is intact."""
        return verify(self.ledger, self.ledger.study(self.name))

    def close(self) -> None:
        """Closes the connections to the database. The study can be opened again."""
        self.ledger.close()

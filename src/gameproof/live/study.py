"""`Study`: a study with real people, as a fold of their answers.

The state of a study is what its method makes of the counted answers, in order of deployment and
position. Nothing else is remembered: a process that opens the study replays the answers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any, Self, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Vector, as_count, as_numbers, as_positive, shown
from gameproof.core.errors import AnswerError
from gameproof.live.advance import PAUSED, PHASE, RESUMED, Advancer
from gameproof.live.chain import as_json, verify
from gameproof.live.facts import (
    DeploymentRow,
    LedgerError,
    QuestionRow,
    Receipt,
    Status,
    StudyRow,
    digest,
    exact_bytes,
)
from gameproof.live.fold import Fold, read_classifier_bits
from gameproof.live.ledger import Ledger
from gameproof.live.memory_ledger import MemoryLedger
from gameproof.live.refusals import deployment_closed, unknown_study
from gameproof.live.reports import (
    LiveDeployment,
    LiveQuestion,
    Recommendation,
    StudyStatus,
    recommendation_sentence,
    study_status,
)
from gameproof.live.specification import (
    USUAL_BATCH,
    Settings,
    Silence,
    Specification,
    with_real_people,
)
from gameproof.live.sql_ledger import SqlLedger
from gameproof.live.study_frames import (
    answer_frame,
    answer_names,
    deployment_frame,
    fact_frames,
)
from gameproof.live.study_table import StudyTable
from gameproof.minmax.solver import Solver
from gameproof.strategic.collect_answers import LARGEST_ANSWER
from gameproof.strategic.robust_problem import StrategicProblem

T = TypeVar("T")
HOUR, WEEK = 3600.0, 7 * 24 * 3600.0


def create(
    where: str | Path | Ledger,
    problem: StrategicProblem,
    *,
    name: str = "study",
    method: str | Solver = "auto",
    batch: int | None = None,
    seed: int = 0,
    silence: Silence = "replace",
    patience: float = WEEK,
    max_answers: int | None = None,
    max_deployments: int | None = None,
    max_per_person: int | None = None,
    table: dict[str, Any] | None = None,
) -> Study:
    """Creates a study and opens its first deployment.

    Parameters
    ----------
    where : path, URL or Ledger
        An SQLite file, which is created if it is missing; an SQLAlchemy URL, such as
        ``postgresql://…``; ":memory:"; or a ledger.
    problem : StrategicProblem
        The people, the loss and the adversary. The study stores a copy of the data. The people
        answer themselves: the population's response is used only to see whether answers are
        features or, with ``BlackBox(…, scores=True)``, scores.
    name : str
        The study's name in the database.
    method : str or Solver
        "auto" (learn, verify, run, check), "ogda-rr", "ogda-wr", "sgda-rr", "sgda-wr", or a solver.
    batch : int, optional
        Rows per step of the run, by default 100. Those with label -1 among them are asked.
    seed : int
        The same seed and answers give the same study, to the bit.
    silence : {"wait", "replace", "continue"}
        What to do about people who were shown a question and do not answer within `patience`: wait
        for them, ask someone else, or close the deployment with those who answered.
    patience : float
        Seconds until a person counts as silent. By default a week.
    max_answers, max_deployments, max_per_person : int, optional
        The most counted answers, deployments, and questions to one person.
    table : dict, optional
        What the study knows about the columns of a table; `create_from_table` gives it.

    Returns
    -------
    Study
        The study.

    Raises
    ------
    LedgerError
        "name-taken" if the database has a study of this name.
    TypeError, ValueError
        If an argument is not valid, or the problem cannot be stored, such as a `CustomLoss`.
    """
    settings = Settings(
        method,
        USUAL_BATCH if batch is None else batch,
        seed,
        silence,
        patience,
        max_answers,
        max_deployments,
        max_per_person,
    )
    if not isinstance(problem, StrategicProblem):
        raise TypeError(f"problem must be a StrategicProblem, got {shown(problem)}")
    specification = Specification(with_real_people(problem), settings, table)
    ledger = _ledger(where)
    row = ledger.create(name, specification.to_json(), specification.fingerprint, time.time())
    study = Study(ledger, row, specification)
    study.advance()
    return study


def open(where: str | Path | Ledger, name: str | None = None) -> Study:
    """Opens a study. The name may be left out if the database has a single one.

    Raises LedgerError "unknown-study" if there is none of this name."""
    ledger = _ledger(where)
    names = ledger.names()
    if name is None and len(names) != 1:
        raise unknown_study("", names)
    row = ledger.study(names[0] if name is None else name)
    return Study(ledger, row, Specification.from_json(row.specification))


def _ledger(where: str | Path | Ledger) -> Ledger:
    if isinstance(where, Ledger):
        return where
    return MemoryLedger() if str(where) == ":memory:" else SqlLedger(where)


@final
class Study:
    """A study with real people. `create` and `open` make one.

    Any number of processes may ask and tell at once. Whoever calls `ask` or `advance` also moves
    the study on, if nobody else is doing so. Threads may share a study.

    Attributes
    ----------
    name : str
        The study's name.
    problem : StrategicProblem
        The people, the loss and the adversary.
    settings : Settings
        How the study asks.
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
        self.ledger, self._row, self._id = ledger, row, row.id
        self._specification, self._clock = specification, clock
        self._fold: Fold | None = None
        self._lock = RLock()

    def __repr__(self) -> str:
        return f"Study({self.name!r}, {self.settings.method_name}, {self.problem.name})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def id(self) -> int:
        """The study's number in its ledger."""
        return self._id

    @cached_property
    def table(self) -> StudyTable | None:
        """The columns of the study's table; None without a table."""
        stored = self._specification.table
        return None if stored is None else StudyTable.from_json(stored)

    @property
    def sees_scores(self) -> bool:
        """Whether answers are scores instead of features."""
        return self._specification.sees_scores

    @property
    def answer_names(self) -> list[str]:
        """The columns of an answer in `history`, in order."""
        return answer_names(self._specification)

    def with_clock(self, clock: Callable[[], float]) -> Study:
        """The same study by another clock, for simulations and tests."""
        return Study(self.ledger, self._row, self._specification, clock)

    # --- asking

    @property
    def deployment(self) -> LiveDeployment | None:
        """The current deployment; None if the study is finished."""
        row = self._open_row()
        if row is None:
            return None
        theta, intercept = read_classifier_bits(self.problem, row.theta)
        questions = self.ledger.questions(self._id, row.number)
        answers = self.ledger.answers(self._id, row.number)
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
        if self._is_paused():
            return []
        now = self._clock()
        rows = self.ledger.lease(self._id, number, str(holder), now + seconds, now)
        if advance and len(rows) < number and (self.advance() or not rows):
            rows = self.ledger.lease(self._id, number, str(holder), now + seconds, now)
        if not rows:
            return []
        [deployed] = {row.deployment for row in rows}
        stored = self.ledger.deployments(self._id, deployed)[0].theta
        theta, intercept = read_classifier_bits(self.problem, stored)
        return [self._question(row, theta, intercept, now + seconds) for row in rows]

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
        body = self._body(question_id, answer)
        key = f"question {int(question_id)}: {digest(body)}" if key is None else str(key)
        return self.ledger.tell(self._id, int(question_id), key, body, self._clock())

    def _body(self, question_id: int, answer: ArrayLike | Mapping[str, Any]) -> bytes:
        if isinstance(answer, Mapping):
            if self.table is None:
                raise AnswerError(
                    "this study has no table, so an answer is a list of features, not columns"
                )
            answer = self.table.features(answer)
        numbers = as_numbers("answer", answer)
        width = self.problem.population.d
        expected: tuple[int, ...] = () if self._specification.sees_scores else (width,)
        if numbers.shape != expected:
            wanted = f"{width} features" if expected else "one score"
            raise AnswerError(
                f"question {question_id} expects {wanted}, got {numbers.size} numbers of shape "
                f"{numbers.shape}"
            )
        if not (np.abs(numbers) <= LARGEST_ANSWER).all():
            raise AnswerError(f"the answer to question {question_id} is not finite, or too large")
        return exact_bytes(numbers.reshape(-1))

    def withdraw(self, answer_id: int, reason: str) -> None:
        """Withdraws an answer. While its deployment is open, its question is asked again.

        Deployments that followed from the answer stay as they were, since people have seen them;
        the answer no longer enters risk estimates."""
        self.ledger.withdraw(self._id, int(answer_id), str(reason), self._clock())

    # --- advancing

    def advance(self) -> int:
        """Closes the deployment if its answers are complete and opens the next one, as often as
        possible; replaces silent people. Returns how many deployments were closed: 0 if somebody
        else is advancing the study."""
        if self._is_paused():
            return 0
        with self._lock, self.ledger.advancing(self._id) as mine:
            closed = 0
            while mine and self._advanced(lambda advancer: advancer.step(self._clock())):
                closed += 1
            return closed

    def close_deployment(self, number: int | None = None) -> bool:
        """Closes the current deployment now, with those who answered. False if nobody did.

        Raises LedgerError "deployment-closed" if a number is given and the current deployment has
        another one, so that a repeated call does not close the next deployment."""
        with self._lock, self._required_lock():
            row = self._open_row()
            if number is not None and (row is None or row.number != number):
                raise deployment_closed(number)
            return self._advanced(lambda advancer: advancer.step(self._clock(), force=True))

    def finish(self, reason: str = "") -> None:
        """Ends the study: closes the current deployment and asks nobody any more."""
        with self._lock, self._required_lock():
            self._advanced(lambda advancer: advancer.finish(self._clock(), reason))

    def _advanced(self, step: Callable[[Advancer], T]) -> T:
        """One step. If it fails, the state is folded anew, since it may be ahead of the ledger."""
        try:
            return step(Advancer(self.ledger, self._id, self._specification, self._folded()))
        except BaseException:
            self._fold = None
            raise

    @contextmanager
    def _required_lock(self) -> Iterator[None]:
        with self.ledger.advancing(self._id) as mine:
            if not mine:
                raise LedgerError(
                    "busy", "another process is advancing the study at this moment; try again"
                )
            yield

    def pause(self, reason: str = "") -> None:
        """Asks nobody until `resume`. Answers to open questions still count."""
        if not self._is_paused():
            self.ledger.note(self._id, PAUSED, as_json({"reason": reason}), self._clock())

    def resume(self) -> None:
        """Ends a pause."""
        if self._is_paused():
            self.ledger.note(self._id, RESUMED, "{}", self._clock())

    def _is_paused(self) -> bool:
        events = self.ledger.events(self._id, [PAUSED, RESUMED])
        return bool(events) and events[-1].kind == PAUSED

    def _open_row(self) -> DeploymentRow | None:
        rows = self.ledger.deployments(self._id, max(self._n_known - 1, 0))
        return rows[-1] if rows and rows[-1].closed is None else None

    @property
    def _n_known(self) -> int:
        return 0 if self._fold is None else self._fold.n_deployments

    def _phase(self) -> str:
        events = self.ledger.events(self._id, [PHASE])
        return str(json.loads(events[-1].body)["phase"]) if events else ""

    def _folded(self) -> Fold:
        if self._fold is None:
            self._fold = Fold(self.ledger, self._id, self._specification)
        return self._fold

    # --- reading

    def status(self) -> StudyStatus:
        """How far the study is. Changes nothing."""
        return study_status(
            self.name,
            self.settings,
            self.ledger.counts(self._id, self._clock()),
            self._phase(),
            paused=self._is_paused(),
            finished=self._open_row() is None,
        )

    def recommend(self) -> Recommendation:
        """The classifier to use, from the closed deployments. Changes nothing."""
        with self._lock:
            fold = self._folded()
            final = not fold.catch_up()
            found = fold.found()
        theta, alpha = self.problem.split(found.x)
        intercept = self.problem.offset(found.x)
        return Recommendation(
            theta=theta,
            intercept=intercept,
            alpha=alpha,
            risk=found.risk,
            n_answers=fold.n_answers,
            n_deployments=fold.n_deployments,
            final=final,
            sentence=recommendation_sentence(found, fold.n_answers, fold.n_deployments, final),
            why=found.why,
            model=self._model(theta, intercept),
        )

    def _model(self, theta: Vector, intercept: float) -> Any | None:
        return None if self.table is None else self.table.model(theta, intercept)

    def history(self, deployment: int | None = None) -> Any:
        """A pandas data frame with one row per answer, at all deployments or at one: deployment,
        position, attempt, agent, person, status, key, time and the answer."""
        return answer_frame(self.ledger, self._id, self._specification, self.person, deployment)

    def deployments(self) -> Any:
        """A pandas data frame with one row per deployment: theta, times, counts and the worst-case
        risk by its answers, with its 95 % interval."""
        return deployment_frame(self.ledger, self._id, self._specification)

    def fact_frames(self) -> dict[str, Any]:
        """Data frames of all questions, exposures and events, by these names."""
        return fact_frames(self.ledger, self._id)

    def verify(self) -> list[str]:
        """Sentences that name every row that was changed behind the study's back; none if the hash
        chain is intact."""
        return verify(self.ledger, self.ledger.study(self.name))

    def close(self) -> None:
        """Gives back the connections to the database. The study itself goes on: `open` it again."""
        self.ledger.close()

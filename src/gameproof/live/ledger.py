"""`Ledger`: where the facts of studies are kept.

Every method is one transaction: when it returns, its facts are on disk; if the process dies inside,
none of them is. `MemoryLedger` is the specification in plain Python, `SqlLedger` the one to use.
`check_ledger` holds any implementation to this contract.

Tellers only insert answers. One process at a time advances a study: it closes a deployment and
opens the next one in the same transaction, so no reader ever sees a study between two deployments.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

from gameproof.live.facts import (
    AnswerRow,
    Counts,
    DeploymentRow,
    EventRow,
    ExposureRow,
    Facts,
    LedgerError,
    QuestionRow,
    Receipt,
    StudyRow,
)


class NextDeployment(NamedTuple):
    """A theta to deploy, and whom to ask, by position."""

    theta: bytes
    agents: Sequence[int]


class Told(NamedTuple):
    """An answer to store."""

    question: int
    key: str
    body: bytes


# The codes with which a single answer is refused. Other errors concern the whole store.
REFUSALS = ("unknown-question", "key-reused")
# The clocks of machines that share a store may differ by this many seconds.
CLOCK_SKEW = 3600.0


def is_held(granted: float, expires: float, now: float) -> bool:
    """Whether a lease is in force. One from the future was granted by a clock that was wrong, and
    must not keep a question from everybody until that time comes."""
    return granted - CLOCK_SKEW <= now < expires


class Ledger(ABC):
    """The contract of a store. Times are seconds since 1970, given by the caller."""

    # --- studies

    @abstractmethod
    def create(self, name: str, specification: str, fingerprint: str, now: float) -> StudyRow:
        """Adds a study. Raises LedgerError "name-taken" if there is one of this name."""

    @abstractmethod
    def study(self, name: str) -> StudyRow:
        """The study of this name. Raises LedgerError "unknown-study"."""

    @abstractmethod
    def names(self) -> list[str]:
        """The names of all studies, sorted."""

    # --- asking

    @abstractmethod
    def available(self, study: int, limit: int, holder: str, now: float) -> list[QuestionRow]:
        """The questions that `lease` would give, without leasing them."""

    @abstractmethod
    def lease(
        self, study: int, limit: int, holder: str, until: float, now: float
    ) -> list[QuestionRow]:
        """Up to `limit` open questions that nobody else holds, in order of position.

        They are leased to `holder` and recorded as shown. Questions that `holder` already holds
        come first, so asking again after a crash gives the same questions."""

    @abstractmethod
    def replace_silent(self, study: int, question: int, agent: int, now: float) -> QuestionRow:
        """Asks `agent` instead of the person of an open question; closes the old question.

        Raises LedgerError "question-closed" if the question is not open any more."""

    # --- telling

    @abstractmethod
    def tell(self, study: int, question: int, key: str, body: bytes, now: float) -> Receipt:
        """Stores an answer and says what it counts for.

        Raises LedgerError "unknown-question", or "key-reused" if the key was used for another
        question or another body. Nothing is stored then."""

    def tell_many(
        self, study: int, answers: Sequence[Told], now: float
    ) -> list[Receipt | LedgerError]:
        """Stores answers as if they were told one after the other: a receipt or the refusal for
        each. When it returns, all that have a receipt are on disk."""
        return [self._told_or_refused(study, told, now) for told in answers]

    def _told_or_refused(self, study: int, told: Told, now: float) -> Receipt | LedgerError:
        try:
            return self.tell(study, *told, now)
        except LedgerError as error:
            if error.code not in REFUSALS:
                raise
            return error

    @abstractmethod
    def withdraw(self, study: int, answer: int, reason: str, now: float) -> None:
        """Withdraws an answer. Its question is open again if its deployment is.

        Withdrawing twice is the same as once. Raises LedgerError "unknown-answer"."""

    # --- advancing

    @abstractmethod
    def advance(
        self,
        study: int,
        closing: int | None,
        counted: Sequence[int],
        opening: NextDeployment | None,
        now: float,
    ) -> bool:
        """Closes deployment number `closing` and opens the next one.

        `counted` are the ids of the answers that the caller used. Returns False, and changes
        nothing, if the deployment is closed already or its counted answers are others by now."""

    @abstractmethod
    def advancing(self, study: int) -> AbstractContextManager[bool]:
        """A lock that one process at a time holds, and that dies with it. Gives False at once if
        another process holds it."""

    # --- reading

    @abstractmethod
    def deployments(self, study: int, first: int = 0) -> list[DeploymentRow]:
        """The deployments from number `first` on, by number."""

    @abstractmethod
    def newest(self, study: int) -> DeploymentRow | None:
        """The deployment with the highest number; None if there is none yet."""

    @abstractmethod
    def questions(self, study: int, deployment: int | None = None) -> list[QuestionRow]:
        """All questions, or those of one deployment, by deployment, position and attempt."""

    @abstractmethod
    def answers(self, study: int, deployment: int | None = None) -> list[AnswerRow]:
        """All answers, or those to the questions of one deployment, by id."""

    @abstractmethod
    def exposures(self, study: int, deployment: int | None = None) -> list[ExposureRow]:
        """Who was shown what, at all deployments or at one, in order of time."""

    @abstractmethod
    def events(self, study: int, kinds: Sequence[str] | None = None) -> list[EventRow]:
        """The hash chain, in order, or its events of these kinds."""

    @abstractmethod
    def facts(self, study: int) -> Facts:
        """All of these as of one moment, in the same orders."""

    @abstractmethod
    def counts(self, study: int, now: float) -> Counts:
        """How many facts of each kind there are."""

    @abstractmethod
    def note(self, study: int, kind: str, body: str, now: float) -> EventRow:
        """Adds an event of another kind to the chain, such as a pause."""

    # --- a cache, which a store may leave out

    def keep_checkpoint(self, study: int, content: bytes) -> None:  # noqa: B027
        """Keeps what saves a replay of all answers, instead of what it kept before. May fail
        silently."""

    def checkpoint(self, study: int) -> bytes | None:
        """What was kept last; None if nothing was."""
        return None

    def close(self) -> None:  # noqa: B027
        """Releases connections and files, if there are any."""

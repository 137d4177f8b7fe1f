"""`StudyState`: advances one study and knows its state, for all threads of a process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import NamedTuple, TypeVar, final

from gameproof.live.advance import Advancer
from gameproof.live.facts import LedgerError
from gameproof.live.fold import Fold
from gameproof.live.ledger import Ledger
from gameproof.live.refusals import CHANGED_MEANWHILE, busy, deployment_closed
from gameproof.live.specification import Specification
from gameproof.live.study_method import BestSoFar

T = TypeVar("T")
# An answer that is withdrawn while a deployment is closed makes the attempt start again.
TRIES = 5


class Outcome(NamedTuple):
    """What the closed deployments of a study show."""

    found: BestSoFar
    n_answers: int
    n_deployments: int
    final: bool


@final
class StudyState:
    """Advances a study and keeps the fold of its answers, which is only a cache."""

    def __init__(self, ledger: Ledger, study: int, specification: Specification) -> None:
        self._ledger, self._study, self._specification = ledger, study, specification
        self._fold: Fold | None = None
        self._lock = RLock()

    def advance(self, clock: Callable[[], float]) -> int:
        """Closes complete deployments; returns how many. 0 if another process is advancing."""
        with self._lock, self._ledger.advancing(self._study) as mine:
            closed = 0
            while mine and self._done(lambda advancer: advancer.step(clock())):
                closed += 1
            if closed:
                self._folded().keep()
            return closed

    def close_deployment(self, number: int | None, now: float) -> bool:
        """Closes the open deployment with those who answered. False if nobody did."""
        with self._lock, self._required_lock():
            row = self._ledger.newest(self._study)
            current = None if row is None or row.closed is not None else row.number
            if number is not None and number != current:
                raise deployment_closed(number)
            return self._done(lambda advancer: advancer.step(now, force=True))

    def finish(self, now: float, reason: str) -> None:
        """Closes the open deployment for good."""
        with self._lock, self._required_lock():
            self._done(lambda advancer: advancer.finish(now, reason))

    def outcome(self) -> Outcome:
        """The state after all closed deployments."""
        with self._lock:
            fold = self._folded()
            final = not fold.catch_up()
            return Outcome(fold.found(), fold.n_answers, fold.n_deployments, final)

    def _done(self, step: Callable[[Advancer], T]) -> T:
        for _ in range(TRIES - 1):
            try:
                return self._tried(step)
            except LedgerError as error:
                if error.code != CHANGED_MEANWHILE:
                    raise
        return self._tried(step)

    def _tried(self, step: Callable[[Advancer], T]) -> T:
        """One step. If it fails, the state is folded anew, since it may be ahead of the ledger."""
        try:
            return step(Advancer(self._ledger, self._study, self._specification, self._folded))
        except BaseException:
            self._fold = None
            raise

    @contextmanager
    def _required_lock(self) -> Iterator[None]:
        with self._ledger.advancing(self._study) as mine:
            if not mine:
                raise busy()
            yield

    def _folded(self) -> Fold:
        if self._fold is None:
            self._fold = Fold(self._ledger, self._study, self._specification)
        return self._fold

"""`CountedAnswers`: records in memory. Answers are counted, and forgotten once they are used."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.strategic.answer_records import AnswerRecords, QuestionClaim
from gameproof.strategic.feature_mask import Mask
from gameproof.strategic.shared_budget import SharedBudget


@final
class CountedAnswers(AnswerRecords):
    """Counts in memory, and the answers to the last question if some of them were unusable."""

    def __init__(self, n: int, budget: int | None) -> None:
        super().__init__(budget)
        self._by_agent: NDArray[np.int32] = np.zeros(n, dtype=np.int32)
        self._n_deployments = self._in_flight = 0
        self._deployed: Vector | None = None
        self._incomplete: QuestionClaim | None = None
        self._make_locks()

    def _make_locks(self) -> None:
        self._lock = threading.RLock()
        self._limit = None if self.budget is None else SharedBudget(self.budget, self._used)

    def _used(self) -> int:
        return int(self._by_agent.sum()) + self._in_flight

    def __getstate__(self) -> dict[str, Any]:
        parts = {name: part for name, part in vars(self).items() if name not in ("_lock", "_limit")}
        if self._limit is not None:
            parts["shared"] = self._limit.path()
        return parts

    def __setstate__(self, state: dict[str, Any]) -> None:
        shared = state.pop("shared", None)
        self.__dict__.update(state)
        # joblib, dask and others send arrays that are read-only or shared.
        self._by_agent = np.array(self._by_agent)
        self._incomplete, self._in_flight = deepcopy(self._incomplete), 0
        self._make_locks()
        if self._limit is not None and shared is not None:
            self._limit.join(shared)

    # --- counts

    @property
    def by_agent(self) -> NDArray[np.int32]:
        """The array itself, to which compiled runs add."""
        return self._by_agent

    @property
    def n_answers(self) -> int:
        return int(self._by_agent.sum())

    @property
    def n_received(self) -> int:
        return self.n_answers

    @property
    def n_deployments(self) -> int:
        return self._n_deployments

    @property
    def remaining(self) -> int | None:
        if self._limit is None:
            return None
        with self._limit.exclusive() as left:
            return left

    # --- questions

    def claim(self, theta: Vector, agents: Indices, shape: tuple[int, ...]) -> QuestionClaim:
        claim = self._last_question(theta, agents, shape) or QuestionClaim.of(theta, agents, shape)
        claim.mine = ~claim.answered
        with self._admitted(theta, int(claim.mine.sum())):
            self._in_flight += int(claim.mine.sum())
        return claim

    def _last_question(
        self, theta: Vector, agents: Indices, shape: tuple[int, ...]
    ) -> QuestionClaim | None:
        """The last question, if it is the same and some of its answers are missing."""
        last = self._incomplete
        if last is None or last.answers.shape[1:] != shape:
            return None
        same = np.array_equal(last.theta, theta) and np.array_equal(last.agents, agents)
        return last if same else None

    @contextmanager
    def _admitted(self, theta: Vector, number: int) -> Iterator[None]:
        """Checks the budget, and counts the deployment if it is a new one."""
        with self.turn() as left, self._lock:
            if left is not None and number > left:
                raise self.refuse(number, left)
            if self._deployed is None or not np.array_equal(self._deployed, theta):
                self._deployed = theta.copy()
                self._n_deployments += 1
            yield

    def keep(self, claim: QuestionClaim, answers: Matrix, usable: Mask) -> None:
        asked = np.flatnonzero(claim.mine)
        claim.answers[asked] = answers
        claim.answered[asked] = usable
        self.discard(claim)
        self._incomplete = None if claim.answered.all() else claim

    def discard(self, claim: QuestionClaim) -> None:
        with self._lock:
            np.add.at(self._by_agent, claim.agents[claim.mine], 1)
            self._in_flight -= int(claim.mine.sum())
            claim.mine[:] = False

    def release(self, claim: QuestionClaim) -> None:
        with self.turn(), self._lock:
            self._in_flight -= int(claim.mine.sum())
            claim.mine[:] = False

    def note(self, theta: Vector, agents: Indices) -> None:
        with self._admitted(theta, agents.size):
            np.add.at(self._by_agent, agents, 1)

    def keep_answers_of(self, other: AnswerRecords) -> None:
        if isinstance(other, CountedAnswers):
            self._incomplete = other._incomplete

    # --- runs

    @contextmanager
    def turn(self) -> Iterator[int | None]:
        if self._limit is None:
            yield None
            return
        with self._limit.exclusive() as left:
            yield left

    def count_deployments(self, number: int) -> None:
        with self._lock:
            self._n_deployments += number

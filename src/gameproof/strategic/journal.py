"""`Journal`: every answer is on disk before it is used, and is never asked for again.

An answer is found by the exact bits of theta, the agent, and how often this population object has
asked the agent at this theta. So a program that is started again, with the same seeds, finds its
answers in the same order, and continues where it was killed. A question is leased before anybody is
asked: leases count towards the budget, and end with the process that holds them. If another process
is asking the same question, its answer is waited for.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.core.atomic_files import real
from gameproof.core.errors import JournalError
from gameproof.core.exact_bits import exact_bytes, exact_numbers
from gameproof.strategic import journal_statements as sql
from gameproof.strategic.answer_records import AnswerRecords, QuestionClaim
from gameproof.strategic.feature_mask import Mask
from gameproof.strategic.journal_file import open_journal, storing
from gameproof.strategic.journal_leases import Leases
from gameproof.strategic.journal_rows import answer_digest, hash_of

NEW = -1  # the number of a question that has no row yet


@final
class Journal(AnswerRecords):
    """The answers of one population in a file."""

    stored = True

    def __init__(self, path: Path, people: dict[str, str | int], budget: int | None) -> None:
        super().__init__(budget)
        # Every process finds the locks beside the file itself, whatever link or folder it came by.
        self.path = path = real(path)
        self._database = open_journal(path, people)
        self._n = int(people["n_people"])
        self._taken: set[int] = set()  # questions that this object has received or is asking
        self._unsaved: dict[int, bytes] = {}  # answers that could not be written
        self._n_received = self._n_read = self._position = 0
        self._leases = Leases(self._database)
        self._local = threading.local()
        with storing(path):
            self._leases.end_stale()

    def __getstate__(self) -> dict[str, Any]:
        parts = {**vars(self), "_unsaved": {}}
        return {name: part for name, part in parts.items() if name != "_local"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._local, self._taken = threading.local(), set(self._taken)

    # --- counts

    def _counts(self) -> sql.AnswerCounts:
        with storing(self.path):
            return sql.counts(self._database)

    @property
    def by_agent(self) -> NDArray[np.int32]:
        with storing(self.path):
            return sql.answers_by_agent(self._database, self._n)

    @property
    def n_answers(self) -> int:
        counts = self._counts()
        return counts.usable + counts.other

    @property
    def n_received(self) -> int:
        return self._n_received

    @property
    def n_deployments(self) -> int:
        with storing(self.path):
            return sql.n_deployments(self._database)

    @property
    def remaining(self) -> int | None:
        return None if self.budget is None else self._left(self._live_counts())

    @property
    def obtainable(self) -> int | None:
        if self.budget is None:
            return None
        counts = self._live_counts()
        return self._left(counts) + max(0, counts.usable - self._n_read)

    def _live_counts(self) -> sql.AnswerCounts:
        """The counts, without what dead processes were asking."""
        counts = self._counts()
        if counts.leased > self._leases.n_asking:
            with storing(self.path), self._database.lock:
                self._leases.end_stale()
            counts = self._counts()
        return counts

    def _left(self, counts: sql.AnswerCounts) -> int:
        assert self.budget is not None
        return max(0, self.budget - sum(counts))

    # --- questions

    def claim(self, theta: Vector, agents: Indices, shape: tuple[int, ...]) -> QuestionClaim:
        claim = QuestionClaim.of(theta, agents, shape)
        claim.ids = [NEW] * agents.size
        try:
            with storing(self.path), self._database.lock:
                deployment = sql.find_deployment(self._database, exact_bytes(theta))
                if deployment is not None:
                    self._find(claim, deployment, range(agents.size))
                if not claim.answered.all():
                    self._lease(claim)
            self._save_unsaved(claim)
        except BaseException:
            self.release(claim)
            raise
        return claim

    def retry(self, claim: QuestionClaim) -> None:
        with storing(self.path), self._database.lock:
            self._lease(claim)

    def _find(
        self, claim: QuestionClaim, deployment: int, places: Iterable[int]
    ) -> list[tuple[int, sql.Row]]:
        """Fills in stored answers; returns the questions that exist and have none."""
        waiting = []
        for place in places:
            row = self._question(claim, deployment, place)
            if row is None:
                continue
            if row.answer is None:
                waiting.append((place, row))
                continue
            person, key = int(claim.agents[place]), hash_of(exact_bytes(claim.theta))
            claim.answers[place] = self._checked(row, person, key, claim.answers.shape[1:])
            self._receive(claim, place, row.question, row.answer)
        return waiting

    def _question(self, claim: QuestionClaim, deployment: int, place: int) -> sql.Row | None:
        """The question of this claim, or the first one that this object has not taken."""
        floor = getattr(self._local, "floor", 0)
        for found in sql.questions(self._database, deployment, int(claim.agents[place])):
            if found.question == claim.ids[place]:
                return found
            read = found.answer is not None and found.answer <= floor
            if claim.ids[place] == NEW and not read and found.question not in self._taken:
                self._take(claim, place, found.question)
                return found
        return None

    def _take(self, claim: QuestionClaim, place: int, question: int) -> None:
        claim.ids[place] = question
        self._taken.add(question)

    def _checked(self, row: sql.Row, person: int, key: bytes, shape: tuple[int, ...]) -> Vector:
        body = row.body or b""  # an altered row may have none
        whole = len(body) == 8 * int(np.prod(shape))
        if not whole or row.digest != answer_digest(key, person, row.occurrence, body):
            raise JournalError(
                f"{self.path} is damaged: the stored answer {row.answer} of agent {person} was "
                "altered; restore the file from a copy"
            )
        return exact_numbers(body).reshape(shape)

    def _receive(self, claim: QuestionClaim, place: int, question: int, answer: int) -> None:
        claim.answered[place], claim.mine[place] = True, False
        self._leases.forget(question)
        self._n_received += 1
        self._n_read += 1
        self._position = max(self._position, answer)

    # --- leases

    def _lease(self, claim: QuestionClaim) -> None:
        """Leases the questions that nobody has answered or is asking, within the budget."""
        self._database.require_in_place()
        self._leases.end_stale()
        with self._database.transaction(durable=False) as connection:
            deployment = sql.add_deployment(connection, exact_bytes(claim.theta))
            places = np.flatnonzero(~claim.answered & ~claim.mine).tolist()
            waiting = dict(self._find(claim, deployment, places))
            wanted = [
                place
                for place in places
                if not claim.answered[place]
                and (place not in waiting or waiting[place].holder is None)
            ]
            self._require_budget(len(wanted))
            for place in wanted:
                if place not in waiting:
                    person = int(claim.agents[place])
                    self._take(claim, place, sql.add_question(connection, deployment, person))
            self._leases.begin(connection, [claim.ids[place] for place in wanted])
        claim.mine[wanted] = True

    def _require_budget(self, number: int) -> None:
        """To be called in a transaction, which cannot end the leases of dead processes."""
        if self.budget is not None and number > (left := self._left(self._counts())):
            raise self.refuse(number, left)

    # --- answers

    def keep(self, claim: QuestionClaim, answers: Matrix, usable: Mask) -> None:
        places = np.flatnonzero(claim.mine).tolist()
        bodies = [exact_bytes(answer) for answer in answers]
        try:
            self._write(claim, places, bodies, usable.tolist())
        except JournalError as error:
            self._unsaved.update(
                (claim.ids[place], body)
                for place, body, good in zip(places, bodies, usable.tolist(), strict=True)
                if good
            )
            error.add_note(
                "The answers are kept in memory: ask the same question again in this process, and "
                "they are written without asking anybody."
            )
            raise
        claim.answers[places] = answers

    def discard(self, claim: QuestionClaim) -> None:
        places = np.flatnonzero(claim.mine).tolist()
        self._write(claim, places, [b""] * len(places), [False] * len(places))

    def _save_unsaved(self, claim: QuestionClaim) -> None:
        """Writes answers that could not be written before, to a question that is asked again."""
        mine = np.flatnonzero(claim.mine).tolist()
        places = [place for place in mine if claim.ids[place] in self._unsaved]
        if not places:
            return
        bodies = [self._unsaved[claim.ids[place]] for place in places]
        self._write(claim, places, bodies, [True] * len(places))
        for place, body in zip(places, bodies, strict=True):
            del self._unsaved[claim.ids[place]]
            claim.answers[place] = exact_numbers(body).reshape(claim.answers.shape[1:])

    def _write(
        self, claim: QuestionClaim, places: list[int], bodies: list[bytes], usable: list[bool]
    ) -> None:
        """Writes answers and ends their leases, in one durable transaction."""
        theta, ids = exact_bytes(claim.theta), [claim.ids[place] for place in places]
        people = claim.agents[places].tolist()
        given = list(zip(people, ids, bodies, usable, strict=True))
        with storing(self.path), self._database.transaction() as connection:
            rows = [sql.add_answer(connection, theta, *each) for each in given]
            sql.end_leases(connection, ids)
            sql.count(connection, sum(usable), len(usable) - sum(usable))
        with self._database.lock:
            for place, question, row_id, good in zip(places, ids, rows, usable, strict=True):
                if good:
                    self._receive(claim, place, question, row_id)
                else:
                    self._n_received += 1
                    self._give_up(claim, place)

    def release(self, claim: QuestionClaim) -> None:
        mine = [claim.ids[place] for place in np.flatnonzero(claim.mine)]
        received = int(claim.answered.sum())  # the same question will find them again
        self._n_received -= received
        self._n_read -= received
        for place in range(claim.agents.size):
            self._give_up(claim, place)
        if mine:
            # A lease that cannot be ended now is ended by the next question.
            ended = self._database.transaction(durable=False)
            with suppress(JournalError), storing(self.path), ended as connection:
                sql.end_leases(connection, mine)

    def _give_up(self, claim: QuestionClaim, place: int) -> None:
        self._taken.discard(claim.ids[place])
        self._leases.forget(claim.ids[place])
        claim.mine[place], claim.ids[place] = False, NEW

    def note(self, theta: Vector, agents: Indices) -> None:
        with storing(self.path), self._database.transaction() as connection:
            self._require_budget(agents.size)
            deployment = sql.add_deployment(connection, exact_bytes(theta))
            for person in agents.tolist():
                question = sql.add_question(connection, deployment, person)
                self._taken.add(question)
                sql.add_told_answer(connection, question)
            sql.count(connection, 0, agents.size)
            self._n_received += agents.size

    # --- runs

    @property
    def position(self) -> int:
        return self._position

    def resume_at(self, position: int) -> None:
        """Takes the answers up to this position as received, for the calling thread only."""
        self._local.floor = position
        with storing(self.path), self._database.lock:
            self._n_read = max(self._n_read, sql.usable_up_to(self._database, position))
            self._position = max(self._position, position)

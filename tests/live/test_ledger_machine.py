"""Random operations on a ledger have the same results as on the one in memory."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from gameproof.core.exact_bits import exact_bytes
from gameproof.live.facts import LedgerError, Status
from gameproof.live.ledger import NextDeployment
from gameproof.live.memory_ledger import MemoryLedger
from gameproof.live.sql_ledger import SqlLedger
from gameproof.live.verify import verify

BODIES = st.sampled_from([exact_bytes(np.array([value])) for value in (0.0, -0.0, 1.5)])
HOLDERS = st.sampled_from(["a", "b", 'it\'s\n"c" ü'])
KEYS = st.sampled_from([f"key {k}" for k in range(6)])
PLACES = st.integers(0, 12)
JUMPS = st.sampled_from([0.0, 1.0, 50.0, 1e6, -1e6])


class LedgerMachine(RuleBasedStateMachine):
    """Calls both ledgers and compares results, refusals and all facts.

    Ids differ between ledgers. A question is named by its rank among all questions, and an answer
    by its rank among all answers."""

    @initialize(agents=st.integers(1, 4))
    def begin(self, agents):
        self.folder = tempfile.TemporaryDirectory()
        self.stored = SqlLedger(Path(self.folder.name) / "ledger.db")
        self.ledgers = [MemoryLedger(), self.stored]
        self.studies = [ledger.create("study", "{}", "data", 0.0) for ledger in self.ledgers]
        self.now = 1.0
        opening = NextDeployment(b"theta 0", range(10, 10 + agents))
        self.both("advance", None, [], opening, self.now)

    def teardown(self):
        if hasattr(self, "stored"):
            self.stored.close()
            self.folder.cleanup()

    def both(self, method, *arguments):
        """Calls a method of both ledgers. Arguments may be functions of a ledger's number."""
        results = []
        for number, ledger in enumerate(self.ledgers):
            given = [each(number) if callable(each) else each for each in arguments]
            try:
                found = getattr(ledger, method)(self.studies[number].id, *given)
                results.append(self.without_ids(number, found))
            except LedgerError as error:
                results.append(error.code)
        assert results[0] == results[1]
        return results[0]

    def without_ids(self, number, found):
        if isinstance(found, list):
            return [self.without_ids(number, each) for each in found]
        if hasattr(found, "answer_id"):
            return (self.answer_ids(number).index(found.answer_id), found.status)
        if hasattr(found, "attempt"):
            return tuple(found[1:])
        return found

    def question_ids(self, number):
        return [q.id for q in self.ledgers[number].questions(self.studies[number].id)]

    def answer_ids(self, number):
        return [a.id for a in self.ledgers[number].answers(self.studies[number].id)]

    def question(self, place):
        return lambda number: dict(enumerate(self.question_ids(number))).get(place, 10**6)

    def counted(self, number):
        ledger, study = self.ledgers[number], self.studies[number].id
        newest = ledger.newest(study).number
        return [a.id for a in ledger.answers(study, newest) if a.status is Status.COUNTED]

    @rule(jump=JUMPS)
    def time_passes(self, jump):
        self.now += jump

    @rule(limit=st.integers(1, 3), holder=HOLDERS, lease=st.sampled_from([1.0, 100.0]))
    def lease(self, limit, holder, lease):
        self.both("lease", limit, holder, self.now + lease, self.now)

    @rule(place=PLACES, key=KEYS, body=BODIES)
    def tell(self, place, key, body):
        self.both("tell", self.question(place), key, body, self.now)

    @rule(place=PLACES)
    def withdraw(self, place):
        known = [dict(enumerate(self.answer_ids(k))).get(place, 10**6) for k in range(2)]
        self.both("withdraw", lambda number: known[number], "asked to", self.now)

    @rule(place=PLACES, agent=st.integers(50, 60))
    def replace(self, place, agent):
        self.both("replace_silent", self.question(place), agent, self.now)

    @rule(agents=st.integers(1, 3), complete=st.booleans())
    def advance(self, agents, complete):
        newest = self.ledgers[0].newest(self.studies[0].id)
        opening = NextDeployment(b"theta %d" % (newest.number + 1), range(agents))
        used = self.counted if complete else lambda number: self.counted(number)[1:]
        self.both("advance", newest.number, used, opening, self.now)

    @rule()
    def note(self):
        for number, ledger in enumerate(self.ledgers):
            ledger.note(self.studies[number].id, "paused", "{}", self.now)

    @invariant()
    def facts_are_equal(self):
        if not hasattr(self, "ledgers"):
            return
        self.both("counts", self.now)
        self.both("deployments")
        self.both("questions")
        seen = []
        for number, ledger in enumerate(self.ledgers):
            study = self.studies[number].id
            questions = self.question_ids(number)
            seen.append(
                (
                    [(questions.index(a.question), *a[2:]) for a in ledger.answers(study)],
                    [(questions.index(e.question), *e[1:]) for e in ledger.exposures(study)],
                    [(e.number, e.kind, e.at) for e in ledger.events(study)],
                )
            )
            assert verify(ledger, self.studies[number]) == []
        assert seen[0] == seen[1]


TestLedgerMachine = LedgerMachine.TestCase
TestLedgerMachine.settings = settings(
    max_examples=15,
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)

"""Random operations on a whole study do what a model in memory says.

The model holds answers in dictionaries and drives the method itself: it knows neither the ledger
nor how a study replays, closes and opens deployments.
"""

import tempfile
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import gameproof as gp
from gameproof.live.study_method import StudyMethod
from gameproof.strategic.inquiry import Replies
from studies import problem

HOLDERS = st.sampled_from(["north", "south"])
OPENERS = st.integers(0, 1)
PLACES = st.integers(0, 30)
KEYS = st.sampled_from(["a", "b", "c", None])
BODIES = st.sampled_from([0.0, 0.1])
HOUR = 3600.0


class Model:
    """A study in dictionaries."""

    def __init__(self, study):
        self.problem, self.limits = study.problem, study.settings
        self.inquiry = StudyMethod(study.problem, study.settings).inquiry()
        self.current = next(self.inquiry)
        self.number, self.n_answers, self.finished, self.paused = 0, 0, False, False
        self.place = {}  # question: (deployment, position, agent)
        self.counted = {}  # question: answer
        self.answers = {}  # answer: [question, key, body, status]
        self.by_key = {}
        self.held = {}  # question: (holder, until)

    def told(self, question, key, body):
        """The status of a new answer, or what is refused."""
        if key in self.by_key:
            known = self.answers[self.by_key[key]]
            return known[3] if known[:3] == [question, key, body] else "key-reused"
        if question not in self.place:
            return "unknown-question"
        if self.finished or self.place[question][0] != self.number:
            return "late"
        return "conflict" if question in self.counted else "counted"

    def store(self, answer, question, key, body, status):
        self.by_key[key] = answer
        self.answers.setdefault(answer, [question, key, body, status])
        if status == "counted":
            self.counted[question] = answer

    def withdraw(self, answer):
        question, *_, status = self.answers[answer]
        self.answers[answer][3] = "withdrawn"
        if status == "counted" and self.place[question][0] == self.number and not self.finished:
            del self.counted[question]

    def open_questions(self):
        here = {q: at[1] for q, at in self.place.items() if at[0] == self.number}
        return [q for q in sorted(here, key=here.get) if q not in self.counted]

    def close(self):
        """Closes the deployment with those who answered, and opens the next one."""
        used = [q for q, at in self.place.items() if at[0] == self.number and q in self.counted]
        used.sort(key=lambda q: self.place[q][1])
        replies = Replies(
            np.array([self.place[q][2] for q in used]),
            np.array([self.answers[self.counted[q]][2] for q in used]),
        )
        self.n_answers += len(used)
        try:
            self.current = self.inquiry.send(replies)
            self.finished = (
                self.number + 2 > self.limits.max_deployments
                or self.n_answers + len(self.current.agents) > self.limits.max_answers
            )
        except StopIteration:
            self.finished = True
        self.number += not self.finished


class StudyMachine(RuleBasedStateMachine):
    """Two processes use one study, and may be killed."""

    @initialize(
        batch=st.integers(3, 8),
        seed=st.integers(0, 3),
        answers=st.sampled_from([8, 30]),
        deployments=st.sampled_from([3, 9]),
    )
    def begin(self, batch, seed, answers, deployments):
        self.folder = tempfile.TemporaryDirectory()
        self.where = str(Path(self.folder.name) / "study.db")
        self.now = 1e9
        study = gp.live.create(
            self.where,
            problem(30),
            method="ogda-rr",
            batch=batch,
            seed=seed,
            silence="wait",
            max_answers=answers,
            max_deployments=deployments,
        )
        self.model = Model(study)
        self.studies = [study.with_clock(self.clock), self.opened()]
        self.learn_questions()

    def clock(self):
        return self.now

    def opened(self):
        return gp.live.open(self.where).with_clock(self.clock)

    def teardown(self):
        if hasattr(self, "model"):
            assert self.opened().verify() == []
            for study in self.studies:
                study.close()
            self.folder.cleanup()

    def learn_questions(self):
        """The ids of new questions, which must be those that the model expects."""
        if self.model.finished:
            return
        rows = self.studies[0].ledger.questions(self.studies[0].id, self.model.number)
        assert [row.agent for row in rows] == self.model.current.agents.tolist()
        self.model.place |= {r.id: (r.deployment, r.position, r.agent) for r in rows}

    @rule(who=OPENERS)
    def crash_and_reopen(self, who):
        self.studies[who].ledger.engine.dispose()
        self.studies[who] = self.opened()

    @rule(seconds=st.sampled_from([1.0, 2 * HOUR, -2 * HOUR]))
    def time_passes(self, seconds):
        self.now += seconds

    @rule(who=OPENERS, holder=HOLDERS, limit=st.integers(1, 9))
    def ask(self, who, holder, limit):
        found = self.studies[who].ask(limit, holder, HOUR, advance=False)
        others = {q for q, (name, granted) in self.model.held.items()
                  if name != holder and granted - HOUR <= self.now < granted + HOUR}  # fmt: skip
        mine = [q for q in self.model.open_questions() if q not in others]
        if self.model.paused or self.model.finished:
            mine = []
        assert len(found) == min(limit, len(mine))
        assert {each.id for each in found} <= set(mine)
        self.model.held |= {each.id: (holder, self.now) for each in found}

    @rule(who=OPENERS, place=PLACES, key=KEYS, shift=BODIES)
    def tell(self, who, place, key, shift):
        question = dict(enumerate(sorted(self.model.place))).get(place, 10**6)
        agent = self.model.place.get(question, (0, 0, 0))[2]
        body = (self.model.problem.population.X[agent] + shift).tolist()
        key = f"question {question}, {shift}" if key is None else key
        expected = self.model.told(question, key, body)
        if expected in ("key-reused", "unknown-question"):
            with pytest.raises(gp.live.LedgerError) as refused:
                self.studies[who].tell(question, body, key)
            assert refused.value.code == expected
            return
        receipt = self.studies[who].tell(question, body, key)
        assert receipt.status == expected
        if key in self.model.by_key:
            assert receipt.answer_id == self.model.by_key[key]
        else:
            self.model.store(receipt.answer_id, question, key, body, expected)

    @rule(who=OPENERS, order=st.randoms(use_true_random=False), together=st.booleans())
    @precondition(lambda self: not self.model.finished)
    def complete_the_deployment(self, who, order, together):
        """In any order, and half of the answers twice with other keys."""
        X = self.model.problem.population.X
        left = self.model.open_questions()
        left += left[::2]
        order.shuffle(left)
        told = [
            (q, (X[self.model.place[q][2]] + 0.1 * k).tolist(), f"{len(self.model.answers)} {k}")
            for k, q in enumerate(left)
        ]
        study = self.studies[who]
        receipts = study.tell_many(told) if together else [study.tell(*each) for each in told]
        for (question, body, key), receipt in zip(told, receipts, strict=True):
            expected = self.model.told(question, key, body)
            assert receipt.status == expected
            self.model.store(receipt.answer_id, question, key, body, expected)
        if not self.model.paused:
            self.advance(1 - who)

    @rule(who=OPENERS, place=PLACES)
    @precondition(lambda self: self.model.answers)
    def withdraw(self, who, place):
        answer = sorted(self.model.answers)[place % len(self.model.answers)]
        self.studies[who].withdraw(answer, "asked to")
        self.model.withdraw(answer)

    @rule(who=OPENERS)
    def pause_or_resume(self, who):
        study = self.studies[who]
        (study.resume if self.model.paused else study.pause)()
        self.model.paused = not self.model.paused

    @rule(who=OPENERS)
    def advance(self, who):
        complete = not (self.model.finished or self.model.paused or self.model.open_questions())
        assert self.studies[who].advance() == complete
        if complete:
            self.model.close()
            self.learn_questions()

    @rule(who=OPENERS)
    @precondition(lambda self: not self.model.finished)
    def close_deployment(self, who):
        answered = any(self.model.place[q][0] == self.model.number for q in self.model.counted)
        assert self.studies[who].close_deployment(self.model.number) == answered
        if answered:
            self.model.close()
            self.learn_questions()

    @invariant()
    def all_is_as_in_the_model(self):
        if not hasattr(self, "model"):
            return
        model = self.model
        number = dict.fromkeys(("counted", "late", "conflict", "withdrawn"), 0)
        for *_, status in model.answers.values():
            number[status] += 1
        for study in self.studies:
            status, deployment = study.status(), study.deployment
            found = (status.n_answers, status.n_late, status.n_conflicts, status.n_withdrawn)
            assert found == tuple(number.values())
            assert status.state == (
                "finished" if model.finished else "paused" if model.paused else "asking"
            )
            assert (deployment is None) == model.finished
            if deployment is not None:
                assert deployment.number == model.number
                assert deployment.theta.tobytes() == model.current.theta.tobytes()
                assert status.n_pending == len(model.open_questions())


TestStudyMachine = StudyMachine.TestCase
TestStudyMachine.settings = settings(
    max_examples=8,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)

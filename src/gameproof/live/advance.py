"""Advancing a study: closing a deployment, opening the next one, replacing silent people.

Whoever advances holds the lock of the study. Each step is one transaction of the ledger, so a
process that dies leaves the study before the step or after it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple, final

import numpy as np

from gameproof.live.chain import as_json
from gameproof.live.facts import (
    AnswerRow,
    DeploymentRow,
    LedgerError,
    QuestionRow,
    Status,
)
from gameproof.live.fold import Fold
from gameproof.live.ledger import Ledger, NextDeployment
from gameproof.live.refusals import changed_meanwhile
from gameproof.live.row_contents import stored_classifier
from gameproof.live.specification import Settings, Specification
from gameproof.strategic.inquiry import Deployment

PHASE, PAUSED, RESUMED = "phase", "paused", "resumed"
FINISHED, CLOSED_WITHOUT = "finished", "closed-without"
# Keeps the draws of replacements apart from those of the method.
REPLACEMENTS = 11


class OpenDeployment(NamedTuple):
    """The open deployment: who is asked at each position, and the counted answers."""

    row: DeploymentRow
    questions: list[QuestionRow]
    counted: list[AnswerRow]

    @property
    def missing(self) -> list[QuestionRow]:
        """The latest question of every position without a counted answer."""
        latest = {question.position: question for question in self.questions}
        by_id = {question.id: question.position for question in self.questions}
        answered = {by_id[answer.question] for answer in self.counted}
        return [q for position, q in latest.items() if position not in answered]


@final
class Advancer:
    """Advances one study. The caller holds the lock."""

    def __init__(
        self,
        ledger: Ledger,
        study: int,
        specification: Specification,
        fold: Callable[[], Fold],
    ) -> None:
        self._ledger, self._study = ledger, study
        self._specification = specification
        self._settings: Settings = specification.settings
        self._fold = fold  # replays the study, so it is called only where the state is needed

    def step(self, now: float, force: bool = False) -> bool:
        """Closes the open deployment if it is complete, or in any case if `force`. Opens the first
        one if there is none. Returns whether a deployment was closed."""
        row = self._ledger.newest(self._study)
        if row is None:
            self._ledger.advance(self._study, None, [], self._opening(), now)
            self._note_phase(now)
        if row is None or row.closed is not None:
            return False
        place = self._place(row)
        missing = place.missing
        if missing and not force and not self._closes_without(place, missing, now):
            return False
        if not place.counted:
            return False
        self._close(place, now)
        if missing:
            body = as_json({"deployment": row.number, "positions": len(missing)})
            self._ledger.note(self._study, CLOSED_WITHOUT, body, now)
        return True

    def finish(self, now: float, reason: str) -> None:
        """Closes the open deployment for good."""
        row = self._ledger.newest(self._study)
        if row is None or row.closed is not None:
            return
        counted = [answer.id for answer in self._place(row).counted]
        if not self._ledger.advance(self._study, row.number, counted, None, now):
            raise changed_meanwhile()
        self._ledger.note(self._study, FINISHED, as_json({"reason": reason}), now)

    def _place(self, row: DeploymentRow) -> OpenDeployment:
        questions = self._ledger.questions(self._study, row.number)
        answers = self._ledger.answers(self._study, row.number)
        return OpenDeployment(row, questions, [a for a in answers if a.status is Status.COUNTED])

    def _close(self, place: OpenDeployment, now: float) -> None:
        fold, counted = self._fold(), [answer.id for answer in place.counted]
        if [row.number for row in fold.catch_up()] != [place.row.number]:
            raise changed_meanwhile()
        fold.take(place.row, place.questions, place.counted)
        opening = self._opening()
        if not self._ledger.advance(self._study, place.row.number, counted, opening, now):
            raise changed_meanwhile()
        if opening is not None:
            self._note_phase(now)

    def _opening(self) -> NextDeployment | None:
        """The next deployment within the limits; None if the study ends."""
        fold, settings = self._fold(), self._settings
        wanted = fold.next
        if wanted is None or _exceeds(settings.max_deployments, fold.n_deployments + 1):
            return None
        if _exceeds(settings.max_answers, fold.n_answers + len(wanted.agents)):
            return None
        agents = self._within_limit(wanted)
        if agents is None:
            return None
        problem = self._specification.problem
        return NextDeployment(stored_classifier(problem, wanted.theta, wanted.intercept), agents)

    def _within_limit(self, wanted: Deployment) -> list[int] | None:
        """Whom to ask: others instead of people who were asked as often as allowed. None if there
        are not enough."""
        agents: list[int] = wanted.agents.tolist()
        if self._settings.max_per_person is None:
            return agents
        asked, limit = self._fold().asked, self._settings.max_per_person
        full = {agent for agent, count in asked.items() if count >= limit}
        if not full & set(agents):
            return agents
        negative = self._specification.problem.population.movers
        free = np.setdiff1d(negative, [*full, *agents])
        place = [self._settings.seed, REPLACEMENTS, self._fold().n_deployments]
        others: list[int] = np.random.default_rng(place).permutation(free).tolist()
        if len(others) < sum(agent in full for agent in agents):
            return None
        return [others.pop() if agent in full else agent for agent in agents]

    def _note_phase(self, now: float) -> None:
        """Notes what answers are for, when that changes; for `status` alone."""
        known = self._ledger.events(self._study, [PHASE])
        phase = self._fold().phase
        if not known or json.loads(known[-1].body)["phase"] != phase:
            self._ledger.note(self._study, PHASE, as_json({"phase": phase}), now)

    # --- people who do not answer

    def _closes_without(
        self, place: OpenDeployment, missing: list[QuestionRow], now: float
    ) -> bool:
        """Whether to close without the missing answers. Replaces silent people if that is set."""
        settings = self._settings
        if settings.silence == "wait":
            return False
        exposures = self._ledger.exposures(self._study, place.row.number)
        shown = {exposure.question: exposure.shown for exposure in reversed(exposures)}
        # A clock that was set back must not block the study, hence the absolute value.
        silent = [q for q in missing if abs(now - shown.get(q.id, now)) >= settings.patience]
        if settings.silence == "continue":
            return len(silent) == len(missing)
        asked: Counter[int] = Counter()
        if silent and settings.max_per_person is not None:
            self._fold().catch_up()
            asked = self._fold().asked + Counter(question.agent for question in place.questions)
        here = {question.agent for question in place.questions}
        for question in silent:
            agent = self._replacement(question, asked, here)
            if agent is None:
                break
            try:
                self._ledger.replace_silent(self._study, question.id, agent, now)
            except LedgerError as error:
                if error.code != "question-closed":  # else the person has just answered
                    raise
            here.add(agent)
        return False

    def _replacement(
        self, question: QuestionRow, asked: Counter[int], here: set[int]
    ) -> int | None:
        """Somebody who is not asked at this deployment; None if there is nobody."""
        limit = self._settings.max_per_person
        negative = self._specification.problem.population.movers
        full = [] if limit is None else [a for a, count in asked.items() if count >= limit]
        free = np.setdiff1d(negative, [*here, *full])
        if not free.size:
            return None
        place = (question.deployment, question.position, question.attempt)
        rng = np.random.default_rng([self._settings.seed, REPLACEMENTS, *place])
        return int(rng.choice(free))


def _exceeds(limit: int | None, number: int) -> bool:
    return limit is not None and number > limit

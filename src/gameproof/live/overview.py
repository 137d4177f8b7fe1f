"""`StudyView`: what the page of a study shows, with a size that does not grow with the study."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, NamedTuple, final

import numpy as np

from gameproof.auditing.json_safe import json_safe
from gameproof.live.deployment_answers import Accuracy, accuracy_by, deployment_answers, risk_by
from gameproof.live.facts import (
    AnswerRow,
    AtDeployment,
    DeploymentRow,
    QuestionRow,
    Status,
    by_deployment,
)
from gameproof.live.model_columns import model_columns, usual_units
from gameproof.live.reports import Recommendation, StudyStatus
from gameproof.live.study import Study
from gameproof.strategic.risk import RiskEstimate

MOST_POINTS = 150  # of a chart
MOST_LISTED = 12  # of a list


class _Told(NamedTuple):
    """An answer without its content."""

    id: int
    agent: int
    deployment: int
    status: Status
    told: float


class _Silent(NamedTuple):
    agent: int
    deployment: int
    since: float


class _Facts(NamedTuple):
    """The facts of one deployment that the page shows."""

    row: DeploymentRow
    agents: list[int]
    asked: list[int]  # the agents who were shown their question
    n_questions: int
    answers: list[_Told]
    silent: list[_Silent]


class _Result(NamedTuple):
    """What the answers to one deployment show."""

    risk: RiskEstimate | None
    accuracy: Accuracy | None


@final
class StudyView:
    """Reads a study for its page. Closed deployments are read once, unless one of their answers
    changes."""

    def __init__(self, study: Study) -> None:
        self._study, self._ledger = study, study.ledger
        self._id = study.id
        self._units = usual_units(study.problem.population.X)
        self._facts: dict[int, _Facts] = {}
        self._results: dict[int, _Result] = {}
        self._changed: tuple[int, int, int] | None = None
        # What was read for this overview, by deployment.
        self._read_now: dict[int, AtDeployment] = {}

    def overview(
        self, status: StudyStatus, best: Recommendation | None, problem: dict[str, str] | None
    ) -> dict[str, Any]:
        """Everything that the page shows, for JSON."""
        self._read(status)
        people = self._study.problem.population
        questions = [agent for facts in self._facts.values() for agent in facts.agents]
        counts = np.bincount(questions) if questions else np.zeros(1, dtype=np.int64)
        asked = {agent for facts in self._facts.values() for agent in facts.asked}
        found: dict[str, Any] = json_safe(
            {
                "at": time.time(),
                "status": status.as_dict(),
                "problem": problem,
                "settings": {
                    "silence": self._study.settings.silence,
                    "patience": self._study.settings.patience,
                    "batch": self._study.settings.batch,
                },
                "people": {
                    "n": people.n,
                    "can_be_asked": people.n_movers,
                    "asked": len(asked),
                    "most_asked": int(counts.max()),
                },
                "deployment": self._deployment(),
                "recommendation": None if best is None else _recommended(best, self._units),
                "timeline": self._timeline(),
                "results": list(self._shown_results()),
                "answers": self._listed(list(Status)),
                "late": self._listed([Status.LATE]),
                "silent": self._silent(),
            }
        )
        self._read_now = {}
        return found

    # --- reading

    def _read(self, status: StudyStatus) -> None:
        changed = (status.n_late, status.n_conflicts, status.n_withdrawn)
        if changed != self._changed:
            self._facts.clear()
            self._results.clear()
            self._changed = changed
        first = max((n for n, f in self._facts.items() if f.row.closed is not None), default=-1) + 1
        rows = self._ledger.deployments(self._id, first)
        if first == 0:
            questions, answers = self._ledger.questions(self._id), self._ledger.answers(self._id)
            exposures = self._ledger.exposures(self._id)
        else:
            questions = [q for r in rows for q in self._ledger.questions(self._id, r.number)]
            answers = [a for r in rows for a in self._ledger.answers(self._id, r.number)]
            exposures = [e for r in rows for e in self._ledger.exposures(self._id, r.number)]
        self._group(rows, questions, answers, {each.question for each in exposures})

    def _group(
        self,
        rows: list[DeploymentRow],
        questions: list[QuestionRow],
        answers: list[AnswerRow],
        shown: set[int],
    ) -> None:
        facts = by_deployment(questions, answers)
        self._read_now = {row.number: facts[row.number] for row in rows}
        agents = {question.id: question.agent for question in questions}
        counted = {a.question for a in answers if a.status in (Status.COUNTED, Status.LATE)}
        for row in rows:
            own, here = facts[row.number]
            told = [_Told(a.id, agents[a.question], row.number, a.status, a.told) for a in here]
            newest = {question.position: question.id for question in own}
            silent = [
                _Silent(q.agent, row.number, row.opened)
                for q in own
                if q.id not in counted and (row.closed is not None or newest[q.position] != q.id)
            ]
            each = [question.agent for question in own]
            asked = [question.agent for question in own if question.id in shown]
            self._facts[row.number] = _Facts(row, each, asked, len(newest), told, silent)

    # --- parts of the page

    def _deployment(self) -> dict[str, Any] | None:
        now = self._study.deployment
        if now is None:
            return None
        return {
            "number": now.number,
            "phase": now.phase,
            "opened": now.opened,
            "n_questions": now.n_questions,
            "n_answered": now.n_answered,
            "columns": model_columns(now.theta, now.intercept, now.model, self._units),
        }

    def _told(self) -> Iterator[_Told]:
        for facts in self._facts.values():
            yield from facts.answers

    def _timeline(self) -> dict[str, Any] | None:
        """Answers so far, at up to `MOST_POINTS` moments."""
        times = {True: [], False: []}  # type: dict[bool, list[float]]
        for answer in self._told():
            times[answer.status is Status.COUNTED].append(answer.told)
        if not self._facts or not (times[True] or times[False]):
            return None
        start = min(self._facts[0].row.opened, *times[True], *times[False])
        end = max(*times[True], *times[False], start)
        moments = np.linspace(start, end, MOST_POINTS)
        return {
            "start": start,
            "seconds": (moments - start).tolist(),
            "counted": np.searchsorted(np.sort(times[True]), moments, "right").tolist(),
            "other": np.searchsorted(np.sort(times[False]), moments, "right").tolist(),
        }

    def _shown_results(self) -> Iterator[dict[str, Any]]:
        """Every deployment, or every k-th of many and the last ones."""
        numbers = sorted(self._facts)
        step = -(-len(numbers) // MOST_POINTS) or 1
        for number in numbers:
            if number % step and number < len(numbers) - 2:
                continue
            facts, (risk, accuracy) = self._facts[number], self._result(number)
            yield {
                "deployment": number,
                "opened": facts.row.opened,
                "closed": facts.row.closed,
                "n_questions": facts.n_questions,
                "n_answers": sum(a.status is Status.COUNTED for a in facts.answers),
                "risk": None if risk is None else [risk.value, risk.low, risk.high],
                "accuracy": None if accuracy is None else list(accuracy),
            }

    def _result(self, number: int) -> _Result:
        if number in self._results:
            return self._results[number]
        row, problem = self._facts[number].row, self._study.problem
        if number in self._read_now:
            questions, answers = self._read_now[number]
        else:
            answers = self._ledger.answers(self._id, number)
            questions = self._ledger.questions(self._id, number)
        found = deployment_answers(self._study.specification, row, questions, answers)
        result = _Result(risk_by(problem, found), accuracy_by(problem, found))
        if row.closed is not None:
            self._results[number] = result
        return result

    def _listed(self, statuses: list[Status]) -> list[dict[str, Any]]:
        """The newest answers of these statuses."""
        fitting = [answer for answer in self._told() if answer.status in statuses]
        newest = sorted(fitting, key=lambda answer: (answer.told, answer.id))[-MOST_LISTED:]
        return [
            {
                "answer": answer.id,
                "person": self._study.person(answer.agent),
                "deployment": answer.deployment,
                "status": answer.status.value,
                "told": answer.told,
            }
            for answer in reversed(newest)
        ]

    def _silent(self) -> list[dict[str, Any]]:
        newest = [each for facts in self._facts.values() for each in facts.silent][-MOST_LISTED:]
        return [
            {
                "person": self._study.person(each.agent),
                "deployment": each.deployment,
                "since": each.since,
            }
            for each in reversed(newest)
        ]


def _recommended(found: Recommendation, units: list[float]) -> dict[str, Any]:
    return {
        "sentence": found.sentence,
        "why": found.why,
        "learnt": found.learnt,
        "ground": found.ground,
        "final": found.final,
        "n_answers": found.n_answers,
        "n_deployments": found.n_deployments,
        "risk": None if found.risk is None else asdict(found.risk),
        "columns": model_columns(found.theta, found.intercept, found.model, units),
    }

"""`Learnt`: what all answers show about the response, and how good a classifier therefore is.

Late answers are used here, and not in the run: a deployment must not depend on when an answer
arrived. The risk of a classifier has one of four grounds, the first that applies:

1. *known*: theta = 0, whose scores depend on no answer;
2. *answers*: answers to this very theta, counted or late;
3. *learnt*: the response that was learned, if all answers fit it;
4. *nearest*: answers to the deployed theta that is nearest, if it is near. The risk is then that of
   this other theta.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, final

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.core.exact_bits import exact_numbers
from gameproof.live.deployment_answers import (
    CONFIDENCE,
    FEWEST,
    DeploymentAnswers,
    read_answers,
    risk_by,
)
from gameproof.live.facts import DeploymentRow, Status
from gameproof.live.ledger import Ledger
from gameproof.live.row_contents import same_up_to_rounding, stored_classifier
from gameproof.live.specification import Specification
from gameproof.strategic.auto.predicted_risk import predicted_risk
from gameproof.strategic.inquiry import Replies
from gameproof.strategic.learning.learned_response import LearnedResponse, response_from_pilot
from gameproof.strategic.learning.pilot_of_replies import pilot_of_replies
from gameproof.strategic.risk import RiskEstimate, known_risk, risk_of_replies

Ground = Literal["known", "answers", "learnt", "nearest"]
# A deployed theta that is further away, relative to the recommended one, says nothing about it.
FARTHEST = 0.5
# Fewer answers or deployments show nothing about a response.
FEWEST_ANSWERS, FEWEST_DEPLOYMENTS = 12, 3
# Learning takes longer than the answers are worth if there are more: the first ones, where a pilot
# stands, then deployments spread over the rest, and the newest ones that have late answers.
FIRST_ANSWERS, SPREAD_DEPLOYMENTS, LATE_DEPLOYMENTS, MOST_AT_ONE = 96, 4, 3, 12
# It is learned again when the number of deployments has grown by a quarter.
GROWTH, ALL_UP_TO = 1.25, 16


class PresentRisk(NamedTuple):
    """The worst-case risk of a classifier, and what it rests on."""

    risk: RiskEstimate
    ground: Ground
    sentence: str


@final
class Learnt:
    """What the answers of one study show. Reads no more of them than it needs."""

    def __init__(self, ledger: Ledger, study: int, specification: Specification) -> None:
        self._ledger, self._study, self._specification = ledger, study, specification
        self._problem = specification.problem
        self._response: LearnedResponse | None = None
        self._known: object = None

    def response(self, rows: list[DeploymentRow], now: float) -> LearnedResponse | None:
        """The response that fits the answers to these closed deployments; None if they are too
        few."""
        counts = self._ledger.counts(self._study, now)
        number = _milestone(len(rows))
        state = (number, counts.late, counts.withdrawn)
        if state != self._known:
            late = self._with_late_answers() if counts.late else set()
            self._response = self._learned(list(self._chosen(rows[:number], rows, late)))
            self._known = state
        return self._response

    def _learned(self, found: list[DeploymentAnswers]) -> LearnedResponse | None:
        enough = sum(each.replies.agents.size for each in found) >= FEWEST_ANSWERS
        if not enough or len({each.theta.tobytes() for each in found}) < FEWEST_DEPLOYMENTS:
            return None
        people = self._problem.population
        try:
            pilot = pilot_of_replies(
                people, [each.theta for each in found], [each.replies for each in found]
            )
            return response_from_pilot(pilot, people, None, CONFIDENCE)
        except (ValueError, FloatingPointError, np.linalg.LinAlgError):
            return None  # these deployments were not chosen for learning

    def _chosen(
        self, until: list[DeploymentRow], rows: list[DeploymentRow], late: set[int]
    ) -> Iterator[DeploymentAnswers]:
        """Answers to learn from, in order of deployment."""
        told = 0
        rest = list(until)
        while rest and told < FIRST_ANSWERS:
            found = self._some_told(rest.pop(0))
            if found is not None:
                told += found.replies.agents.size
                yield found
        places = np.linspace(0, len(rest) - 1, min(SPREAD_DEPLOYMENTS, len(rest)))
        chosen = {rest[round(place)].number for place in places}
        first = {row.number for row in until[: len(until) - len(rest)]}
        chosen |= set(sorted(late - first)[-LATE_DEPLOYMENTS:])
        for row in rows:
            found = self._some_told(row) if row.number in chosen else None
            if found is not None:
                yield found

    def _told(self, row: DeploymentRow) -> DeploymentAnswers | None:
        return read_answers(self._ledger, self._study, self._specification, row)

    def _some_told(self, row: DeploymentRow) -> DeploymentAnswers | None:
        """No more than `MOST_AT_ONE` of the answers to a deployment."""
        found = self._told(row)
        if found is None:
            return None
        agents, answers = found.replies
        return found._replace(replies=Replies(agents[:MOST_AT_ONE], answers[:MOST_AT_ONE]))

    def _with_late_answers(self) -> set[int]:
        """The numbers of deployments that have late answers."""
        answers = self._ledger.answers(self._study)
        late = {answer.question for answer in answers if answer.status is Status.LATE}
        questions = self._ledger.questions(self._study)
        return {question.deployment for question in questions if question.id in late}

    # --- risk

    def risk(
        self, theta: Vector, intercept: float, rows: list[DeploymentRow], now: float
    ) -> PresentRisk | None:
        """The worst-case risk of a classifier; None if nothing is known about it."""
        if not theta.any():
            found = known_risk(self._problem, theta, intercept)
            return PresentRisk(found, "known", "which depends on no answer")
        same = self._risk_of_same(theta, intercept, rows)
        if same is not None:
            return PresentRisk(same, "answers", f"from {same.n_queries} answers to this very theta")
        response = self.response(rows, now)
        if response is not None:
            predicted = predicted_risk(self._problem, response, theta, intercept)
            if predicted is not None:
                why = f"if people respond as was learned from {predicted.n_queries} answers"
                return PresentRisk(predicted, "learnt", why)
        return self._nearest(theta, intercept, rows)

    def _risk_of_same(
        self, theta: Vector, intercept: float, rows: list[DeploymentRow]
    ) -> RiskEstimate | None:
        bits = stored_classifier(self._problem, theta, intercept)
        same = same_up_to_rounding([row.theta for row in rows], bits)
        found = [self._told(rows[place]) for place in np.flatnonzero(same)]
        told = [
            pair for each in found if each is not None for pair in zip(*each.replies, strict=True)
        ]
        answers = {int(agent): answer for agent, answer in told}
        if len(answers) < FEWEST:
            return None
        replies = Replies(np.array(list(answers)), np.array(list(answers.values())))
        return risk_of_replies(self._problem, theta, intercept, replies, CONFIDENCE)

    def _nearest(
        self, theta: Vector, intercept: float, rows: list[DeploymentRow]
    ) -> PresentRisk | None:
        width = len(stored_classifier(self._problem, theta, intercept)) // 8
        stored = exact_numbers(b"".join(row.theta for row in rows)).reshape(-1, width)
        distances = np.linalg.norm(stored[:, width - theta.size :] - theta, axis=1)
        reach = FARTHEST * float(np.linalg.norm(theta))
        for place in np.argsort(distances, kind="stable"):
            if distances[place] > reach:
                return None
            risk = risk_by(self._problem, self._told(rows[place]))
            if risk is None:
                continue
            apart = distances[place] / float(np.linalg.norm(theta))
            why = (
                f"from {risk.n_queries} answers to deployment {rows[place].number}, the nearest "
                f"that people were shown; its theta is {apart:.0%} away"
            )
            return PresentRisk(risk, "nearest", why)
        return None


def _milestone(number: int) -> int:
    """The largest of a few numbers up to this one."""
    found = min(number, ALL_UP_TO)
    while found * GROWTH <= number and number > ALL_UP_TO:
        found = int(found * GROWTH)
    return found

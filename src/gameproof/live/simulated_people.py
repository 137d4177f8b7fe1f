"""Simulated people who answer a study, so that anyone can try one in a minute."""

from __future__ import annotations

import time
from typing import final

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Vector
from gameproof.live.reports import LiveQuestion
from gameproof.live.study import Study
from gameproof.strategic.budgets import BallBudget
from gameproof.strategic.imperfect_answers import Noisy, Reluctant
from gameproof.strategic.population import Population
from gameproof.strategic.power_costs import QuadraticCost
from gameproof.strategic.responses import Response

HOLDER = "simulated people"
AT_ONCE = 1000
# Keeps the draw of silent people apart from those of noise and reluctance.
SILENCE = 23


@final
class SimulatedPeople:
    """People with a power cost or a budget, some of whom are noisy, reluctant or silent.

    Parameters
    ----------
    study
        The study whose people these are.
    power, budget
        People move as far as it pays, with a quadratic cost of this power; or, if a budget is
        given, up to this distance.
    noise, reluctant, silent
        The standard deviation of noise, and the shares of people who do not move and who never
        answer.
    seed
        The seed of all this. Answers do not depend on the order of questions.
    """

    def __init__(
        self,
        study: Study,
        *,
        power: float = 0.1,
        budget: float | None = None,
        noise: float = 0.0,
        reluctant: float = 0.0,
        silent: float = 0.0,
        seed: int = 0,
    ) -> None:
        known = study.problem.population
        movable = None if study.table is None else study.table.template.prepare.movable_.tolist()
        response: Response = QuadraticCost(power, features=movable)
        if budget is not None:
            response = BallBudget(budget, features=movable)
        if reluctant:
            response = Reluctant(response, reluctant, seed=seed)
        if noise:
            response = Noisy(response, noise, seed=seed)
        self._people = Population(known.X, known.y, response)
        self._scores = study.sees_scores
        self._silent: NDArray[np.bool_] = np.random.default_rng([seed, SILENCE]).random(
            known.n
        ) < np.full(known.n, silent)

    def answers(self, question: LiveQuestion) -> bool:
        """Whether this person answers at all."""
        return not self._silent[question.agent]

    def answer(self, question: LiveQuestion) -> Vector | float:
        """What the person reports: features, or a score."""
        found: Vector = self._people.ask(question.theta, [question.agent])[0]
        return float(found @ question.theta) if self._scores else found


def simulate(
    study: Study, people: SimulatedPeople, *, answers: int | None = None, pause: float = 0.0
) -> int:
    """Answers questions until the study is finished, and returns how many.

    When only silent people are left, the study's clock jumps to the end of their patience."""
    clock = _Clock()
    fast = study.with_clock(clock)
    told = 0
    while answers is None or told < answers:
        questions = fast.ask(AT_ONCE, HOLDER)
        ready = [question for question in questions if people.answers(question)]
        if not ready:
            if not questions or fast.settings.silence == "wait" or not clock.pass_patience(fast):
                break
            continue
        for question in ready[: None if answers is None else answers - told]:
            time.sleep(pause)
            fast.tell(question.id, people.answer(question))
            told += 1
    fast.advance()
    return told


@final
class _Clock:
    """The time, plus the jumps so far."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self._ahead

    def pass_patience(self, study: Study) -> bool:
        """Jumps until open questions count as unanswered. False if that changes nothing."""
        before = [question.id for question in study.ask(AT_ONCE, HOLDER)]
        self._ahead += study.settings.patience + 1.0
        study.advance()
        return [question.id for question in study.ask(AT_ONCE, HOLDER)] != before

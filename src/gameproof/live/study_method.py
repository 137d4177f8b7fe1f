"""`StudyMethod`: what a study asks, from its first question to its last, as one inquiry.

1. *Pilot* ("auto" only): learns the response, checks it with fresh answers, chooses a solver.
2. *Run*: the solver, with one deployment per deployed point.
3. *Risk*: fresh answers at the classifier that is recommended, for an interval of its risk.
"""

from __future__ import annotations

from typing import NamedTuple, final

from gameproof.core.arguments import Vector
from gameproof.live.specification import Settings
from gameproof.minmax.solver import Solver
from gameproof.strategic.auto.choose import USUAL_PILOT, choose_by_inquiry
from gameproof.strategic.inquiry import Inquiry
from gameproof.strategic.risk import RiskEstimate, risk_inquiry
from gameproof.strategic.robust_problem import StrategicProblem
from gameproof.strategic.solver_inquiry import SolverInquiry

PILOT, RUN, RISK = "pilot", "run", "risk"
# The run ends after this many epochs if the number of answers is not limited.
USUAL_EPOCHS = 100
# The last answers, for the risk: a tenth of all, but no more than these.
MOST_FOR_RISK, RISK_SHARE = 200, 10
FEWEST_FOR_RISK = 2


class Found(NamedTuple):
    """What is recommended at some moment of a study."""

    x: Vector  # theta, alpha and perhaps an intercept
    risk: RiskEstimate | None
    why: str


@final
class StudyMethod:
    """The inquiry of one study, and what it has found so far."""

    def __init__(self, problem: StrategicProblem, settings: Settings) -> None:
        self._problem, self._settings = problem, settings
        self._solver = settings.solver
        self._run: SolverInquiry | None = None
        self._risk: RiskEstimate | None = None
        self.phase = PILOT if self._solver is None else RUN

    def inquiry(self) -> Inquiry[None]:
        """Asks everything that the study asks."""
        limit = self._settings.max_answers
        n_negative = int((self._problem.population.y < 0).sum())
        last = min(n_negative, MOST_FOR_RISK)
        if limit is not None:
            last = min(last, limit // RISK_SHARE)
        left = None if limit is None else limit - last
        if self._solver is None:
            self._solver = yield from self._chosen(left)
            left = None if left is None else left - self._n_answers
        self.phase = RUN
        seed, epochs = self._settings.seed, USUAL_EPOCHS if left is None else None
        self._run = SolverInquiry(self._problem, self._solver, seed, left, epochs)
        yield from self._run.inquiry()
        if last >= FEWEST_FOR_RISK:
            self.phase = RISK
            x, problem = self.found().x, self._problem
            intercept = None if problem.intercept is None else problem.offset(x)
            theta, _ = problem.split(x)
            self._risk = yield from risk_inquiry(problem, theta, intercept, last, 0.95, seed)

    def _chosen(self, left: int | None) -> Inquiry[Solver]:
        """The solver that the pilot chooses; counts the answers."""
        settings = self._settings
        pilot = USUAL_PILOT if left is None else min(USUAL_PILOT, left // 3)
        for_run = None if left is None else max(left - pilot, 1)
        inquiry = choose_by_inquiry(self._problem, for_run, pilot, settings.batch, settings.seed)
        self._n_answers = 0
        try:
            deployment = next(inquiry)
            while True:
                replies = yield deployment
                self._n_answers += replies.agents.size
                deployment = inquiry.send(replies)
        except StopIteration as end:
            solver: Solver = end.value
            return solver

    def found(self) -> Found:
        """What is recommended now."""
        if self._run is None:
            start = self._problem.start[0]
            if self._solver is not None and self._solver.start is not None:
                start = self._solver.start[0]
            return Found(start, None, "The pilot is under way; nothing is recommended yet.")
        x, _ = self._run.run.recommend()
        return Found(x, self._risk, self._run.run.solver.why)

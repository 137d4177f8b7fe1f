"""`StudyMethod`: what a study asks, from its first question to its last, as one inquiry.

1. *Pilot* ("auto" only): learns the response, checks it with fresh answers, chooses a solver. The
   run is left out if the answers agree.
2. *Run*: the solver, with one deployment per deployed point.
3. *Risk*: fresh answers at the classifier that is recommended, for an interval of its risk.
"""

from __future__ import annotations

from typing import NamedTuple, final

from gameproof.core.arguments import Vector
from gameproof.live.specification import Settings
from gameproof.minmax.solver import Solver
from gameproof.minmax.state import State
from gameproof.strategic.auto.auto_inquiry import USUAL_EPOCHS, AutoInquiry
from gameproof.strategic.inquiry import Inquiry
from gameproof.strategic.risk import RiskEstimate, risk_inquiry
from gameproof.strategic.robust_problem import StrategicProblem
from gameproof.strategic.solver_inquiry import SolverInquiry

PILOT, RUN, RISK = "pilot", "run", "risk"
# The last answers, for the risk: a tenth of all, but no more than these.
MOST_FOR_RISK, RISK_SHARE = 200, 10
FEWEST_FOR_RISK = 2


class MethodProgress(NamedTuple):
    """How far a method has come after its pilot. The same answers follow from it, to the bit."""

    solver: Solver | None  # that "auto" chose
    n_chosen: int  # the answers that the choice took
    state: State | None  # of the run
    risk: RiskEstimate | None


class BestSoFar(NamedTuple):
    """What is recommended at some moment of a study."""

    x: Vector  # theta, alpha and perhaps an intercept
    risk: RiskEstimate | None
    why: str


@final
class StudyMethod:
    """The inquiry of one study, and what it has found so far."""

    def __init__(self, problem: StrategicProblem, settings: Settings) -> None:
        self._problem, self._settings = problem, settings
        self._auto: AutoInquiry | None = None
        self._given: SolverInquiry | None = None
        self._risk: RiskEstimate | None = None
        self._estimates_risk = False

    def inquiry(self, progress: MethodProgress | None = None) -> Inquiry[None]:
        """Asks everything that the study asks, or what is left after some progress."""
        problem, settings = self._problem, self._settings
        limit, seed = settings.max_answers, settings.seed
        last = min(problem.population.n_movers, MOST_FOR_RISK)
        if limit is not None:
            last = min(last, limit // RISK_SHARE)
        left = None if limit is None else limit - last
        yield from self._solved(left, progress)
        if last >= FEWEST_FOR_RISK:
            self._estimates_risk = True
            if progress is not None and progress.risk is not None:
                self._risk = progress.risk
                return
            x = self.found().x
            intercept = None if problem.intercept is None else problem.offset(x)
            theta, _ = problem.split(x)
            self._risk = yield from risk_inquiry(problem, theta, intercept, last, 0.95, seed)

    def _solved(self, left: int | None, progress: MethodProgress | None) -> Inquiry[None]:
        problem, settings = self._problem, self._settings
        state = None if progress is None else progress.state
        if settings.solver is not None:
            epochs = USUAL_EPOCHS if left is None else None
            self._given = SolverInquiry(
                problem, settings.solver, settings.seed, left, epochs, state
            )
            yield from self._given.inquiry()
            return
        self._auto = AutoInquiry(problem, settings.seed, left, settings.batch)
        if progress is None or progress.solver is None:
            yield from self._auto.inquiry()
        else:
            yield from self._auto.resumed(progress.solver, progress.n_chosen, state)

    @property
    def progress(self) -> MethodProgress | None:
        """What `inquiry` can resume from; None during the pilot."""
        if self._given is not None:
            return MethodProgress(None, 0, self._given.run.state, self._risk)
        auto = self._auto
        if auto is None or auto.solver is None:
            return None
        state = None if auto.run is None else auto.run.run.state
        return MethodProgress(auto.solver, auto.n_chosen, state, self._risk)

    @property
    def phase(self) -> str:
        """What is asked for now."""
        if self._estimates_risk:
            return RISK
        chosen = self._settings.solver or (self._auto and self._auto.solver)
        return RUN if chosen else PILOT

    def found(self) -> BestSoFar:
        """What is recommended now."""
        start = self._problem.start[0]
        if self._given is not None:
            return BestSoFar(self._given.run.recommend()[0], self._risk, self._given.run.solver.why)
        if self._auto is None or self._auto.solver is None:
            so_far = None if self._auto is None else self._auto.x
            if so_far is None:
                return BestSoFar(start, None, "The pilot is under way; nothing is recommended yet.")
            return BestSoFar(so_far, None, "The pilot is under way; this is its model's solution.")
        solver, x = self._auto.solver, self._auto.x
        why = f"{solver.why} {solver.settled}".strip()
        return BestSoFar(start if x is None else x, self._risk, why)

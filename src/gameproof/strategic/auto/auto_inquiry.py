"""`AutoInquiry`: the whole route of `Solver.auto` as one inquiry.

Pilot, learning, checks, the race after a refutation and the run all ask through it. It gives the
same bits as ``solve(problem, Solver.auto(problem, …), …)``, which asks a population at once.
"""

from __future__ import annotations

from typing import final

from gameproof.core.arguments import Vector
from gameproof.minmax.auto_options import AutoOptions
from gameproof.minmax.solver import Solver
from gameproof.minmax.state import State
from gameproof.strategic.auto.choose import Choice
from gameproof.strategic.inquiry import AnswerCount, Inquiry
from gameproof.strategic.robust_problem import StrategicProblem
from gameproof.strategic.solver_inquiry import SolverInquiry

# The run ends after this many epochs if the number of answers is not limited.
USUAL_EPOCHS = 100
# The share of the answers that the choice of a solver may use.
SHARE_OF_CHOICE = 2


@final
class AutoInquiry:
    """Chooses a solver and runs it, unless the start is settled.

    Parameters
    ----------
    problem, seed
        What to solve, and the source of randomness.
    answers
        The most answers to ask; None for no limit.
    batch
        Samples at each deployed point of the run; None for the usual number.
    """

    def __init__(
        self, problem: StrategicProblem, seed: int, answers: int | None, batch: int | None
    ) -> None:
        self._problem, self._seed, self._answers, self._batch = problem, seed, answers, batch
        self._choice: Choice | None = None
        self.solver: Solver | None = None
        self.n_chosen = 0  # the answers that the choice of the solver took
        self.run: SolverInquiry | None = None

    def inquiry(self) -> Inquiry[None]:
        """Asks until the start is settled or a limit is reached."""
        most, count = self._answers, AnswerCount()
        pilot = None if most is None else most // SHARE_OF_CHOICE
        queries = None if most is None or pilot is None else max(most - pilot, 1)
        options = AutoOptions(queries=queries, pilot=pilot, batch=self._batch, seed=self._seed)
        self._choice = Choice(self._problem, options)
        solver = yield from count.of(self._choice.inquiry())
        yield from self.resumed(solver, count.number)

    def resumed(self, solver: Solver, n_chosen: int, state: State | None = None) -> Inquiry[None]:
        """Asks from the choice of the solver on, or from a state of its run."""
        self.solver, self.n_chosen = solver, n_chosen
        if solver.settled:
            return
        left = None if self._answers is None else self._answers - n_chosen
        epochs = USUAL_EPOCHS if left is None else None
        self.run = SolverInquiry(self._problem, solver, self._seed, left, epochs, state)
        yield from self.run.inquiry()

    @property
    def x(self) -> Vector | None:
        """The learner's part of the recommendation; None before there is one."""
        if self.run is not None:
            return self.run.run.recommend()[0]
        if self.solver is None and self._choice is not None:
            return self._choice.so_far
        return None if self.solver is None or self.solver.start is None else self.solver.start[0]

"""`SolverInquiry`: the run of a solver as an inquiry, with one deployment per deployed point.

If other people answer in place of those asked, the run uses their answers. If fewer people answer,
their answers also fill the places of the others.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Indices, Vector
from gameproof.kernels import strategic
from gameproof.minmax.questions import Question
from gameproof.minmax.run import Run
from gameproof.minmax.run_engine import UNLIMITED
from gameproof.minmax.solver import Solver
from gameproof.minmax.state import State
from gameproof.strategic.envelope import Envelope
from gameproof.strategic.inquiry import Deployment, Inquiry, Replies
from gameproof.strategic.population import Population
from gameproof.strategic.robust_problem import StrategicProblem


@final
class SolverInquiry:
    """A run that asks people through an inquiry.

    Parameters
    ----------
    problem, solver, seed
        What to solve, and how.
    queries, epochs
        The run ends before a step that could ask for more answers than `queries`, and after this
        many epochs.
    state
        A state to resume from, of a run with the same problem and solver.
    """

    def __init__(
        self,
        problem: StrategicProblem,
        solver: Solver,
        seed: int,
        queries: int | None = None,
        epochs: int | None = None,
        state: State | None = None,
    ) -> None:
        # Whoever answers the inquiry counts the answers, and not the run as well.
        people = problem.population
        twin = Population(people.X, people.y, people.response, weights=people.weights)
        self._problem, self._solver = problem.with_population(twin), solver
        if state is None:
            self.run = Run(self._problem, solver, seed=seed)
        else:
            self.run = Run(self._problem, solver, state=state)
        self._queries = UNLIMITED if queries is None else queries
        self._steps = UNLIMITED if epochs is None else epochs * self.run.steps_per_epoch

    def inquiry(self) -> Inquiry[None]:
        """Asks until a limit is reached."""
        run, people = self.run, self._problem.population
        while run.state.steps < self._steps:
            if run.state.queries + run.step_cost > self._queries:
                return
            question = run.ask()
            theta, _ = self._problem.split(question.x)
            asked = people.y[question.indices] < 0
            # A sample may be drawn twice, or again after the previous step. Its person is asked
            # once at each deployment.
            agents, places = np.unique(question.indices[asked], return_inverse=True)
            if agents.size:
                intercept = self._problem.offset(question.x)
                replies = yield Deployment(theta, agents, intercept)
                self._tell(question, asked, _filled(replies, agents.size), places)
            else:
                run.tell(question, self._values(question, people.X[question.indices] @ theta))

    def _tell(
        self, question: Question, asked: NDArray[np.bool_], replies: Replies, places: Indices
    ) -> None:
        run, people = self.run, self._problem.population
        samples = question.indices.copy()
        samples[asked] = replies.agents[places]
        question = run.substitute(question, samples)
        if isinstance(self._solver.gradient, Envelope):
            run.tell(question, replies.answers[places])
            return
        theta, _ = self._problem.split(question.x)
        scores = people.X[samples] @ theta
        scores[asked] = replies.scores(theta)[places]
        run.tell(question, self._values(question, scores))

    def _values(self, question: Question, scores: Vector) -> list[float]:
        """The values of the samples of a question, from their scores without the intercept."""
        problem, out = self._problem, np.empty(question.indices.size)
        x, y = problem.uncopied(question.x, question.y)
        with_intercept = scores + problem.offset(question.x)
        problem.call(strategic.values_at_scores, question.indices, with_intercept, x, y, out)
        values: list[float] = out.tolist()
        return values


def _filled(replies: Replies, number: int) -> Replies:
    """Replies for every place: those who answered, in turn."""
    chosen = np.arange(number) % replies.agents.size
    return Replies(replies.agents[chosen], replies.answers[chosen])

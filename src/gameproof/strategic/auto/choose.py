"""`choose`, which is `Solver.auto`: what to do first and what follows from it.

For people, by what they let be seen:

1. *Learn.* A few dozen answers, or scores where no more is seen, give a model of the response.
2. *Solve.* With the model in place of the people the problem is white-box: Newton's method gives
   its saddle point, which is where the run starts.
3. *Check.* Fresh agents are asked at that very theta (`fresh_answers`). Their answers say what the
   classifier's worst-case risk is, whatever the model says; where it is no better than ignoring the
   data, the start is dropped.
4. *Rehearse.* Settings are tried on people like the model, as much stronger and weaker as the
   answers leave open, from that start.

If the model is refuted the run goes on from values alone, which need none. Where the response is
known it is the model, and there is no pilot.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gameproof.minmax.estimates import Envelope, Gradient, OnePoint, TwoPoint
from gameproof.minmax.solver import Solver
from gameproof.strategic.auto.cast import some_of, staged
from gameproof.strategic.auto.fresh_answers import ALL, FIRST, Check, checked
from gameproof.strategic.auto.rehearse import Rehearsal, Stage
from gameproof.strategic.learning.learn_response import (
    deployments_one_by_one,
    enough_answers,
    learn_within,
)
from gameproof.strategic.learning.learned_response import LearnedResponse
from gameproof.strategic.population import Population
from gameproof.strategic.power_costs import NoResponse, PowerCost
from gameproof.strategic.responses import BlackBox, KnownResponse, Sight
from gameproof.strategic.robust_problem import StrategicProblem

# The fewest a model can be learnt from.
FEWEST = 12
# Powers are rehearsed this much apart at least, and at most.
CLOSEST, FARTHEST = 0.05, 0.9
IGNORES_DATA = (
    "That saddle point ignores the data (theta = 0): the radius is too large, labels are too "
    "cheap, or features tell too little."
)
STAYS = (
    "No setting rehearsed comes closer for certain in so many queries, so the run stays where it "
    "starts: give it more queries, or a better start."
)


def choose(
    problem: StrategicProblem,
    estimate: Gradient | None,
    queries: int | None,
    pilot: int,
    batch: int,
    start: bool,
    seed: int,
) -> Solver:
    """As `Solver.auto`."""
    return _choose_for_known(problem, estimate, queries, batch, start, seed) or _Study(
        problem, estimate, pilot, seed
    ).solver(queries, batch, start)


def _choose_for_known(
    problem: StrategicProblem,
    estimate: Gradient | None,
    queries: int | None,
    batch: int,
    start: bool,
    seed: int,
) -> Solver | None:
    """Without a pilot, where the response is a formula; None where it is not, or takes numbers
    beyond what can be computed with."""
    people, response = problem.population, problem.population.response
    if not isinstance(response, KnownResponse):
        return None
    gradient = Envelope(response.degree) if estimate is None else estimate
    gradient.perturbed(problem)
    some = some_of(people, np.random.default_rng([seed, 3]))
    model, cast = (staged(problem, response, who) for who in (np.arange(people.n), some))
    if model is None or cast is None:
        return None
    x, y = model.saddle.x, model.saddle.y
    rehearsal = Rehearsal([cast], (x, y[some]) if start else None, batch, queries, seed)
    begins = "its saddle point" if start else "the problem says, as asked"
    why = (
        "The response is known, so nobody was asked: with it the problem is solved, and settings "
        f"are rehearsed on it. The run starts {'at' if start else 'where'} {begins}."
    )
    setting = rehearsal.best([gradient])
    why = " ".join([why] + [IGNORES_DATA] * problem.ignores_data(x) + [STAYS] * setting.stays)
    return replace(setting.solver(problem, batch), start=(x, y) if start else None, why=why)


class _Study:
    """The pilot study of one problem."""

    def __init__(
        self, problem: StrategicProblem, estimate: Gradient | None, pilot: int, seed: int
    ) -> None:
        self._problem, self._estimate, self._seed = problem, estimate, seed
        people, left = problem.population, problem.population.remaining
        self._pilot = pilot if left is None else min(pilot, left // 2)
        answers = people.sight >= Sight.ANSWERS
        self._answers = answers and (estimate is None or isinstance(estimate, Envelope))
        if isinstance(estimate, Envelope) and not answers:
            estimate.perturbed(problem)  # says what it lacks
        self._asked = people if self._answers or not answers else _scores_of(people)
        self._enough = enough_answers(self._asked)
        self._cast = some_of(people, np.random.default_rng([seed, 3]))
        self._learned, everyone = self._learn(), np.arange(people.n)
        model = self._learned and staged(problem, self._learned.response, everyone)
        if model is None:
            self._learned = None
        stays = Population(people.X, people.y, weights=people.weights)
        self._model = model or Stage.of(problem.with_population(stays))
        self._check = self._checked()

    def solver(self, queries: int | None, batch: int, start: bool) -> Solver:
        """The best setting in rehearsal."""
        check = self._check
        begins = self._model.saddle if start and check is not None and check.useful else None
        point = None if begins is None else (begins.x, begins.y)
        starts = None if begins is None else (begins.x, begins.y[self._cast])
        rehearsal = Rehearsal(self._stages(), starts, batch, queries, self._seed)
        setting = rehearsal.best(self._gradients())
        parts = [self._reasons(), self._beginning(start, begins is not None)]
        why = " ".join(parts + [STAYS] * setting.stays)
        return replace(setting.solver(self._problem, batch), start=point, why=why)

    # --- the pilot

    def _learn(self) -> LearnedResponse | None:
        most = max(self._pilot * 2 // 3, self._pilot - ALL)
        if most < FEWEST:
            return None
        return learn_within(self._asked, min(self._enough, most), most, seed=self._seed)

    def _checked(self) -> Check | None:
        found = self._learned
        if found is None:
            return None
        number = min(ALL, self._pilot - found.n_answers)
        first = FIRST if found.fits else number
        return checked(self._model, self._asked, found.agents, first, number, self._seed)

    # --- what follows from it

    @property
    def _believed(self) -> bool:
        found, check = self._learned, self._check
        return found is not None and found.fits and check is not None and check.agrees

    @property
    def _cut_short(self) -> bool:
        """Whether the pilot had too few scores to find out which features move."""
        if self._learned is None or self._asked.sight >= Sight.ANSWERS:
            return False
        return self._learned.n_deployments < deployments_one_by_one(self._asked.d)

    @property
    def _apart(self) -> float:
        """How much stronger or weaker than the model the answers let people be; 0 where nobody is
        seen to move."""
        found = self._learned
        if found is None or not found.power > 0:
            return 0.0
        low, high = (float(end) for end in found.intervals["power"])
        apart = (high - low) / (2 * found.power)
        if self._check is not None:
            apart = max(apart, self._check.off)
        return float(np.clip(apart, CLOSEST, FARTHEST))

    def _stages(self) -> list[Stage]:
        """People stronger and weaker than the model, as far as the answers leave open."""
        found, apart = self._learned, self._apart
        people: list[tuple[KnownResponse, float]] = [(NoResponse(), 1.0)]
        if found is not None and apart:
            people = [(found.response, factor) for factor in (1 + apart, 1 - apart, 1.0)]
        elif found is not None:
            people += [(PowerCost(1.0), float(found.intervals["power"][1]))]
        stages = [staged(self._problem, who, self._cast, factor) for who, factor in people]
        # Two suffice; the third, the model itself, is for where the first is too strong to compute
        # with.
        return [stage for stage in stages if stage is not None][:2]

    def _gradients(self) -> list[Gradient]:
        if self._estimate is not None:
            return [self._estimate]
        if self._answers and self._learned is not None and self._believed:
            return [Envelope(self._learned.degree)]
        if self._answers or self._learned is None:
            return [OnePoint(baseline=True)]
        return [OnePoint(baseline=True), TwoPoint()]

    def _reasons(self) -> str:
        if self._learned is None:
            return "The pilot is too small to learn from, so people are taken not to move."
        seen = "Answers are seen." if self._answers else "Scores alone are used."
        parts = [seen, self._learned.sentence]
        if not self._learned.fits and self._cut_short:
            parts.append(f"With pilot={self._enough + ALL} there are enough.")
        if self._check is not None:
            parts.append(self._check.sentence)
        if self._problem.ignores_data(self._model.saddle.x):
            parts.append(IGNORES_DATA)
        if not self._believed:
            parts.append("The model is not relied on: the run goes on from values.")
        elif isinstance(self._estimate, Envelope):
            low, high = self._learned.intervals["degree"]
            if not low - 1e-6 <= self._estimate.degree <= high + 1e-6:
                parts.append(f"{self._estimate!r}, as asked, takes wrong gradients of such people.")
        if self._apart:
            parts.append(f"Rehearsed on people {self._apart:.0%} stronger and weaker.")
        return " ".join(parts)

    def _beginning(self, wanted: bool, learned: bool) -> str:
        if not wanted:
            return "The run starts where the problem says, as asked."
        if learned:
            if self._believed:
                return "The run starts at that saddle point."
            return (
                "The run starts at that saddle point all the same, since by the answers it is no "
                "worse than ignoring the data."
            )
        return "The run starts where the problem says."


def _scores_of(people: Population) -> Population:
    """The same people, seen by their scores alone; they are asked and counted where they are."""
    box = BlackBox(lambda theta, agents: people.scores(theta, agents), scores=True)
    return Population(people.X, people.y, box, weights=people.weights)

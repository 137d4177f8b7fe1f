"""`choose`: `Solver.auto` for strategic problems.

1. *Learn.* A few dozen answers, or scores if no more is seen, give a model of the response.
2. *Solve.* With the model in place of the people, Newton's method gives the saddle point. The run
   starts there.
3. *Check.* Fresh agents are asked at that theta (`model_check`). Their answers show the worst-case
   risk of the classifier, whatever the model says. If it is worse than ignoring the data, the start
   is dropped.
4. *Tune.* Settings are tried from that start in simulations (`tune`), with responses as much
   stronger and weaker than the model as the answers allow.

If the model is refuted, the run uses an estimate from values, which needs no model. If the response
is known, it is the model, and there is no pilot study.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gameproof.minmax.estimates.gradient import Gradient
from gameproof.minmax.estimates.one_point import OnePoint
from gameproof.minmax.estimates.two_point import TwoPoint
from gameproof.minmax.plan import perturbed_by
from gameproof.minmax.solver import Solver
from gameproof.strategic.auto.model_check import ALL, FIRST, ModelCheck, check_model
from gameproof.strategic.auto.simulation import Simulation, sample_agents, simulate
from gameproof.strategic.auto.tune import Tuner
from gameproof.strategic.envelope import Envelope
from gameproof.strategic.inquiry import Inquiry, ask_now
from gameproof.strategic.learning.learn_response import learn_within
from gameproof.strategic.learning.learned_response import LearnedResponse
from gameproof.strategic.learning.pilot_plan import deployments_one_by_one, enough_answers
from gameproof.strategic.population import Population
from gameproof.strategic.power_costs import NoResponse, PowerCost
from gameproof.strategic.responses import BlackBox, KnownResponse, Sight
from gameproof.strategic.robust_problem import StrategicProblem

# The answers that a pilot study may ask by default.
USUAL_PILOT = 300
# The fewest answers from which a model can be learned.
FEWEST_ANSWERS = 12
# The least and the largest relative difference in strength between the simulated responses.
LEAST_SPREAD, LARGEST_SPREAD = 0.05, 0.9
IGNORES_DATA = (
    "That saddle point ignores the data (theta = 0): the radius is too large, labels are too "
    "cheap, or the features say too little."
)
STAYS = (
    "No setting reliably improves on the start with this many queries, so the run stays where it "
    "starts: allow more queries, or give a better start."
)


def choose(
    problem: StrategicProblem,
    estimate: Gradient | None,
    queries: int | None,
    pilot: int | None,
    batch: int | None,
    start: bool,
    seed: int,
) -> Solver:
    """The solver that `Solver.auto` returns for a strategic problem; see there."""
    batch = 1 if batch is None else batch
    known = _choose_for_known(problem, estimate, queries, batch, start, seed)
    if known is not None:
        return known
    study = _PilotStudy(problem, estimate, USUAL_PILOT if pilot is None else pilot, seed)
    ask_now(study.inquiry(), study.asked)
    return study.solver(queries, batch, start)


def choose_by_inquiry(
    problem: StrategicProblem, queries: int | None, pilot: int, batch: int, seed: int
) -> Inquiry[Solver]:
    """`choose` as an inquiry, for people whose response is not known."""
    study = _PilotStudy(problem, None, pilot, seed)
    yield from study.inquiry()
    return study.solver(queries, batch, start=True)


def _choose_for_known(
    problem: StrategicProblem,
    estimate: Gradient | None,
    queries: int | None,
    batch: int,
    start: bool,
    seed: int,
) -> Solver | None:
    """The solver for a known response, without a pilot study; None if the response is not known,
    or if simulating it overflows."""
    people, response = problem.population, problem.population.response
    if not isinstance(response, KnownResponse):
        return None
    gradient = Envelope(response.degree) if estimate is None else estimate
    perturbed_by(gradient, problem)
    sample = sample_agents(people, np.random.default_rng([seed, 3]))
    everyone = np.arange(people.n)
    model, simulation = (simulate(problem, response, agents) for agents in (everyone, sample))
    if model is None or simulation is None:
        return None
    x, y = model.saddle.x, model.saddle.y
    tuner = Tuner([simulation], (x, y[sample]) if start else None, batch, queries, seed)
    where = "at its saddle point" if start else "at the problem's own start, as asked"
    why = (
        "The response is known, so nobody was asked: the problem is solved, and settings are tuned "
        f"in simulation. The run starts {where}."
    )
    setting = tuner.best([gradient])
    why = " ".join([why] + [IGNORES_DATA] * problem.ignores_data(x) + [STAYS] * setting.stays)
    return replace(setting.solver(problem, batch), start=(x, y) if start else None, why=why)


class _PilotStudy:
    """The pilot study of one problem, and the solver that follows from it."""

    def __init__(
        self, problem: StrategicProblem, estimate: Gradient | None, pilot: int, seed: int
    ) -> None:
        self._problem, self._estimate, self._seed = problem, estimate, seed
        people, left = problem.population, problem.population.records.obtainable
        self._pilot = pilot if left is None else min(pilot, left // 2)
        shows_answers = people.sight >= Sight.ANSWERS
        self._uses_answers = shows_answers and (estimate is None or isinstance(estimate, Envelope))
        if isinstance(estimate, Envelope) and not shows_answers:
            perturbed_by(estimate, problem)  # raises, and says what the problem lacks
        hidden = shows_answers and not self._uses_answers
        self.asked = _scores_of(people) if hidden else people
        self._enough = enough_answers(self.asked)
        self._sample = sample_agents(people, np.random.default_rng([seed, 3]))
        self._learned: LearnedResponse | None = None
        self._check: ModelCheck | None = None

    def inquiry(self) -> Inquiry[None]:
        """Asks people: learns a model of their response, and checks it."""
        problem, people = self._problem, self._problem.population
        learned = yield from self._learn()
        model = learned and simulate(problem, learned.response, np.arange(people.n))
        nobody_moves = Population(people.X, people.y, weights=people.weights)
        self._model = model or Simulation.of(problem.with_population(nobody_moves))
        if learned is not None and model is not None:
            self._learned = learned
            self._check = yield from self._check_model(learned)

    def solver(self, queries: int | None, batch: int, start: bool) -> Solver:
        """The solver with the best setting in simulation."""
        useful = self._check is not None and self._check.useful
        saddle = self._model.saddle if start and useful else None
        point = None if saddle is None else (saddle.x, saddle.y)
        sample_point = None if saddle is None else (saddle.x, saddle.y[self._sample])
        tuner = Tuner(self._simulations(), sample_point, batch, queries, self._seed)
        setting = tuner.best(self._gradients())
        parts = [self._explain_model(), self._explain_start(start, saddle is not None)]
        why = " ".join(parts + [STAYS] * setting.stays)
        return replace(setting.solver(self._problem, batch), start=point, why=why)

    # --- asking people

    def _learn(self) -> Inquiry[LearnedResponse | None]:
        most = max(self._pilot * 2 // 3, self._pilot - ALL)
        if most < FEWEST_ANSWERS:
            return None
        return (yield from learn_within(self.asked, min(self._enough, most), most, seed=self._seed))

    def _check_model(self, learned: LearnedResponse) -> Inquiry[ModelCheck | None]:
        number = min(ALL, self._pilot - learned.n_answers)
        first = FIRST if learned.fits else number
        inquiry = check_model(self._model, self.asked, learned.agents, first, number, self._seed)
        return (yield from inquiry)

    # --- what follows from the answers

    @property
    def _model_holds(self) -> bool:
        learned, check = self._learned, self._check
        return learned is not None and learned.fits and check is not None and check.agrees

    @property
    def _too_few_scores(self) -> bool:
        """Whether the pilot study had too few scores to find the movable features."""
        if self._learned is None or self.asked.sight >= Sight.ANSWERS:
            return False
        return self._learned.n_deployments < deployments_one_by_one(self.asked.d)

    @property
    def _spread(self) -> float:
        """How much stronger or weaker than the model people may be, by their answers; 0 if nobody
        was seen to move."""
        learned = self._learned
        if learned is None or not learned.power > 0:
            return 0.0
        low, high = (float(end) for end in learned.intervals["power"])
        spread = (high - low) / (2 * learned.power)
        if self._check is not None:
            spread = max(spread, self._check.deviation)
        return float(np.clip(spread, LEAST_SPREAD, LARGEST_SPREAD))

    def _simulations(self) -> list[Simulation]:
        """Simulations of a stronger and of a weaker response than the model."""
        learned, spread = self._learned, self._spread
        responses: list[tuple[KnownResponse, float]] = [(NoResponse(), 1.0)]
        if learned is not None and spread:
            factors = (1 + spread, 1 - spread, 1.0)
            responses = [(learned.response, factor) for factor in factors]
        elif learned is not None:
            responses += [(PowerCost(1.0), float(learned.intervals["power"][1]))]
        found = [simulate(self._problem, response, self._sample, f) for response, f in responses]
        # Two are enough. The third, the model itself, is used if the first one overflows.
        return [simulation for simulation in found if simulation is not None][:2]

    def _gradients(self) -> list[Gradient]:
        if self._estimate is not None:
            return [self._estimate]
        if self._uses_answers and self._learned is not None and self._model_holds:
            return [Envelope(self._learned.degree)]
        if self._uses_answers or self._learned is None:
            return [OnePoint(baseline=True)]
        return [OnePoint(baseline=True), TwoPoint()]

    # --- explanations

    def _explain_model(self) -> str:
        if self._learned is None:
            return "The pilot is too small to learn from, so nobody is assumed to move."
        seen = "Answers are seen." if self._uses_answers else "Only scores are used."
        parts = [seen, self._learned.sentence]
        if not self._learned.fits and self._too_few_scores:
            parts.append(f"pilot={self._enough + ALL} is enough.")
        if self._check is not None:
            parts.append(self._check.sentence)
        if self._problem.ignores_data(self._model.saddle.x):
            parts.append(IGNORES_DATA)
        if not self._model_holds:
            parts.append("The model is not relied on: the run uses values.")
        elif isinstance(self._estimate, Envelope):
            low, high = self._learned.intervals["degree"]
            if not low - 1e-6 <= self._estimate.degree <= high + 1e-6:
                parts.append(f"{self._estimate!r}, as asked, gives wrong gradients for this model.")
        if self._spread:
            parts.append(
                f"Settings are tuned on responses {self._spread:.0%} stronger and weaker than the "
                "model."
            )
        return " ".join(parts)

    def _explain_start(self, wanted: bool, learned: bool) -> str:
        if not wanted:
            return "The run starts at the problem's own start, as asked."
        if not learned:
            return "The run starts at the problem's own start."
        if self._model_holds:
            return "The run starts at that saddle point."
        return (
            "The run starts at that saddle point nevertheless, since by the answers it is no worse "
            "than ignoring the data."
        )


def _scores_of(people: Population) -> Population:
    """The same people with only their scores visible. Answers count in the original population."""
    box = BlackBox(lambda theta, agents: people.scores(theta, agents), scores=True)
    return Population(people.X, people.y, box, weights=people.weights)

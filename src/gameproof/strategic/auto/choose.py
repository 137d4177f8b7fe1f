"""`choose`: `Solver.auto` for strategic problems.

1. *Pilot.* A model of the response is learned, solved, and checked with fresh answers
   (`pilot_study`). If they agree, the saddle point of the model is the result: the solver is
   settled, and `solve` asks nobody.
2. *Race.* If the model is refuted, the run starts at its saddle point only if fresh answers show
   that it is clearly better than theta = 0. `Envelope` and an estimate from values, which needs no
   model, race from there at equal cost, and fresh answers decide (`race`).
3. *Tune.* Settings are tried in simulations (`tune`), with responses as much stronger and weaker
   than the model as the answers allow, and by at least half if the model is refuted.

If the response is known, it is the model, and nobody is asked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, final

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.minmax.auto_options import AutoOptions
from gameproof.minmax.estimates.gradient import Gradient
from gameproof.minmax.estimates.one_point import OnePoint
from gameproof.minmax.estimates.two_point import TwoPoint
from gameproof.minmax.plan import perturbed_by
from gameproof.minmax.solver import Solver
from gameproof.strategic.auto import race
from gameproof.strategic.auto.explain import (
    IGNORES_DATA,
    NO_RUN_IS_BETTER,
    STAYS,
    Explanation,
)
from gameproof.strategic.auto.pilot_study import (
    FIRST_MODEL,
    LARGEST_SPREAD,
    PilotStudy,
    others,
    relative_half_width,
)
from gameproof.strategic.auto.race import Entrant, Point, SolverRace
from gameproof.strategic.auto.simulation import Simulation, sample_agents, simulate
from gameproof.strategic.auto.solver_setting import SolverSetting
from gameproof.strategic.auto.tune import Tuner
from gameproof.strategic.envelope import Envelope
from gameproof.strategic.inquiry import Inquiry, ask_now
from gameproof.strategic.power_costs import NoResponse
from gameproof.strategic.responses import KnownResponse
from gameproof.strategic.risk import known_risk
from gameproof.strategic.robust_problem import StrategicProblem

# The answers of a race by default, and their share of the queries if these are given.
USUAL_RACE, RACE_SHARE = 600, 2
# Answers at each deployment by default, and the deployments that should be left for them. An
# estimate from values learns about one direction per deployment, however many people are asked.
BY_ANSWERS, BY_VALUES = (100, 20), (10, 200)
# The least relative difference in strength between the simulated responses: of a model that holds,
# and of one that is refuted.
LEAST_SPREAD, REFUTED_SPREAD = 0.05, 0.5


def choose(problem: StrategicProblem, options: AutoOptions) -> Solver:
    """The solver that `Solver.auto` returns for a strategic problem; see there."""
    known = _choose_for_known(problem, options)
    if known is not None:
        return known
    choice = Choice(problem, options)
    return ask_now(choice.inquiry(), choice.asked)


def _choose_for_known(problem: StrategicProblem, options: AutoOptions) -> Solver | None:
    """The solver for a known response, without a pilot study; None if the response is not known,
    or if simulating it overflows."""
    people, response = problem.population, problem.population.response
    if not isinstance(response, KnownResponse):
        return None
    gradient = Envelope(response.degree) if options.estimate is None else options.estimate
    batch = 1 if options.batch is None else options.batch
    perturbed_by(gradient, problem)
    sample = sample_agents(people, np.random.default_rng([options.seed, 3]))
    everyone = np.arange(people.n)
    model, simulation = (simulate(problem, response, agents) for agents in (everyone, sample))
    if model is None or simulation is None:
        return None
    x, y = model.saddle.x, model.saddle.y
    start = (x, y[sample]) if options.start else None
    tuner = Tuner([simulation], start, batch, options.queries, options.seed)
    where = "at its saddle point" if options.start else "at the problem's own start, as asked"
    why = (
        "The response is known, so nobody was asked: the problem is solved, and settings are tuned "
        f"in simulation. The run starts {where}."
    )
    setting = tuner.best([gradient])
    why = " ".join([why] + [IGNORES_DATA] * problem.ignores_data(x) + [STAYS] * setting.stays)
    return replace(setting.solver(problem, batch), start=(x, y) if options.start else None, why=why)


class _Tuned(NamedTuple):
    """A setting and the samples at each deployment."""

    setting: SolverSetting
    batch: int

    @property
    def stays(self) -> bool:
        return self.setting.stays

    def made(self, problem: StrategicProblem) -> Solver:
        return self.setting.solver(problem, self.batch)


@final
class Choice:
    """The choice of a solver for people who can only be asked, as an inquiry."""

    def __init__(self, problem: StrategicProblem, options: AutoOptions) -> None:
        self._problem, self._options = problem, options
        pilot, queries, seed = options.pilot, options.queries, options.seed
        if pilot is None:
            pilot = FIRST_MODEL + (USUAL_RACE if queries is None else queries // RACE_SHARE)
        left = problem.population.records.obtainable
        self._most = pilot if left is None else min(pilot, left // 2)
        self._pilot = PilotStudy(problem, options.estimate, self._most, seed, refines=options.start)
        self.asked = self._pilot.people
        self._sample = sample_agents(problem.population, np.random.default_rng([seed, 3]))

    def inquiry(self) -> Inquiry[Solver]:
        """Asks people, and returns the solver."""
        pilot = self._pilot
        yield from pilot.inquiry()
        start = self._start()
        explained = Explanation(self._problem, pilot, self._options.estimate, self._options.start)
        if not self._is_raced:
            solver = self._tuned(self._gradients(), start)
            why = explained.why(self._spread, start is not None, solver.stays)
            settled = explained.settled() if start is not None and pilot.holds else ""
            return replace(solver.made(self._problem), start=start, why=why, settled=settled)
        batch = self._usual_batch(*BY_ANSWERS)
        rivals = [self._tuned([gradient], start, batch) for gradient in self._rivals()]
        solvers = {
            repr(each.setting.gradient): replace(each.made(self._problem), start=start)
            for each in rivals
        }
        left = self._most - pilot.n_answers
        ranked = yield from SolverRace(
            self._problem, solvers, start, left, self._options.seed
        ).inquiry()
        why = explained.why(self._spread, start is not None, False)
        return self._winner(ranked, solvers, f"{why} {explained.race(ranked, self._ignoring)}")

    @property
    def so_far(self) -> Vector | None:
        """The learner's part of the model's saddle point, while it is clearly better than ignoring
        the data; None if it is not, or not known yet."""
        start = self._start() if self._pilot.useful else None
        return None if start is None else start[0]

    @property
    def _is_raced(self) -> bool:
        """Whether estimates compete: the model is refuted, answers are seen, no estimate was asked
        for, and enough people may be asked."""
        pilot = self._pilot
        refuted = pilot.learned is not None and not pilot.holds
        free = pilot.uses_answers and self._options.estimate is None and self._options.start
        return refuted and free and self._most - pilot.n_answers >= race.FEWEST

    def _start(self) -> Point | None:
        """The model's saddle point, if it can be relied on."""
        pilot, model = self._pilot, self._pilot.model
        if model is None or not self._options.start or not (pilot.holds or pilot.useful):
            return None
        return model.x, model.y

    @property
    def _ignoring(self) -> float:
        """The worst-case risk of theta = 0."""
        return known_risk(self._problem, np.zeros(self._problem.population.d), 0.0).value

    def _winner(self, ranked: list[Entrant], solvers: dict[str, Solver], why: str) -> Solver:
        """The solver that follows from a race."""
        best = ranked[0]
        first = best.solver or next(iter(solvers.values()))
        if not best.risk < self._ignoring - race.ERRORS * best.error:
            return replace(first, start=None, why=why)
        settled = "" if best.solver else NO_RUN_IS_BETTER
        return replace(first, start=best.point, why=why, settled=settled)

    # --- settings

    def _gradients(self) -> list[Gradient]:
        pilot = self._pilot
        if self._options.estimate is not None:
            return [self._options.estimate]
        if pilot.uses_answers and pilot.learned is not None and pilot.holds:
            return [Envelope(pilot.learned.degree)]
        if pilot.uses_answers or pilot.learned is None:
            return [OnePoint(baseline=True)]
        return [OnePoint(baseline=True), TwoPoint()]

    def _rivals(self) -> list[Gradient]:
        assert self._pilot.learned is not None
        return [Envelope(self._pilot.learned.degree), OnePoint(baseline=True)]

    @property
    def _spread(self) -> float:
        """How much stronger or weaker than the model simulated people are; 0 if nobody was seen to
        move."""
        pilot = self._pilot
        if pilot.learned is None or not pilot.learned.power > 0:
            return 0.0
        spread = relative_half_width(pilot.learned)
        if pilot.check is not None:
            spread = max(spread, pilot.check.deviation)
        least = LEAST_SPREAD if pilot.holds else REFUTED_SPREAD
        return float(np.clip(spread, least, LARGEST_SPREAD))

    def _simulations(self) -> list[Simulation]:
        """Simulations of a stronger and of a weaker response than the model."""
        learned, nobody = self._pilot.learned, (NoResponse(), 1.0)
        responses: list[tuple[KnownResponse, float]] = [nobody]
        if learned is not None:
            other = others(learned, self._spread)
            # Two are enough. The third is used if the first one overflows.
            responses = [*other, (learned.response, 1.0)] if learned.power > 0 else [nobody, *other]
        found = [simulate(self._problem, response, self._sample, f) for response, f in responses]
        return [simulation for simulation in found if simulation is not None][:2]

    def _tuned(
        self, gradients: list[Gradient], start: Point | None, batch: int | None = None
    ) -> _Tuned:
        """The best setting in simulation, for any of these estimates."""
        if batch is None:
            by_answers = isinstance(gradients[0], Envelope)
            batch = self._usual_batch(*(BY_ANSWERS if by_answers else BY_VALUES))
        point = None if start is None else (start[0], start[1][self._sample])
        tuner = Tuner(self._simulations(), point, batch, self._options.queries, self._options.seed)
        return _Tuned(tuner.best(gradients), batch)

    def _usual_batch(self, answers: int, deployments: int) -> int:
        """The samples at each deployment: as asked, or about as many as cost these answers, rounded
        so that the deployments of an epoch are equally large."""
        if self._options.batch is not None:
            return self._options.batch
        if self._options.queries is not None:
            answers = min(answers, max(self._options.queries // deployments, 1))
        people = self._problem.population
        n_negative = people.n_movers
        steps_per_epoch = max(round(n_negative / answers), 1)
        return int(-(-people.n // steps_per_epoch))

"""`PilotStudy`: learns how people respond, solves the model, and checks it with fresh answers.

1. *Learn.* A few dozen answers, or scores if no more is seen, give a model of the response, with
   the errors that answers have.
2. *Solve.* With the model in place of the people, Newton's method gives the saddle point.
3. *Check.* Fresh agents are asked at that theta (`model_check`). Their answers show the worst-case
   risk of the classifier, whatever the model says.
4. *Refine.* Suppose that people are as much stronger or weaker than the model as the answers allow.
   The most that another classifier would then gain is the *regret*. While it exceeds a tolerance,
   or the check is imprecise, the fresh answers are learned from as well, and steps 2 and 3 are
   repeated.
"""

from __future__ import annotations

from typing import final

import numpy as np

from gameproof.core.arguments import Matrix
from gameproof.minmax.estimates.gradient import Gradient
from gameproof.minmax.plan import perturbed_by
from gameproof.strategic.auto.model_check import ALL, FIRST, CompletedCheck, ModelCheck, check_model
from gameproof.strategic.auto.simulation import ModelOfPeople
from gameproof.strategic.envelope import Envelope
from gameproof.strategic.inquiry import AnswerCount, Inquiry
from gameproof.strategic.learning.fit_tests import EXACT
from gameproof.strategic.learning.learn_response import learn_from_more, learn_within
from gameproof.strategic.learning.learned_response import LearnedResponse
from gameproof.strategic.learning.pilot_plan import deployments_one_by_one, enough_answers
from gameproof.strategic.population import Population
from gameproof.strategic.power_costs import PowerCost
from gameproof.strategic.responses import BlackBox, KnownResponse, Sight
from gameproof.strategic.robust_problem import StrategicProblem

# The most answers for the first model and its check.
FIRST_MODEL = 300
# The fewest answers from which a model can be learned.
FEWEST_ANSWERS = 12
# The answers of each later check, and the fewest that are worth it.
LATER, FEWEST_LATER = 100, 30
# The regret that is tolerated: risks are of size 0.5.
TOLERANCE = 1e-3
# A check with a larger standard error hardly says anything.
IMPRECISE = 1e-2
# The largest relative difference in strength that is simulated.
LARGEST_SPREAD = 0.9
# The half width of a 95 % interval in standard errors.
NORMAL_95 = 1.96


@final
class PilotStudy:
    """The pilot study of one problem.

    Parameters
    ----------
    problem, estimate
        The problem, and the kind of gradient that is wanted. If it needs values only, no more than
        scores are looked at.
    most
        The most answers that may be asked.
    refines
        Whether the model is refined. There is no need if a run starts elsewhere.
    seed
        The source of randomness.
    """

    def __init__(
        self,
        problem: StrategicProblem,
        estimate: Gradient | None,
        most: int,
        seed: int,
        refines: bool = True,
    ) -> None:
        self._problem, self._seed, self._most, self._refines = problem, seed, most, refines
        people = problem.population
        shows_answers = people.sight >= Sight.ANSWERS
        self.uses_answers = shows_answers and (estimate is None or isinstance(estimate, Envelope))
        if isinstance(estimate, Envelope) and not shows_answers:
            perturbed_by(estimate, problem)  # raises, and says what the problem lacks
        hidden = shows_answers and not self.uses_answers
        self.people = _scores_of(people) if hidden else people
        self.enough = enough_answers(self.people)
        self._count, self._rounds, self._disagreements = AnswerCount(), 0, 0
        self.learned: LearnedResponse | None = None
        self.check: ModelCheck | None = None
        self.model: ModelOfPeople | None = None
        self.regret = 0.0

    @property
    def n_answers(self) -> int:
        """The answers so far."""
        return self._count.number

    def inquiry(self) -> Inquiry[None]:
        """Asks people, until the model is good enough, refuted, or nobody may be asked."""
        learned = yield from self._count.of(self._learn())
        while learned is not None:
            model = self._solved(learned, learned.response)
            if model is None:
                return
            self.learned, self.model = learned, model
            doubt = self._consider_others(learned, model)
            checked = yield from self._count.of(self._checked(learned, model, doubt))
            if checked is None:
                return
            self.check = checked.check
            if not (learned.fits and self._is_worth_refining()):
                return
            learned = learn_from_more(learned, self.people, checked.theta, checked.replies)
            if not learned.fits:
                return

    @property
    def holds(self) -> bool:
        """Whether the answers fit the model, and fresh answers agree with its saddle point."""
        learned, check = self.learned, self.check
        fits = learned is not None and (learned.fits or learned.delay > 0)
        return fits and check is not None and check.agrees

    @property
    def uncertain(self) -> bool:
        """Whether more answers may show that another classifier is better."""
        imprecise = self.check is not None and self.check.error > IMPRECISE
        return imprecise or self.regret > TOLERANCE

    @property
    def useful(self) -> bool:
        """Whether the model's saddle point is clearly better than ignoring the data."""
        return self.check is not None and self.check.useful

    @property
    def too_few_scores(self) -> bool:
        """Whether there were too few scores to find the movable features."""
        if self.learned is None or self.people.sight >= Sight.ANSWERS:
            return False
        return self.learned.n_deployments < deployments_one_by_one(self.people.d)

    # --- asking people

    def _learn(self) -> Inquiry[LearnedResponse | None]:
        pilot = min(self._most, FIRST_MODEL)
        most = max(pilot * 2 // 3, pilot - ALL)
        if most < FEWEST_ANSWERS:
            return None
        return (yield from learn_within(self.people, min(self.enough, most), most, seed=self._seed))

    def _checked(
        self, learned: LearnedResponse, model: ModelOfPeople, doubt: float
    ) -> Inquiry[CompletedCheck | None]:
        left = self._most - self.n_answers
        number = min(LATER if self._rounds else ALL, left - 2 * learned.delay)
        trusted = learned.fits or learned.delay > 0
        first = FIRST if trusted and not self._rounds else number
        self._rounds += 1
        return (
            yield from check_model(
                model,
                self.people,
                seen=learned.agents,
                first=first,
                number=number,
                seed=self._seed + self._rounds - 1,
                delay=learned.delay,
                doubt=doubt,
            )
        )

    def _is_worth_refining(self) -> bool:
        """Whether to learn from the answers of the check as well, and to check again."""
        affordable = self._refines and self._most - self.n_answers >= FEWEST_LATER
        if not affordable or self.people.sight < Sight.ANSWERS:
            return False
        if self.holds:
            return self.uncertain
        # Numbers of a model that fits may still be inaccurate. A second disagreement refutes it.
        self._disagreements += 1
        return self._disagreements == 1

    # --- what follows from the answers

    def _solved(
        self, learned: LearnedResponse, response: KnownResponse, factor: float = 1.0
    ) -> ModelOfPeople | None:
        return ModelOfPeople.of(self._problem, response, errors_of(learned), factor, self._seed)

    def _consider_others(self, learned: LearnedResponse, model: ModelOfPeople) -> float:
        """Computes the regret. Returns the standard error of the predicted risk."""
        self.regret, spread = 0.0, relative_half_width(learned)
        if learned.power > 0 and spread <= EXACT:
            return 0.0
        found = [self._solved(learned, *other) for other in others(learned, spread)]
        solved = [other for other in found if other is not None]
        risks = [other.risk(model.x) for other in solved]
        best = [other.risk(other.x) for other in solved]
        self.regret = max((a - b for a, b in zip(risks, best, strict=True)), default=np.inf)
        return float(np.ptp([model.risk(model.x), *risks])) / (len(risks) * NORMAL_95)


def relative_half_width(learned: LearnedResponse) -> float:
    """Half the width of the interval of the power, relative to the power; 0 if nobody moves."""
    if not learned.power > 0:
        return 0.0
    low, high = (float(end) for end in learned.intervals["power"])
    return float(np.clip((high - low) / (2 * learned.power), 0.0, LARGEST_SPREAD))


def others(learned: LearnedResponse, spread: float) -> list[tuple[KnownResponse, float]]:
    """Responses with factors: stronger and weaker than the model by `spread`. If nobody was seen to
    move, the strongest response that the answers allow."""
    if learned.power > 0:
        return [(learned.response, 1 + spread), (learned.response, 1 - spread)]
    return [(PowerCost(1.0), float(learned.intervals["power"][1]))]


def errors_of(learned: LearnedResponse) -> Matrix | None:
    """The errors of answers that fit on average; None if they fit exactly, or only scores were
    seen."""
    if learned.pilot.scores_only or not learned.fits:
        return None
    largest = float(np.abs(learned.pilot.moves).max())
    exact = float(np.abs(learned.errors).max()) <= max(EXACT * largest, learned.pilot.rounding)
    return None if exact else learned.errors


def _scores_of(people: Population) -> Population:
    """The same people with only their scores visible. Answers count in the original population."""
    box = BlackBox(lambda theta, agents: people.scores(theta, agents), scores=True)
    return Population(people.X, people.y, box, weights=people.weights)

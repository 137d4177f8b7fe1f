"""The sentences in which `Solver.auto` says what it found about people, and what follows."""

from __future__ import annotations

from typing import NamedTuple

from gameproof.minmax.estimates.gradient import Gradient
from gameproof.strategic.auto.model_check import ALL
from gameproof.strategic.auto.pilot_study import TOLERANCE, PilotStudy
from gameproof.strategic.auto.race import Entrant
from gameproof.strategic.envelope import Envelope
from gameproof.strategic.robust_problem import StrategicProblem

IGNORES_DATA = (
    "That saddle point ignores the data (theta = 0): the radius is too large, labels are too "
    "cheap, or the features say too little."
)
STAYS = (
    "No setting reliably improves on the start with this many queries, so the run stays where it "
    "starts: allow more queries, or give a better start."
)
NO_RUN_IS_BETTER = "No run did better than the start on fresh answers."


class Explanation(NamedTuple):
    """What a pilot study found."""

    problem: StrategicProblem
    pilot: PilotStudy
    estimate: Gradient | None
    wants_start: bool

    def why(self, spread: float, starts_there: bool, stays: bool) -> str:
        """What was found, how settings were tuned, and where the run starts."""
        parts = [self._model(), *self._tuning(spread), self._start(starts_there)]
        return " ".join(parts + [STAYS] * stays)

    def settled(self) -> str:
        """Why a run need not ask anybody."""
        check, regret = self.pilot.check, self.pilot.regret
        assert check is not None
        reason = f"Fresh answers of {check.number} agents agree with the start, which is enough."
        if regret > TOLERANCE:
            reason += (
                f" As far as the answers show, another classifier may have a risk that is up to "
                f"{regret:.2g} lower; a larger pilot= narrows this."
            )
        return reason

    def race(self, ranked: list[Entrant], ignoring: float) -> str:
        """How a race ended."""
        listed = ", ".join(f"{each.name} {each.risk:.4g} ± {each.error:.1g}" for each in ranked)
        return (
            f"At equal cost, fresh answers give the worst-case risks {listed}; theta = 0 has "
            f"{ignoring:.4g}."
        )

    def _model(self) -> str:
        pilot = self.pilot
        if pilot.learned is None or pilot.model is None:
            return "The pilot is too small to learn from, so nobody is assumed to move."
        seen = "Answers are seen." if pilot.uses_answers else "Only scores are used."
        parts = [seen, pilot.learned.sentence]
        if not pilot.learned.fits and pilot.too_few_scores:
            parts.append(f"pilot={pilot.enough + ALL} is enough.")
        if pilot.check is not None:
            parts.append(pilot.check.sentence)
        if self.problem.ignores_data(pilot.model.x):
            parts.append(IGNORES_DATA)
        if not pilot.holds:
            parts.append("The model is not relied on.")
        elif isinstance(self.estimate, Envelope):
            low, high = pilot.learned.intervals["degree"]
            if not low - 1e-6 <= self.estimate.degree <= high + 1e-6:
                parts.append(f"{self.estimate!r}, as asked, gives wrong gradients for this model.")
        return " ".join(parts)

    def _tuning(self, spread: float) -> list[str]:
        if not spread:
            return []
        return [f"Settings are tuned on responses {spread:.0%} stronger and weaker than the model."]

    def _start(self, starts_there: bool) -> str:
        if not self.wants_start:
            return "The run starts at the problem's own start, as asked."
        if not starts_there:
            return "The run starts at the problem's own start."
        if self.pilot.holds:
            return "The run starts at that saddle point."
        return (
            "The run starts at that saddle point nevertheless, since by the answers it is clearly "
            "better than ignoring the data."
        )

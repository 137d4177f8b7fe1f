"""Whether fresh answers bear out a learnt model, at the saddle point that follows from it.

A few agents are asked first, those never asked before ahead of others. Where all of them do as
foretold but for rounding, more would tell little: where a share p of the people does otherwise, m
answers miss all of those with probability (1 - p)^m. Where one deviates it is a matter of how much,
and the rest is asked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gameproof.core.arguments import Indices, Vector
from gameproof.strategic.auto.rehearse import Stage
from gameproof.strategic.learning.fit_tests import EXACT
from gameproof.strategic.population import Population

# Agents asked first, and in all.
FIRST, ALL = 24, 60
# A check is passed within this many standard errors, or where risks differ by less than that.
ERRORS, NEAR = 3.0, 1e-3
# Risks are of size 1, and differences below this are those of rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Check:
    """What fresh answers say of the model's saddle point."""

    number: int
    predicted: float  # worst-case risk, as the model has it
    answered: float  # and by the answers
    error: float  # standard error of the difference
    ignoring: float  # the worst-case risk of theta = 0
    off: float  # how far the mean move is from the model's, relative to it

    @property
    def agrees(self) -> bool:
        """Whether the model has foretold the answers."""
        return abs(self.answered - self.predicted) <= max(ERRORS * self.error, NEAR)

    @property
    def useful(self) -> bool:
        """Whether the classifier is no worse than ignoring the data, by the answers."""
        return self.answered <= self.ignoring + max(ERRORS * self.error, NEAR)

    @property
    def sentence(self) -> str:
        """What was found, and what it means."""
        apart = abs(self.answered - self.predicted)
        start = f"Fresh answers of {self.number} agents to its saddle point"
        if apart <= ROUNDING and self.error <= ROUNDING:
            return f"{start} give a worst-case risk of {self.answered:.4g}, exactly as foretold."
        verdict = "do not agree with it"
        if apart <= ERRORS * self.error:
            verdict = "agree with it"
        elif self.agrees:
            verdict = f"differ from it, but by less than {NEAR:g}"
        error = f" ± {self.error:.1g} (one standard error)" if self.error > ROUNDING else ""
        return (
            f"{start} {verdict}: a worst-case risk of {self.answered:.4g}{error}, foretold "
            f"{self.predicted:.4g}."
        )


def checked(
    model: Stage, people: Population, seen: Indices, first: int, number: int, seed: int
) -> Check | None:
    """Asks `first` of the people, and the rest of `number` where one of those deviates; None where
    there are too few to ask."""
    problem, saddle = model.problem, model.saddle
    theta, _ = problem.split(saddle.x)
    order = _unseen_first(np.flatnonzero(people.y < 0), seen, seed)[:number]
    if order.size < 2:
        return None
    agents = np.sort(order[:first])
    scores = people.scores(theta, agents)
    expected = problem.population.scores(theta, agents)
    if order.size > first and not _exact(scores, expected, people.X[agents], theta):
        rest = np.sort(order[first:])
        agents = np.concatenate([agents, rest])
        scores = np.concatenate([scores, people.scores(theta, rest)])
        expected = np.concatenate([expected, problem.population.scores(theta, rest)])
    offset, against = problem.offset(saddle.x), np.full(agents.size, -1.0)
    values = (problem.loss.value(s + offset, against) for s in (scores, expected))
    more = people.weights[agents] * np.subtract(*values)
    share = float(np.mean(people.y < 0))
    predicted = problem.robust_value(saddle.x)
    rise = float((expected - people.X[agents] @ theta).mean())
    return Check(
        number=agents.size,
        predicted=predicted,
        answered=predicted + share * float(more.mean()),
        error=share * float(more.std(ddof=1)) / np.sqrt(agents.size),
        ignoring=problem.robust_value(np.zeros_like(saddle.x)),
        off=_relative(scores - expected, rise),
    )


def _unseen_first(movers: Indices, seen: Indices, seed: int) -> Indices:
    """In random order, those who were asked before last."""
    shuffled = np.random.default_rng([seed, 1]).permutation(movers)
    order: Indices = shuffled[np.argsort(np.isin(shuffled, seen), kind="stable")]
    return order


def _exact(scores: Vector, expected: Vector, own: Vector, theta: Vector) -> bool:
    """Whether scores are as expected, but for what floating-point numbers lose."""
    moved = float(np.abs(expected - own @ theta).max())
    floor = 64 * np.finfo(float).eps * float((np.abs(own) @ np.abs(theta)).max())
    return float(np.abs(scores - expected).max()) <= max(EXACT * moved, floor)


def _relative(errors: Vector, size: float) -> float:
    """How far the mean error may be from 0, relative to a size. Where that is 0, nobody is to move
    at all, and errors that may be noise say nothing of how far people move elsewhere."""
    mean, unsure = abs(float(errors.mean())), 2 * float(errors.std(ddof=1)) / np.sqrt(errors.size)
    return (mean + unsure) / abs(size) if size else float(mean > unsure)

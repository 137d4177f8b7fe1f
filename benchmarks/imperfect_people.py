"""Simulated people who violate the model that `Solver.auto` learns, and their true risk.

Each kind is a function of features, labels and seed. It returns how people answer when they are
asked, and how they settle if a theta stays deployed. The risk of a result is computed from the
latter for everybody, which no method sees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import gameproof as gp

RADIUS, LABEL_COST = 0.05, 0.5
POWER, FEATURES = 0.3, range(5)
HORIZON = 2000  # answers during which the power drifts
NOISES = 21  # draws of the errors, one of which a method sees
BASE = gp.QuadraticCost(POWER, features=FEATURES)
Answers = Callable[[Any, Any], Any]  # of theta and the agents asked


class People(NamedTuple):
    """How people answer when they are asked, and how they settle: one function, or several equally
    likely ones."""

    asked: Answers
    settled: list[Answers]


def _steady(response: gp.Response) -> Callable[[Any, Any, int], People]:
    """People whose answers do not depend on what was asked before."""

    def made(X: Any, y: Any, seed: int) -> People:
        def answer(theta: Any, agents: Any) -> Any:
            return response.answers(theta, X[agents], agents)

        return People(answer, [answer])

    return made


def _noisy(sd: float) -> Callable[[Any, Any, int], People]:
    """Answers have errors; others each time a classifier is used."""

    def made(X: Any, y: Any, seed: int) -> People:
        asked, *later = (_steady(gp.Noisy(BASE, sd, k))(X, y, seed).asked for k in range(NOISES))
        return People(asked, later)

    return made


def _stale(X: Any, y: Any, seed: int) -> People:
    """They answer the previous deployment, and catch up if a theta stays."""
    late = gp.Stale(BASE)
    return People(
        lambda theta, agents: late.answers(theta, X[agents], agents),
        [lambda theta, agents: BASE.answers(theta, X[agents], agents)],
    )


def _drifting(X: Any, y: Any, seed: int) -> People:
    """The power grows by half while 2,000 answers are asked, and stays there."""
    count = [0]

    def answer(theta: Any, agents: Any) -> Any:
        count[0] += len(agents)
        power = POWER * (1 + 0.5 * min(count[0] / HORIZON, 1.0))
        return gp.QuadraticCost(power, features=FEATURES).answers(theta, X[agents], agents)

    final = gp.QuadraticCost(1.5 * POWER, features=FEATURES)
    return People(answer, [lambda theta, agents: final.answers(theta, X[agents], agents)])


def _tired(X: Any, y: Any, seed: int) -> People:
    """Each time they are asked they move a tenth less; they recover."""
    times = np.zeros(len(y))

    def answer(theta: Any, agents: Any) -> Any:
        moves = BASE.answers(theta, X[agents], agents) - X[agents]
        moved = X[agents] + moves * 0.9 ** times[agents][:, None]
        times[agents] += 1
        return moved

    return People(answer, [lambda theta, agents: BASE.answers(theta, X[agents], agents)])


def _subgroup(X: Any, y: Any, seed: int) -> People:
    """Three of ten are three times as strong, on the other features."""
    other = np.random.default_rng([seed, 7]).random(len(y)) < 0.3
    strong = gp.QuadraticCost(3 * POWER, features=range(5, 10))

    def answer(theta: Any, agents: Any) -> Any:
        ours, theirs = (r.answers(theta, X[agents], agents) for r in (BASE, strong))
        return np.where(other[agents][:, None], theirs, ours)

    return People(answer, [answer])


def _heterogeneous(X: Any, y: Any, seed: int) -> People:
    """Powers differ by agent, with a coefficient of variation of 0.8."""
    powers = POWER * np.random.default_rng([seed, 7]).lognormal(-0.25, 0.7, len(y))
    return _steady(gp.QuadraticCost(powers, features=FEATURES))(X, y, seed)


def _all_or_nothing(X: Any, y: Any, seed: int) -> People:
    """They move three times as far as the model says if that gets them accepted, else not."""
    far = gp.QuadraticCost(3 * POWER, features=FEATURES)

    def answer(theta: Any, agents: Any) -> Any:
        moved = far.answers(theta, X[agents], agents)
        return np.where((moved @ theta > 0)[:, None], moved, X[agents])

    return People(answer, [answer])


def _imitating(X: Any, y: Any, seed: int) -> People:
    """They move a fifth of the way to the mean of the people who are accepted."""

    def answer(theta: Any, agents: Any) -> Any:
        accepted = X[X @ theta > 0]
        if not len(accepted):
            return X[agents].copy()
        goal = np.where(np.arange(X.shape[1]) < 5, accepted.mean(axis=0), X[agents])
        return X[agents] + 0.2 * (goal - X[agents])

    return People(answer, [answer])


def _contrary(X: Any, y: Any, seed: int) -> People:
    """Three of ten move against theta."""
    against = np.random.default_rng([seed, 7]).random(len(y)) < 0.3
    sign = np.where(against, -1.0, 1.0)

    def answer(theta: Any, agents: Any) -> Any:
        moves = BASE.answers(theta, X[agents], agents) - X[agents]
        return X[agents] + sign[agents][:, None] * moves

    return People(answer, [answer])


KINDS: dict[str, Callable[[Any, Any, int], People]] = {
    "noise, sd 1": _noisy(1.0),
    "stale": _stale,
    "drifting power": _drifting,
    "subgroup": _subgroup,
    "rounded": _steady(gp.Rounded(BASE, 0.25)),
    "boxed": _steady(gp.Boxed(BASE, -1.0, 1.0)),
    "reluctant": _steady(gp.Reluctant(BASE, 0.5)),
    "heterogeneous": _heterogeneous,
    "tired": _tired,
    "all-or-nothing": _all_or_nothing,
    "imitating": _imitating,
    "contrary": _contrary,
    "noise, sd 0.2": _noisy(0.2),
    "as modelled": _steady(BASE),
}


def problem_of(kind: str, seed: int, budget: int | None) -> tuple[gp.StrategicProblem, People]:
    """The problem in which these people can only be asked, and the people."""
    X, y = gp.synthetic_people(500, 10, seed=seed)
    people = KINDS[kind](X, y, seed)
    asked = gp.Population(X, y, gp.BlackBox(people.asked), budget=budget)
    return gp.StrategicProblem(asked, RADIUS, LABEL_COST), people


def true_risk(problem: gp.StrategicProblem, people: People, x: Any) -> float:
    """The worst-case risk of a classifier once everybody has settled."""
    population = problem.population
    theta, _ = problem.split(x)
    everybody = int((population.y < 0).sum())
    risks = []
    for settled in people.settled:
        own = gp.Population(population.X, population.y, gp.BlackBox(settled))
        known = problem.with_population(own)
        risks.append(gp.estimate_risk(known, theta, queries=everybody, seed=0).value)
    return float(np.mean(risks))

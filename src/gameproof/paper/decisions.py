"""Gaming scores against gaming decisions: the paper's classifiers and classifiers for budgets.

Gaming by power is the paper's model: a score rises by zeta |theta_M|^2, with theta_M the
coefficients of the movable features. With a budget, a score rises by the support function
sigma(theta): B |theta_M| for a ball of radius B, B |theta_M|_1 for a box of +-B. Divide theta and
the intercept by c > 0. No decision changes, and no decision after gaming by budget, since both
sides of

    <x, theta> + intercept + sigma(theta) > 0

are divided by c. The rise by power, however, is divided by c^2 while the score is divided by c:
people who game by power seem c times weaker, although every decision is the same.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.core.errors import CapWarning, IgnoresDataWarning
from gameproof.paper import decision_claims, decision_figures
from gameproof.paper.experiment_runs import Row
from gameproof.paper.experiment_study import ExperimentStudy
from gameproof.paper.participants import (
    INTERCEPT,
    TEST,
    Participants,
    Source,
    complete_rows,
    draw_people,
)
from gameproof.strategic.baselines import plain_regression, strategic_regression
from gameproof.strategic.budgets import BallBudget, BoxBudget
from gameproof.strategic.population import Population
from gameproof.strategic.power_costs import QuadraticCost
from gameproof.strategic.responses import KnownResponse
from gameproof.strategic.saddle_point import saddle_point

PEOPLE: dict[Source, int] = {"synthetic": 4000, "credit": 2000, "bank": 2000}
QUICK_PEOPLE = 400
DIMENSION = 10
# How people game, and by how much: powers, and budgets in standard deviations.
AMOUNTS = {
    "power": (0.0, 0.05, 0.2, 0.5, 1.0, 2.0, 5.0),
    "ball": (0.0, 0.25, 0.5, 1.0, 2.0),
    "box": (0.0, 0.25, 0.5, 1.0, 2.0),
}
SHAPES = {"ball": "budget", "box": "box"}
FACTORS = (0.03125, 0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
Classifier = tuple[Vector, float]


def draw_standardised(source: Source, n: int, seed: int) -> Participants:
    """Draws n training people and TEST others, with every column of a data set standardised.

    Numbers are transformed by a plain log1p. Columns of levels are standardised too: the robust
    classifier penalises |theta|, so all columns should have the same unit.
    """
    if source == "synthetic":
        return draw_people(source, n, DIMENSION, seed)
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from gameproof.estimators.prepare import Prepare

    data = complete_rows(source)
    train, test = data.balanced(n + TEST, seed=seed).split(n, seed=seed)
    prepare = Prepare(data.features, unit=1.0)
    steps = make_pipeline(prepare, StandardScaler()).fit(train.X)
    parts = steps.transform(train.X), train.y, steps.transform(test.X), test.y
    return Participants(*parts, prepare.movable_.tolist(), INTERCEPT)


def response(gaming: str, amount: float, people: Participants) -> KnownResponse:
    """Returns the response of people with this power or budget."""
    if gaming == "power":
        return QuadraticCost(amount, features=people.movable)
    if gaming == "ball":
        return BallBudget(amount, people.movable)
    bound = np.zeros(people.X.shape[1])
    bound[people.movable] = amount
    return BoxBudget(-bound, bound)


def train_classifiers(people: Participants, budgets: tuple[float, ...]) -> dict[str, Classifier]:
    """Trains every classifier. `logistic, divided` is logistic regression on the robust
    classifier's scale: multiplied by the ratio of their |theta_M|."""
    problem = people.problem()
    with warnings.catch_warnings():
        # If only people of one label have some level, its coefficient is at the bound.
        warnings.simplefilter("ignore", CapWarning)
        warnings.simplefilter("ignore", IgnoresDataWarning)
        x = saddle_point(problem).x
        found = {
            name: fit(problem.population, intercept=people.intercept)
            for name, fit in {
                "logistic": plain_regression,
                "strategic": strategic_regression,
            }.items()
        }
        found["robust"] = problem.split(x)[0], problem.offset(x)
        for gaming, word in SHAPES.items():
            for budget in budgets:
                movers = Population(people.X, people.y, response(gaming, budget, people))
                own = strategic_regression(movers, intercept=people.intercept)
                found[f"for {word} {budget:g}"] = own
    found["logistic, divided"] = scaled(found["logistic"], scale_factor(found, people))
    return found


def scale_factor(classifiers: dict[str, Classifier], people: Participants) -> float:
    """Returns the factor that brings logistic regression to the robust classifier's scale."""
    robust, logistic = (
        float(np.linalg.norm(classifiers[name][0][people.movable]))
        for name in ("robust", "logistic")
    )
    return robust / logistic


def scaled(classifier: Classifier, factor: float) -> Classifier:
    """Multiplies the scores by a factor, which changes no decision."""
    theta, intercept = classifier
    return factor * theta, factor * intercept


def evaluate(classifier: Classifier, people: Participants, gaming: str, amount: float) -> Row:
    """Evaluates a classifier on the test people when those who should be refused game, or all do.

    A person is accepted if a move can bring the score above 0. It does not matter whether people
    move as far as they can or just far enough.
    """
    theta, intercept = classifier
    scores = people.test_X @ theta + intercept
    agents = np.arange(scores.size)
    gamed = scores + response(gaming, amount, people).gains(theta, agents) > 0
    good = people.test_y > 0
    accepted = np.where(good, scores > 0, gamed)
    return {
        "gaming": gaming,
        "amount": amount,
        "accuracy": float((accepted == good).mean()),
        "accuracy, all game": float((gamed == good).mean()),
        "good approved": float(accepted[good].mean()),
        "bad approved": float(accepted[~good].mean()),
    }


def evaluate_seed(source: Source, n: int, seed: int) -> dict[str, list[Row]]:
    """Evaluates every classifier with every kind of gaming on one draw, and logistic regression at
    every scale."""
    people = draw_standardised(source, n, seed)
    classifiers = train_classifiers(people, decision_claims.BUDGETS)
    common: dict[str, Any] = {"source": source, "seed": seed}
    accuracy = [
        {**common, "classifier": name, **evaluate(classifier, people, gaming, amount)}
        for name, classifier in classifiers.items()
        for gaming, amounts in AMOUNTS.items()
        for amount in amounts
    ]
    scale = [
        {**common, "factor": factor, "gamed by": words, **evaluate(times, people, gaming, 1.0)}
        for factor in FACTORS
        for times in [scaled(classifiers["logistic"], factor)]
        for gaming, words in decision_figures.GAMED_BY.items()
    ]
    sizes = [
        {
            **common,
            "classifier": name,
            "size": float(np.linalg.norm(theta)),
            "movable": float(np.linalg.norm(theta[people.movable])),
            "intercept": intercept,
        }
        for name, (theta, intercept) in classifiers.items()
    ]
    return {"accuracy": accuracy, "scale": scale, "sizes": sizes}


def run(study: ExperimentStudy) -> None:
    """Runs the experiment on all three sources of people."""
    from gameproof.tables.catalog import CATALOG
    from gameproof.tables.download import get

    for source in PEOPLE:
        if source in CATALOG:
            get(CATALOG[source], say=study.say)
    calls = [
        {"source": source, "n": QUICK_PEOPLE if study.quick else n, "seed": seed}
        for source, n in PEOPLE.items()
        for seed in range(study.seeds)
    ]
    parts = study.map(evaluate_seed, calls)
    tables = {name: [row for part in parts for row in part[name]] for name in parts[0]}
    for name, rows in tables.items():
        study.table(name, rows)
    decision_figures.draw(study, tables["accuracy"], tables["scale"])
    decision_claims.claim(study, tables["accuracy"])
    decision_claims.write_notes(study, tables)

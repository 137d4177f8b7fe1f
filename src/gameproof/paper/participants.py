"""The people of the experiments, for training and testing: synthetic, credit and bank.

Every seed draws its own people.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, Literal, NamedTuple

from gameproof.core.arguments import Matrix, Vector
from gameproof.strategic.population import Population
from gameproof.strategic.power_costs import QuadraticCost
from gameproof.strategic.robust_problem import StrategicProblem
from gameproof.tables.dataset import Dataset
from gameproof.tables.load_published import load_bank, load_credit
from gameproof.tables.synthetic import synthetic_people

Source = Literal["synthetic", "credit", "bank"]
# theta and the intercept, by name.
Classifiers = dict[str, tuple[Vector, float]]
# The paper's numbers.
LABEL_COST, PRINTED_RADIUS, TRAINED_FOR, ALPHA_MAX = 0.5, 0.4, 0.05, 20.0
MOVABLE = [0, 1, 2, 3, 4]
TEST = 800
INTERCEPT = 5.0


class Participants(NamedTuple):
    """Features and labels for training and testing."""

    X: Matrix
    y: Vector
    test_X: Matrix
    test_y: Vector
    movable: list[int]
    intercept: float | None

    def problem(self, radius: float = PRINTED_RADIUS, **more: Any) -> StrategicProblem:
        """Returns the robust problem, by default the paper's.

        The default is the printed form, with the gradient in theta estimated from values for all
        agents, including those with label +1.
        """
        asked = Population(self.X, self.y, QuadraticCost(TRAINED_FOR, features=self.movable))
        parts: dict[str, Any] = {"form": "printed", "positive": "estimated"}
        parts |= {"alpha_max": ALPHA_MAX, "intercept": self.intercept} | more
        return StrategicProblem(asked, radius, LABEL_COST, **parts)


@cache
def complete_rows(source: Source) -> Dataset:
    """Returns the rows of a data set without missing values."""
    return (load_credit if source == "credit" else load_bank)().complete()


def draw_people(
    source: Source, n: int, d: int, seed: int, movable: tuple[str, ...] | None = None
) -> Participants:
    """Draws n training people and TEST others.

    A data set gives balanced rows without missing values; the preparation is fitted on the training
    rows, and d is ignored. `movable` replaces the data set's own movable features.
    """
    if source == "synthetic":
        X, y = synthetic_people(n + TEST, d, seed=seed)
        return Participants(X[:n], y[:n], X[n:], y[n:], MOVABLE, None)
    from gameproof.estimators.prepare import Prepare

    data = complete_rows(source)
    train, test = data.balanced(n + TEST, seed=seed).split(n, seed=seed)
    features = data.features if movable is None else replace(data.features, movable=movable)
    prepare = Prepare(features).fit(train.X)
    parts = prepare.transform(train.X), train.y, prepare.transform(test.X), test.y
    return Participants(*parts, prepare.movable_.tolist(), INTERCEPT)

"""``gameproof demo``: three classifiers, and what happens to each when people game it.

Synthetic people, as in the paper: those who should be refused change the features they can, and the
more power they have, the farther they go.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gameproof.cli.console import Console
from gameproof.cli.outputs import make_sure_of_folder

if TYPE_CHECKING:
    from gameproof.arguments import Matrix, Vector

TRAIN, TEST, FEATURES = 2000, 800, 10
MOVABLE = [0, 1, 2, 3, 4]
TRAINED_FOR = 0.05  # the gaming power that the two strategic classifiers expect
RADIUS, LABEL_COST = 0.15, 0.5
POWERS = [0.0, 0.05, 0.1, 0.2, 0.5, 1.0]


def add_parser(words: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """``demo``."""
    demo = words.add_parser(
        "demo",
        parents=[shared],
        help="three classifiers and people who game them: a table and a figure",
        description="Trains three classifiers on synthetic people, lets people game them, prints "
        "a table and draws a figure. The first run compiles for about a minute.",
        epilog="example: gameproof demo --out out",
    )
    demo.add_argument(
        "--out", type=Path, default=Path("out"), metavar="DIR", help="for the figure [out]"
    )
    demo.set_defaults(run=run)


def run(options: argparse.Namespace, console: Console) -> None:
    """Trains, tests, shows, draws."""
    from gameproof.data.synthetic import synthetic_people

    make_sure_of_folder(options.out)
    X, y = synthetic_people(TRAIN + TEST, FEATURES, seed=0)
    console.say(
        f"{TRAIN} people to learn from, {TEST} to test on; of {FEATURES} features {len(MOVABLE)} "
        "can be gamed"
    )
    thetas, risk, gap = classifiers(X[:TRAIN], y[:TRAIN])
    rows = {
        name: [accuracy(theta, X[TRAIN:], y[TRAIN:], power) for power in POWERS]
        for name, theta in thetas.items()
    }
    lines = [
        f"worst-case risk of the robust classifier {risk:.4f}, certified to {gap:.0e}",
        "accuracy on the test people, by their gaming power:",
        f"{'':12s}" + "".join(f"{power:>8g}" for power in POWERS),
        *(f"{name:12s}" + "".join(f"{value:8.3f}" for value in row) for name, row in rows.items()),
    ]
    try:
        figure = str(draw(rows, options.out / "demo.png"))
        where = f"the same as a figure: {figure}"
    except ImportError:
        figure, where = None, "for a figure: pip install gameproof[plot]"
    record = {"powers": POWERS, "accuracy": rows, "worst_case_risk": risk, "duality_gap": gap}
    console.show("\n".join(lines), {**record, "figure": figure})
    console.say(where)


def classifiers(X: Matrix, y: Vector) -> tuple[dict[str, Vector], float, float]:
    """theta of each, and the worst-case risk of the robust one with its certificate."""
    from gameproof.exact.baselines import plain_regression, strategic_regression
    from gameproof.exact.reference import saddle_point
    from gameproof.population.population import Population
    from gameproof.population.responses import QuadraticCost
    from gameproof.problem.strategic import StrategicProblem

    people = Population(X, y, QuadraticCost(TRAINED_FOR, features=MOVABLE))
    problem = StrategicProblem(people, radius=RADIUS, label_cost=LABEL_COST)
    saddle = saddle_point(problem)
    thetas = {
        "logistic": plain_regression(people)[0],
        "strategic": strategic_regression(people)[0],
        "robust": problem.split(saddle.x)[0],
    }
    return thetas, saddle.value, saddle.duality_gap


def accuracy(theta: Vector, X: Matrix, y: Vector, power: float) -> float:
    """The share of people classified right once they have answered theta with this power."""
    import numpy as np

    from gameproof.population.population import Population
    from gameproof.population.responses import QuadraticCost

    people = Population(X, y, QuadraticCost(power, features=MOVABLE))
    return float(np.mean(np.sign(people.scores(theta, np.arange(people.n))) == y))


def draw(rows: dict[str, list[float]], path: Path) -> Path:
    """Accuracy against gaming power, in the style of all figures."""
    from gameproof.data.files import write_whole
    from gameproof.report.figures import drawn, lines
    from gameproof.report.parts import Panels, Series

    title, x = "trained for the power at the grey line", "gaming power of the people tested"
    series = [Series(name, found, POWERS) for name, found in rows.items()]
    chart = lines(title, x, "accuracy", series, upright=[(TRAINED_FOR, "trained for")])
    content = drawn(Panels(title, [chart]))["png"]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)
    return path

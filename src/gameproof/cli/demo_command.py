"""``gameproof demo``: four classifiers, and how accurate each stays when people use a budget.

Applicants who should be refused can change some columns by up to half a standard deviation, or by a
multiple of it, to get accepted. One classifier is trained for this budget. The other three are
logistic regression, strategic regression and the paper's robust classifier. Columns are prepared
and scaled first, so a budget means the same in every column.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gameproof.cli import demo_people
from gameproof.cli.console import Console
from gameproof.cli.demo_people import DemoPeople
from gameproof.cli.options import add_command
from gameproof.cli.outputs import add_folder, require_writable_folder

if TYPE_CHECKING:
    from gameproof.auditing.page_model import Chart
    from gameproof.core.arguments import Vector

SPLITS = 20
BUDGET = 0.5  # standard deviations
MULTIPLES = (0.0, 0.5, 1.0, 2.0, 4.0)
POWER, RADIUS, LABEL_COST, INTERCEPT = 0.05, 0.15, 0.5, 20.0
LOGISTIC, STRATEGIC, PAPER, TRAINED = "logistic", "strategic", "paper's robust", "for the budget"


def add_parser(commands: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """Adds ``demo``."""
    parser = add_command(
        commands,
        shared,
        "demo",
        run,
        summary="compare four classifiers while people game them",
        description="Trains four classifiers, lets people game them within a budget, prints the "
        "accuracies and draws a figure. The data sets credit and bank are included if gameproof "
        "data get has downloaded them.",
        examples="example: gameproof demo --out out",
    )
    add_folder(parser, "out", "the folder for the figure")


class Shown(NamedTuple):
    """Accuracies by model and multiple, and the leads of the classifier trained for the budget.

    Each is a mean and the ends of its 95 % interval.
    """

    accuracy: dict[str, list[tuple[float, float, float]]]
    leads: dict[str, list[tuple[float, float, float]]]
    duality_gap: float


def run(options: argparse.Namespace, console: Console) -> None:
    """Trains and tests on every data set, prints the accuracies and draws the figure."""
    require_writable_folder(options.out)
    console.say(
        f"{demo_people.TRAIN:,} training rows and {demo_people.TEST:,} test rows, {SPLITS} times; "
        "applicants who should be refused can change some columns by up to "
        f"{BUDGET:g} standard deviations"
    )
    found: dict[str, Shown] = {}
    for name, overlap, draws in demo_people.data_sets(SPLITS, console):
        with console.step(f"training and testing on {name}"):
            found[name] = compared(draws, overlap)
    lines = [line for name, shown in found.items() for line in table(name, shown)]
    worst = max(shown.duality_gap for shown in found.values())
    lines.append(f"every fit is certified: the largest duality gap is {worst:.0e}")
    try:
        figure = str(draw(found, options.out / "demo.png"))
        where = f"figure: {figure}"
    except ImportError:
        figure, where = None, "for a figure: pip install gameproof[plot]"
    record = {
        "budget": f"up to {BUDGET:g} standard deviations, either way",
        "multiples": MULTIPLES,
        "data": {name: {"accuracy": s.accuracy, "lead": s.leads} for name, s in found.items()},
        "duality_gap": worst,
    }
    console.show("\n".join(lines), {**record, "figure": figure})
    console.say(where)


def compared(draws: Iterable[DemoPeople], overlap: float) -> Shown:
    """Means over draws, with 95 % intervals."""
    import numpy as np

    from gameproof.auditing.intervals import split_interval

    runs, gaps = [], []
    for people in draws:
        models, gap = classifiers(people)
        runs.append([accuracies(people, *model) for model in models.values()])
        gaps.append(gap)
    found = np.array(runs)  # draws, models, multiples

    def means(numbers: Any) -> list[tuple[float, float, float]]:
        return [(float(each.mean()), *split_interval(each, overlap)) for each in numbers.T]

    names = list(models)
    accuracy = {name: means(found[:, k]) for k, name in enumerate(names)}
    leads = {name: means(found[:, -1] - found[:, k]) for k, name in enumerate(names[:-1])}
    return Shown(accuracy, leads, max(gaps))


def classifiers(people: DemoPeople) -> tuple[dict[str, tuple[Vector, float]], float]:
    """Coefficients and intercept of each classifier, and the largest duality gap."""
    from math import inf

    import numpy as np

    from gameproof.strategic.budgets import BoxBudget
    from gameproof.strategic.population import Population
    from gameproof.strategic.power_costs import NoResponse, QuadraticCost
    from gameproof.strategic.robust_problem import StrategicProblem
    from gameproof.strategic.saddle_point import saddle_point

    reach = BUDGET * np.isin(np.arange(people.X.shape[1]), people.movable)
    by_power = QuadraticCost(POWER, features=people.movable)
    trained_for: dict[str, tuple[Any, float, float]] = {
        LOGISTIC: (NoResponse(), 0.0, inf),
        STRATEGIC: (by_power, 0.0, inf),
        PAPER: (by_power, RADIUS, LABEL_COST),
        TRAINED: (BoxBudget(-reach, reach), 0.0, inf),
    }
    found, gaps = {}, []
    for name, (response, radius, label_cost) in trained_for.items():
        population = Population(people.X, people.y, response)
        problem = StrategicProblem(population, radius, label_cost, intercept=INTERCEPT)
        saddle = saddle_point(problem)
        found[name] = problem.split(saddle.x)[0], float(problem.offset(saddle.x))
        gaps.append(saddle.duality_gap)
    return found, max(gaps)


def accuracies(people: DemoPeople, theta: Vector, offset: float) -> list[float]:
    """Test accuracy when applicants who should be refused use each multiple of the budget."""
    import numpy as np

    scores = people.X_test @ theta + offset
    gain = BUDGET * float(np.abs(theta[people.movable]).sum())
    bad = people.y_test < 0
    return [float(np.mean((scores + np.where(bad, m * gain, 0.0) > 0) != bad)) for m in MULTIPLES]


def table(name: str, shown: Shown) -> list[str]:
    """The accuracies and leads on one data set, line by line."""
    lines = [
        f"{name}: accuracy when bad applicants use a multiple of their budget",
        " " * 18 + "".join(f"{multiple:>8g}" for multiple in MULTIPLES),
    ]
    for model, found in shown.accuracy.items():
        lines.append(f"  {model:16s}" + "".join(f"{mean:8.3f}" for mean, _, _ in found))
    for model, found in shown.leads.items():
        said = [
            f"{found[k][0]:+.3f} ({found[k][1]:+.3f} to {found[k][2]:+.3f}) at {MULTIPLES[k]:g}"
            for k in (2, 3)
        ]
        lines.append(f"  lead over {model}: {', '.join(said)}")
    return [*lines, ""]


def draw(found: dict[str, Shown], path: Path) -> Path:
    """Draws accuracy over multiples of the budget, with one panel for each data set."""
    from gameproof.auditing.figures import draw_files
    from gameproof.auditing.page_model import Panels
    from gameproof.core.atomic_files import write_rules, write_whole

    charts = [_chart(name, shown) for name, shown in found.items()]
    title = f"accuracy by multiple of the budget (1 = {BUDGET:g} standard deviations)"
    content = draw_files(Panels(title, charts))["png"]
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_rules(folder=path.parent):
        write_whole(path, content)
    return path


def _chart(name: str, shown: Shown) -> Chart:
    from gameproof.auditing.figures import line_chart
    from gameproof.auditing.page_model import Series

    series = []
    for model, found in shown.accuracy.items():
        mean, low, high = ([part[k] for part in found] for k in range(3))
        series.append(Series(model, mean, MULTIPLES, low, high))
    x = f"budget (1 = {BUDGET:g} standard deviations)"
    return line_chart(name, x, "accuracy", series, upright=[(1.0, "trained for")])

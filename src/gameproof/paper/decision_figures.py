"""The figures of `decisions`: accuracy by budget and by power, and by the scale of the score."""

from __future__ import annotations

import numpy as np

from gameproof.auditing.figures import line_chart, mean_band
from gameproof.auditing.page_model import Chart, Panels, Series
from gameproof.paper.decision_claims import BUDGETS, OPPONENTS
from gameproof.paper.experiment_runs import Row, by_seed, where
from gameproof.paper.experiment_study import ExperimentStudy

GAMED_BY = {"power": "power 1", "ball": "budget 1"}
# The classifiers of each figure, and what its axis shows.
SHOWN: dict[str, tuple[list[str], str]] = {
    "ball": (
        [*OPPONENTS, *(f"for budget {budget:g}" for budget in BUDGETS)],
        "budget, in standard deviations",
    ),
    "box": (
        [*OPPONENTS, *(f"for box {budget:g}" for budget in BUDGETS)],
        "budget of each column (±)",
    ),
    "power": ([*OPPONENTS, "logistic, divided", "for budget 1"], "gaming power"),
}
NAMES = {"ball": "figure", "box": "boxes", "power": "powers"}


def draw(study: ExperimentStudy, accuracy: list[Row], scale: list[Row]) -> None:
    """Draws all four figures."""
    sources = list(dict.fromkeys(row["source"] for row in accuracy))
    runs = f"{study.seeds} seeds: mean and two standard deviations."
    captions = {
        "ball": "Accuracy on held-out people when everyone who should be refused moves the movable "
        f"features by at most the budget in total; {runs} `for budget B` is trained for B.",
        "box": "Accuracy on held-out people when everyone who should be refused changes each "
        f"movable feature by at most the budget; {runs} `for box B` is trained for B.",
        "power": "The paper's measure: accuracy by gaming power when people game scores; "
        f"{runs} `logistic, divided` makes the decisions of logistic regression, with scores on "
        "the robust classifier's scale.",
    }
    for gaming in SHOWN:
        own = where(accuracy, gaming=gaming)
        charts = [_by_amount(where(own, source=source), source, gaming) for source in sources]
        study.draw(NAMES[gaming], Panels(captions[gaming], charts))
    caption = (
        "Logistic regression multiplied by a constant, which changes no decision: accuracy after "
        f"gaming by power and by budget; {runs} The dashed line is the robust classifier at power "
        "1."
    )
    charts = [_by_factor(scale, accuracy, source) for source in sources]
    study.draw("scale", Panels(caption, charts))


def _by_amount(rows: list[Row], source: str, gaming: str) -> Chart:
    names, x = SHOWN[gaming]
    series = [
        mean_band(name, *by_seed(where(rows, classifier=name), "amount", "accuracy"))
        for name in names
    ]
    return line_chart(source, x, "accuracy", series)


def _by_factor(scale: list[Row], accuracy: list[Row], source: str) -> Chart:
    own = where(scale, source=source)
    series = [
        mean_band(words, *by_seed(where(own, **{"gamed by": words}), "factor", "accuracy"))
        for words in GAMED_BY.values()
    ]
    wanted = {"source": source, "classifier": "robust", "gaming": "power", "amount": 1.0}
    robust = float(np.mean([row["accuracy"] for row in where(accuracy, **wanted)]))
    factors = [series[0].x[0], series[0].x[-1]]
    series.append(Series("robust, power 1", [robust, robust], factors, guide=True))
    return line_chart(source, "factor of logistic regression", "accuracy", series, log_x=True)

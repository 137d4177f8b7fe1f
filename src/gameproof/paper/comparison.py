"""The four algorithms by their gap, and the classifiers by what gaming leaves of their accuracy."""

from __future__ import annotations

import warnings
from functools import partial

from gameproof.errors import CapWarning
from gameproof.exact.baselines import plain_regression, strategic_regression
from gameproof.exact.reference import saddle_point
from gameproof.paper import claims
from gameproof.paper.people import TEST, TRAINED_FOR, Source, draw
from gameproof.paper.setting import (
    ALGORITHMS,
    TUNING_SEEDS,
    Row,
    accuracy_rows,
    best_settings,
    by_seed,
    grid,
    lead,
    scored_run,
    solver_of,
    where,
)
from gameproof.paper.study import Study
from gameproof.problem.problem import gap
from gameproof.report.figures import lines, spread
from gameproof.report.parts import Chart, Panels

DIMENSION = 10
POWERS: dict[Source, tuple[float, ...]] = {
    "synthetic": (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    "credit": (0.0, 0.05, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0),
    "bank": (0.0, 0.05, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0),
}
WAYS = {"tuned": "with block steps", "letter": "to the letter"}


def tune_algorithm(
    source: Source, n: int, d: int, seed: int, algorithm: str, settings: list[Row], epochs: int
) -> list[Row]:
    """The gap in the end, for each of the settings."""
    problem = draw(source, n, d, seed).problem()
    score = partial(gap, problem, saddle=saddle_point(problem))
    rows = []
    for setting in settings:
        solver = solver_of(algorithm, n, setting)
        ((last,), _) = scored_run(problem, score, solver, epochs, seed, only_last=True)
        rows.append({"algorithm": algorithm, "seed": seed, **setting, "score": last["score"]})
    return rows


def tuned(study: Study, source: Source, n: int, d: int, epochs: int) -> dict[str, dict[str, Row]]:
    """The settings of all four algorithms, in both ways; the search goes to a table."""
    seeds = TUNING_SEEDS[:1] if study.quick else TUNING_SEEDS
    chosen, rows = {}, []
    for way in WAYS:
        common = {"source": source, "n": n, "d": d, "epochs": epochs}
        settings = grid(study.quick, way == "letter")
        calls = [
            {**common, "seed": seed, "algorithm": algorithm, "settings": settings}
            for algorithm in ALGORITHMS
            for seed in seeds
        ]
        found = [row for part in study.map(tune_algorithm, calls) for row in part]
        chosen[way] = best_settings(found)
        rows += [{"way": way, **row} for row in found]
    study.table("tuning", rows)
    study.table(
        "settings",
        [
            {"way": way, "algorithm": algorithm, **setting}
            for way, settings in chosen.items()
            for algorithm, setting in settings.items()
        ],
    )
    return chosen


def compare(
    source: Source, n: int, d: int, seed: int, settings: dict[str, dict[str, Row]], epochs: int
) -> dict[str, list[Row]]:
    """The four algorithms in both ways on one draw of people, and the classifiers on others."""
    people = draw(source, n, d, seed)
    problem = people.problem()
    saddle = saddle_point(problem)
    score = partial(gap, problem, saddle=saddle)
    gaps, learnt = [], {}
    for way, by_algorithm in settings.items():
        for algorithm, setting in by_algorithm.items():
            solver = solver_of(algorithm, n, setting)
            rows, learnt[way, algorithm] = scored_run(problem, score, solver, epochs, seed)
            gaps += [{"way": way, "algorithm": algorithm, "seed": seed, **row} for row in rows]
    from_values = learnt["tuned", "OGDA-RR"]
    classifiers = {
        "robust": (problem.split(saddle.x)[0], problem.offset(saddle.x)),
        "robust, from values": (problem.split(from_values)[0], problem.offset(from_values)),
    }
    with warnings.catch_warnings():
        # A level of a category that only people of one label have sends its coefficient far off.
        warnings.simplefilter("ignore", CapWarning)
        for name, fit in {"strategic": strategic_regression, "logistic": plain_regression}.items():
            classifiers[name] = fit(problem.population, intercept=people.intercept)
    curves = accuracy_rows(classifiers, people, POWERS[source])
    return {"gaps": gaps, "accuracy": [{"seed": seed, **row} for row in curves]}


def run(study: Study, source: Source, n: int, epochs: int) -> None:
    """The experiment on one source of people."""
    epochs = max(5, epochs // 10) if study.quick else epochs
    settings = tuned(study, source, n, DIMENSION, epochs)
    common = {"source": source, "n": n, "d": DIMENSION, "settings": settings, "epochs": epochs}
    found = study.map(compare, [{**common, "seed": seed} for seed in range(study.seeds)])
    gaps = [row for part in found for row in part["gaps"]]
    curves = [row for part in found for row in part["accuracy"]]
    study.table("gaps", gaps)
    study.table("accuracy", curves)
    _draw(study, source, n, gaps, curves)
    title = f"{source}, n = {n}"
    claim_gaps(study, gaps, title)
    claim_accuracy(study, curves, title)


def _draw(study: Study, source: Source, n: int, gaps: list[Row], curves: list[Row]) -> None:
    caption = (
        f"{source.capitalize()}, n = {n}, {study.seeds} seeds, each with people of its own: mean "
        "and two standard deviations. The gap is that of the averaged iterate, every algorithm "
        "tuned alike, with steps by block and, to the letter, with one step for all. Accuracy is "
        f"that on {TEST} other people by their gaming power; the strategic and the robust "
        f"classifier expect {TRAINED_FOR}."
    )
    charts = [chart_gaps(where(gaps, way=way), title) for way, title in WAYS.items()]
    study.draw("figure", Panels(caption, [*charts, _chart_accuracy(curves)]))


def chart_gaps(rows: list[Row], title: str) -> Chart:
    """The gap by epoch of each algorithm, with its band."""
    series = [
        spread(name, *by_seed(where(rows, algorithm=name), "epoch", "score")) for name in ALGORITHMS
    ]
    return lines(title, "epochs", "gap", series, log_x=True, log_y=True)


def _chart_accuracy(rows: list[Row]) -> Chart:
    """Accuracy by gaming power of each classifier, with its band."""
    series = [
        spread(name, *by_seed(where(rows, classifier=name), "power", "accuracy"))
        for name in dict.fromkeys(row["classifier"] for row in rows)
    ]
    expected = [(TRAINED_FOR, "expected")]
    x = "gaming power of the people tested"
    return lines("classifiers", x, "accuracy", series, upright=expected)


def claim_gaps(study: Study, rows: list[Row], title: str) -> None:
    """Reshuffling against replacement, optimism against none: the gap after the last epoch."""
    for way, way_title in WAYS.items():
        last = {
            algorithm: [
                run[-1]
                for run in by_seed(where(rows, way=way, algorithm=algorithm), "epoch", "score")[1]
            ]
            for algorithm in ALGORITHMS
        }
        for text, first, second in (
            ("Reshuffling beats sampling with replacement (OGDA)", "OGDA-RR", "OGDA-WR"),
            ("Reshuffling beats sampling with replacement (SGDA)", "SGDA-RR", "SGDA-WR"),
            ("OGDA-RR beats SGDA-RR", "OGDA-RR", "SGDA-RR"),
        ):
            measure = f"final gap, {first} / {second}; {title}, {way_title}"
            study.claims.append(claims.smaller(text, measure, last[first], last[second]))


def claim_accuracy(study: Study, rows: list[Row], title: str) -> None:
    """The robust classifier keeps its accuracy as gaming grows, the strategic one does not."""
    seeds = sorted({row["seed"] for row in rows})
    for robust in ("robust", "robust, from values"):
        leads = [lead(where(rows, seed=seed), robust, "strategic") for seed in seeds]
        study.claims.append(
            claims.larger(
                "The robust classifier keeps its accuracy where the strategic one loses it",
                f"mean lead in accuracy over gaming powers; {title}, {robust}",
                leads,
            )
        )

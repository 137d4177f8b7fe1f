"""Claims and notes of the experiment `decisions`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.paper import paper_claims
from gameproof.paper.experiment_runs import Row, by_seed, where
from gameproof.paper.experiment_study import ExperimentStudy

BUDGETS = (0.25, 0.5, 1.0)
OPPONENTS = ("logistic", "strategic", "robust")
# The smallest lead that matters, and the largest cost that is considered small.
MARGIN, COST = 0.01, 0.02
LEADS = "The robust classifier beats logistic regression by more than 1 point"
WORDS = {"ball": "budget", "box": "box"}


def claim(study: ExperimentStudy, rows: list[Row]) -> None:
    """Claims about the paper's measure, and about people who game decisions."""
    for source in dict.fromkeys(row["source"] for row in rows):
        own = where(rows, source=source)
        _claim_scores(study, own, source)
        _claim_paper(study, own, source)
        for gaming in WORDS:
            for budget in BUDGETS:
                _claim_trained(study, own, source, gaming, budget)
        for budget in BUDGETS:
            cost = _lead(own, "logistic", f"for budget {budget:g}", "ball", 0.0)
            text = "Training for a budget costs at most 2 points where nobody games"
            measure = f"accuracy lost to logistic regression; {source}, trained for {budget:g}"
            study.claims.append(paper_claims.mean_below(text, measure, cost, COST))
    # Leads that cancel have a mean of 0 up to rounding; adding 0 turns -0 into 0.
    study.claims[:] = [replace(one, effect=round(one.effect, 12) + 0.0) for one in study.claims]


def _claim_scores(study: ExperimentStudy, rows: list[Row], source: str) -> None:
    ahead = _lead(rows, "robust", "logistic", "power", 1.0)
    text = f"{LEADS} where people game scores"
    measure = f"lead in accuracy at gaming power 1; {source}"
    study.claims.append(paper_claims.mean_above(text, measure, ahead, MARGIN))
    ahead = _lead(rows, "logistic, divided", "robust", "power", 1.0)
    text = "Logistic regression divided by a constant does as well where people game scores"
    measure = f"lead in accuracy over the robust classifier at gaming power 1; {source}"
    study.claims.append(paper_claims.mean_above(text, measure, ahead, -MARGIN))


def _claim_paper(study: ExperimentStudy, rows: list[Row], source: str) -> None:
    for amount in (0.5, 1.0, 2.0):
        study.claims.append(
            paper_claims.mean_above(
                f"{LEADS} where people game decisions",
                f"lead in accuracy at budget {amount:g}; {source}",
                _lead(rows, "robust", "logistic", "ball", amount),
                MARGIN,
            )
        )


def _claim_trained(
    study: ExperimentStudy, rows: list[Row], source: str, gaming: str, budget: float
) -> None:
    """Judges the claim by the strongest opponent, because all three must be beaten."""
    word = WORDS[gaming]
    own = f"for {word} {budget:g}"
    for times, words in ((1, "that"), (2, "twice that")):
        found = [
            paper_claims.mean_above(
                f"A classifier trained for a {word} beats all others at {words} {word}",
                f"lead in accuracy over {other}, the closest of three, at {times * budget:g}; "
                f"{source}, trained for {budget:g}",
                _lead(rows, own, other, gaming, times * budget),
            )
            for other in OPPONENTS
        ]
        study.claims.append(min(found, key=lambda one: one.low))


def write_notes(study: ExperimentStudy, tables: dict[str, list[Row]]) -> None:
    """Writes notes for each source: effect of a constant, accuracies, dropped features, leads."""
    for source in dict.fromkeys(row["source"] for row in tables["accuracy"]):
        rows, scale, sizes = (
            where(tables[name], source=source) for name in ("accuracy", "scale", "sizes")
        )
        title = source.capitalize()
        study.note(f"{title}: {_describe_scale(scale, sizes)}")
        study.note(f"{title}: {_describe_powers(rows)}")
        study.note(f"{title}: {_describe_accuracy(rows)}")
        study.note(f"{title}: {_describe_dropped(sizes, study.seeds)}")
        for at in (1.0, 2.0):
            study.note(f"{title}: {_describe_leads(rows, at)}")


def _describe_scale(scale: list[Row], sizes: list[Row]) -> str:
    by_power, by_budget = (
        np.array(by_seed(where(scale, gaming=kind), "factor", "accuracy")[1])
        for kind in ("power", "ball")
    )
    means = by_power.mean(axis=0)
    robust, logistic = (
        np.mean([row["movable"] for row in where(sizes, classifier=name)])
        for name in ("robust", "logistic")
    )
    return (
        "multiplied by constants, logistic regression has an accuracy from "
        f"{means.min():.3f} to {means.max():.3f} at gaming power 1; at budget 1 its accuracy "
        f"changes by {float(np.ptp(by_budget, axis=1).max()):g}. The norm of its movable "
        f"coefficients is {logistic:.2f}; that of the robust classifier is {robust:.2f}."
    )


def _describe_powers(rows: list[Row]) -> str:
    told = []
    for name in (*OPPONENTS, "logistic, divided"):
        own = where(rows, classifier=name, gaming="power", amount=1.0)
        told.append(f"{name} {np.mean([row['accuracy'] for row in own]):.3f}")
    return f"accuracy at gaming power 1: {'; '.join(told)}."


def _describe_accuracy(rows: list[Row]) -> str:
    told = []
    for name in (*OPPONENTS, *(f"for budget {budget:g}" for budget in BUDGETS)):
        own = where(rows, classifier=name, gaming="ball")
        amounts, runs = by_seed(own, "amount", "accuracy")
        means = " / ".join(f"{mean:.3f}" for mean in np.mean(runs, axis=0))
        told.append(f"{name}: {means}")
    return f"accuracy at budgets {' / '.join(f'{a:g}' for a in amounts)}. {'; '.join(told)}."


def _describe_dropped(sizes: list[Row], seeds: int) -> str:
    counts = {
        budget: len(where(sizes, classifier=f"for budget {budget:g}", movable=0.0))
        for budget in BUDGETS
    }
    listed = (f"{count} for budget {budget:g}" for budget, count in counts.items())
    return (
        f"classifiers, among {seeds} trained for each budget, whose movable coefficients are all "
        f"exactly 0: {', '.join(listed)}."
    )


def _describe_leads(rows: list[Row], at: float) -> str:
    told = []
    for other in OPPONENTS:
        lead, low, high = paper_claims.interval(_lead(rows, "for budget 1", other, "ball", at))
        told.append(f"{other} {lead:+.3f} ({low:+.3f} to {high:+.3f})")
    return f"trained for budget 1, lead in accuracy at budget {at:g} over {', '.join(told)}."


def _lead(rows: list[Row], first: str, second: str, gaming: str, amount: float) -> Vector:
    """Returns the lead in accuracy of one classifier over another, one number per seed."""
    wanted = where(rows, gaming=gaming, amount=amount)
    ahead, behind = (
        np.array(by_seed(where(wanted, classifier=name), "amount", "accuracy")[1])
        for name in (first, second)
    )
    lead: Vector = (ahead - behind).ravel()
    return lead

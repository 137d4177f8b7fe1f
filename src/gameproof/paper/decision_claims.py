"""The claims of `decisions`, and sentences with its main numbers."""

from __future__ import annotations

from itertools import product

import numpy as np

from gameproof.arguments import Vector
from gameproof.paper import claims
from gameproof.paper.setting import Row, by_seed, where
from gameproof.paper.study import Study

BUDGETS = (0.25, 0.5, 1.0)
OPPONENTS = ("logistic", "strategic", "robust")
# A lead that matters, or a lag that does not; and a small cost.
MARGIN, COST = 0.01, 0.02
LEADS = "The robust classifier beats logistic regression by more than 1 point"
WORDS = {"ball": "budget", "box": "box"}


def claim(study: Study, rows: list[Row]) -> None:
    """What the paper measures, why, and what holds where people game decisions."""
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
            study.claims.append(claims.lower(text, measure, cost, COST))


def _claim_scores(study: Study, rows: list[Row], source: str) -> None:
    ahead = _lead(rows, "robust", "logistic", "power", 1.0)
    text = f"{LEADS} where people game scores"
    measure = f"lead in accuracy at gaming power 1; {source}"
    study.claims.append(claims.larger(text, measure, ahead, MARGIN))
    ahead = _lead(rows, "logistic, divided", "robust", "power", 1.0)
    text = "Logistic regression divided by a constant does as well where people game scores"
    measure = f"lead in accuracy over the robust classifier at gaming power 1; {source}"
    study.claims.append(claims.larger(text, measure, ahead, -MARGIN))


def _claim_paper(study: Study, rows: list[Row], source: str) -> None:
    for amount in (0.5, 1.0, 2.0):
        study.claims.append(
            claims.larger(
                f"{LEADS} where people game decisions",
                f"lead in accuracy at budget {amount:g}; {source}",
                _lead(rows, "robust", "logistic", "ball", amount),
                MARGIN,
            )
        )


def _claim_trained(study: Study, rows: list[Row], source: str, gaming: str, budget: float) -> None:
    """All three have to be beaten, so the claim is judged by the one that is hardest to beat."""
    word = WORDS[gaming]
    own = f"for {word} {budget:g}"
    for times, words in ((1, "that"), (2, "twice that")):
        found = [
            claims.larger(
                f"A classifier trained for a {word} beats all others at {words} {word}",
                f"lead in accuracy over {other}, the closest of three, at {times * budget:g}; "
                f"{source}, trained for {budget:g}",
                _lead(rows, own, other, gaming, times * budget),
            )
            for other in OPPONENTS
        ]
        study.claims.append(min(found, key=lambda one: one.low))


def tell(study: Study, tables: dict[str, list[Row]]) -> None:
    """Notes: what a constant changes, how large classifiers are, and each lead at one standard
    deviation."""
    rows, scale, sizes = (tables[name] for name in ("accuracy", "scale", "sizes"))
    for source in dict.fromkeys(row["source"] for row in rows):
        by_power, by_budget = (
            np.array(by_seed(where(scale, source=source, gaming=kind), "factor", "accuracy")[1])
            for kind in ("power", "ball")
        )
        changed = float(np.ptp(by_budget, axis=1).max())
        low, high = by_power.mean(axis=0).min(), by_power.mean(axis=0).max()
        sized = where(sizes, source=source)
        small, large = (
            np.mean([row["movable"] for row in where(sized, classifier=name)])
            for name in ("robust", "logistic")
        )
        study.note(
            f"{source.capitalize()}: multiplied by constants, logistic regression has an accuracy "
            f"from {low:.3f} to {high:.3f} at gaming power 1; at budget 1 its accuracy changes by "
            f"{changed:g}. Its coefficients of the movable features have length {large:.2f}, those "
            f"of the robust classifier {small:.2f}."
        )
    for source, at in product(dict.fromkeys(row["source"] for row in rows), (1.0, 2.0)):
        own = where(rows, source=source)
        leads = (
            f"{other} {effect:+.3f} ({low:+.3f} to {high:+.3f})"
            for other in OPPONENTS
            for effect, low, high in [
                claims.interval(_lead(own, "for budget 1", other, "ball", at))
            ]
        )
        study.note(
            f"{source.capitalize()}: trained for budget 1, lead in accuracy at budget {at:g} over "
            f"{', '.join(leads)}."
        )


def _lead(rows: list[Row], first: str, second: str, gaming: str, amount: float) -> Vector:
    """The lead in accuracy of one classifier over another, one number a seed."""
    wanted = where(rows, gaming=gaming, amount=amount)
    ahead, behind = (
        np.ravel(by_seed(where(wanted, classifier=name), "amount", "accuracy")[1])
        for name in (first, second)
    )
    lead: Vector = np.round(ahead - behind, 12)  # a share of the people tested, less another
    return lead

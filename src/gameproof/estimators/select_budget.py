"""`select_budget`: which multiple of the budgets to train for, by cross-validation.

For each multiple of the stated budgets and each fold, a classifier is trained for that multiple on
the people outside the fold, and those in it are judged: clean accuracy as they are, and gamed
accuracy where those who should be refused use the stated budgets, and twice those. A classifier
without the columns that people can change stands beside them.

The recommendation is the rule of one standard error: of the multiples within a standard error of
the best accuracy at the stated budgets, those within a standard error of the best clean accuracy,
and of these the smallest: the least that these people show to be enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Matrix, Vector, as_count, as_vector, shown
from gameproof.core.errors import BudgetWarning, warn
from gameproof.estimators.base import BaseStrategicClassifier
from gameproof.estimators.folds import (
    People,
    accuracy_without_movable,
    as_fold_accuracies,
    dropping_note,
    fit_quietly,
    mean_and_error,
    within_one_standard_error,
)
from gameproof.estimators.table_budgets import Budgets

MULTIPLES = (0.0, 0.25, 0.5, 1.0, 2.0)
CURVES = {"clean": "clean", "gamed": "stated budget", "gamed twice": "twice that"}


@final
@dataclass(frozen=True, eq=False, repr=False)
class BudgetCurve:
    """Accuracy on people left out: a row a multiple of the budgets trained for, a column a fold.

    clean, gamed, twice
        Accuracy of people as they are, and where those who should be refused use the stated budgets
        and twice the stated budgets.
    dropped
        Accuracy without the columns that people can change, fold by fold, at every budget; None
        where no column is left.
    budgets
        The stated budgets, with defaults from all rows.
    recommended, reason, note
        A multiple, why in a sentence, and a sentence where dropping the columns that people can
        change works just as well.
    """

    multiples: Vector
    clean: Matrix
    gamed: Matrix
    twice: Matrix
    dropped: Vector | None
    budgets: Budgets
    recommended: float
    reason: str
    note: str = ""

    @property
    def recommended_budgets(self) -> Budgets:
        """The recommended multiple of the budgets, for a classifier's parameter `budgets`."""
        return self.budgets.times(self.recommended)

    def rows(self) -> list[dict[str, float]]:
        """Means and standard errors over folds, a row a multiple."""
        tables = dict(zip(CURVES, (self.clean, self.gamed, self.twice), strict=True))
        rows = []
        for k, multiple in enumerate(self.multiples):
            row = {"multiple": float(multiple)}
            for name, table in tables.items():
                row[name], row[f"{name} error"] = mean_and_error(table[k])
            rows.append(row)
        return rows

    def __repr__(self) -> str:
        lines = [f"trained for  {'    '.join(f'{name:<13}' for name in CURVES.values())}".rstrip()]
        for row in self.rows():
            cells = [_plus_minus(row[name], row[f"{name} error"]) for name in CURVES]
            lines.append(f"{row['multiple']:<12g} {'    '.join(cells)}")
        if self.dropped is not None:
            cell = _plus_minus(*mean_and_error(self.dropped))
            lines.append(f"{'dropped':<12} {'    '.join([cell] * 3)}")
        lines.append(f"Budgets: {self.budgets.describe()}.")
        return "\n".join([*lines, self.reason, *([self.note] if self.note else [])])


def select_budget(
    X: ArrayLike,
    y: ArrayLike,
    model: BaseStrategicClassifier,
    *,
    multiples: Sequence[float] = MULTIPLES,
    folds: int = 5,
    seed: int = 0,
    sample_weight: ArrayLike | None = None,
) -> BudgetCurve:
    """The accuracy of `model`, a classifier with budgets, trained for multiples of them; see the
    module for the rule.

    `model` has all parameters, its budgets among them. Its preparation, and default budgets, are
    fitted inside each fold. `sample_weight` is how much each person counts.

    >>> import gameproof as gp
    >>> X, y = gp.synthetic_people(n=300, d=4, seed=0)
    >>> model = gp.StrategicLogisticRegression(budgets={2: (-0.5, 0.5)})
    >>> curve = gp.select_budget(X, y, model, multiples=[0, 1], folds=3)
    >>> curve.recommended, curve.recommended_budgets.describe()
    (1.0, 'x2: -0.5 to +0.5')
    """
    if not isinstance(model, BaseStrategicClassifier):
        raise TypeError(
            "model must be a RobustStrategicClassifier or StrategicLogisticRegression, got "
            f"{shown(model)}"
        )
    if model.budgets is None:
        raise ValueError(
            "select_budget needs a model with budgets, such as "
            "RobustStrategicClassifier(budgets={'savings': (0, 5000)})"
        )
    tried = np.unique(as_vector("multiples", multiples))
    who = People.counted(X, y, sample_weight)
    splits = who.splits(as_count("folds", folds, least=2), seed)
    stated = fit_quietly(model, who).budgets_
    assert stated is not None  # since the model has budgets
    for note in stated.notes:
        warn(note, BudgetWarning)
    found = [_judged(model, tried, *split) for split in splits]
    by_fold = np.array([scores for scores, _ in found])  # folds, multiples, curves
    clean, gamed, twice = by_fold.transpose(2, 1, 0)
    dropped = as_fold_accuracies([without for _, without in found])
    k, reason = _recommended(tried, clean, gamed)
    note = dropping_note(", ".join(stated.columns), dropped, clean[k], gamed[k])
    return BudgetCurve(tried, clean, gamed, twice, dropped, stated, float(tried[k]), reason, note)


def _judged(
    base: BaseStrategicClassifier, multiples: Vector, known: People, others: People
) -> tuple[list[list[float]], float | None]:
    """Clean accuracy, gamed and at twice the budgets, for each multiple; and without the columns
    that people can change."""
    stated: Any = fit_quietly(base, known)
    scores = []
    for multiple in multiples:
        model = stated
        if multiple != 1:
            model = fit_quietly(base, known, budgets=stated.budgets_.times(multiple))
            model.set_params(budgets=stated.budgets_)  # what people can do stays the same
        gamed = [model.gamed_score(*others, multiple=times) for times in (1.0, 2.0)]
        scores.append([model.score(*others), *gamed])
    return scores, accuracy_without_movable(stated, known, others)


def _recommended(multiples: Vector, clean: Matrix, gamed: Matrix) -> tuple[int, str]:
    """The rule of the module: the number of the multiple, and why."""
    kept, best = within_one_standard_error(gamed, np.arange(multiples.size))
    kept, _ = within_one_standard_error(clean, kept)
    k = int(kept[0])
    at_best = _plus_minus(*mean_and_error(gamed[best]))
    told = f"{gamed[k].mean():.3f}, within one standard error of the best ({at_best} at "
    told = f"the best, {at_best}" if k == best else f"{told}{multiples[best]:g} times)"
    return k, (
        f"Train for {multiples[k]:g} times the budgets: the accuracy at the stated budgets is "
        f"{told}, and {clean[k].mean():.3f} where nobody games (at best "
        f"{clean.mean(axis=1).max():.3f})."
    )


def _plus_minus(mean: float, error: float) -> str:
    return f"{mean:.3f} ± {error:.3f}"

"""`select_budget`: chooses the multiple of the budgets to train for by cross-validation.

For each multiple of the stated budgets and each fold, a classifier is trained for that multiple on
the people outside the fold and scored on those inside: clean accuracy (nobody moves), and gamed
accuracy when everyone who should be refused uses the stated budgets, or twice the stated budgets.
A classifier without the columns that people can change is scored for comparison.

The recommendation follows the one-standard-error rule. Keep the multiples whose accuracy at the
stated budgets is within one standard error of the best, among these keep the multiples whose clean
accuracy is within one standard error of the best, and take the smallest.
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
    accuracy_without_movable,
    as_fold_accuracies,
    dropping_note,
    fit_quietly,
    mean_and_error,
    plus_minus,
    stratified_splits,
    within_one_standard_error,
)
from gameproof.estimators.sample_weight import WeightedRows
from gameproof.estimators.table_budgets import Budgets

MULTIPLES = (0.0, 0.25, 0.5, 1.0, 2.0)
CURVES = {"clean": "clean", "gamed": "stated budget", "gamed twice": "twice that"}


@final
@dataclass(frozen=True, eq=False, repr=False)
class BudgetCurve:
    """Accuracy on held-out people over multiples of the budgets that classifiers are trained for.

    Parameters
    ----------
    multiples : ndarray of shape (n_multiples,)
        The multiples that were tried.
    clean : ndarray of shape (n_multiples, n_folds)
        Accuracy when nobody moves.
    gamed : ndarray of shape (n_multiples, n_folds)
        Accuracy when everyone who should be refused uses the stated budgets.
    twice : ndarray of shape (n_multiples, n_folds)
        Accuracy when everyone who should be refused uses twice the stated budgets.
    dropped : ndarray of shape (n_folds,) or None
        Accuracy without the columns that people can change; None if no column is left.
    budgets : Budgets
        The stated budgets, with defaults computed from all rows.
    recommended : float
        The recommended multiple.
    reason : str
        Why, in a sentence.
    note : str, optional
        A sentence if dropping the columns that people can change works just as well.

    Examples
    --------
    >>> import gameproof as gp
    >>> X, y = gp.synthetic_people(n=300, d=4, seed=0)
    >>> model = gp.StrategicLogisticRegression(budgets={2: (-0.5, 0.5)})
    >>> curve = gp.select_budget(X, y, model, multiples=[0, 1], folds=3)
    >>> [row["multiple"] for row in curve.rows()]
    [0.0, 1.0]
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
        """The recommended multiple of the budgets, for the parameter `budgets` of a classifier."""
        return self.budgets.times(self.recommended)

    def rows(self) -> list[dict[str, float]]:
        """Means and standard errors over folds, one row per multiple."""
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
            cells = [plus_minus(row[name], row[f"{name} error"]) for name in CURVES]
            lines.append(f"{row['multiple']:<12g} {'    '.join(cells)}")
        if self.dropped is not None:
            cell = plus_minus(*mean_and_error(self.dropped))
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
    """Accuracy of a classifier trained for multiples of its budgets, and a recommended multiple.

    The recommended multiple is the smallest one whose accuracy at the stated budgets, and whose
    clean accuracy, are within one standard error of the best.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features before anyone moves.
    y : array-like of shape (n_samples,)
        True classes.
    model : RobustStrategicClassifier or StrategicLogisticRegression
        A classifier with budgets. Its preparation and default budgets are fitted inside each fold.
    multiples : sequence of float, optional
        Multiples of the budgets to train for.
    folds : int, optional
        Number of folds.
    seed : int, optional
        Seed of the split into folds.
    sample_weight : array-like of shape (n_samples,), optional
        Sample weights for fits and scores. Rows with weight 0 are left out.

    Returns
    -------
    BudgetCurve
        The accuracies by multiple and fold, and the recommendation.

    Raises
    ------
    TypeError
        If `model` is not one of gameproof's classifiers.
    ValueError
        If `model` has no budgets, or a class has fewer rows than there are folds.

    Examples
    --------
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
    people = WeightedRows.of(X, y, sample_weight)
    splits = stratified_splits(people, as_count("folds", folds, least=2), seed)
    stated = fit_quietly(model, people).budgets_
    assert stated is not None  # since the model has budgets
    for note in stated.notes:
        warn(note, BudgetWarning)
    found = [_scored(model, tried, *split) for split in splits]
    by_fold = np.array([scores for scores, _ in found])  # folds, multiples, curves
    clean, gamed, twice = by_fold.transpose(2, 1, 0)
    dropped = as_fold_accuracies([without for _, without in found])
    k, reason = _recommended(tried, clean, gamed)
    note = dropping_note(list(stated.columns), dropped, clean[k], gamed[k])
    return BudgetCurve(tried, clean, gamed, twice, dropped, stated, float(tried[k]), reason, note)


def _scored(
    base: BaseStrategicClassifier, multiples: Vector, train: WeightedRows, test: WeightedRows
) -> tuple[list[list[float]], float | None]:
    """Clean, gamed and twice gamed accuracy of each multiple; accuracy without movable columns."""
    stated: Any = fit_quietly(base, train)
    scores = []
    for multiple in multiples:
        model = stated
        if multiple != 1:
            model = fit_quietly(base, train, budgets=stated.budgets_.times(multiple))
            model.set_params(budgets=stated.budgets_)  # people can do the same as before
        gamed = [model.gamed_score(*test.data, multiple=times) for times in (1.0, 2.0)]
        scores.append([model.score(*test.data), *gamed])
    return scores, accuracy_without_movable(stated, train, test)


def _recommended(multiples: Vector, clean: Matrix, gamed: Matrix) -> tuple[int, str]:
    """The multiple by the rule in the module's docstring, and a sentence that says why."""
    kept, best = within_one_standard_error(gamed, np.arange(multiples.size))
    kept, _ = within_one_standard_error(clean, kept)
    k = int(kept[0])
    at_best = plus_minus(*mean_and_error(gamed[best]))
    gained = f"the best, {at_best}"
    if k != best:
        gained = (
            f"{gamed[k].mean():.3f}, within one standard error of the best ({at_best} at "
            f"{multiples[best]:g} times)"
        )
    return k, (
        f"Train for {multiples[k]:g} times the budgets: the accuracy at the stated budgets is "
        f"{gained}, and {clean[k].mean():.3f} when nobody games (at best "
        f"{clean.mean(axis=1).max():.3f})."
    )

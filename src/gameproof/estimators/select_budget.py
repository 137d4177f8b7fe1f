"""`select_budget`: chooses the multiple of the budgets to train for by cross-validation.

For each multiple of the stated budgets and each fold, a classifier is trained for that multiple on
the people outside the fold and measured on those inside: clean (nobody moves), and gamed, when
everyone who should be refused uses the stated budgets, or twice the stated budgets. A classifier
without the columns that people can change is measured for comparison. The measure (`measures.py`)
is AUC if an outcome is rare, and accuracy otherwise.

The recommendation follows the one-standard-error rule. Keep the multiples whose measure at the
stated budgets is within one standard error of the best, among these keep the multiples whose clean
measure is within one standard error of the best, and take the smallest.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Matrix, Vector, as_vector, shown
from gameproof.core.html_tables import html_summary
from gameproof.core.progress import Progress
from gameproof.estimators.base import BaseStrategicClassifier
from gameproof.estimators.choice_rows import choice_note, rows_to_choose_on
from gameproof.estimators.folds import (
    Split,
    by_fold,
    clean_and_gamed,
    dropping_note,
    fit_quietly,
    mean_and_error,
    measured_without_movable,
    over_folds,
    plus_minus,
    prepare_folds,
    taken_apart,
    within_one_standard_error,
)
from gameproof.estimators.measures import ACCURACY, Measure, MeasureName
from gameproof.estimators.sample_weight import WeightedRows
from gameproof.estimators.table_budgets import Budgets

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

MULTIPLES = (0.0, 0.25, 0.5, 1.0, 2.0)
CURVES = {"clean": "clean", "gamed": "stated budget", "gamed twice": "twice that"}


@final
@dataclass(frozen=True, eq=False, repr=False)
class BudgetCurve:
    """A measure on held-out people over multiples of the budgets that classifiers are trained for.

    Parameters
    ----------
    multiples : ndarray of shape (n_multiples,)
        The multiples that were tried.
    clean : ndarray of shape (n_multiples, n_folds)
        The measure when nobody moves.
    gamed : ndarray of shape (n_multiples, n_folds)
        The measure when everyone who should be refused uses the stated budgets.
    twice : ndarray of shape (n_multiples, n_folds)
        The measure when everyone who should be refused uses twice the stated budgets.
    dropped : ndarray of shape (n_folds,) or None
        The measure without the columns that people can change; None if no column is left.
    budgets : Budgets
        The stated budgets, with defaults computed from all rows.
    recommended : float
        The recommended multiple.
    reason : str
        Why, in a sentence.
    note : str, optional
        A sentence if dropping the columns that people can change works just as well.
    measure : Measure, optional
        The measure, by default accuracy.
    n_rows, n_total : int, optional
        The number of rows on which the multiple was chosen, and from which they were drawn.

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
    measure: Measure = ACCURACY
    n_rows: int = 0
    n_total: int = 0

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

    def _repr_html_(self) -> str:
        """The recommendation and a table, for notebooks."""
        rows = [
            [
                f"{row['multiple']:g}",
                *(plus_minus(row[name], row[f"{name} error"]) for name in CURVES),
            ]
            for row in self.rows()
        ]
        head = ["trained for", *(f"{self.measure.label}, {name}" for name in CURVES.values())]
        sentences = [self.reason, f"Budgets: {self.budgets.describe()}.", *self._notes()]
        return html_summary(sentences, head, rows)

    def __repr__(self) -> str:
        lines = [
            f"{self.measure.label} by multiple of the budgets",
            f"trained for  {'    '.join(f'{name:<13}' for name in CURVES.values())}".rstrip(),
        ]
        for row in self.rows():
            cells = [plus_minus(row[name], row[f"{name} error"]) for name in CURVES]
            lines.append(f"{row['multiple']:<12g} {'    '.join(cells)}")
        if self.dropped is not None:
            cell = plus_minus(*mean_and_error(self.dropped))
            lines.append(f"{'dropped':<12} {'    '.join([cell] * 3)}")
        lines.append(f"Budgets: {self.budgets.describe()}.")
        return "\n".join([*lines, self.reason, *self._notes()])

    def _notes(self) -> list[str]:
        return [text for text in (self.note, choice_note(self.n_rows, self.n_total)) if text]


def select_budget(
    X: ArrayLike,
    y: ArrayLike,
    model: BaseStrategicClassifier | Pipeline,
    *,
    multiples: Sequence[float] = MULTIPLES,
    folds: int = 5,
    seed: int = 0,
    sample_weight: ArrayLike | None = None,
    measure: MeasureName | Measure | None = None,
    cost_accept_bad: float = 1.0,
    cost_refuse_good: float = 1.0,
    progress: bool | None = False,
    n_jobs: int | None = None,
) -> BudgetCurve:
    """Measures classifiers trained for multiples of their budgets, and recommends a multiple.

    Multiples are kept if their measure at the stated budgets is within one standard error of the
    best. Of these, multiples are kept if their clean measure is within one standard error of the
    best clean measure among them. The smallest one that is left is recommended.

    Of a Dask collection, at most 5,000 rows of a random sample are used: the rows on which a
    classifier of `gameproof.dask` chooses budgets of "auto". The result says how many.

    Parameters
    ----------
    X : array-like, dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        Features before anyone moves.
    y : array-like, dask.array.Array or dask.dataframe.Series of shape (n_samples,)
        True classes.
    model : RobustStrategicClassifier, StrategicLogisticRegression or Pipeline
        A classifier with budgets, alone or at the end of a pipeline; also one of `gameproof.dask`.
        Its preparation and default budgets, and the steps before it, are fitted inside each fold.
    multiples : sequence of float, optional
        Multiples of the budgets to train for.
    folds : int, optional
        Number of folds.
    seed : int, optional
        Seed of the split into folds, and of the rows that are drawn from a Dask collection.
    sample_weight : array-like, dask.array.Array or dask.dataframe.Series, optional
        Sample weights for fits and scores. Rows with weight 0 are left out.
    measure : {"accuracy", "balanced", "auc", "ks", "cost"}, optional
        The measure, by default "auc" if an outcome has less than 30 % of the rows, else
        "accuracy".
    cost_accept_bad, cost_refuse_good : float, optional
        What wrong decisions cost, for the measure "cost".
    progress : bool, optional
        Whether to show a progress bar; None shows one on a terminal if tqdm is installed.
    n_jobs : int, optional
        The number of threads that fit folds at the same time, as in scikit-learn: None means one,
        and -1 all cores. The result does not depend on it.

    Returns
    -------
    BudgetCurve
        The measures by multiple and fold, and the recommendation.

    Raises
    ------
    TypeError
        If `model` is not one of gameproof's classifiers, or X is not a table.
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
    parts = taken_apart(model)
    base = parts.classifier
    if not isinstance(base, BaseStrategicClassifier):
        raise TypeError(
            "model must be a RobustStrategicClassifier or StrategicLogisticRegression, alone or at "
            f"the end of a pipeline, got {shown(model)}"
        )
    if base.budgets is None:
        raise ValueError(
            "select_budget needs a model with budgets, such as "
            "RobustStrategicClassifier(budgets={'savings': (0, 5000)})"
        )
    tried = np.unique(as_vector("multiples", multiples))
    people, n_total = rows_to_choose_on(parts, X, y, sample_weight, seed)
    costs = (cost_accept_bad, cost_refuse_good)
    choice = prepare_folds(parts.before, base, people, folds, seed, measure, costs)
    stated, judge = choice.whole.budgets_, choice.measure
    assert stated is not None  # since the model has budgets
    title = f"choosing the multiple of the budgets on {choice.n_rows:,} rows"
    with Progress(progress, len(choice.splits), "folds", title) as bar:

        def of_fold(split: Split) -> tuple[list[list[float]], float | None]:
            return bar.counted(_measured(choice.base, tried, *split, judge))

        found = over_folds(of_fold, choice.splits, n_jobs)
    measured = np.array([values for values, _ in found])  # folds, multiples, curves
    clean, gamed, twice = measured.transpose(2, 1, 0)
    dropped = by_fold([without for _, without in found])
    k, reason = recommended_multiple(tried, clean, gamed, judge)
    note = dropping_note(list(stated.columns), dropped, clean[k], gamed[k], judge)
    return BudgetCurve(
        multiples=tried,
        clean=clean,
        gamed=gamed,
        twice=twice,
        dropped=dropped,
        budgets=stated,
        recommended=float(tried[k]),
        reason=reason,
        note=note,
        measure=judge,
        n_rows=choice.n_rows,
        n_total=n_total,
    )


def _measured(
    base: BaseStrategicClassifier,
    multiples: Vector,
    train: WeightedRows,
    test: WeightedRows,
    measure: Measure,
) -> tuple[list[list[float]], float | None]:
    """Clean, gamed and twice gamed measures of each multiple; that without movable columns."""
    stated: Any = fit_quietly(base, train)
    model, found = copy(stated).set_params(warm_start=True), []
    for multiple in multiples:
        # Starts at the solution for the multiple before.
        model.set_params(budgets=stated.budgets_.times(multiple)).fit(*train.data)
        model.set_params(budgets=stated.budgets_)  # people can do the same as before
        found.append(clean_and_gamed(model, test, measure, (1.0, 2.0)))
    return found, measured_without_movable(stated, train, test, measure)


def recommended_multiple(
    multiples: Vector, clean: Matrix, gamed: Matrix, measure: Measure = ACCURACY
) -> tuple[int, str]:
    """The multiple by the rule in the module's docstring, and a sentence that says why."""
    kept, best = within_one_standard_error(gamed, np.arange(multiples.size))
    kept, _ = within_one_standard_error(clean, kept)
    k = int(kept[0])
    mean, error = mean_and_error(gamed[best])
    at_best = f"{measure.said(mean)} ± {error:.3f}"
    gained = f"the best, {at_best}"
    if k != best:
        gained = (
            f"{measure.said(gamed[k].mean())}, within one standard error of the best ({at_best} at "
            f"{multiples[best]:g} times)"
        )
    times = float(multiples[k])
    named = {0.0: "as if nobody games", 1.0: "for the stated budgets"}
    aim = named.get(times, f"for {times:g} times the budgets")
    return k, (
        f"Train {aim}: the {measure.spoken} at the stated budgets "
        f"is {gained}, and {measure.said(clean[k].mean())} when nobody games (at best "
        f"{measure.said(clean.mean(axis=1).max())})."
    )

"""`select_radius`: chooses a radius by cross-validation.

For each radius and each fold, a classifier is fitted to the people outside the fold and measured on
those inside: clean (nobody moves), gamed (people respond), and by its worst-case risk within the
radius. The measure (`measures.py`) is AUC if an outcome is rare, and accuracy otherwise.

The recommendation follows the one-standard-error rule. Keep the radii whose gamed measure is within
one standard error of the best, among these keep the radii whose clean measure is within one
standard error of the best, and take the largest: the most robustness without a measurable loss.
Standard errors are those of paired differences (`folds.py`).
Radii at which the classifier of any fold ignores the data are excluded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gameproof.core.arguments import Matrix, Vector, as_count, as_vector, shown
from gameproof.core.errors import BudgetWarning, warn
from gameproof.estimators.folds import (
    by_fold,
    clean_and_gamed,
    dropping_note,
    fit_quietly,
    mean_and_error,
    measured_without_movable,
    plus_minus,
    stratified_splits,
    within_one_standard_error,
)
from gameproof.estimators.measures import ACCURACY, Measure, MeasureName, as_measure
from gameproof.estimators.robust import RobustStrategicClassifier
from gameproof.estimators.sample_weight import WeightedRows
from gameproof.strategic.responses import KnownResponse
from gameproof.strategic.saddle_point import largest_useful_radius

Bools = NDArray[np.bool_]
# The default radii besides 0, as parts of the largest useful radius.
SHARES = (0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7)


@final
@dataclass(frozen=True, eq=False, repr=False)
class RadiusCurve:
    """A measure and the risk over radii; tables have one row per radius and one column per fold.

    Parameters
    ----------
    radii : ndarray of shape (n_radii,)
        The radii that were tried.
    clean : ndarray of shape (n_radii, n_folds)
        The measure on held-out people when nobody moves.
    gamed : ndarray of shape (n_radii, n_folds)
        The measure on held-out people who respond to the classifier.
    risk : ndarray of shape (n_radii, n_folds)
        Worst-case risk of held-out people within the radius.
    ignores : ndarray of bool, shape (n_radii,)
        Whether the classifier of some fold ignored the data.
    largest_useful : float
        From this radius on, the best classifier for all rows ignores the data.
    recommended : float
        The recommended radius.
    reason : str
        Why, in a sentence.
    note : str, optional
        A sentence if dropping the columns that people can change works just as well.
    measure : Measure, optional
        The measure in `clean` and `gamed`, by default accuracy.

    Examples
    --------
    >>> import gameproof as gp
    >>> X, y = gp.synthetic_people(n=300, d=4, seed=0)
    >>> curve = gp.select_radius(X, y, radii=[0, 0.05], folds=3)
    >>> [row["radius"] for row in curve.rows()]
    [0.0, 0.05]
    """

    radii: Vector
    clean: Matrix
    gamed: Matrix
    risk: Matrix
    ignores: Bools
    largest_useful: float
    recommended: float
    reason: str
    note: str = ""
    measure: Measure = ACCURACY

    def rows(self) -> list[dict[str, float]]:
        """Means and standard errors over folds, one row per radius."""
        rows = []
        for k, radius in enumerate(self.radii):
            row = {"radius": float(radius), "ignores data": bool(self.ignores[k])}
            for name in ("clean", "gamed", "risk"):
                row[name], row[f"{name} error"] = mean_and_error(getattr(self, name)[k])
            rows.append(row)
        return rows

    def __repr__(self) -> str:
        lines = [
            f"{self.measure.label} by radius",
            "radius   clean            gamed            worst-case risk",
        ]
        for row in self.rows():
            cells = [plus_minus(row[n], row[f"{n} error"]) for n in ("clean", "gamed", "risk")]
            mark = "  ignores the data" if row["ignores data"] else ""
            lines.append(f"{row['radius']:<8.3g} {'    '.join(cells)}{mark}")
        return "\n".join([*lines, self.reason, *([self.note] if self.note else [])])


def select_radius(
    X: ArrayLike,
    y: ArrayLike,
    model: RobustStrategicClassifier | None = None,
    *,
    radii: Sequence[float] | None = None,
    folds: int = 5,
    seed: int = 0,
    sample_weight: ArrayLike | None = None,
    measure: MeasureName | Measure | None = None,
    cost_accept_bad: float = 1.0,
    cost_refuse_good: float = 1.0,
) -> RadiusCurve:
    """A measure and worst-case risk over radii by cross-validation, and a recommended radius.

    The recommended radius is the largest one that costs less than one standard error of the
    measure when people game and, among those radii, when nobody moves.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features before anyone moves.
    y : array-like of shape (n_samples,)
        True classes.
    model : RobustStrategicClassifier, optional
        The classifier with all other parameters; its radius is ignored. It needs budgets, or a
        known response that is the same for all people. Its preparation is fitted inside each fold.
    radii : sequence of float, optional
        Radii to try, by default 0 and nine others below the largest useful radius.
    folds : int, optional
        Number of folds.
    seed : int, optional
        Seed of the split into folds.
    sample_weight : array-like of shape (n_samples,), optional
        Sample weights for fits and scores. Rows with weight 0 are left out.
    measure : {"accuracy", "balanced", "auc", "ks", "cost"}, optional
        The measure, by default "auc" if an outcome has less than 30 % of the rows, else
        "accuracy".
    cost_accept_bad, cost_refuse_good : float, optional
        What wrong decisions cost, for the measure "cost".

    Returns
    -------
    RadiusCurve
        The measures by radius and fold, and the recommendation.

    Raises
    ------
    TypeError
        If `model` is of another type, or its response is not known.
    ValueError
        If the response is given row by row, or a class has fewer rows than there are folds.

    Examples
    --------
    >>> import gameproof as gp
    >>> X, y = gp.synthetic_people(n=300, d=4, seed=0)
    >>> curve = gp.select_radius(X, y, gp.RobustStrategicClassifier(power=0.1), folds=3)
    >>> 0 < curve.recommended < curve.largest_useful
    True
    """
    base = RobustStrategicClassifier() if model is None else model
    if not isinstance(base, RobustStrategicClassifier):
        raise TypeError(f"model must be a RobustStrategicClassifier, got {shown(base)}")
    _require_common_response(base.response, base.power)
    people = WeightedRows.of(X, y, sample_weight)
    splits = stratified_splits(people, as_count("folds", folds, least=2), seed)
    whole = fit_quietly(base, people, radius=0.0)
    if whole.budgets_ is not None:
        for caution in whole.budgets_.notes:
            warn(caution, BudgetWarning)
    useful = largest_useful_radius(whole.problem(*people.data), precision=0.01)
    if radii is None:
        radii = [0.0, *(float(f"{share * useful:.2g}") for share in SHARES)]
    tried = np.unique(as_vector("radii", radii))
    good = whole.outcomes_.signs(np.asarray(people.y)) > 0
    judge = as_measure(measure, good, cost_accept_bad, cost_refuse_good)
    found = np.array(
        [[_measured(base, radius, *split, judge) for split in splits] for radius in tried]
    )
    clean, gamed, risk, ignores = np.moveaxis(found, 2, 0)
    ignoring = ignores.any(axis=1)
    chosen, reason = _recommended(tried, clean, gamed, ignoring, useful, judge)
    without = [
        measured_without_movable(fit_quietly(base, train, radius=chosen), train, test, judge)
        for train, test in splits
    ]
    k = int(np.flatnonzero(tried == chosen)[0])
    note = dropping_note(whole._movable_names(), by_fold(without), clean[k], gamed[k], judge)
    return RadiusCurve(tried, clean, gamed, risk, ignoring, useful, chosen, reason, note, judge)


def _require_common_response(response: Any, power: Any) -> None:
    """Rejects responses that cannot be applied to held-out people."""
    if not (response is None or isinstance(response, KnownResponse)):
        raise TypeError(
            "select_radius applies the response to held-out people, so it needs budgets or a known "
            f"response such as QuadraticCost, got {response!r}"
        )
    if np.ndim(power) if response is None else response.by_agent:
        name = "power" if response is None else response.largest[0]
        raise ValueError(f"select_radius holds people out, so {name} must be the same for all")


def _measured(
    base: RobustStrategicClassifier,
    radius: float,
    train: WeightedRows,
    test: WeightedRows,
    measure: Measure,
) -> tuple[float, float, float, float]:
    """The clean and gamed measure, worst-case risk, and whether the data was ignored."""
    model = fit_quietly(base, train, radius=float(radius))
    ignored = model.problem(*train.data).ignores_data(model.result_.x)
    risk = model.worst_case(*test.data).value
    clean, gamed = clean_and_gamed(model, test, measure)
    return clean, gamed, risk, float(ignored)


def _recommended(
    radii: Vector,
    clean: Matrix,
    gamed: Matrix,
    ignores: Bools,
    useful: float,
    measure: Measure = ACCURACY,
) -> tuple[float, str]:
    """The radius by the rule in the module's docstring, and a sentence that says why."""
    candidates = np.flatnonzero(~ignores)
    if not candidates.size:
        return float(radii[0]), (
            "At every radius tried, the classifier of some fold ignores the data: the label cost "
            "is too low, people move too easily, or the features carry too little information. No "
            f"radius can be recommended; {radii[0]:.3g} is the smallest one tried."
        )
    kept, best_gamed = within_one_standard_error(gamed, candidates)
    kept, cleanest = within_one_standard_error(clean, kept)
    k = int(kept[np.argmax(radii[kept])])
    told = [
        f"{name} {measure.label} {table[k].mean():.3f}, at best "
        f"{table[best].mean():.3f} at {radii[best]:.3g}"
        for name, table, best in (("gamed", gamed, best_gamed), ("clean", clean, cleanest))
    ]
    return float(radii[k]), (
        f"{radii[k]:.3g} is the largest radius tried that costs less than one standard error of "
        f"{measure.label}, fold by fold ({'; '.join(told)}); from {useful:.3g} on the best "
        "classifier ignores the data."
    )

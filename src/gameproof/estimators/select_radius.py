"""`select_radius`: chooses a radius by cross-validation; see `radius_curve.py` for the rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from gameproof.core.arguments import shown
from gameproof.estimators.choice_rows import rows_to_choose_on
from gameproof.estimators.folds import taken_apart
from gameproof.estimators.measures import Measure, MeasureName
from gameproof.estimators.radius_curve import RadiusCurve, radius_curve
from gameproof.estimators.robust import RobustStrategicClassifier

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline


def select_radius(
    X: ArrayLike,
    y: ArrayLike,
    model: RobustStrategicClassifier | Pipeline | None = None,
    *,
    radii: Sequence[float] | None = None,
    folds: int = 5,
    seed: int = 0,
    sample_weight: ArrayLike | None = None,
    measure: MeasureName | Measure | None = None,
    cost_accept_bad: float = 1.0,
    cost_refuse_good: float = 1.0,
    progress: bool | None = False,
    n_jobs: int | None = None,
) -> RadiusCurve:
    """A measure and worst-case risk over radii by cross-validation, and a recommended radius.

    The recommended radius is the largest one that costs less than one standard error of the
    measure when people game and, among those radii, when nobody moves.

    Of a Dask collection, at most 5,000 rows of a random sample are used: the rows on which a
    classifier of `gameproof.dask` chooses a radius of "auto". The result says how many.

    Parameters
    ----------
    X : array-like, dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        Features before anyone moves.
    y : array-like, dask.array.Array or dask.dataframe.Series of shape (n_samples,)
        True classes.
    model : RobustStrategicClassifier or Pipeline, optional
        The classifier with all other parameters, alone or at the end of a pipeline; its radius is
        ignored. It may be one of `gameproof.dask`. It needs budgets, or a known response that is
        the same for all people. Its preparation, and the steps before it, are fitted inside each
        fold.
    radii : sequence of float, optional
        Radii to try, by default 0 and nine others below the largest useful radius.
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
    RadiusCurve
        The measures by radius and fold, and the recommendation.

    Raises
    ------
    TypeError
        If `model` is of another type, its response is not known, or X is not a table.
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
    parts = taken_apart(RobustStrategicClassifier() if model is None else model)
    base = parts.classifier
    if not isinstance(base, RobustStrategicClassifier):
        raise TypeError(
            "model must be a RobustStrategicClassifier, alone or at the end of a pipeline, got "
            f"{shown(model)}"
        )
    people, n_total = rows_to_choose_on(parts, X, y, sample_weight, seed)
    curve = radius_curve(
        base,
        people,
        radii=radii,
        folds=folds,
        seed=seed,
        measure=measure,
        costs=(cost_accept_bad, cost_refuse_good),
        progress=progress,
        n_jobs=n_jobs,
        before=parts.before,
    )
    return replace(curve, n_total=n_total)

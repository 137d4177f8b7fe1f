"""Cross-validation: folds, fits without warnings, measures, and the one-standard-error rule.

A difference between two settings, taken fold by fold, is known up to about its standard error. A
setting within one standard error of the best one is not measurably worse on this sample.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone

from gameproof.core.arguments import Indices, Matrix, Vector, as_count
from gameproof.core.errors import BudgetWarning, CapWarning, IgnoresDataWarning, warn
from gameproof.estimators.base import BaseStrategicClassifier
from gameproof.estimators.fitted_preparation import FittedPreparation
from gameproof.estimators.gamed_rows import GamedRows, prepared_rows
from gameproof.estimators.measures import Measure, MeasureName, as_measure
from gameproof.estimators.sample_weight import WeightedRows
from gameproof.estimators.table_columns import column_names
from gameproof.rows.cores import one_blas_thread
from gameproof.strategic.power_costs import NoResponse

Model = TypeVar("Model", bound=BaseStrategicClassifier)
Found = TypeVar("Found")
Split = tuple[WeightedRows, WeightedRows]


def stratified_splits(people: WeightedRows, folds: int, seed: int) -> list[Split]:
    """Training and test rows of each fold; every row is in one test part."""
    labels = np.asarray(people.y)
    rarest = int(np.unique(labels, return_counts=True)[1].min())
    if rarest < folds:
        raise ValueError(f"the rarer class has {rarest} rows, too few for {folds} folds")
    from sklearn.model_selection import StratifiedKFold  # takes long to import

    split = StratifiedKFold(folds, shuffle=True, random_state=seed)
    parts = split.split(np.zeros(labels.size), labels)
    return [(people.take(train), people.take(test)) for train, test in parts]


class ModelParts(NamedTuple):
    """The steps of a pipeline before its classifier, None if there are none; the classifier; and
    the client of a classifier for Dask collections."""

    before: Any
    classifier: Any
    client: Any

    @property
    def prepare(self) -> Any:
        """What sees the columns of a table first."""
        return self.classifier.prepare if self.before is None else self.before


def taken_apart(model: Any) -> ModelParts:
    """The parts of a model. The ordinary classifier takes the place of one for Dask collections."""
    from sklearn.pipeline import Pipeline  # takes long to import

    before, classifier = None, model
    if isinstance(model, Pipeline):
        before, classifier = (model[:-1] if len(model) > 1 else None), model[-1]
    client = getattr(classifier, "client", None)
    if isinstance(classifier, BaseStrategicClassifier) and hasattr(classifier, "to_local"):
        classifier = classifier.to_local()
    return ModelParts(before, classifier, client)


def after_steps(before: Any, train: WeightedRows, test: WeightedRows) -> Split:
    """Rows as a classifier at the end of a pipeline sees them, with steps fitted to `train`."""
    if before is None:
        return train, test
    steps = clone(before)
    seen = train._replace(X=steps.fit_transform(train.X, train.y))
    return seen, seen if test is train else test._replace(X=steps.transform(test.X))


def over_folds(function: Callable[..., Found], given: list[Any], n_jobs: int | None) -> list[Found]:
    """function of each item, in `n_jobs` threads.

    Threads share the filters of warnings, so those about settings that are only tried are ignored
    before threads start. Threads of BLAS in each of them would wait for each other."""
    with _quiet(), one_blas_thread():
        return list(
            Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(function)(item) for item in given)
        )


@contextmanager
def _quiet() -> Iterator[None]:
    """Ignores warnings about settings that are only tried."""
    with warnings.catch_warnings():
        for kind in (CapWarning, IgnoresDataWarning, BudgetWarning):
            warnings.simplefilter("ignore", kind)
        yield


def fit_quietly(base: Model, people: WeightedRows, **parameters: Any) -> Model:
    """Fits a copy with these parameters, without warnings about settings that are only tried."""
    with _quiet():
        model: Model = clone(base).set_params(**parameters).fit(*people.data)
    return model


def is_auto(value: Any) -> bool:
    """Whether a parameter is "auto"."""
    return isinstance(value, str) and value == "auto"


def without_auto(model: Model, X: Any) -> Model:
    """A copy that chooses nothing: radius 0 and stated budgets where the model has "auto".

    Automatic budgets are half a standard deviation of the columns in `features`, or of all columns.
    """
    found: Model = clone(model)
    if is_auto(model.budgets):
        columns = column_names(X) or range(np.shape(X)[1])
        found.set_params(budgets=list(columns if model.features is None else model.features))
        found.set_params(features=None)
    if is_auto(getattr(model, "radius", None)):
        found.set_params(radius=0.0)
    return found


def clean_and_gamed(
    model: BaseStrategicClassifier,
    test: WeightedRows,
    measure: Measure,
    multiples: Sequence[float] = (1.0,),
) -> list[float]:
    """The measure when nobody moves, and when people use each multiple of what they can change."""
    rows = GamedRows.of(model, *test.data)
    moving = rows.signs < 0
    scores = [rows.scores, *(rows.gamed_scores(moving, times) for times in multiples)]
    return [rows.decisions(each).measured(measure, rows.people.weights) for each in scores]


class PreparedFolds(NamedTuple):
    """What a choice of a setting by cross-validation begins with."""

    base: BaseStrategicClassifier  # chooses nothing itself
    whole: BaseStrategicClassifier  # `base` fitted to all rows
    people: WeightedRows  # all rows as `base` sees them
    splits: list[Split]  # the same for each fold
    n_rows: int
    measure: Measure


def prepare_folds(
    before: Any,
    model: BaseStrategicClassifier,
    people: WeightedRows,
    folds: int,
    seed: int,
    measure: MeasureName | Measure | None,
    costs: tuple[float, float],
    **parameters: Any,
) -> PreparedFolds:
    """Splits rows into folds, applies the steps before the classifier, and fits it with these
    parameters to all rows. Warns of doubtful budgets once, since fits of folds are quiet."""
    splits = stratified_splits(people, as_count("folds", folds, least=2), seed)
    splits = [after_steps(before, *split) for split in splits]
    people, _ = after_steps(before, people, people)
    base = without_auto(model, people.X)
    whole = fit_quietly(base, people, **parameters)
    if whole.budgets_ is not None:
        for note in whole.budgets_.notes:
            warn(note, BudgetWarning)
    good = whole.outcomes_.signs(np.asarray(people.y)) > 0
    judge = as_measure(measure, good, *costs)
    return PreparedFolds(base, whole, people, splits, good.size, judge)


def movable_names(model: BaseStrategicClassifier) -> list[str]:
    """Names of the columns that people can change."""
    if model.budgets_ is not None:
        return list(model.budgets_.columns)
    return [model.coef_names_[k] for k in model.movable_]


def _movable_prepared(model: BaseStrategicClassifier) -> Indices:
    """Positions of the prepared columns that are made from columns that people can change."""
    if model.budgets_ is None:
        return model.movable_
    columns = sorted({*model.budgets_.ranges, *model.budgets_.claims})
    return FittedPreparation.of(model).places(columns, model.coef_.shape[1])


def measured_without_movable(
    model: BaseStrategicClassifier, train: WeightedRows, test: WeightedRows, measure: Measure
) -> float | None:
    """The measure of the same classifier without the columns that people can move.

    Gaming cannot change it. None if no column would be left, or if no column is movable.
    """
    kept = np.setdiff1d(np.arange(model.coef_.shape[1]), _movable_prepared(model))
    if kept.size in (0, model.coef_.shape[1]):
        return None
    Z_train, Z_test = (prepared_rows(model, rows.X)[:, kept] for rows in (train, test))
    nobody_moves: dict[str, Any] = {
        "budgets": None,
        "prepare": None,
        "power": None,
        "features": None,
        "response": NoResponse(),
    }
    plain = fit_quietly(model, train._replace(X=Z_train), **nobody_moves)
    return clean_and_gamed(plain, test._replace(X=Z_test), measure, ())[0]


def mean_and_error(values: Vector) -> tuple[float, float]:
    """The mean over folds and its standard error, as if folds were independent."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))


def plus_minus(mean: float, error: float) -> str:
    """A mean and its standard error as text.

    >>> plus_minus(0.8, 0.0123)
    '0.800 ± 0.012'
    """
    return f"{mean:.3f} ± {error:.3f}"


def within_one_standard_error(
    measured: Matrix, candidates: NDArray[np.int64]
) -> tuple[Indices, int]:
    """The candidates within one standard error of the best one, and the best one.

    `measured` has one row per setting and one column per fold; `candidates` are row numbers.
    Differences to the best candidate are taken fold by fold. All candidates see the same rows, so
    the luck of a fold cancels, and the error of a difference is much smaller than that of a mean.
    """
    means = measured[candidates].mean(axis=1)
    best = int(candidates[np.argmax(means)])
    lost = measured[best] - measured[candidates]
    errors = lost.std(axis=1, ddof=1) / np.sqrt(lost.shape[1])
    return candidates[lost.mean(axis=1) <= errors], best


def dropping_note(
    columns: list[str], dropped: Vector | None, clean: Vector, gamed: Vector, measure: Measure
) -> str:
    """A sentence if dropping the movable columns costs less than one standard error.

    The measures are by fold: without the movable columns, and with them when nobody moves and
    when people game. The note is empty if dropping the columns costs more in either case.
    """
    if dropped is None:
        return ""
    pairs = [mean_and_error(values) for values in (clean, gamed)]
    lost = [mean_and_error(values - dropped) for values in (clean, gamed)]
    if any(mean > error for mean, error in lost):
        return ""
    return (
        f"Dropping what people can change ({', '.join(columns)}) works just as well: "
        f"{measure.spoken} {measure.said(dropped.mean())} whether people move or not, against "
        f"{measure.said(pairs[0][0])} clean and {measure.said(pairs[1][0])} gamed."
    )


def by_fold(found: list[float | None]) -> Vector | None:
    """Measures by fold, or None if a fold has none."""
    return None if any(each is None for each in found) else np.array(found, dtype=np.float64)

"""Cross-validation of classifiers: people in folds, fits without warnings, and the rule of one
standard error.

A mean over folds is known to about its standard error. What is within one standard error of the
best costs nothing that these people can show.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing

from gameproof.core.arguments import Matrix, Vector
from gameproof.core.errors import BudgetWarning, CapWarning, IgnoresDataWarning
from gameproof.estimators.base import BaseStrategicClassifier
from gameproof.estimators.sample_weight import as_weights
from gameproof.strategic.power_costs import NoResponse

Model = TypeVar("Model", bound=BaseStrategicClassifier)
Rows = NDArray[Any]


class People(NamedTuple):
    """Rows, labels and weights, in the order in which classifiers take them."""

    X: Any
    y: Any
    weights: Vector | None

    @classmethod
    def counted(cls, X: Any, y: Any, sample_weight: ArrayLike | None) -> People:
        """Those who count."""
        if sample_weight is None:
            return cls(X, y, None)
        weights = as_weights(sample_weight, np.asarray(y))
        return cls(X, y, weights).only(np.flatnonzero(weights))

    def only(self, rows: Rows) -> People:
        """Those with these numbers."""
        X, y = (_safe_indexing(whole, rows) for whole in (self.X, self.y))
        return People(X, y, None if self.weights is None else self.weights[rows])

    def splits(self, folds: int, seed: int) -> list[tuple[People, People]]:
        """Those to learn from and those left out, fold by fold; every person is left out once."""
        labels = np.asarray(self.y)
        rarest = int(np.unique(labels, return_counts=True)[1].min())
        if rarest < folds:
            raise ValueError(f"the rarer class has {rarest} rows, too few for {folds} folds")
        split = StratifiedKFold(folds, shuffle=True, random_state=seed)
        parts = split.split(np.zeros(labels.size), labels)
        return [(self.only(train), self.only(test)) for train, test in parts]


def fit_quietly(base: Model, who: People, **parameters: Any) -> Model:
    """A copy with these parameters, fitted to these people; what a curve shows is no warning."""
    with warnings.catch_warnings():
        for kind in (CapWarning, IgnoresDataWarning, BudgetWarning):
            warnings.simplefilter("ignore", kind)
        model: Model = clone(base).set_params(**parameters).fit(*who)
    return model


def accuracy_without_movable(
    model: BaseStrategicClassifier, known: People, others: People
) -> float | None:
    """The accuracy, gamed or not, of the same classifier without the columns that people can move;
    None where no column is left, or where nobody can move any."""
    kept = np.setdiff1d(np.arange(model.coef_.shape[1]), _moved(model))
    if kept.size in (0, model.coef_.shape[1]):
        return None
    Z, left_out = (_prepared(model, who.X)[:, kept] for who in (known, others))
    nobody: dict[str, Any] = {
        "budgets": None,
        "prepare": None,
        "power": None,
        "features": None,
        "response": NoResponse(),
    }
    plain = fit_quietly(model, known._replace(X=Z), **nobody)
    return float(plain.score(*others._replace(X=left_out)))


def mean_and_error(by_fold: Vector) -> tuple[float, float]:
    """The mean over folds and its standard error, as if folds were independent."""
    return float(by_fold.mean()), float(by_fold.std(ddof=1) / np.sqrt(by_fold.size))


def within_one_standard_error(
    accuracy: Matrix, among: NDArray[np.int64]
) -> tuple[NDArray[np.int64], int]:
    """Those of these rows within a standard error of the best one, and the best one."""
    means = accuracy[among].mean(axis=1)
    best = int(among[np.argmax(means)])
    mean, error = mean_and_error(accuracy[best])
    return among[means >= mean - error], best


def dropping_note(columns: str, dropped: Vector | None, clean: Vector, gamed: Vector) -> str:
    """A sentence where classifiers without the movable columns lose less than one standard error to
    those with them, whether people move or not; nothing otherwise."""
    if dropped is None:
        return ""
    pairs = [mean_and_error(by_fold) for by_fold in (clean, gamed)]
    if any(dropped.mean() < mean - error for mean, error in pairs):
        return ""
    return (
        f"Dropping what people can change ({columns}) works just as well: accuracy "
        f"{dropped.mean():.3f} whether people move or not, against {pairs[0][0]:.3f} clean and "
        f"{pairs[1][0]:.3f} gamed."
    )


def as_fold_accuracies(found: list[float | None]) -> Vector | None:
    """The accuracies of all folds, or None where there are none."""
    return None if any(each is None for each in found) else np.array(found, dtype=np.float64)


def movable_columns(model: BaseStrategicClassifier) -> str:
    """The names of the columns that people can change, for a sentence."""
    if model.budgets_ is not None:
        return ", ".join(model.budgets_.columns)
    return ", ".join(model.coef_names_[k] for k in model.movable_)


def _moved(model: BaseStrategicClassifier) -> NDArray[np.int64]:
    """The prepared columns of what people can change."""
    if model.budgets_ is None:
        return model.movable_
    columns = sorted({*model.budgets_.ranges, *model.budgets_.claims})
    return model._preparation.places(columns, model.coef_.shape[1])


def _prepared(model: BaseStrategicClassifier, X: Any) -> Matrix:
    return model._preparation.transform(model._validated(X))

"""Training rows and test rows of a table, in memory or in blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.linear_model import LinearModel
from gameproof.auditing.threshold_rows import approving_score
from gameproof.core.arguments import Vector
from gameproof.estimators.calibration_fit import fitted_calibration
from gameproof.estimators.gamed_rows import prepared_scores
from gameproof.estimators.prepare import Prepare
from gameproof.estimators.probability_calibration import Calibration
from gameproof.tables.dataset import Dataset
from gameproof.tables.fit_settings import FitSettings
from gameproof.tables.training_table import TrainingTable

Decision = tuple[Calibration, float]
"""How scores become probabilities, and the score above which people are approved."""


class SplitTable(ABC):
    """The training rows and the test rows of a table.

    `train` and `test` are all rows or a sample, `groups` has the group of each row of `test`, from
    the column `grouped_by`. `good_share` is the share of favourable outcomes among all training
    rows."""

    n_train: int
    n_test: int
    good_share: float
    train: Dataset
    test: Dataset
    groups: NDArray[np.str_] | None
    grouped_by: str

    @abstractmethod
    def prepare(self, given: Prepare) -> Prepare:
        """The preparation, fitted to all training rows."""

    @abstractmethod
    def fit(self, model: Any, prepare: Prepare) -> None:
        """Fits a classifier to all training rows, prepared unless it prepares them itself."""

    @abstractmethod
    def decisions(
        self, models: Mapping[str, Any], prepare: Prepare, settings: FitSettings
    ) -> dict[str, Decision]:
        """The calibration and the cut of each classifier, from all training rows."""

    def tested(self, audit: Audit, lines: Sequence[LinearModel], prepare: Prepare) -> Audit:
        """An audit of `test`, with numbers from all test rows if there are more."""
        return audit

    def notes(self) -> list[str]:
        """What was computed from a sample."""
        return []

    def progress(self) -> str:
        """How far a long pass is, in words."""
        return ""


@final
class MemorySplit(SplitTable):
    """A split of rows in memory."""

    def __init__(self, training: TrainingTable, share: float, seed: int) -> None:
        rows = split_rows(training, share, seed)
        self.train, self.test = (training.data.take(part) for part in rows)
        self.n_train, self.n_test = len(self.train), len(self.test)
        self.good_share = float((self.train.y > 0).mean())
        self.groups = None if training.groups is None else training.groups[rows[1]]
        self.grouped_by = training.grouped_by

    def prepare(self, given: Prepare) -> Prepare:
        self._prepared = given.fit(self.train.X).transform(self.train.X)
        return given

    def fit(self, model: Any, prepare: Prepare) -> None:
        model.fit(self._prepared if model.prepare is None else self.train.X, self.train.y)

    def decisions(
        self, models: Mapping[str, Any], prepare: Prepare, settings: FitSettings
    ) -> dict[str, Decision]:
        found = {}
        for name, model in models.items():
            scores = prepared_scores(model, self._prepared)
            calibration = fitted_calibration(scores, self.train.y > 0)
            found[name] = calibration, chosen_cut(calibration, settings, _approving(scores))
        return found


def _approving(scores: Vector) -> Callable[[float], float]:
    return lambda share: approving_score(scores, share)


def chosen_cut(
    calibration: Calibration, settings: FitSettings, approving: Callable[[float], float]
) -> float:
    """The score above which people are approved: the classifier's own, 0, unless one is stated.

    `approving` gives the score that approves a share of the training rows."""
    if settings.threshold is not None:
        return calibration.score_at(settings.threshold)
    return 0.0 if settings.approve is None else approving(settings.approve)


def split_rows(
    training: TrainingTable, share: float, seed: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Training rows and test rows: later ones, or a share with the classes in proportion."""
    data = training.data
    if training.later is not None:
        found = np.flatnonzero(~training.later), np.flatnonzero(training.later)
    else:
        n_test = min(max(round(share * len(data)), 2), len(data) - 2)
        found = data.split_rows(len(data) - n_test, seed=seed)
    for rows, what in zip(found, ("training", "test"), strict=True):
        require_both_classes(int((data.y[rows] > 0).sum()), rows.size, what, training, share)
    return found


def require_both_classes(
    n_good: int, n: int, what: str, training: TrainingTable, share: float
) -> None:
    """Raises if the rows of one part of a split have one class only."""
    how, what_else = f"a test share of {share:g} (--test)", "another share"
    if training.split_by:
        how, what_else = training.split_by, "another value (--test-after)"
    if n_good in (0, n):
        raise ValueError(
            f"with {how}, the {what} rows have one class only; give more rows, or {what_else}"
        )

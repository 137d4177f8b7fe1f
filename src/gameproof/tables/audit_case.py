"""`AuditCase`: a model and the rows of a table, as an audit takes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from gameproof.auditing.linear_model import LinearModel
from gameproof.core.arguments import Matrix, Vector
from gameproof.estimators.prepare import Prepare
from gameproof.estimators.probability_calibration import Calibration
from gameproof.tables.defaults import GIVEN
from gameproof.tables.group_column import group_labels
from gameproof.tables.table import Table
from gameproof.tables.target import Target

FITTED_FOR = "which the model was fitted for"
DEFAULT = "the default of gameproof fit"
PURPOSE = "judge a model by"
CONSTANT = "this model ignores the data: it makes the same decision about everyone"


class Stated(NamedTuple):
    """What the user states about a table and about gaming; None where the model knows it."""

    target: str | None = None
    favourable: Any = None
    rest: bool = False
    budgets: Mapping[str, Any] | None = None
    power: float | None = None
    label_cost: float | None = None
    groups: str | None = None


class Chosen(NamedTuple):
    """A value, and why it was chosen."""

    value: Any
    reason: str


@final
@dataclass(frozen=True, eq=False)
class AuditCase:
    """A linear model, and people with the columns that it takes.

    `X` is in the units of the table. `prepare` is None where the model takes the table as it is.
    `radius` is the radius of the fit, and `learned_from` the share of these rows that the model
    learned from; each is None if it is not known.
    """

    kind: str
    target: Target
    coef: Vector
    intercept: float
    names: list[str]
    X: Matrix
    y: Vector
    budgets: Chosen
    power: Chosen
    label_cost: Chosen
    notes: list[str]
    scale: Vector | None = None
    prepare: Prepare | None = None
    radius: float | None = None
    learned_from: float | None = None
    calibration: Calibration | None = None
    groups: NDArray[np.str_] | None = None
    grouped_by: str = ""
    measure: str | None = None
    estimator: Any = None  # a model with transformers of its own, instead of coefficients
    labels: Any = None  # the labels as the estimator knows them
    favourable: Any = None

    @property
    def model(self) -> Any:
        """The model without its name."""
        if self.estimator is not None:
            return self.estimator
        return LinearModel(self.coef, self.intercept, self.names, calibration=self.calibration)


def chosen(
    given: float | None, fitted_for: float | None, default: float, reason: str = FITTED_FOR
) -> Chosen:
    """The value that the user gave, or else that of the fit, or else the default."""
    if given is not None:
        return Chosen(given, GIVEN)
    return Chosen(default, DEFAULT) if fitted_for is None else Chosen(float(fitted_for), reason)


def stated_groups(table: Table, stated: Stated) -> Any:
    """The group of each row, None if the user compares no groups."""
    return None if stated.groups is None else group_labels(table, stated.groups)


def constant_notes(coef: Vector) -> list[str]:
    """A note if the model ignores the data."""
    return [] if coef.any() else [CONSTANT]

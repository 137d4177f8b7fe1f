"""`StudyTable`: the table of a study, for answers in its columns and models for its rows.

The study stores a model file's record as a template: how columns are encoded and prepared, with a
classifier whose coefficients are replaced by those that are deployed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, final

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.core.errors import AnswerError
from gameproof.estimators.logistic import StrategicLogisticRegression
from gameproof.estimators.prepare import Prepare
from gameproof.strategic.population import Population
from gameproof.strategic.robust_problem import StrategicProblem
from gameproof.tables.column_budgets import StatedBudgets
from gameproof.tables.defaults import LABEL_COST
from gameproof.tables.load_model import KINDS
from gameproof.tables.table import as_table
from gameproof.tables.table_model import TableModel, restored_table, table_record
from gameproof.tables.training_table import training_table

# A bound for the intercept, on a scale where features have standard deviation 1.
INTERCEPT = 10.0


class TableProblem(NamedTuple):
    """A problem made from a table, and what `create` takes as `table`."""

    problem: StrategicProblem
    table: dict[str, Any]


def problem_from_table(
    table: Any,
    *,
    target: str,
    favourable: Any = None,
    budgets: StatedBudgets,
    radius: float = 0.05,
    label_cost: float = LABEL_COST,
    key: str | None = None,
    **meaning: Any,
) -> TableProblem:
    """The problem of a table, for `create`.

    `key` names the column that identifies people; without it, they are numbered from 0. The other
    parameters are those of `fit_table`. Budgets only say which columns people can change."""
    read = as_table(table)
    if key is not None:
        meaning["drop"] = [*meaning.get("drop", ()), key]
    training = training_table(read, target, favourable, budgets, **meaning)
    prepare = Prepare(training.plan.features).fit(training.data.X)
    Z, y = prepare.transform(training.data.X), training.data.y
    classifier = StrategicLogisticRegression(response=None).fit(Z, y)
    model = TableModel(training.plan, prepare, classifier, {}, training.budgets)
    persons = [str(k) for k in range(len(y))]
    if key is not None:
        persons = [
            str(value) for value in training.table.column(key, "key column").cells.to_pylist()
        ]
    problem = StrategicProblem(
        Population(Z, y), radius=radius, label_cost=label_cost, intercept=INTERCEPT
    )
    return TableProblem(problem, {"model": table_record(model), "persons": persons})


@final
@dataclass(frozen=True, eq=False)
class StudyTable:
    """The columns of a study's table, and who its rows are."""

    template: TableModel
    persons: Sequence[str]

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        """What `problem_from_table` made."""
        return cls(restored_table(stored["model"], KINDS), stored["persons"])

    def person(self, agent: int) -> str:
        """Who the row of this index is."""
        return self.persons[agent]

    def features(self, row: Mapping[str, Any]) -> Vector:
        """The features of a row in the table's columns. Columns that the study does not use are
        ignored."""
        wanted = self.template.plan.features.names
        missing = [name for name in wanted if name not in row]
        if missing:
            raise AnswerError(f"the answer lacks the column {missing[0]!r} of the study's table")
        table = as_table({name: [row[name]] for name in wanted})
        found: Vector = self.template.prepared(table).Z[0]
        if not np.isfinite(found).all():
            raise AnswerError("the answer has a value that cannot be used")
        return found

    def model(self, theta: Vector, intercept: float) -> TableModel:
        """A classifier for rows of the table."""
        classifier = copy(self.template.classifier)
        classifier.coef_, classifier.intercept_ = theta[None, :], np.array([intercept])
        return replace(self.template, classifier=classifier)

"""`StudyTable`: the table of a study, for answers in its columns and models for its rows.

The study stores a model file's record as a template: how columns are encoded and prepared, with a
classifier whose coefficients are replaced by those that are deployed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, final

import numpy as np

from gameproof.core.arguments import Matrix, Vector
from gameproof.core.errors import AnswerError, DataError
from gameproof.estimators.logistic import StrategicLogisticRegression
from gameproof.estimators.prepare import Prepare
from gameproof.strategic.population import Population
from gameproof.strategic.robust_problem import StrategicProblem
from gameproof.tables.column_budgets import StatedBudgets
from gameproof.tables.defaults import LABEL_COST
from gameproof.tables.load_model import KINDS
from gameproof.tables.table import Table, as_table
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
        read.column(key, "key column")
        meaning["drop"] = [*meaning.get("drop", ()), key]
    training = training_table(read, target, favourable, budgets, **meaning)
    prepare = Prepare(training.plan.features).fit(training.data.X)
    Z, y = prepare.transform(training.data.X), training.data.y
    classifier = StrategicLogisticRegression(response=None).fit(Z, y)
    known = {"quartiles": training.quartiles}  # effects are shown in the table's units
    model = TableModel(training.plan, prepare, classifier, known, training.budgets)
    persons = [str(k) for k in range(len(y))] if key is None else _persons(training.table, key)
    problem = StrategicProblem(
        Population(Z, y), radius=radius, label_cost=label_cost, intercept=INTERCEPT
    )
    return TableProblem(problem, {"model": table_record(model), "persons": persons})


def _persons(table: Table, key: str) -> list[str]:
    """The values of the key column, which must differ."""
    values = table.column(key, "key column").cells.to_pylist()
    twice = [value for value, count in Counter(values).items() if count > 1 or value is None]
    if twice:
        raise DataError(
            f"the column {key!r} does not identify people: {twice[0]!r} stands in several "
            "rows or is missing; name another key column"
        )
    return [str(value) for value in values]


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
        table = as_table({name: [row[name]] for name in wanted if name in row})
        found: Vector = self.feature_rows(table)[0]
        return found

    def feature_rows(self, table: Table) -> Matrix:
        """The features of every row of a table of answers."""
        for name in self.template.plan.features.names:
            if name not in table.columns:
                raise AnswerError(f"the answer lacks the column {name!r} of the study's table")
        X, _ = self.template.plan.encoded(table)
        self._require_movable(table, X)
        found = self.template.prepare.transform(X)
        bad = np.flatnonzero(~np.isfinite(found).all(axis=1))
        if bad.size:
            raise AnswerError(
                f"the answer in row {table.row(int(bad[0]))} has a value that cannot be used"
            )
        return found

    def _require_movable(self, table: Table, X: Matrix) -> None:
        """Raises if a value is missing that people can change: it would be filled in, and an
        answer is never invented. Other gaps are filled as the deployed model fills them."""
        features = self.template.plan.features
        for name in features.movable:
            empty = np.flatnonzero(np.isnan(X[:, features.names.index(name)]))
            if empty.size:
                raise AnswerError(
                    f"the answer in row {table.row(int(empty[0]))} has no usable value in the "
                    f"column {name!r}, which people can change"
                )

    def model(self, theta: Vector, intercept: float) -> TableModel:
        """A classifier for rows of the table."""
        classifier = copy(self.template.classifier)
        classifier.coef_, classifier.intercept_ = theta[None, :], np.array([intercept])
        return replace(self.template, classifier=classifier)

"""`StudyTable`: the table of a study, for answers in its columns and models for its rows.

The study stores a model file's record as a template: how columns are encoded and prepared, with a
classifier whose coefficients are replaced by those that are deployed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, final

import numpy as np

from gameproof.core.arguments import Matrix, Vector
from gameproof.core.errors import AnswerError, DataError
from gameproof.core.naming import quoted, quoted_list, suggestion
from gameproof.estimators.logistic import StrategicLogisticRegression
from gameproof.estimators.prepare import Prepare
from gameproof.strategic.population import Population
from gameproof.strategic.robust_problem import StrategicProblem
from gameproof.tables.cell_gaps import Gaps
from gameproof.tables.column import MISSING
from gameproof.tables.column_budgets import StatedBudgets
from gameproof.tables.defaults import LABEL_COST
from gameproof.tables.load_model import KINDS
from gameproof.tables.meaning import Meaning
from gameproof.tables.table import Table, as_table
from gameproof.tables.table_model import TableModel, restored_table, table_record
from gameproof.tables.training_table import training_table

# The column in which `gameproof live ask` writes whom to ask.
PERSON = "person"
# A bound for the intercept, on a scale where features have standard deviation 1.
INTERCEPT = 10.0


class AnswerRows(NamedTuple):
    """The features of a table of answers, why rows are no answers, and notes on gaps in others."""

    features: Matrix
    refused: dict[int, AnswerError]
    notes: list[str]


# The features that a study knows of the person of a row, None if it knows nobody.
Known = Callable[[int], Vector | None]


def nobody_known(row: int) -> None:
    """No person is known."""


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
        if key == target:
            raise DataError(f"the target {target!r} does not identify people; name another key")
        meaning["drop"] = [*meaning.get("drop", ()), key]
    training = training_table(read, Meaning(target, favourable, budgets, **meaning))
    prepare = Prepare(training.plan.features).fit(training.data.X)
    Z, y = prepare.transform(training.data.X), training.data.y
    classifier = StrategicLogisticRegression(response=None).fit(Z, y)
    known = {"quartiles": training.quartiles}  # effects are shown in the table's units
    model = TableModel(training.plan, prepare, classifier, known, training.budgets)
    persons = [str(k) for k in range(len(y))] if key is None else _persons(training.table, key)
    problem = StrategicProblem(
        Population(Z, y), radius=radius, label_cost=label_cost, intercept=INTERCEPT
    )
    stored = {"model": table_record(model), "persons": persons, "key": key}
    return TableProblem(problem, stored)


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
    key: str | None = None  # the column that identifies people

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        """What `problem_from_table` made."""
        # Studies of older versions do not know their key column.
        return cls(restored_table(stored["model"], KINDS), stored["persons"], stored.get("key"))

    def person(self, agent: int) -> str:
        """Who the row of this index is."""
        return self.persons[agent]

    def features(self, row: Mapping[str, Any], known: Known = nobody_known) -> Vector:
        """The features of a row in the table's columns. Columns that the study does not use are
        ignored."""
        wanted = self.template.plan.features.names
        lacking = [name for name in wanted if name not in row]
        if lacking:
            raise AnswerError(
                f"the answer lacks the column {lacking[0]!r} of the study's table; "
                f"{suggestion(lacking[0], map(str, row))}"
            )
        self._require_no_booleans(row)
        try:
            table = as_table({name: [row[name]] for name in wanted}, "the answer")
            found = self.feature_rows(table, known)
        except DataError as error:
            raise AnswerError(str(error)) from error
        if found.refused:
            raise found.refused[0]
        features: Vector = found.features[0]
        return features

    def _require_no_booleans(self, row: Mapping[str, Any]) -> None:
        """In Python, True is also the number 1; in an answer it is a mistake."""
        features = self.template.plan.features
        for name in features.names:
            if name not in features.levels and isinstance(row[name], (bool, np.bool_)):
                raise AnswerError(f"the column {name!r} of the answer is {row[name]}, not a number")

    def feature_rows(self, table: Table, known: Known = nobody_known) -> AnswerRows:
        """The features of every row of a table of answers.

        A gap in a column that nobody can change is filled with what is known of the row's person,
        or else as the deployed model fills it."""
        features, prepare = self.template.plan.features, self.template.prepare
        encoded = self.template.plan.encoded(table)
        refused = self._without_movable(encoded.X, table)
        found = prepare.transform(encoded.X)
        filled = self._fill(found, encoded.X, known)
        for row in np.flatnonzero(~np.isfinite(found).all(axis=1)).tolist():
            refused.setdefault(row, AnswerError("the answer has a value that cannot be used"))
        gaps = Gaps.of(encoded, features.names)
        for name in features.movable:  # rows with such gaps are refused
            del gaps.missing[name], gaps.unknown[name]
        notes = [
            f"{quoted(name)}: {count:,} without a usable value, taken from the study's table"
            for name, count in filled.items()
        ]
        for name in filled:
            del gaps.missing[name], gaps.unknown[name]
        return AnswerRows(found, refused, [*notes, *gaps.notes(features, prepare)])

    def _fill(self, found: Matrix, X: Matrix, known: Known) -> dict[str, int]:
        """Overwrites the features of gaps in columns that nobody can change, where the person is
        known. Returns the numbers of gaps by column, for columns without other gaps."""
        features, owners = self.template.plan.features, np.array(self.template.prepare.owners_)
        filled = {}
        for name, column in zip(features.names, X.T, strict=True):
            gaps = np.flatnonzero(np.isnan(column)).tolist()
            if name in features.movable or not gaps:
                continue
            people = {row: known(row) for row in gaps}
            for row, person in people.items():
                if person is not None:
                    found[row, owners == name] = person[owners == name]
            if all(person is not None for person in people.values()):
                filled[name] = len(gaps)
        return filled

    def _without_movable(self, X: Matrix, table: Table) -> dict[int, AnswerError]:
        """Rows that lack a value that people can change: it would be filled in, and an answer is
        never invented. Other gaps are filled as the deployed model fills them."""
        features = self.template.plan.features
        return {
            row: AnswerError(
                f"the answer has no usable value in the column {name!r}, which people can change"
                f"{_given(table, name, row, features.levels.get(name, ()))}"
            )
            for name in reversed(features.movable)
            for row in np.flatnonzero(np.isnan(X[:, features.names.index(name)])).tolist()
        }

    def person_columns(self, table: Table) -> list[str]:
        """The columns of a table of answers that name people."""
        features = self.template.plan.features.names
        return [
            name
            for name in (PERSON, self.key)
            if name is not None and name in table.columns and name not in features
        ]

    def other_people(self, table: Table, agents: Sequence[int | None]) -> dict[int, AnswerError]:
        """Rows of a table of answers that name somebody else than these agents, who were asked."""
        found = {}
        for name in self.person_columns(table):
            for row, given in enumerate(table.columns[name].cells.to_pylist()):
                agent = agents[row]
                if agent is not None and not _same(given, self.person(agent)):
                    found[row] = AnswerError(
                        f"the question is for {self.person(agent)!r}, but the column {name!r} has "
                        f"{given!r}"
                    )
        return found

    def model(self, theta: Vector, intercept: float) -> TableModel:
        """A classifier for rows of the table."""
        classifier = copy(self.template.classifier)
        classifier.coef_, classifier.intercept_ = theta[None, :], np.array([intercept])
        return replace(self.template, classifier=classifier)


def _given(table: Table, name: str, row: int, levels: Sequence[str]) -> str:
    """What stands in a cell that cannot be used."""
    cell = table.columns[name].cells[row].as_py()
    if cell is None or not str(cell).strip():
        return "; the cell is empty"
    return f"; got {cell!r}" + (f", expected {quoted_list(levels, 4)}" if levels else "")


def _same(given: Any, asked: str) -> bool:
    """Whether a cell can mean this person. A missing cell names nobody, and 17.0 is 17, as data
    frames write whole numbers in a column with gaps."""
    text = "" if given is None else str(given).strip()
    if text == asked.strip() or text in MISSING:
        return True
    try:
        return float(text) == float(asked)
    except ValueError:
        return False

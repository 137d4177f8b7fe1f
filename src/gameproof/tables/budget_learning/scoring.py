"""Scores of people before and after, and the effect of changing one column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from gameproof.core.arguments import Vector, shown
from gameproof.core.errors import DataError
from gameproof.core.naming import quoted, quoted_list
from gameproof.tables.budget_learning.comparable import number_values
from gameproof.tables.column import Column
from gameproof.tables.column_checks import filled
from gameproof.tables.load_model import load_table_model
from gameproof.tables.table import Table
from gameproof.tables.table_model import TableModel


@final
@dataclass(frozen=True, eq=False)
class Scorer:
    """A model that scores the rows of a table: positive if accepted, NaN if it cannot score."""

    name: str
    columns: tuple[str, ...]
    target: str | None
    categories: tuple[str, ...]
    scores: Callable[[Table], Vector]
    notes: tuple[str, ...] = ()

    def gains(self, table: Table, scores: Vector, column: str, cells: Any) -> Vector:
        """The change of each score if the column had these cells."""
        if column not in self.columns:
            return np.zeros(table.n)
        changed = replace(table, columns={**table.columns, column: Column(column, cells)})
        found: Vector = self.scores(changed) - scores
        return found


class Scored(NamedTuple):
    """A model, and its scores of both tables."""

    model: Scorer
    before: Vector
    after: Vector


def scorer(model: Any, table: Table, favourable: Any, without: tuple[str, ...]) -> Scorer:
    """A scorer of tables like this one.

    A classifier that does not name its columns takes all numeric columns but those in `without`.
    """
    if isinstance(model, (str, Path)):
        return _of_table_model(load_table_model(model), str(model), favourable)
    if isinstance(model, TableModel):
        return _of_table_model(model, "the model", favourable)
    if not hasattr(model, "decision_function"):
        raise TypeError(
            "model must be a file that gameproof fit wrote, a TableModel or a fitted classifier "
            f"with decision_function, got {shown(model)}"
        )
    sign = _towards(model, favourable)
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        columns = tuple(str(name) for name in names)
        frame = _frame(columns)
        return Scorer("the model", columns, None, (), _complete(model, frame, columns, sign))
    columns = tuple(
        name
        for name, column in table.columns.items()
        if name not in without and column.kind == "number"
    )
    d = int(getattr(model, "n_features_in_", len(columns)))
    if d != len(columns):
        raise DataError(
            f"the model takes {d} columns and does not name them, but {table.source} has "
            f"{len(columns)} numeric columns: {quoted_list(columns)}; drop "
            "the others (--drop)"
        )
    names_assumed = ", ".join(map(quoted, columns))
    note = f"the model does not name its columns; they are assumed to be {names_assumed}"
    scores = _complete(model, _matrix(columns), columns, sign)
    return Scorer("the model", columns, None, (), scores, (note,))


def _of_table_model(model: TableModel, name: str, favourable: Any) -> Scorer:
    target = model.plan.target
    if favourable not in (None, target.favourable):
        raise ValueError(
            f"the model's favourable outcome is {target.favourable!r}, got {favourable!r}"
        )
    features = model.plan.features
    return Scorer(
        name,
        tuple(features.names),
        target.name,
        tuple(features.levels),
        lambda table: model.scored(table).scores,
    )


def _towards(model: Any, favourable: Any) -> float:
    """The sign that makes scores positive for the favourable class."""
    wanted = getattr(model, "favourable", None) if favourable is None else favourable
    classes = np.asarray(getattr(model, "classes_", [])).tolist()
    if favourable is not None and favourable not in classes:
        raise ValueError(f"favourable must be one of {classes}, got {favourable!r}")
    return -1.0 if len(classes) == 2 and wanted is not None and wanted == classes[0] else 1.0


def _complete(
    model: Any, made: Callable[[Table], Any], columns: tuple[str, ...], sign: float
) -> Callable[[Table], Vector]:
    """A function that scores the rows without missing values in the model's columns."""

    def scores(table: Table) -> Vector:
        found = np.full(table.n, np.nan)
        whole = np.ones(table.n, dtype=bool)
        for name in columns:
            whole &= ~_missing(table.column(name, "column of the model"), table)
        if whole.any():
            given = sign * np.asarray(model.decision_function(made(table)[whole]), dtype=float)
            if given.ndim != 1:
                raise ValueError(
                    "the model has more than two classes, expected two: accept and refuse"
                )
            found[whole] = given
        return found

    return scores


def _missing(column: Column, table: Table) -> Any:
    """True for cells without a value."""
    if column.kind in ("date", "other"):
        raise DataError(
            f"the model takes the column {column.name!r}, but in {table.source} it holds neither "
            "numbers nor text"
        )
    cells = column.text if column.numbers is None else column.numbers
    return cells.is_null().to_numpy(zero_copy_only=False)


def _matrix(columns: tuple[str, ...]) -> Callable[[Table], Any]:
    return lambda table: np.column_stack([number_values(table, name) for name in columns])


def _as_given(column: Column) -> Any:
    """The cells as numbers, booleans or text."""
    import pyarrow as pa

    if column.numbers is not None:
        return filled(column.numbers)
    if pa.types.is_boolean(column.cells.type):
        return column.cells.fill_null(False).to_numpy(zero_copy_only=False)
    return np.array(column.text.to_pylist(), dtype=object)


def _frame(columns: tuple[str, ...]) -> Callable[[Table], Any]:
    """A function that makes a data frame, for models that know columns by name."""

    def made(table: Table) -> Any:
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "a model that knows columns by name needs pandas: pip install 'gameproof[frames]'"
            ) from error
        return pd.DataFrame({name: _as_given(table.columns[name]) for name in columns})

    return made

"""`TrainingTable`: the labelled rows of a table, ready for a classifier, and how they were made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from gameproof.core.arguments import Matrix
from gameproof.core.naming import listed, quoted, rows_of
from gameproof.estimators.table_budgets import Budgets
from gameproof.rows.row_progress import RowProgress
from gameproof.rows.row_source import RowSource
from gameproof.tables.column_budgets import by_column, checked_budgets
from gameproof.tables.column_notes import column_notes
from gameproof.tables.column_plan import ColumnPlan
from gameproof.tables.dataset import Dataset
from gameproof.tables.date_columns import origin_note
from gameproof.tables.group_column import group_labels
from gameproof.tables.leaks import leaks
from gameproof.tables.meaning import Meaning
from gameproof.tables.out_of_time import rows_after
from gameproof.tables.table import Table
from gameproof.tables.target import Target

SAME_ORDER = 0.99  # rank correlation from which two columns count as copies of each other
SAMPLE = 10_000  # rows that the rank correlation is computed on
SHOWN = 12  # names in one line of the summary


class WholeTable(NamedTuple):
    """What is known about all rows of a table in files, of which only a sample is in memory.

    `blocks` are the encoded rows, n is their number, and n_positive how many of them have the label
    +1. `missing` has the number of missing values in each column that has any."""

    blocks: RowSource
    n: int
    n_positive: int
    missing: dict[str, int]
    progress: RowProgress


@final
@dataclass(frozen=True, eq=False)
class TrainingTable:
    """The rows of a table that have a target.

    Of a table in files, `table` and `data` are a sample, and `whole` knows all rows.

    Attributes
    ----------
    table
        The rows with a target, as they were read.
    plan
        How each column is used.
    data
        The encoded rows.
    budgets
        What people can change.
    n_rows, n_without_target
        Rows of the whole table, and rows left out because their target is missing.
    fingerprint
        Fingerprint of these rows.
    groups
        The group of each row, if groups are compared.
    grouped_by
        The column that says which group people belong to.
    later
        Whether each row is a test row of an out-of-time test, if there is one.
    split_by
        How rows are divided into training and test rows, in words; empty for a random split.
    whole
        All rows of a table in files.
    """

    table: Table
    plan: ColumnPlan
    data: Dataset
    budgets: Budgets
    n_rows: int
    n_without_target: int
    fingerprint: str
    groups: NDArray[np.str_] | None = None
    later: NDArray[np.bool_] | None = None
    split_by: str = ""
    whole: WholeTable | None = None
    grouped_by: str = ""

    @property
    def n(self) -> int:
        """The number of rows with a target."""
        return len(self.data) if self.whole is None else self.whole.n

    @property
    def n_positive(self) -> int:
        """The number of rows with the favourable outcome."""
        return int((self.data.y > 0).sum()) if self.whole is None else self.whole.n_positive

    @property
    def outcomes(self) -> tuple[str, str]:
        """The names of the labels +1 and -1."""
        return self.plan.target.outcomes

    @cached_property
    def missing(self) -> dict[str, int]:
        """The number of missing values in each column that has any."""
        if self.whole is not None:
            return self.whole.missing
        counts = np.isnan(self.data.X).sum(axis=0)
        named = zip(self.data.features.names, counts, strict=True)
        return {name: int(count) for name, count in named if count}

    @cached_property
    def quartiles(self) -> dict[str, list[float]]:
        """The quartiles of each numeric column that has values; of a table in files, those of the
        sample."""
        found = {}
        for name, column in zip(self.data.features.names, self.data.X.T, strict=True):
            known = column[~np.isnan(column)]
            if name not in self.data.features.levels and known.size:
                found[name] = [float(q) for q in np.quantile(known, (0.25, 0.5, 0.75))]
        return found

    @cached_property
    def cautions(self) -> list[str]:
        """What looks wrong in the columns, and gaming that the budgets do not cover: missing cells,
        and copies of a movable column."""
        names, found = self.data.features.names, column_notes(self.table, self.plan)
        covered = {*self.budgets.columns, *self.data.features.levels}
        for at in self.budgets.ranges:
            if count := self.missing.get(names[at]):
                found.append(
                    f"{count:,} rows have no {quoted(names[at])}; these people are assumed unable "
                    "to change it"
                )
            for other in copies_of(self.data.X, at):
                if names[other] not in covered:
                    found.append(
                        f"{quoted(names[other])} ranks people as {quoted(names[at])} does, which "
                        "they can change; give both a budget (--movable), or drop one (--drop)"
                    )
        return found

    @cached_property
    def leaks(self) -> list[str]:
        """Warnings about columns that alone tell the outcome of almost everyone."""
        return leaks(self.data)

    def lines(self) -> list[str]:
        """A summary of the table and of what became of its columns."""
        plan, n, positive = self.plan, self.n, self.n_positive
        target = quoted(plan.target.name)
        lines = [f"{self.table.source}: {self.n_rows:,} rows, {len(self.table.columns)} columns"]
        lines += [f"  {note}" for note in self.table.notes]
        ignored = list(plan.target.ignored)
        if self.n_without_target:
            why = f" or with an ignored one ({listed(ignored)})" if ignored else ""
            lines.append(f"  left out {rows_of(self.n_without_target)} without {target}{why}")
        left = self.n_rows - self.n_without_target - n
        if left:
            lines.append(f"  left out {rows_of(left)} without the column to split by")
        lines.append(
            f"  {target} is {plan.target.favourable!r} (favourable) in {positive:,} "
            f"rows, {plan.target.other!r} in {n - positive:,}"
        )
        if self.whole is not None and self.table.n < n:
            lines.append(
                f"  column types were found from {self.table.n:,} rows; values of the target "
                "and levels of categories were counted in all rows"
            )
        return [*lines, *self._column_lines(), *self._budget_lines()]

    def _column_lines(self) -> list[str]:
        levels, names = self.data.features.levels, self.data.features.names
        numeric = [quoted(name) for name in names if name not in levels]
        lines = [f"  numbers: {listed(numeric, SHOWN) or 'none'}"]
        if levels:
            shown = [f"{quoted(name)} ({len(own)})" for name, own in levels.items()]
            lines.append(f"  categories, with their levels: {listed(shown, SHOWN)}")
        for name, count in self.plan.pooled.items():
            lines.append(f"  {quoted(name)}: the {count} rarest levels pooled into other")
        gaps = [f"{quoted(name)} {count:,}" for name, count in self.missing.items()]
        if gaps:
            lines.append(
                f"  missing values, replaced by the median and marked: {listed(gaps, SHOWN)}"
            )
        if self.plan.dates:
            lines.append(f"  {origin_note([quoted(name) for name in self.plan.dates])}")
        left_out = self.plan.left_out.items()
        return [*lines, *(f"  left out {quoted(name)}: {reason}" for name, reason in left_out)]

    def _budget_lines(self) -> list[str]:
        budgets = self.budgets.by_column().items()
        lines = [f"  movable {quoted(name)}: {budget}" for name, budget in budgets]
        lines += [f"  note: {caution}" for caution in self.cautions]
        return lines if budgets else [*lines, "  movable: nothing"]

    def record(self) -> dict[str, Any]:
        """The summary as JSON holds it."""
        plan, data = self.plan, self.data
        return {
            "table": self.table.source,
            "rows": self.n_rows,
            "rows_without_target": self.n_without_target,
            "target": plan.target.name,
            "favourable": plan.target.favourable,
            "n_favourable": self.n_positive,
            "n_other": self.n - self.n_positive,
            "features": list(data.features.names),
            "levels": {name: list(levels) for name, levels in data.features.levels.items()},
            "movable": list(data.features.movable),
            "budgets": {**self.budgets.record(), "description": self.budgets.describe()},
            "cautions": self.cautions,
            "missing": self.missing,
            "pooled": dict(plan.pooled),
            "left_out": dict(plan.left_out),
            "read": list(self.table.notes),
            "dates": dict(plan.dates),
            "ignored": list(plan.target.ignored),
            "fingerprint": self.fingerprint,
        }


def training_table(table: Table, meaning: Meaning) -> TrainingTable:
    """Labels the rows of a table, plans its columns and checks the budgets."""
    meaning, split_by = meaning.checked(), meaning.split_by
    aim = Target.of(table, meaning.target, **meaning.outcomes)
    known, y = aim.labelled(table)
    unlabelled = table.n - known.n
    later = None
    if split_by is not None:
        rows, later = rows_after(known, split_by, meaning.test_after)
        if rows.size < known.n:
            known, y = known.take(rows), y[rows]
    aim.require_both(y, "learn from and test on")
    stated = by_column(meaning.budgets)
    plan = ColumnPlan.of(known, aim, list(stated), left_out=meaning.left_out, **meaning.columns)
    data = Dataset(table.source, plan.encoded(known).X, y, plan.features)
    groups = None if meaning.groups is None else group_labels(known, meaning.groups)
    return TrainingTable(
        table=known,
        plan=plan,
        data=data,
        budgets=checked_budgets(stated, plan.features, data.X),
        n_rows=table.n,
        n_without_target=unlabelled,
        fingerprint=data.fingerprint,
        groups=groups,
        later=later,
        split_by=meaning.split_words,
        grouped_by=meaning.groups or "",
    )


def copies_of(X: Matrix, at: int) -> list[int]:
    """Columns that rank the rows almost as column `at` does, or in reverse."""
    found = []
    for other in range(X.shape[1]):
        pair = X[:, [at, other]]
        known = pair[~np.isnan(pair).any(axis=1)][:SAMPLE]
        varied = len(known) > 2 and bool((known.max(axis=0) > known.min(axis=0)).all())
        if other != at and varied and abs(spearmanr(known).statistic) > SAME_ORDER:
            found.append(other)
    return found

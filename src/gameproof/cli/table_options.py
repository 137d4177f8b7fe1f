"""Options that say what a table holds, and the people that it gives."""

from __future__ import annotations

import argparse
import csv
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from gameproof.cli.console import Console
from gameproof.cli.movable_option import FORM, budgets_of, stated
from gameproof.cli.options import STANDARD, SenselessOptions
from gameproof.core.errors import DataError
from gameproof.core.naming import listed, quoted

if TYPE_CHECKING:
    from gameproof.core.arguments import Matrix
    from gameproof.estimators.table_budgets import Budgets
    from gameproof.tables.column_plan import Plan
    from gameproof.tables.dataset import Dataset
    from gameproof.tables.table import Table

LEAST = 5  # rows of each class, so that both parts of a split have some
# Columns with this rank correlation say the same; it is that of at most so many rows.
SAME_ORDER, SAMPLE = 0.99, 10_000


def add_table(parser: argparse.ArgumentParser) -> None:
    """The table itself."""
    parser.add_argument(
        "table",
        type=Path,
        metavar="TABLE",
        help="CSV, TSV or Parquet, packed or not; - for standard input",
    )


def name_of(table: Path) -> str:
    """What a table is called."""
    return "standard input" if table == STANDARD else str(table)


def read(table: Path) -> Table:
    """The table of this name, or the one on standard input."""
    from gameproof.tables.table import open_table, table_of

    if table != STANDARD:
        return open_table(table)
    if sys.stdin is None:
        raise DataError("standard input is closed, expected a table there")
    return table_of(sys.stdin.buffer.read(), name_of(table))


def add_meaning(parser: argparse.ArgumentParser, *, known: bool = False) -> None:
    """What its columns mean. `known` where a model may say so itself."""
    of_model = " (a model of gameproof knows it)" if known else ""
    parser.add_argument(
        "--target",
        required=not known,
        metavar="COL",
        help=f"the column that says how it ended{of_model}",
    )
    parser.add_argument(
        "--favourable",
        metavar="VALUE",
        help=f"the value of the target that people want{of_model}",
    )
    parser.add_argument(
        "--movable",
        action="append",
        required=not known,
        metavar=FORM,
        help=f"what people can change{of_model}: columns with the least and the largest change, or "
        "with the levels that people can claim after =; a column alone stands for half a standard "
        "deviation, or every level; '' for none; may be given more than once, and a name with a "
        "comma stands in quotation marks: '\"a, b\":0..1,c'",
    )
    parser.add_argument(
        "--rest",
        action="store_true",
        help="take the favourable value against all others, where there are more than two",
    )
    if not known:
        parser.add_argument(
            "--drop", action="append", default=[], metavar="A,B", help="columns to leave out"
        )
        parser.add_argument(
            "--category",
            action="append",
            default=[],
            metavar="A,B",
            help="columns of numbers that are names, such as codes",
        )
        parser.add_argument(
            "--balanced",
            action="store_true",
            help="draw as many rows of each outcome, for where one is rare and both errors matter",
        )


@final
@dataclass(frozen=True)
class People:
    """The rows that have a target, and what was made of their columns."""

    table: Table
    plan: Plan
    data: Dataset
    budgets: Budgets
    n_rows: int
    n_without_target: int
    fingerprint: str  # of all that have a target, though a balanced draw takes fewer

    def lines(self) -> list[str]:
        """What was done, to be read."""
        plan, data = self.plan, self.data
        positive = int((data.y > 0).sum())
        target = quoted(plan.target.name)
        lines = [f"{self.table.source}: {self.n_rows:,} rows, {len(self.table.columns)} columns"]
        if self.n_without_target:
            lines.append(f"  left out {self.n_without_target:,} rows without {target}")
        if len(data) < self.n_rows - self.n_without_target:
            lines.append(f"  drew {positive:,} rows of each outcome")
        lines.append(
            f"  {target} is {plan.target.favourable!r} (favourable) in {positive:,} "
            f"rows, {plan.target.other!r} in {len(data) - positive:,}"
        )
        numbers = [quoted(name) for name in data.features.names if name not in data.features.levels]
        lines.append(f"  numbers: {listed(numbers, 12) or 'none'}")
        if data.features.levels:
            shown = [
                f"{quoted(name)} ({len(levels)})" for name, levels in data.features.levels.items()
            ]
            lines.append(f"  categories, with their levels: {listed(shown, 12)}")
        for name, count in plan.pooled.items():
            what = "rare level" if count == 1 else "rare levels"
            lines.append(f"  {quoted(name)}: {count} {what} pooled into other")
        gaps = [f"{quoted(name)} {count:,}" for name, count in self.gaps().items()]
        if gaps:
            lines.append(f"  missing values, replaced by the median and marked: {listed(gaps, 12)}")
        for name, reason in plan.left_out.items():
            lines.append(f"  left out {quoted(name)}: {reason}")
        budgets = self.budgets.by_column().items()
        lines += [f"  movable {quoted(name)}: {budget}" for name, budget in budgets]
        lines += [f"  note: {caution}" for caution in self.cautions()]
        return lines if budgets else [*lines, "  movable: nothing"]

    def cautions(self) -> list[str]:
        """What gaming by these budgets leaves out: cells that are missing, and columns that say
        the same as a movable one."""
        names, X, said = self.data.features.names, self.data.X, []
        for at in self.budgets.ranges:
            if count := self.gaps().get(names[at]):
                said.append(
                    f"{count:,} rows have no {quoted(names[at])}, and are taken as unable to "
                    "change it"
                )
            for other in copies_of(X, at):
                if names[other] not in {*self.budgets.columns, *self.data.features.levels}:
                    said.append(
                        f"{quoted(names[other])} orders people as {quoted(names[at])} does, which "
                        "they can change; name both in --movable, or leave one out"
                    )
        return said

    def gaps(self) -> dict[str, int]:
        """How many numbers each column lacks."""
        import numpy as np

        counts = np.isnan(self.data.X).sum(axis=0)
        named = zip(self.data.features.names, counts, strict=True)
        return {name: int(count) for name, count in named if count}

    def record(self) -> dict[str, Any]:
        """The same for machines."""
        plan, data = self.plan, self.data
        return {
            "table": self.table.source,
            "rows": self.n_rows,
            "rows_without_target": self.n_without_target,
            "target": plan.target.name,
            "favourable": plan.target.favourable,
            "n_favourable": int((data.y > 0).sum()),
            "n_other": int((data.y < 0).sum()),
            "features": list(data.features.names),
            "levels": {name: list(levels) for name, levels in data.features.levels.items()},
            "movable": list(data.features.movable),
            "budgets": {**self.budgets.record(), "description": self.budgets.describe()},
            "cautions": self.cautions(),
            "missing": self.gaps(),
            "pooled": dict(plan.pooled),
            "left_out": dict(plan.left_out),
            "fingerprint": self.fingerprint,
        }


def copies_of(X: Matrix, at: int) -> list[int]:
    """Columns whose order is nearly that of column `at`, or its reverse, by the rank correlation
    of at most SAMPLE rows that have both."""
    import numpy as np
    from scipy.stats import spearmanr

    found = []
    for other in range(X.shape[1]):
        pair = X[:, [at, other]]
        known = pair[~np.isnan(pair).any(axis=1)][:SAMPLE]
        varied = len(known) > 2 and bool((known.max(axis=0) > known.min(axis=0)).all())
        if other != at and varied and abs(spearmanr(known).statistic) > SAME_ORDER:
            found.append(other)
    return found


def gather(options: argparse.Namespace, console: Console) -> People:
    """Reads the table, and makes of it what the options say."""
    from gameproof.tables.column_plan import Plan
    from gameproof.tables.dataset import Dataset
    from gameproof.tables.target import Target

    with console.step(f"reading {name_of(options.table)}"):
        table = read(options.table)
        target = Target.of(table, options.target, options.favourable, options.rest)
        rows, y = target.labels(table)
        require_both(y, target.favourable, target.other)
        known = table if rows.size == table.n else table.take(rows)
        movable, drop = stated(options.movable, table), names(options.drop, table)
        categories = names(options.category, table)
        for name in movable:
            if name in drop:
                raise SenselessOptions(f"{name!r} is named by both --movable and --drop")
        plan = Plan.of(known, target, list(movable), drop=drop, categories=categories)
        data = Dataset(name_of(options.table), plan.encoded(known).X, y, plan.features)
        budgets = budgets_of(movable, plan.features, data.X)
        fingerprint = data.fingerprint
        if options.balanced:
            data = data.balanced(None, options.seed)
    return People(known, plan, data, budgets, table.n, table.n - rows.size, fingerprint)


def names(given: list[str] | None, table: Table) -> list[str]:
    """Columns named in one text or in several, each once. A name that holds commas stands alone,
    or in quotation marks as in a CSV file."""
    found: list[str] = []
    for text in given or []:
        parts = [text] if text in table.columns else _cut(text)
        named = [part.strip() for part in parts if part.strip()]
        if text.strip() and not named:
            raise SenselessOptions(
                f"{text!r} names no column; expected names between commas, or '' for none"
            )
        found += named
    return list(dict.fromkeys(found))


def _cut(text: str) -> list[str]:
    """A line of CSV, cell by cell.

    >>> _cut('"a, b",c, "5"" pipe"')
    ['a, b', 'c', '5" pipe']
    """
    try:
        return next(csv.reader([text], skipinitialspace=True, strict=True), [])
    except csv.Error as error:
        raise SenselessOptions(
            f"{text!r} is no list of columns; a name that holds commas or line breaks stands "
            'alone, or in quotation marks, as in "a, b",c'
        ) from error


def fewest(y: Any) -> int:
    """How many have the rarer label."""
    return int(min((y > 0).sum(), (y < 0).sum()))


def require_both(
    y: Any, favourable: str, other: str, purpose: str = "learn from and test on"
) -> None:
    """Refuses a table with hardly anyone of one class."""
    from gameproof.core.errors import DataError

    for count, name in ((int((y > 0).sum()), favourable), (int((y < 0).sum()), other)):
        if count < LEAST:
            raise DataError(
                f"too few rows have the outcome {name!r}: {count}, and {LEAST} of each are the "
                f"least to {purpose}"
            )

"""`learn_budgets`: how far people moved when a model became known, as budgets to train for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gameproof.core.arguments import as_number
from gameproof.tables.budget_learning.cautions import cautions, possible_key, unscored
from gameproof.tables.budget_learning.column_moves import Acceptance, ColumnMoves, Setting
from gameproof.tables.budget_learning.evidence import mean, share
from gameproof.tables.budget_learning.learned_budgets import LearnedBudgets
from gameproof.tables.budget_learning.matching import TwoTables, named, two_tables
from gameproof.tables.budget_learning.paired import paired_rows
from gameproof.tables.budget_learning.scoring import Scored, scorer
from gameproof.tables.budget_learning.unpaired import unpaired_rows
from gameproof.tables.table import as_table


def learn_budgets(
    before: Any,
    after: Any,
    key: str | Sequence[str] | None = None,
    *,
    model: Any = None,
    favourable: Any = None,
    quantile: float = 0.95,
    confidence: float = 0.95,
    drop: Sequence[str] = (),
    categories: Sequence[str] = (),
    seed: int = 0,
) -> LearnedBudgets:
    """What people changed after a model became known: which columns, which way and how far, whether
    it helps them, and a budget for each column.

    Parameters
    ----------
    before, after
        Tables of people before and after: names of files (CSV, TSV, Parquet, packed or not) or data
        frames of pandas, polars or Arrow. Needs ``pip install 'gameproof[tables]'``.
    key
        The column, or columns, that identify a person in both tables. Without it the tables are
        unpaired: moves are inferred from shifts of distributions, which is weaker evidence.
    model
        What decides: a file of ``gameproof fit``, a `TableModel`, or a fitted classifier with
        ``decision_function`` on columns of the table. It tells gaming from drift: those refused
        before have a reason to move, those accepted before have none.
    favourable
        The class that people want, by default the model's own, or ``classes_[1]``.
    quantile
        A budget is this quantile of the moves of people who moved.
    confidence
        Of intervals, and of tests after correction for the number of columns.
    drop, categories
        Columns to leave out, and columns of numbers that are names, such as codes.
    seed
        For the bootstrap of unpaired tables.

    Returns
    -------
    LearnedBudgets
        A row for each column, and ``budgets``, ready for `RobustStrategicClassifier`.

    Examples
    --------
    >>> import gameproof as gp, pandas as pd
    >>> before = pd.DataFrame({"id": range(40), "savings": [100.0 * k for k in range(40)]})
    >>> after = before.assign(savings=before["savings"] + [0, 500, 0, 300] * 10)
    >>> gp.learn_budgets(before, after, key="id").budgets
    {'savings': (0.0, 500.0)}
    """
    setting = Setting(
        _between_0_and_1("quantile", quantile), _between_0_and_1("confidence", confidence)
    )
    first = as_table(before, "the table before")
    second = as_table(after, "the table after")
    keyed, dropped, coded = named(key), named(drop), named(categories)
    judge = None
    if model is not None:
        judge = scorer(model, first, favourable, (*keyed, *dropped))
        own = [name for name in judge.categories if name in first.columns]
        target = [name for name in (judge.target,) if name is not None and name in first.columns]
        dropped = tuple(dict.fromkeys([*dropped, *target]))
        coded = tuple(dict.fromkeys([*coded, *own]))
    tables = two_tables(first, second, keyed, dropped, coded)
    notes, scored = list(tables.notes), None
    if judge is not None:
        scored = Scored(judge, judge.scores(tables.before), judge.scores(tables.after))
        notes += [*judge.notes, *unscored(scored)]
    if tables.key:
        rows = paired_rows(tables, scored, setting, notes)
    else:
        rows = unpaired_rows(tables, scored, setting, notes, seed)
        notes += possible_key(tables.before, tables.after)
    notes += cautions(rows)
    return LearnedBudgets(
        "paired" if tables.key else "unpaired",
        tables.before.n,
        tables.after.n,
        setting.quantile,
        setting.confidence,
        rows,
        _method(tables, rows, setting),
        tuple(notes),
        None if scored is None else _acceptance(scored, bool(tables.key), setting),
    )


def _between_0_and_1(name: str, value: float) -> float:
    number = as_number(name, value)
    if not 0 < number < 1:
        raise ValueError(f"{name} must lie between 0 and 1, got {value}")
    return number


def _acceptance(scored: Scored, paired: bool, setting: Setting) -> Acceptance | None:
    """What the model decides before and after."""
    level = setting.confidence
    known = [part[~np.isnan(part)] > 0 for part in (scored.before, scored.after)]
    before, after = share(known[0], level), share(known[1], level)
    if before is None or after is None:
        return None
    name = scored.model.name
    if not paired:
        return Acceptance(name, before, after)
    rows = ~np.isnan(scored.before) & ~np.isnan(scored.after)
    start, end = scored.before[rows], scored.after[rows]
    refused, gain = start <= 0, end - start
    changed = gain[refused & (gain != 0)]
    return Acceptance(
        name,
        before,
        after,
        share(end[refused] > 0, level),
        share(end[~refused] <= 0, level),
        share(changed > 0, level),
        mean(gain[refused], level),
        mean(gain[~refused], level),
    )


def _method(tables: TwoTables, rows: Sequence[ColumnMoves], setting: Setting) -> str:
    """How budgets were chosen."""
    refused = any(row.people == "refused" for row in rows)
    share = f"{100 * setting.quantile:g} %"
    whom = "people refused before" if refused else "people"
    if tables.key:
        numbers = f"the {share} quantile of the moves of {whom} who moved that way"
        numbers += ", beyond the drift" if refused else ""
        levels = "the levels that people clearly switched to"
        how = "intervals of quantiles are exact, from order statistics"
    else:
        numbers = (
            f"the {share} quantile of the shifts of ranks of {whom} that went that way (people may "
            "have moved further)"
        )
        levels = "the levels that clearly became more frequent"
        how = "intervals of quantiles are from the bootstrap"
    return (
        f"{numbers}, rounded away from 0 to 3 digits, and 0 the other way; for a category, "
        f"{levels}; only columns with the verdict moved have one; {how}, at "
        f"{100 * setting.confidence:g} %"
    )

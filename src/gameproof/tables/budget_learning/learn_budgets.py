"""`learn_budgets`: learns from two tables how far people move once they know a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gameproof.core.arguments import as_share
from gameproof.tables.budget_learning.cautions import cautions, possible_key, unscored
from gameproof.tables.budget_learning.column_moves import Acceptance, ColumnMoves
from gameproof.tables.budget_learning.evidence import mean, share
from gameproof.tables.budget_learning.learned_budgets import LearnedBudgets
from gameproof.tables.budget_learning.matching import TwoTables, named, two_tables
from gameproof.tables.budget_learning.moves import Setting
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
    """Learn budgets from tables of people before and after a model became known.

    Reports which columns moved, in which direction and how far, whether that helps to get accepted,
    and proposes a budget for each column that moved.

    Parameters
    ----------
    before, after : path, data frame or mapping
        Tables of people before and after, as `fit_table` takes them. Needs
        ``pip install 'gameproof[tables]'``.
    key : str or sequence of str, optional
        The columns that identify a person in both tables. Without a key, moves are inferred from
        shifts of distributions, which is weaker evidence.
    model : path, TableModel or classifier, optional
        The model that decides: a file that ``gameproof fit`` wrote, a `TableModel`, or a fitted
        classifier with ``decision_function`` on columns of the table. It distinguishes gaming from
        drift: people refused before have a reason to move, people accepted before have none.
    favourable : optional
        The class that people want; by default that of the model, or ``classes_[1]``.
    quantile : float, default 0.95
        A budget is this quantile of the moves of people who moved.
    confidence : float, default 0.95
        Confidence of intervals and of tests, after correction for the number of columns.
    drop, categories : sequence of str
        Columns to leave out, and numeric columns that hold codes.
    seed : int, default 0
        Seed of the bootstrap in unpaired tables.

    Returns
    -------
    LearnedBudgets
        The findings on each column, and ``budgets`` for `fit_table` and
        `RobustStrategicClassifier`.

    Raises
    ------
    DataError
        If a table cannot be read, no person occurs in both, or no column can be compared.
    ValueError
        If `quantile` or `confidence` is not between 0 and 1.

    Examples
    --------
    >>> import gameproof as gp, pandas as pd
    >>> before = pd.DataFrame({"id": range(40), "savings": [100.0 * k for k in range(40)]})
    >>> after = before.assign(savings=before["savings"] + [0, 500, 0, 300] * 10)
    >>> gp.learn_budgets(before, after, key="id").budgets
    {'savings': (0.0, 500.0)}
    """
    setting = Setting(as_share("quantile", quantile), as_share("confidence", confidence))
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


def _acceptance(scored: Scored, paired: bool, setting: Setting) -> Acceptance | None:
    """What the model decides about both tables."""
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
    """How budgets were chosen, in a sentence."""
    refused = any(row.people == "refused" for row in rows)
    share = f"{100 * setting.quantile:g} %"
    whom = "people refused before" if refused else "people"
    if tables.key:
        numbers = f"the {share} quantile of the moves of {whom} who moved in that direction"
        numbers += ", beyond the drift" if refused else ""
        levels = "the levels that significantly more people switched to"
        how = "intervals of quantiles are exact and come from order statistics"
    else:
        numbers = (
            f"the {share} quantile of the shifts of ranks of {whom} in that direction (people may "
            "have moved further)"
        )
        levels = "the levels that became significantly more frequent"
        how = "intervals of quantiles come from the bootstrap"
    return (
        f"{numbers}, rounded away from 0 to 3 digits, and 0 in the other direction; for a "
        f"category, {levels}; only columns with the verdict moved have a budget; {how}, at "
        f"{100 * setting.confidence:g} %"
    )

"""Budgets that a user stated for the columns of a table, checked against what the columns are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gameproof.core.arguments import Matrix
    from gameproof.estimators.features import Features
    from gameproof.estimators.table_budgets import Budgets

StatedBudgets = Mapping[str, Any] | Sequence[str]
"""Column names with a range, a list of levels or None each, or column names alone."""


class BudgetError(ValueError):
    """A budget that does not fit its column."""


def by_column(stated: StatedBudgets) -> dict[str, Any]:
    """Budgets keyed by column name; a name alone gets None, the default budget.

    >>> by_column(["rooms"]), by_column({"savings": (0, 5000)})
    ({'rooms': None}, {'savings': (0, 5000)})
    """
    if isinstance(stated, (str, bytes)) or not isinstance(stated, (Mapping, Sequence)):
        raise TypeError(
            "budgets must map column names to ranges or levels, such as {'savings': (0, 5000)}, "
            f"got {stated!r}"
        )
    found = dict(stated) if isinstance(stated, Mapping) else dict.fromkeys(stated)
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f"budgets must be keyed by column names, got {name!r}")
    return found


def checked_budgets(stated: Mapping[str, Any], features: Features, X: Matrix) -> Budgets:
    """Budgets for a table with these features. Default ranges are computed from the rows X."""
    from gameproof.estimators.table_budgets import Budgets

    for name, budget in stated.items():
        if name in features.levels and _is_range(budget):
            level = features.levels[name][0]
            raise BudgetError(
                f"{name!r} is a category, but its budget is a range; list the levels that people "
                f"can claim, as in {{{name!r}: [{level!r}]}} (--movable {f'{name}:={level}'!r}), "
                "or give the column alone for every level"
            )
        if name not in features.levels and _is_levels(budget):
            raise BudgetError(
                f"{name!r} is numeric, but its budget is a list of levels; give the smallest and "
                f"the largest change, as in {{{name!r}: (-1, 1)}} (--movable {f'{name}:-1..1'!r}), "
                "give the column alone for half a standard deviation, or treat it as a category "
                "(--category)"
            )
    by_name: dict[Any, Any] = dict(stated)
    try:
        return Budgets.of(by_name, features, X)
    except ValueError as error:
        raise BudgetError(str(error)) from error


def _is_range(budget: Any) -> bool:
    if not isinstance(budget, (tuple, list)) or len(budget) != 2:
        return False
    return all(isinstance(end, (int, float)) for end in budget)


def _is_levels(budget: Any) -> bool:
    if not isinstance(budget, (tuple, list, set, frozenset)) or not budget:
        return False
    return all(isinstance(level, str) for level in budget)

"""`Budgets`: what people can change, column by column, in the table's own units.

    {"savings": (0, 5000), "utilisation": (-0.2, 0), "job": ["retired", "student"], "rooms": None}

A pair is the lowest and highest change of a number. A list holds the levels of a category that
people can claim. None means half a standard deviation of a number in either direction, or every
level of a category. If a few extreme values dominate the standard deviation, they are cut off.

A preparation T that increases in its column turns a range into one box per person,
T(x + lower) - T(x) to T(x + upper) - T(x): 5,000 more savings mean more to someone with 1,000 than
to someone with 100,000. `MoveBounds` holds these boxes and the levels that can be claimed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, final

import numpy as np

from gameproof.core.arguments import Matrix, Vector, shown
from gameproof.core.naming import all_quoted, quoted
from gameproof.estimators.budget_parsing import (
    default_range,
    parse_levels,
    parse_range,
    signed,
    wide_range_notes,
)
from gameproof.estimators.column_positions import column_position
from gameproof.estimators.features import Features
from gameproof.strategic.category_claims import Claim

# The default range in either direction, in standard deviations of the column.
DEFAULT_RANGE = 0.5
ROUNDED = 3  # significant digits of a default range in texts


class MoveBounds(NamedTuple):
    """Bounds on the changes of prepared columns, and levels that can be claimed.

    The bounds have one row per person, or one row for all.
    """

    lower: Matrix
    upper: Matrix
    claims: tuple[Claim, ...] = ()


@final
@dataclass(frozen=True)
class Budgets:
    """Checked budgets: ranges of numbers and claimable levels, keyed by column position.

    `Budgets.of` makes them from budgets as a user states them.

    Parameters
    ----------
    features : Features
        The columns of the table.
    ranges : mapping of int to (float, float)
        The lowest and highest change of each numeric column that people can change.
    claims : mapping of int to tuple of int
        Numbers of the levels that people can claim, for each categorical column.
    assumed : frozenset of int, optional
        Columns whose range is the default, half a standard deviation.
    factor : float, optional
        The multiple of the stated budgets that these budgets are.
    notes : tuple of str, optional
        Warnings about budgets that look unrealistic.

    Examples
    --------
    >>> import numpy as np
    >>> import gameproof as gp
    >>> features = gp.Features(("savings", "job"), {"job": ("none", "retired", "student")})
    >>> table = np.array([[1000.0, 0], [3000.0, 1]])
    >>> budgets = gp.Budgets.of({"savings": (0, 5000), "job": ["retired"]}, features, table)
    >>> budgets.ranges, budgets.claims, budgets.times(2).ranges
    ({0: (0.0, 5000.0)}, {1: (1,)}, {0: (0.0, 10000.0)})
    >>> print(budgets.describe())
    savings: 0 to +5,000; job: can claim retired
    """

    features: Features
    ranges: Mapping[int, tuple[float, float]]
    claims: Mapping[int, tuple[int, ...]]
    assumed: frozenset[int] = frozenset()
    factor: float = 1.0
    notes: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of(
        cls,
        given: Mapping[int | str, Any] | Sequence[int | str],
        features: Features,
        table: Matrix,
        weights: Vector | None = None,
    ) -> Budgets:
        """Checks budgets that a user stated.

        Parameters
        ----------
        given : mapping or sequence
            Ranges and levels by column name or position, or a list of columns, which get the
            default range.
        features : Features
            The columns of the table.
        table : ndarray of shape (n_samples, n_features)
            Training rows, from which default ranges are computed.
        weights : ndarray of shape (n_samples,), optional
            Sample weights of the rows.

        Returns
        -------
        Budgets
            Budgets with all defaults filled in.

        Raises
        ------
        TypeError, ValueError
            If a column, a range or a level is not valid.
        """
        if isinstance(given, (str, bytes)) or not isinstance(given, (Mapping, Sequence)):
            raise TypeError(
                "budgets must map columns to ranges or levels, such as {'savings': (0, 5000)}, "
                f"got {shown(given)}"
            )
        stated = given if isinstance(given, Mapping) else dict.fromkeys(given)
        ranges: dict[int, tuple[float, float]] = {}
        claims: dict[int, tuple[int, ...]] = {}
        assumed, notes = set(), []
        for key, value in stated.items():
            at = column_position("budgets", key, features.names, len(features.names))
            name = features.names[at]
            if at in ranges or at in claims:
                raise ValueError(f"budgets names the column {name!r} twice")
            if name in features.levels:
                claims[at] = parse_levels(name, value, features.levels[name])
            elif value is None:
                half, more = default_range(name, DEFAULT_RANGE, table[:, at], weights)
                ranges[at] = (-half, half)
                assumed.add(at)
                notes += more
            else:
                ranges[at] = parse_range(name, value)
                notes += wide_range_notes(name, ranges[at], table[:, at])
        return cls(features, ranges, claims, frozenset(assumed), notes=tuple(notes))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that people can change, in table order."""
        return tuple(self.features.names[at] for at in sorted({*self.ranges, *self.claims}))

    def times(self, factor: float) -> Budgets:
        """A multiple of the budgets.

        Ranges are multiplied. Levels can be claimed at any positive multiple, and not at 0.

        Parameters
        ----------
        factor : float
            A finite number of at least 0.

        Returns
        -------
        Budgets
            The multiplied budgets.
        """
        if not (np.isfinite(factor) and factor >= 0):
            raise ValueError(f"a multiple of budgets must be finite and at least 0, got {factor}")
        ranges = {at: (factor * low, factor * high) for at, (low, high) in self.ranges.items()}
        claims = self.claims if factor > 0 else {}
        multiple = factor * self.factor
        return Budgets(self.features, ranges, claims, self.assumed, multiple, self.notes)

    def only(self, column: str) -> Budgets:
        """The budget of one column; the other columns cannot be changed."""
        at = self.features.names.index(column)
        ranges = {at: self.ranges[at]} if at in self.ranges else {}
        claims = {at: self.claims[at]} if at in self.claims else {}
        return replace(self, ranges=ranges, claims=claims, assumed=self.assumed & {at})

    def by_column(self) -> dict[str, str]:
        """The budget of each column as text, in the table's units."""
        said = {}
        for name in self.columns:
            at = self.features.names.index(name)
            if at in self.ranges:
                low, high = self.ranges[at]
                why = f" ({_default_range(self.factor)})" if at in self.assumed else ""
                digits = ROUNDED if at in self.assumed else 6
                said[name] = f"{signed(low, digits)} to {signed(high, digits)}{why}"
            else:
                levels = self.features.levels[name]
                said[name] = f"can claim {', '.join(quoted(levels[k]) for k in self.claims[at])}"
        return said

    def describe(self) -> str:
        """All budgets in one line, in the table's units."""
        said = [f"{quoted(name)}: {text}" for name, text in self.by_column().items()]
        return "; ".join(said) or "nothing can be changed"

    def record(self) -> dict[str, Any]:
        """The budgets for JSON: ranges and levels by column, and which ranges are the default."""
        given: dict[str, list[Any]] = {}
        for name in self.columns:
            at = self.features.names.index(name)
            levels = self.features.levels.get(name, ())
            own = self.ranges.get(at)
            given[name] = [levels[k] for k in self.claims[at]] if own is None else list(own)
        assumed = [self.features.names[at] for at in sorted(self.assumed)]
        return {"columns": given, "half_a_standard_deviation": assumed}


def as_budgets(given: Any, features: Features, X: Matrix, weights: Vector | None = None) -> Budgets:
    """Budgets for a table with these columns; default ranges come from the weighted rows of X."""
    if not isinstance(given, Budgets):
        return Budgets.of(given, features, X, weights)
    if given.features.names != features.names or given.features.levels != features.levels:
        raise ValueError(
            f"these budgets are for the columns {all_quoted(given.features.names)}, and the table "
            f"has {all_quoted(features.names)}, or other levels"
        )
    return given


def _default_range(factor: float) -> str:
    if factor == 1:
        return "half a standard deviation"
    return f"{DEFAULT_RANGE * factor:.3g} standard deviations"

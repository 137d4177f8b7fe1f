"""Budgets: what people can change, column by column, in the table's own units.

    {"savings": (0, 5000), "utilisation": (-0.2, 0), "job": ["retired", "student"], "rooms": None}

A pair is the lowest and the highest change of a number. A list has the levels of a category that
people can claim. None stands for half a standard deviation of a number in either direction, and for
every level of a category.

A preparation T that rises with its column turns a range into one box per person,
T(x + lower) - T(x) to T(x + upper) - T(x): 5,000 more savings mean more to someone with 1,000 than
to someone with 100,000. `Moves` are these boxes, and the categories that people can change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, final

import numpy as np

from gameproof.core.arguments import Matrix, Vector, shown
from gameproof.core.naming import quoted
from gameproof.estimators.features import Features
from gameproof.strategic.category_claims import Claim

# The range of a column that people can change by an amount nobody stated, in standard deviations.
DEFAULT_RANGE = 0.5


class Moves(NamedTuple):
    """What each person can do, in prepared features: bounds with one row a person, or one row for
    all, and categories."""

    lower: Matrix
    upper: Matrix
    claims: tuple[Claim, ...] = ()


@final
@dataclass(frozen=True)
class Budgets:
    """Checked budgets: ranges of numbers and claimable levels of categories, by column position.

    `assumed` are the columns whose range is the default one, and `factor` the multiple of the
    stated budgets that this is.

    >>> features = Features(("savings", "job"), {"job": ("none", "retired", "student")})
    >>> table = np.array([[1000.0, 0], [3000.0, 1]])
    >>> budgets = Budgets.of({"savings": (0, 5000), "job": ["retired"]}, features, table)
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
        """From what a user gave, for a table with these columns; `table` has the training rows,
        from which defaults are taken, and `weights` how much each of them counts."""
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
            at = _position(key, features.names)
            name = features.names[at]
            if at in ranges or at in claims:
                raise ValueError(f"budgets names the column {name!r} twice")
            if name in features.levels:
                claims[at] = _levels(name, value, features.levels[name])
            elif value is None:
                half = DEFAULT_RANGE * spread(table[:, at], weights)
                ranges[at] = (-half, half)
                assumed.add(at)
                notes += _heavy_tails(name, half, table[:, at]) if half > 0 else []
            else:
                ranges[at] = _range(name, value)
                notes += _too_wide(name, ranges[at], table[:, at])
        return cls(features, ranges, claims, frozenset(assumed), notes=tuple(notes))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that people can change, in the order of the table."""
        return tuple(self.features.names[at] for at in sorted({*self.ranges, *self.claims}))

    def times(self, factor: float) -> Budgets:
        """This multiple of every range. Levels can be claimed or not: at 0 none can."""
        if not (np.isfinite(factor) and factor >= 0):
            raise ValueError(f"a multiple of budgets must be finite and at least 0, got {factor}")
        ranges = {at: (factor * low, factor * high) for at, (low, high) in self.ranges.items()}
        claims = self.claims if factor > 0 else {}
        multiple = factor * self.factor
        return Budgets(self.features, ranges, claims, self.assumed, multiple, self.notes)

    def only(self, column: str) -> Budgets:
        """The budget of one column, nothing else can be changed."""
        at = self.features.names.index(column)
        ranges = {at: self.ranges[at]} if at in self.ranges else {}
        claims = {at: self.claims[at]} if at in self.claims else {}
        return replace(self, ranges=ranges, claims=claims, assumed=self.assumed & {at})

    def by_column(self) -> dict[str, str]:
        """The budget of each column in words, in the table's units."""
        said = {}
        for name in self.columns:
            at = self.features.names.index(name)
            if at in self.ranges:
                low, high = self.ranges[at]
                why = f" ({_deviations(self.factor)})" if at in self.assumed else ""
                said[name] = f"{_signed(low)} to {_signed(high)}{why}"
            else:
                levels = self.features.levels[name]
                said[name] = f"can claim {', '.join(quoted(levels[k]) for k in self.claims[at])}"
        return said

    def describe(self) -> str:
        """All of it in one line, in the table's units."""
        said = [f"{quoted(name)}: {text}" for name, text in self.by_column().items()]
        return "; ".join(said) or "nothing can be changed"

    def record(self) -> dict[str, Any]:
        """As JSON has it: ranges and levels by column, and which ranges are the default."""
        given: dict[str, list[Any]] = {}
        for name in self.columns:
            at = self.features.names.index(name)
            levels = self.features.levels.get(name, ())
            own = self.ranges.get(at)
            given[name] = [levels[k] for k in self.claims[at]] if own is None else list(own)
        assumed = [self.features.names[at] for at in sorted(self.assumed)]
        return {"columns": given, "half_a_standard_deviation": assumed}


def spread(column: Vector, weights: Vector | None = None) -> float:
    """The standard deviation of what is known of a column."""
    there = ~np.isnan(column)
    largest = float(np.abs(column[there]).max(initial=0.0))
    if largest == 0:
        return 0.0
    known = column[there] / largest  # squares of larger numbers may overflow
    if np.ptp(known) == 0:
        return 0.0
    if weights is None:
        return largest * float(known.std())
    share = weights[there]
    mean = np.average(known, weights=share)
    return largest * float(np.sqrt(np.average((known - mean) ** 2, weights=share)))


def _position(key: Any, names: Sequence[str]) -> int:
    if isinstance(key, str):
        if key not in names:
            raise ValueError(
                f"budgets has the column {key!r}, and the table has {', '.join(names)}"
            )
        return list(names).index(key)
    if isinstance(key, (bool, np.bool_)) or not isinstance(key, (int, np.integer)):
        raise TypeError(f"budgets must be keyed by column names or positions, got {key!r}")
    if not 0 <= key < len(names):
        raise ValueError(f"budgets has the column {key}, and the table has 0 to {len(names) - 1}")
    return int(key)


def _range(name: str, value: Any) -> tuple[float, float]:
    wrong = f"the budget of {name!r} must be a pair such as (0, 5000), got {shown(value)}"
    if isinstance(value, (str, bytes, set, frozenset, Mapping)):
        raise TypeError(wrong)
    try:
        low, high = (float(end) for end in value)
    except (TypeError, ValueError) as error:
        raise TypeError(wrong) from error
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(f"the budget of {name!r} must be finite, got {low:g} to {high:g}")
    if low > high:
        raise ValueError(
            f"the budget of {name!r} is empty: it goes from {low:g} to {high:g}; give the lower "
            "end first"
        )
    if not low <= 0 <= high:
        raise ValueError(
            f"the budget of {name!r} goes from {low:g} to {high:g}, and must include 0: people "
            "can stay as they are"
        )
    return low, high


def _levels(name: str, value: Any, known: tuple[str, ...]) -> tuple[int, ...]:
    if value is None:
        return tuple(range(len(known)))
    if isinstance(value, (str, bytes)) or not isinstance(value, (Sequence, set, frozenset)):
        raise TypeError(
            f"{name!r} is a category: its budget is a list of the levels that people can claim, "
            f"such as [{known[0]!r}], got {shown(value)}"
        )
    chosen = [str(level) if isinstance(level, str) else level for level in value]
    if not chosen:
        raise ValueError(f"the budget of {name!r} has no level; leave the column out")
    for level in chosen:
        if not isinstance(level, str):
            raise TypeError(
                f"{name!r} is a category: its budget is a list of levels, not the range {value!r}"
            )
        if level not in known:
            raise ValueError(
                f"the budget of {name!r} has the level {level!r}, which is not among "
                f"{', '.join(known)}"
            )
    return tuple(sorted({known.index(level) for level in chosen}))


def _heavy_tails(name: str, half: float, column: Vector) -> list[str]:
    """A note where few large numbers make up the standard deviation."""
    low, high = (float(q) for q in np.nanpercentile(column, [1, 99]))
    if half <= high / 2 - low / 2:
        return []
    return [
        f"half a standard deviation of {name!r} is {half:,.6g}, while 98 % of the column lies "
        f"between {low:,.6g} and {high:,.6g}; state a range for it"
    ]


def _too_wide(name: str, ends: tuple[float, float], column: Vector) -> list[str]:
    known = column[~np.isnan(column)]
    whole = float(known.max()) - float(known.min()) if known.size else 0.0
    if max(-ends[0], ends[1]) <= whole:
        return []
    return [
        f"the budget of {name!r}, {_signed(ends[0])} to {_signed(ends[1])}, exceeds the column's "
        f"whole range of {whole:,.6g}"
    ]


def _deviations(factor: float) -> str:
    """What a multiple of the default range is, in words."""
    if factor == 1:
        return "half a standard deviation"
    return f"{DEFAULT_RANGE * factor:.3g} standard deviations"


def _signed(number: float) -> str:
    return f"{number:+,.6g}" if number else "0"

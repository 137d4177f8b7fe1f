"""`Target`: the outcome column of a table, and which of its values people want."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Vector
from gameproof.core.errors import DataError
from gameproof.core.naming import listed
from gameproof.tables.table import Table

FEWEST = 5  # rows of each outcome: then both parts of a split have some of each


@final
@dataclass(frozen=True)
class Target:
    """The column's name, the favourable value as the table writes it, and the other values."""

    name: str
    favourable: str
    others: tuple[str, ...]

    @classmethod
    def of(cls, table: Table, name: str, favourable: Any, rest: bool = False) -> Target:
        """The target column `name` of this table.

        With `rest`, all values other than the favourable one count as one outcome.
        """
        import pyarrow.compute as pc

        text = _values(table, name)
        values = sorted(pc.drop_null(pc.unique(text)).to_pylist())
        if not values:
            raise DataError(f"no row of {table.source} has a value in the target {name!r}")
        if len(values) == 1:
            raise DataError(
                f"the target {name!r} of {table.source} is {values[0]!r} in every row: there is "
                "nothing to tell apart"
            )
        if favourable is None:
            raise DataError(
                f"say which value of {name!r} is favourable (--favourable), the outcome that "
                f"people want: {' or '.join(values[:3])}"
            )
        chosen = _chosen(str(favourable), values)
        if chosen is None:
            raise DataError(
                f"no row of {table.source} has the favourable value {str(favourable)!r}; "
                f"{name!r} is one of {listed(values)}"
            )
        others = tuple(value for value in values if value != chosen)
        if len(others) > 1 and not rest:
            raise DataError(
                f"the target {name!r} of {table.source} has {len(values)} values "
                f"({listed(values, 4)}), expected 2; with rest (--rest), every value other than "
                f"{chosen!r} counts as one outcome"
            )
        return cls(name, chosen, others)

    @property
    def other(self) -> str:
        """The name of the outcome with label -1."""
        return self.others[0] if len(self.others) == 1 else f"not {self.favourable}"

    @property
    def outcomes(self) -> tuple[str, str]:
        """The labels +1 and -1 as a page names them, each with its column."""
        return f"{self.name} = {self.favourable}", f"{self.name} = {self.other}"

    def labels(self, table: Table) -> tuple[NDArray[Any], Vector]:
        """The rows that have a target, and their labels."""
        rows, y, unknown = self.known(table)
        if unknown:
            raise DataError(
                f"the target {self.name!r} of {table.source} has {listed(sorted(unknown), 3)}, "
                f"expected {self.favourable} or {self.others[0]}"
            )
        return rows, y

    def labelled(self, table: Table) -> tuple[Table, Vector]:
        """The table without the rows that lack a target, and its labels."""
        rows, y = self.labels(table)
        return (table if rows.size == table.n else table.take(rows)), y

    def known(self, table: Table) -> tuple[NDArray[Any], Vector, Mapping[str, int]]:
        """The rows with a known outcome, their labels, and counts of all values that are neither
        outcome. With several other values, every value is an outcome."""
        import pyarrow as pa
        import pyarrow.compute as pc

        text = _values(table, self.name)
        usable = pc.is_valid(text)
        unknown: dict[str, int] = {}
        if len(self.others) == 1:
            usable = pc.is_in(text, value_set=pa.array([self.favourable, *self.others]))
            odd = pc.value_counts(pc.drop_null(pc.filter(text, pc.invert(usable))))
            unknown = dict(zip(odd.field(0).to_pylist(), odd.field(1).to_pylist(), strict=True))
        rows = np.flatnonzero(usable.to_numpy(zero_copy_only=False))
        wanted = pc.equal(pc.filter(text, usable), self.favourable)
        return rows, np.where(wanted.to_numpy(zero_copy_only=False), 1.0, -1.0), unknown

    def require_both(self, y: Vector, purpose: str) -> None:
        """Raises if one of the outcomes has too few rows for this purpose."""
        for sign, name in ((1, self.favourable), (-1, self.other)):
            count = int((sign * y > 0).sum())
            if count < FEWEST:
                raise DataError(
                    f"too few rows have the outcome {name!r}: {count}, and at least {FEWEST} rows "
                    f"of each outcome are needed to {purpose}"
                )


def fewest(y: Vector) -> int:
    """The number of rows with the rarer label."""
    return int(min((y > 0).sum(), (y < 0).sum()))


def _values(table: Table, name: str) -> Any:
    """The column as text, null where a value is missing. Equal numbers become equal text, whether
    the file has 1, 1.0 or a numeric type."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table.column(name, "target column")
    return pc.cast(column.numbers, pa.string()) if column.kind == "number" else column.text


def _chosen(favourable: str, values: list[str]) -> str | None:
    """The value that is meant: the same text, or else the only one that equals it."""
    given = favourable.strip()
    if given in values:
        return given
    equal = [value for value in values if same_value(given, value)]
    return equal[0] if len(equal) == 1 else None


def same_value(one: str, two: str) -> bool:
    """True if two texts are the same number, or the same text up to capitals."""
    if one.casefold() == two.casefold():
        return True
    try:
        return float(one) == float(two)
    except ValueError:
        return False

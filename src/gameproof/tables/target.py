"""`Target`: the column that says how things ended, and which end people want."""

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


@final
@dataclass(frozen=True)
class Target:
    """The column's name, the favourable value as the table writes it, and the others."""

    name: str
    favourable: str
    others: tuple[str, ...]

    @classmethod
    def of(cls, table: Table, name: str, favourable: str | None, rest: bool = False) -> Target:
        """Of this table. With `rest`, all values but the favourable one count as the other."""
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
            choice = " or ".join(values[:3])
            raise DataError(
                f"say which value of {name!r} is favourable (--favourable), the one people want: "
                f"{choice}"
            )
        chosen = _chosen(favourable, values)
        if chosen is None:
            raise DataError(
                f"no row of {table.source} has the favourable value {favourable!r}; {name!r} is "
                f"one of {listed(values)}"
            )
        others = tuple(value for value in values if value != chosen)
        if len(others) > 1 and not rest:
            raise DataError(
                f"the target {name!r} of {table.source} has {len(values)} values "
                f"({listed(values, 4)}), expected 2; with rest (--rest), {chosen!r} stands "
                "against all others"
            )
        return cls(name, chosen, others)

    @property
    def other(self) -> str:
        """What the label -1 is called."""
        return self.others[0] if len(self.others) == 1 else f"not {self.favourable}"

    def labels(self, table: Table) -> tuple[NDArray[Any], Vector]:
        """The rows that have a target, and their labels."""
        rows, y, strange = self.known(table)
        if strange:
            raise DataError(
                f"the target {self.name!r} of {table.source} has {listed(sorted(strange), 3)}, "
                f"expected {self.favourable} or {self.others[0]}"
            )
        return rows, y

    def known(self, table: Table) -> tuple[NDArray[Any], Vector, Mapping[str, int]]:
        """The rows whose target is one of its values, their labels, and how often which other
        value stands in the rest. Against all others there is no other value."""
        import pyarrow as pa
        import pyarrow.compute as pc

        text = _values(table, self.name)
        usable = pc.is_valid(text)
        strange: dict[str, int] = {}
        if len(self.others) == 1:
            usable = pc.is_in(text, value_set=pa.array([self.favourable, *self.others]))
            odd = pc.value_counts(pc.drop_null(pc.filter(text, pc.invert(usable))))
            strange = dict(zip(odd.field(0).to_pylist(), odd.field(1).to_pylist(), strict=True))
        rows = np.flatnonzero(usable.to_numpy(zero_copy_only=False))
        wanted = pc.equal(pc.filter(text, usable), self.favourable)
        return rows, np.where(wanted.to_numpy(zero_copy_only=False), 1.0, -1.0), strange


def _values(table: Table, name: str) -> Any:
    """The column as text, null where it is missing. Numbers are written alike, whether the file
    has 1, 1.0 or a number of its own."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table.column(name, "target column")
    return pc.cast(column.numbers, pa.string()) if column.kind == "number" else column.text


def _chosen(favourable: str, values: list[str]) -> str | None:
    """The value that is meant: as written, or else equal as a number, or but for capitals."""
    given = favourable.strip()
    if given in values:
        return given
    alike = [value for value in values if same_value(given, value)]
    return alike[0] if len(alike) == 1 else None


def same_value(one: str, two: str) -> bool:
    """Whether two texts are one value: but for capitals, or as numbers."""
    if one.casefold() == two.casefold():
        return True
    try:
        return float(one) == float(two)
    except ValueError:
        return False

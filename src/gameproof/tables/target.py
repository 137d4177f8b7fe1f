"""`Target`: the outcome column of a table, and which of its values people want."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Vector
from gameproof.core.errors import DataError
from gameproof.core.naming import listed, quoted_list
from gameproof.tables.table import Table
from gameproof.tables.written_numbers import read_again

FEWEST = 5  # rows of each outcome: then both parts of a split have some of each


@final
@dataclass(frozen=True)
class Target:
    """The column's name, the favourable value as the table writes it, and the unfavourable ones.

    Rows with an `ignored` value have no outcome yet. With `rest`, every value other than the
    favourable and the ignored ones is unfavourable, also one that a later table brings.
    """

    name: str
    favourable: str
    others: tuple[str, ...]
    ignored: tuple[str, ...] = ()
    rest: bool = False

    @classmethod
    def of(
        cls,
        table: Table,
        name: str,
        favourable: Any,
        rest: bool = False,
        *,
        unfavourable: Sequence[Any] = (),
        ignore: Sequence[Any] = (),
    ) -> Target:
        """The target column `name` of this table.

        Every value must be favourable, unfavourable or ignored. With `rest`, all values that are
        not named are unfavourable; of two values, the one that is not named is the other outcome.
        """
        every = outcome_texts(table, name)
        if not every:
            raise DataError(f"no row of {table.source} has a value in the target {name!r}")
        ignored = _named(table, name, ignore, every, "ignored value")
        bad = _named(table, name, unfavourable, every, "unfavourable value")
        values = [value for value in every if value not in ignored]
        if len(values) < 2:
            raise DataError(
                f"the target {name!r} of {table.source} is {listed(values) or 'ignored'!r} in "
                "every row: there is nothing to tell apart"
            )
        left = [value for value in values if value not in bad]
        if favourable is None and bad and len(left) == 1:
            favourable = left[0]
        if favourable is None:
            raise DataError(
                f"say which value of {name!r} is favourable (--favourable), the outcome that "
                f"people want: {' or '.join(values[:3])}"
            )
        chosen = _named(table, name, [favourable], every, "favourable value")[0]
        if chosen in (*bad, *ignored):
            raise DataError(
                f"the value {chosen!r} of the target {name!r} is stated as favourable and as "
                f"{'ignored (--ignore)' if chosen in ignored else 'unfavourable (--unfavourable)'}"
            )
        others = tuple(value for value in values if value != chosen)
        unsaid = [value for value in others if value not in bad] if bad else list(others)
        if not rest and (unsaid if bad else len(others) > 1):
            _require_one_writing(table, name, values)
            raise DataError(
                f"the target {name!r} of {table.source} has {len(values)} values "
                f"({listed(values, 4)}), expected 2; state what {listed(unsaid, 4)} "
                f"{'means' if len(unsaid) == 1 else 'mean'}: --unfavourable VALUE for a bad "
                "outcome, --ignore VALUE to leave out rows whose outcome is not known yet"
            )
        return cls(name, chosen, others, tuple(ignored), rest and len(others) > 1)

    @property
    def other(self) -> str:
        """The name of the outcome with label -1."""
        if self.rest or len(self.others) > 3:
            return f"not {self.favourable}"
        return " or ".join(self.others)

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
                f"expected {self.favourable} or {self.other}"
            )
        return rows, y

    def labelled(self, table: Table) -> tuple[Table, Vector]:
        """The table without the rows that lack a target, and its labels."""
        rows, y = self.labels(table)
        if rows.size == table.n:
            return table, y
        known = table.take(rows)
        columns = read_again(list(known.columns.values()), table.stated)
        return replace(known, columns=dict(zip(known.columns, columns, strict=True))), y

    def known(self, table: Table) -> tuple[NDArray[Any], Vector, Mapping[str, int]]:
        """The rows with a known outcome, their labels, and counts of all values that are neither
        outcome and not ignored."""
        import pyarrow as pa
        import pyarrow.compute as pc

        text = _values(table, self.name)
        ignored = pc.is_in(text, value_set=pa.array(self.ignored, pa.string()))
        usable = pc.and_not(pc.is_valid(text), ignored)
        unknown: dict[str, int] = {}
        if not self.rest:
            usable = pc.is_in(text, value_set=pa.array([self.favourable, *self.others]))
            odd = pc.value_counts(pc.drop_null(pc.filter(text, pc.invert(pc.or_(usable, ignored)))))
            unknown = dict(zip(odd.field(0).to_pylist(), odd.field(1).to_pylist(), strict=True))
        rows = np.flatnonzero(usable.to_numpy(zero_copy_only=False))
        wanted = pc.equal(pc.filter(text, usable), self.favourable)
        return rows, np.where(wanted.to_numpy(zero_copy_only=False), 1.0, -1.0), unknown

    def require_both(self, y: Vector, purpose: str) -> None:
        """Raises if one of the outcomes has too few rows for this purpose."""
        self.require_counts(int((y > 0).sum()), int((y < 0).sum()), purpose)

    def require_counts(self, n_favourable: int, n_other: int, purpose: str) -> None:
        """Raises if one of these numbers of rows is too small for this purpose."""
        for count, name in ((n_favourable, self.favourable), (n_other, self.other)):
            if count < FEWEST:
                raise DataError(
                    f"too few rows have the outcome {name!r}: {count}, and at least {FEWEST} rows "
                    f"of each outcome are needed to {purpose}"
                )


def outcome_texts(table: Table, name: str) -> list[str]:
    """The different values of a target column, in alphabetical order."""
    import pyarrow.compute as pc

    found: list[str] = pc.drop_null(pc.unique(_values(table, name))).to_pylist()
    return sorted(found)


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


def _named(
    table: Table, name: str, given: Sequence[Any], values: list[str], what: str
) -> list[str]:
    """The values of the target that are meant, as the table writes them."""
    found = []
    for value in given:
        chosen = _chosen(str(value), values)
        if chosen is None:
            raise DataError(
                f"no row of {table.source} has the {what} {str(value)!r}; {name!r} is one of "
                f"{listed(values)}"
            )
        found.append(chosen)
    return list(dict.fromkeys(found))


def _require_one_writing(table: Table, name: str, values: Sequence[str]) -> None:
    """Raises if several values of the target may be the same outcome."""
    for k, value in enumerate(values):
        same = [other for other in values[k:] if same_value(value, other)]
        if len(same) > 1:
            raise DataError(
                f"the target {name!r} of {table.source} has {quoted_list(same)}; if they are one "
                "outcome, write it in one way"
            )


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

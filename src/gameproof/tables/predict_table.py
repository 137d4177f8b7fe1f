"""`predict_table`: what a model decides about the rows of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from gameproof.core.arguments import Vector
from gameproof.core.naming import quoted, quoted_list
from gameproof.tables.cell_gaps import Gaps
from gameproof.tables.decision_reasons import reasons as strongest_reasons
from gameproof.tables.table import Table
from gameproof.tables.table_model import TableModel
from gameproof.tables.target import Target

DIGITS = 6  # of scores and probabilities


class Checked(NamedTuple):
    """The number of decisions whose outcome is known, how many of them are right, and counts of
    values that are neither outcome."""

    known: int
    right: int
    unknown: Counter[str]

    @classmethod
    def of(cls, target: Target, table: Table, scores: Vector) -> Checked:
        """Compares decisions with known outcomes. A decision needs no outcome, so values that the
        model does not know are no error."""
        if target.name not in table.columns:
            return cls(0, 0, Counter())
        rows, y, unknown = target.known(table)
        right = int(((scores[rows] > 0) == (y > 0)).sum())
        return cls(rows.size, right, Counter(unknown))

    def merged(self, other: Checked) -> Checked:
        """The counts of both tables."""
        return Checked(
            self.known + other.known, self.right + other.right, self.unknown + other.unknown
        )


class About(NamedTuple):
    """What the notes on decisions say: how tables were read, gaps, and known outcomes."""

    read: tuple[str, ...]
    gaps: Gaps
    checked: Checked

    def merged(self, other: About) -> About:
        """The notes on both tables."""
        read = tuple(dict.fromkeys((*self.read, *other.read)))
        return About(read, self.gaps.merged(other.gaps), self.checked.merged(other.checked))

    @property
    def accuracy(self) -> float | None:
        """The share of right decisions, None where no outcome is known."""
        return self.checked.right / self.checked.known if self.checked.known else None

    def notes(self, model: TableModel) -> list[str]:
        """The notes."""
        target, unknown = model.plan.target, self.checked.unknown
        notes = [*self.read, *self.gaps.notes(model.plan.features, model.prepare)]
        name = quoted(target.name)
        if unknown:
            notes.append(
                f"{name}: {unknown.total():,} rows have "
                f"{quoted_list(sorted(unknown), 3)}, which is neither "
                f"{quoted(target.favourable)} nor {quoted(target.other)}; they get a decision, but "
                "do not count towards the accuracy"
            )
        if self.accuracy is not None:
            known = f"the {self.checked.known:,} rows with a known {name}"
            notes.append(f"accuracy: {self.accuracy:.3f} on {known}")
        return notes


class RowDecisions(NamedTuple):
    """Decisions row by row, as columns of a table, and notes on them."""

    columns: dict[str, Any]
    about: About

    def rows(self) -> list[dict[str, Any]]:
        """One mapping for each row, as JSON holds it."""
        plain = [
            part.tolist() if hasattr(part, "tolist") else part for part in self.columns.values()
        ]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*plain, strict=True)]


def predict_table(
    model: TableModel, table: Table, keep: Sequence[str] = (), *, reasons: int = 0
) -> RowDecisions:
    """Row number, kept columns, decision, score and probability of each row, with its reasons.

    The score is positive, and the probability above the threshold, for the favourable outcome.
    """
    kept = {name: table.column(name).cells for name in keep}
    encoded = model.plan.encoded(table)
    scores = model.encoded_scores(encoded.X)
    decided: dict[str, Any] = {
        "decision": model.outcomes(scores),
        "score": scores.round(DIGITS),
        "probability": model.probabilities(scores).round(DIGITS),
    }
    if reasons:
        decided |= strongest_reasons(model, table, scores, reasons)
    taken = [name for name in kept if name in ("row", *decided)]
    if taken:
        raise ValueError(
            f"the column {taken[0]!r} cannot be kept (--keep): the decisions have a column of that "
            "name"
        )
    rows = range(table.row(0), table.row(0) + table.n)
    gaps = Gaps.of(encoded, model.plan.features.names)
    checked = Checked.of(model.plan.target, table, scores)
    return RowDecisions({"row": rows, **kept, **decided}, About(table.notes, gaps, checked))

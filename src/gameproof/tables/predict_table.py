"""`predict_table`: what a model decides about the rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gameproof.core.naming import listed, quoted
from gameproof.tables.decision_reasons import reasons as strongest_reasons
from gameproof.tables.table import Table
from gameproof.tables.table_model import TableModel

DIGITS = 6  # of scores and probabilities


class Decisions(NamedTuple):
    """Decisions row by row, as columns of a table, with notes.

    `accuracy` is the share of correct decisions, None where the outcome is not known.
    """

    columns: dict[str, Any]
    accuracy: float | None
    notes: list[str]

    def rows(self) -> list[dict[str, Any]]:
        """One mapping for each row, as JSON holds it."""
        plain = [
            part.tolist() if hasattr(part, "tolist") else part for part in self.columns.values()
        ]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*plain, strict=True)]


def predict_table(
    model: TableModel, table: Table, keep: Sequence[str] = (), *, reasons: int = 0
) -> Decisions:
    """Row number, kept columns, decision, score and probability of each row, with its reasons.

    The score is positive, and the probability above the threshold, for the favourable outcome.
    """
    kept = {name: table.column(name).cells for name in keep}
    scores, notes = model.scored(table)
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
    accuracy, more = _accuracy(model, table, decided["decision"])
    return Decisions({"row": range(1, table.n + 1), **kept, **decided}, accuracy, notes + more)


def _accuracy(
    model: TableModel, table: Table, decisions: list[str]
) -> tuple[float | None, list[str]]:
    """The share of correct decisions among rows whose outcome is known, and notes.

    A decision needs no outcome, so values that the model does not know are no error.
    """
    target = model.plan.target
    if target.name not in table.columns:
        return None, []
    name = quoted(target.name)
    rows, y, unknown = target.known(table)
    notes = []
    if unknown:
        notes.append(
            f"{name}: {sum(unknown.values()):,} rows have "
            f"{listed([quoted(value) for value in sorted(unknown)], 3)}, which is neither "
            f"{quoted(target.favourable)} nor {quoted(target.other)}; they get a decision, but "
            "do not count towards the accuracy"
        )
    if not rows.size:
        return None, notes
    labels = zip(rows.tolist(), y.tolist(), strict=True)
    agree: list[bool] = [(decisions[k] == target.favourable) == (sign > 0) for k, sign in labels]
    accuracy = float(sum(agree)) / len(agree)
    return accuracy, [
        *notes,
        f"accuracy: {accuracy:.3f} on the {rows.size:,} rows with a known {name}",
    ]

"""How good is the model where nobody games it, and how much its numbers can be relied on."""

from __future__ import annotations

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.intervals import share_interval
from gameproof.auditing.number_format import listed, percent, percent_interval
from gameproof.auditing.page_model import Chart, Column, Section, Series, Table
from gameproof.auditing.row_types import Quality
from gameproof.auditing.section_parts import (
    ACCEPTED,
    accepted_columns,
    cells,
    kind_of_outcome,
    outcome,
    series_look,
)

ACCURACY = "share decided rightly"
WIDE = 0.2  # of an interval: what is known no better is hardly known
SHARE = (Column("accuracy", "percent"), Column("95 % from", "percent"), Column("to", "percent"))


def accuracy_section(audit: Audit) -> Section:
    """Where nobody moves."""
    (good,) = audit.of(audit.quality, audit.models[-1])
    people = f"{good.n:,} people" + (f" in each of {audit.splits} splits" * (audit.splits > 1))
    others = [f"{row.model} {percent(row.accuracy)}" for row in audit.quality[:-1]]
    finding = (
        f"Where nobody games it, {good.model} decides {percent(good.accuracy)} of {people} rightly "
        f"(95 % interval {percent_interval(good)})"
        + (f", {listed(others)}" if others else "")
        + f"; the majority baseline is right for {percent(good.majority)}."
        + _idle(good)
    )
    chart = _dots(audit) if others else _scores(audit) if audit.bins else None
    columns = [
        Column("model"),
        *(Column(name, "count") for name in ("people", f"with {outcome(audit, 1)}")),
        *SHARE,
        Column("AUC", "number"),
        *accepted_columns(audit),
    ]
    shown = ("model", "n", "n_positive", "accuracy", "low", "high", "auc", *ACCEPTED)
    table = Table("quality where nobody games", columns, cells(audit.quality, *shown))
    tables = [table, _counted(audit)] if audit.bins and not others else [table]
    return Section("How good is the model?", finding, [chart] if chart else [], tables)


def cautions(audit: Audit, more: str = "more rows") -> list[str]:
    """Why numbers say less than they seem to: the model learned from the people that it is judged
    by, they are few, which `more` helps against, or some splits say nothing about gaming."""
    found = list(audit.budgets.notes)
    if audit.learned_from:
        share = f"about {100 * audit.learned_from:.0f}%" if audit.learned_from < 1 else "all"
        found.append(
            f"the model learned from {share} of these rows: accuracy on them is optimistic, and "
            "rows that it has not seen tell how good it is"
        )
    n = audit.quality[-1].n
    low, high = share_interval(n // 2, n)  # none is wider
    few, on, wide = f"{n:,} rows to judge by", "on so many", high - low
    if audit.splits > 1:
        few, on, more = f"{audit.splits} splits of {few}", "over them", f"more splits or {more}"
        wide = max(row.high - row.low for row in audit.gaming)
    if wide > WIDE:
        found.append(
            f"{few} are few: intervals of accuracies {on} are up to {100 * wide:.0f} points wide; "
            f"{more} narrow them"
        )
    for row in audit.quality:
        if 0 < row.idle < 1:
            found.append(
                f"in {round(row.idle * audit.splits)} of {audit.splits} splits {row.model} gives "
                "no weight to what people can change: shares of the gain come from the other splits"
            )
    return found


def _idle(good: Quality) -> str:
    """Scores that are all equal rank nobody, and accept all or none."""
    same = good.accepted_positive == good.accepted_negative in (0.0, 1.0)
    if not (same and good.auc == 0.5):
        return ""
    return f" {good.model} ignores the data: it makes the same decision about everyone."


def _dots(audit: Audit) -> Chart:
    return Chart(
        "dots",
        "Accuracy where nobody games, with 95 % intervals",
        f"Accuracy: {listed([f'{row.model} {percent(row.accuracy)}' for row in audit.quality])}.",
        [
            Series(
                row.model,
                [row.accuracy],
                low=[row.low],
                high=[row.high],
                look=series_look(audit, row.model),
            )
            for row in reversed(audit.quality)
        ],
        ACCURACY,
        labels=["all people"],
        percent=True,
    )


def _scores(audit: Audit) -> Chart:
    """How the scores of both labels lie."""
    x = [(row.start + row.end) / 2 for row in audit.bins]
    positive, negative = ([getattr(b, k) for b in audit.bins] for k in ("positive", "negative"))
    return Chart(
        "lines",
        "Scores where nobody games: the model accepts those above 0",
        f"Scores of people with {outcome(audit, 1)} and of people with {outcome(audit, -1)}, as "
        "two hills; the more they overlap, the more people are decided wrongly.",
        [
            Series(name, [k / sum(counts) for k in counts], x, look=k, fill=True)
            for k, (name, counts) in enumerate(
                {
                    f"should be accepted ({outcome(audit, 1)})": positive,
                    f"should be refused ({outcome(audit, -1)})": negative,
                }.items()
            )
        ],
        "score, in standard deviations of the scores",
        f"share of the people with the same {kind_of_outcome(audit)}",
        percent=True,
        upright=[(0.0, "accepted from here on")],
    )


def _counted(audit: Audit) -> Table:
    columns = [
        *(Column(name, "number") for name in ("score from", "to")),
        *(Column(f"people with {outcome(audit, label)}", "count") for label in (1, -1)),
    ]
    rows = cells(audit.bins, "start", "end", "positive", "negative")
    return Table("people by score; the first and last rows hold all beyond", columns, rows)

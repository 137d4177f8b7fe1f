"""How good is the model, and what is left of that when people game it."""

from __future__ import annotations

from gameproof.data.naming import quoted
from gameproof.report.audit import Audit
from gameproof.report.intervals import share_interval
from gameproof.report.parts import Chart, Column, Section, Series, Table
from gameproof.report.reading import at_power, cells, kind_of_outcome, line, look, outcome
from gameproof.report.rows import Gaming, Quality
from gameproof.report.words import between, listed, number, percent

ACCURACY = "share decided rightly"
WIDE = 0.2  # of an interval: what is known no better is hardly known
ACCEPTED = ("accepted_positive", "accepted_negative")
_SHARE = (Column("accuracy", "percent"), Column("95 % from", "percent"), Column("to", "percent"))


def how_good(audit: Audit) -> Section:
    """Where nobody moves."""
    (good,) = audit.of(audit.quality, audit.models[-1])
    people = f"{good.n:,} people" + (f" in each of {audit.splits} splits" * (audit.splits > 1))
    others = [f"{row.model} {percent(row.accuracy)}" for row in audit.quality[:-1]]
    finding = (
        f"Where nobody games it, {good.model} decides {percent(good.accuracy)} of {people} rightly "
        f"(95 % interval {between(good)})"
        + (f", {listed(others)}" if others else "")
        + f"; deciding all alike would be right for {percent(good.majority)}."
        + _idle(good)
    )
    chart = _dots(audit) if others else _scores(audit) if audit.bins else None
    columns = [
        Column("model"),
        *(Column(name, "count") for name in ("people", f"with {outcome(audit, 1)}")),
        *_SHARE,
        *(Column(name, "number") for name in ("AUC", "log loss")),
        *_accepted(audit),
    ]
    shown = ("model", "n", "n_positive", "accuracy", "low", "high", "auc", "risk", *ACCEPTED)
    table = Table("quality where nobody games", columns, cells(audit.quality, *shown))
    tables = [table, _counted(audit)] if audit.bins and not others else [table]
    return Section("How good is the model?", finding, [chart] if chart else [], tables)


def cautions(audit: Audit, more: str = "more rows") -> list[str]:
    """Why numbers tell less than they seem to: the model learned from the people that it is judged
    by, they are few, which `more` mends, or some of the splits tell nothing of gaming."""
    found = []
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
                "no weight to what can be moved: weak spots and distances are told by the others"
            )
    return found


def _accepted(audit: Audit) -> list[Column]:
    return [Column(f"accepted of {outcome(audit, label)}", "percent") for label in (1, -1)]


def _idle(good: Quality) -> str:
    """Scores that are all equal rank nobody, and accept all or none."""
    alike = good.accepted_positive == good.accepted_negative in (0.0, 1.0)
    if not (alike and good.auc == 0.5):
        return ""
    return f" {good.model} ignores the data: it decides all alike."


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
                look=look(audit, row.model),
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
        "score",
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


def gamed(audit: Audit) -> Section | None:
    """Power by power; nothing where one power was looked at, or nothing can be moved."""
    name = audit.models[-1]
    rows = audit.of(audit.gaming, name)
    if len(rows) < 2 or not audit.movable:
        return None
    shown = _at_most(audit, name)
    columns = [
        Column("model"),
        *(Column(title, "number") for title in ("power", "each moves by")),
        *_SHARE,
        Column("log loss", "number"),
        *_accepted(audit),
    ]
    fields = ("model", "power", "moved", "accuracy", "low", "high", "risk", *ACCEPTED)
    names = listed([quoted(feature) for feature in audit.movable])
    note = (
        f"People who should be refused change {names} as far as the gain in score "
        f"is worth the cost, distance²/(2 power). At power {shown.power:g}, {name} makes each of "
        f"them move by {number(shown.moved)} {audit.unit}. People who should be accepted stay as "
        "they are."
    )
    return Section(
        "What happens when people game it?",
        _finding(audit),
        [_curves(audit)],
        [Table("accuracy by gaming power", columns, cells(audit.gaming, *fields))],
        [note],
    )


def _at_most(audit: Audit, model: str) -> Gaming:
    """The row of the power that is expected, or of the largest, where that is none."""
    found: Gaming = at_power(audit, model) if audit.games else audit.of(audit.gaming, model)[-1]
    return found


def _finding(audit: Audit) -> str:
    name = audit.models[-1]
    rows, shown = audit.of(audit.gaming, name), _at_most(audit, name)
    (good,) = audit.of(audit.quality, name)
    others = [
        f"{model} for {percent(_at_most(audit, model).accuracy)}" for model in audit.models[:-1]
    ]
    said = [] if audit.games else ["Nobody is expected to game it."]
    said += [
        f"With a gaming power of {shown.power:g}, {name} is right for {percent(shown.accuracy)} "
        f"instead of {percent(good.accuracy)}"
        + (f", {listed(others)}" if others else "")
        + f". Of those who should be refused, {name} then accepts "
        f"{percent(shown.accepted_negative)} instead of {percent(good.accepted_negative)}."
    ]
    worse = [row.power for row in rows if row.accuracy < good.majority]
    if good.accuracy < good.majority:
        said.append("Even where nobody games, deciding all alike is right more often.")
    elif worse:
        said.append(f"From a power of {worse[0]:g} on, deciding all alike is right more often.")
    return " ".join(said)


def _curves(audit: Audit) -> Chart:
    name = audit.models[-1]
    rows = audit.of(audit.gaming, name)
    (good,) = audit.of(audit.quality, name)
    if len(audit.models) == 1:
        x = [row.power for row in rows]
        series = [
            line("accuracy", rows, "accuracy", 0),
            Series(
                f"accepted of {outcome(audit, 1)}",
                [row.accepted_positive for row in rows],
                x,
                look=3,
            ),
            Series(
                f"accepted of {outcome(audit, -1)}",
                [row.accepted_negative for row in rows],
                x,
                look=1,
            ),
        ]
    else:
        series = [
            line(model, audit.of(audit.gaming, model), "accuracy", look(audit, model))
            for model in reversed(audit.models)
        ]
    last = rows[-1].power
    return Chart(
        "lines",
        f"Accuracy as people with {outcome(audit, -1)} game more and more",
        f"Accuracy of {name} against gaming power: "
        + listed([f"{percent(row.accuracy)} at {row.power:g}" for row in (rows[0], rows[-1])])
        + ".",
        series,
        "gaming power",
        ACCURACY,
        percent=True,
        across=[(good.majority, "deciding all alike")],
        upright=[(audit.power, "expected")] if 0 < audit.power <= last else [],
    )

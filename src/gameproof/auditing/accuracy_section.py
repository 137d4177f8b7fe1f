"""The section on the model's quality when nobody games it, and cautions about its numbers."""

from __future__ import annotations

from collections.abc import Callable

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.audited_measure import beside_others, measured
from gameproof.auditing.intervals import share_interval
from gameproof.auditing.metric_rows import METRICS
from gameproof.auditing.metric_types import Metric
from gameproof.auditing.number_format import listed, measure_text, percent, percent_interval
from gameproof.auditing.page_model import Chart, PageColumn, PageTable, Section, Series
from gameproof.auditing.people_groups import FEWEST
from gameproof.auditing.row_types import Quality
from gameproof.auditing.section_parts import (
    ACCEPTED,
    accepted_columns,
    cells,
    kind_of_outcome,
    outcome,
    series_look,
)

ACCURACY = "share of correct decisions"
WIDE = 0.2  # width of an interval that calls for a caution
SHARE = (
    PageColumn("accuracy", "percent"),
    PageColumn("95 % from", "percent"),
    PageColumn("to", "percent"),
)


def accuracy_section(audit: Audit) -> Section:
    """Quality when nobody moves."""
    (good,) = audit.of(audit.quality, audit.subject)
    people = f"{good.n:,} people" + (f" in each of {audit.splits} splits" * (audit.splits > 1))
    rest = [row for row in audit.quality if row.model != good.model]
    others = [f"{row.model} {percent(row.accuracy)}" for row in rest]
    decisions = (
        f"When nobody games it, {good.model} is right for {percent(good.accuracy)} of {people} "
        f"(95 % interval {percent_interval(good)})"
        + (f", {listed(others)}" if others else "")
        + f"; the majority baseline is right for {percent(good.majority)}."
    )
    said = [decisions, _area(audit)]
    if audit.measure.ranks:
        said.reverse()
    # The measure of the verdict comes first.
    finding = " ".join(filter(None, [_measured(audit), *said, _idle(good)]))
    chart = _dots(audit) if others else _scores(audit) if audit.bins else None
    columns = [
        PageColumn("model"),
        *(PageColumn(name, "count") for name in ("people", f"with {outcome(audit, 1)}")),
        *SHARE,
        PageColumn("AUC", "decimal"),
        *accepted_columns(audit),
    ]
    shown = ("model", "n", "n_positive", "accuracy", "low", "high", "auc", *ACCEPTED)
    table = PageTable("quality when nobody games", columns, cells(audit.quality, *shown))
    tables = [metric_table(audit), confusion_table(audit), table]
    if audit.bins and not others:
        tables.append(_counted(audit))
    return Section("How good is the model?", finding, [chart] if chart else [], tables)


def _measured(audit: Audit) -> str:
    """A sentence on the measure of the verdict, unless another sentence gives it."""
    if audit.measure.name in ("accuracy", "auc"):
        return ""
    label, values = audit.measure.spoken, beside_others(audit, 0.0)
    return f"When nobody games, the {label} of {audit.subject} is {values}."


def _area(audit: Audit) -> str:
    """A sentence on AUC, Gini and KS."""
    own = audit.of(audit.metrics, audit.subject)
    found = {row.metric: row for row in own if _is_clean(row)}
    if "auc" not in found:
        return ""
    area = found["auc"]
    return (
        f"The AUC of {area.model} is {area.value:.3f} (95 % {area.interval} interval "
        f"{area.low:.3f} to {area.high:.3f}), Gini {found['gini'].value:.3f}, "
        f"KS {found['ks'].value:.3f}."
    )


def metric_table(audit: Audit) -> PageTable:
    """All metrics with their intervals, clean and gamed."""
    columns = [
        *(PageColumn(title) for title in ("model", "metric")),
        PageColumn("multiple of the budgets", "number"),
        *(PageColumn(title, "decimal") for title in ("value", "95 % from", "to")),
        PageColumn("kind of interval"),
    ]
    rows = [row for row in audit.metrics if row.group is None]
    fields = ("model", "metric", "multiple", "value", "low", "high", "interval")
    table = cells(rows, *fields)
    for row in table:
        row[1] = METRICS[row[1]]
    gamed = "; at a multiple of 1, bad applicants use their budgets" if audit.movable else ""
    return PageTable(f"metrics{gamed}", columns, table)


def confusion_table(audit: Audit) -> PageTable:
    """The confusion matrices, clean and gamed."""
    fields = ("good_accepted", "good_refused", "bad_accepted", "bad_refused")
    columns = [
        PageColumn("model"),
        PageColumn("multiple of the budgets", "number"),
        *(PageColumn(field.replace("_", " "), "count") for field in fields),
    ]
    rows = [row for row in audit.confusions if row.group is None]
    return PageTable("confusion matrices", columns, cells(rows, "model", "multiple", *fields))


def cautions(audit: Audit, more: str = "more rows") -> list[str]:
    """Reasons to be careful with the numbers.

    The model was trained on these people, there are few of them (`more` says what would help), or
    some splits say nothing about gaming.
    """
    found = list(audit.budgets.notes)
    if audit.learned_from:
        share = f"about {100 * audit.learned_from:.0f}%" if audit.learned_from < 1 else "all"
        found.append(
            f"the model was trained on {share} of these rows, so its accuracy is optimistic; audit "
            "it on rows that it has not seen"
        )
    n = audit.quality[-1].n
    low, high = share_interval(n // 2, n)  # the widest interval
    few, wide = f"{n:,} test rows", high - low
    if audit.splits > 1:
        few, more = f"{audit.splits} splits of {few}", f"more splits or {more}"
        wide = max(row.high - row.low for row in audit.gaming)
    if wide > WIDE:
        found.append(
            f"there are only {few}: intervals of accuracies are up to {100 * wide:.0f} points "
            f"wide; {more} narrow them"
        )
    elif audit.splits == 1 and (said := _few_of_one_outcome(audit)):
        found.append(f"{said}; {more} make them more certain")
    for row in audit.quality:
        if 0 < row.idle < 1:
            number = round(row.idle * audit.splits)
            found.append(
                f"in {number} of {audit.splits} splits no change within the budgets raises a score "
                f"of {row.model}; shares of the gain are averages of the others"
            )
    return found


def _few_of_one_outcome(audit: Audit) -> str:
    """A sentence if too few people have the rarer outcome."""
    row = audit.quality[-1]
    count, label = min((row.n_positive, 1), (row.n - row.n_positive, -1))
    if count >= FEWEST:
        return ""
    return (
        f"only {count} of {row.n:,} test rows have {outcome(audit, label)}: intervals of AUC and "
        "KS, and shares of these people, are rough"
    )


def _idle(good: Quality) -> str:
    """A sentence if all scores are equal."""
    same = good.accepted_positive == good.accepted_negative in (0.0, 1.0)
    if not (same and good.auc == 0.5):
        return ""
    return f"{good.model} ignores the data: it makes the same decision about everyone."


def _dots(audit: Audit) -> Chart:
    """The measure of the verdict for all models."""
    found = [(row.model, row.accuracy, row.low, row.high) for row in audit.quality]
    what, axis = "Accuracy", ACCURACY
    written: Callable[[float], str] = percent
    if audit.measure.name != "accuracy":
        rows = [measured(audit, model, 0.0) for model in audit.models]
        found = [(row.model, row.value, row.low, row.high) for row in rows]
        axis, written = audit.measure.spoken, measure_text
        what = axis[0].upper() + axis[1:]
    return Chart(
        "dots",
        f"{what} when nobody games, with 95 % intervals",
        f"{what}: {listed([f'{model} {written(value)}' for model, value, *_ in found])}.",
        [
            Series(model, [value], low=[low], high=[high], look=series_look(audit, model))
            for model, value, low, high in reversed(found)
        ],
        axis,
        labels=["all people"],
        percent=audit.measure.name == "accuracy",
    )


def _is_clean(row: Metric) -> bool:
    """Whether a metric is about everyone, when nobody games."""
    return row.group is None and row.multiple == 0


def _scores(audit: Audit) -> Chart:
    """The distribution of scores by label."""
    x = [(row.start + row.end) / 2 for row in audit.bins]
    positive, negative = ([getattr(b, k) for b in audit.bins] for k in ("positive", "negative"))
    return Chart(
        "lines",
        "Scores when nobody games: the model accepts scores above 0",
        f"Scores of people with {outcome(audit, 1)} and of people with {outcome(audit, -1)}, as "
        "two curves; the more they overlap, the more decisions are wrong.",
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


def _counted(audit: Audit) -> PageTable:
    columns = [
        *(PageColumn(name, "number") for name in ("score from", "to")),
        *(PageColumn(f"people with {outcome(audit, label)}", "count") for label in (1, -1)),
    ]
    rows = cells(audit.bins, "start", "end", "positive", "negative")
    return PageTable(
        "people by score; the first and last rows include all scores beyond", columns, rows
    )

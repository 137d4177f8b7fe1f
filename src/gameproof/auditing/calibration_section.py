"""The section on calibration: do the predicted probabilities come true?"""

from __future__ import annotations

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.number_format import percent
from gameproof.auditing.page_model import Chart, PageColumn, PageTable, Section, Series
from gameproof.auditing.section_parts import cells, outcome, series_look


def calibration_section(audit: Audit) -> Section | None:
    """Predicted and observed shares; None if no model has probabilities, or for several splits."""
    if not audit.calibration:
        return None
    name = audit.subject
    series = []
    for model in reversed(audit.models):
        rows = audit.of(audit.calibration, model)
        x, y, low, high = (
            [getattr(row, field) for row in rows]
            for field in ("predicted", "observed", "low", "high")
        )
        series.append(Series(model, y, [100 * v for v in x], low, high, series_look(audit, model)))
    ends = [row.predicted for row in audit.calibration]
    line = [min(ends), max(ends)]
    series.append(Series("as predicted", line, [100 * v for v in line], look=2, guide=True))
    chart = Chart(
        "lines",
        f"Predicted probability and observed share of {outcome(audit, 1)}, with 95 % intervals",
        "Each mark is a tenth of the people; on the dashed line, predictions come true.",
        series,
        "predicted probability, %",
        "observed share",
        percent=True,
    )
    columns = [
        PageColumn("model"),
        PageColumn("tenth", "count"),
        PageColumn("people", "count"),
        *(PageColumn(t, "percent") for t in ("predicted", "observed", "95 % from", "to")),
    ]
    fields = ("model", "bin", "n", "predicted", "observed", "low", "high")
    table = PageTable("calibration when nobody games", columns, cells(audit.calibration, *fields))
    return Section("Do the probabilities come true?", _finding(audit, name), [chart], [table])


def _finding(audit: Audit, name: str) -> str:
    found = {
        row.metric: row
        for row in audit.of(audit.metrics, name)
        if row.group is None and row.multiple == 0
    }
    (quality,) = audit.of(audit.quality, name)
    if "mean_probability" not in found:
        return f"{name} has no probabilities."
    mean, brier = found["mean_probability"], found["brier"]
    return (
        f"The mean probability of {name} is {percent(mean.value)}, and "
        f"{percent(quality.n_positive / quality.n)} of the people are {outcome(audit, 1)}. Its "
        f"Brier score is {brier.value:.3f} (95 % interval {brier.low:.3f} to {brier.high:.3f}); "
        "0 would be perfect."
    )

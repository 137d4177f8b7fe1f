"""An audit of more people than fit into memory.

`compare_models` audits a sample. Two passes over all people then replace the main rows: metrics
with their intervals and differences, confusion matrices, gaming by multiples of the budgets and
thresholds. Worst cases, weak columns, recourse, calibration and numbers that depend on the scale
remain those of the sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.decision_counts import Costs, DecisionCounts
from gameproof.auditing.gaming_rows import gaming_row_of
from gameproof.auditing.intervals import paired_difference
from gameproof.auditing.metric_rows import rows_of_moments
from gameproof.auditing.metric_types import Confusion, ThresholdRow
from gameproof.auditing.quality_rows import quality_row_of
from gameproof.auditing.ranking import Ranking
from gameproof.auditing.row_types import Difference, Gaming, Quality
from gameproof.auditing.scored_applicants import BAD
from gameproof.auditing.threshold_rows import threshold_row_of
from gameproof.auditing.whole_tallies import Tallies, Tally, WholeAudit


def rows_used(all_rows: str, sampled: int) -> str:
    """Which numbers of an audit come from all rows, and which from a sample."""
    return (
        f"metrics, approvals, thresholds and gaming come from all {all_rows}; worst cases, weak "
        "columns, recourse, calibration and charts of scores come from a random sample of "
        f"{sampled:,}"
    )


def whole_audit(audit: Audit, tallies: Tallies) -> Audit:
    """The audit of a sample, with its main rows computed from all people."""
    given, counts, moments = tallies
    metrics, differences = rows_of_moments(moments, given.costs, {})
    return replace(
        audit,
        quality=tuple(_quality(row, counts) for row in audit.quality),
        gaming=tuple(_gaming(row, counts, given.costs) for row in audit.gaming),
        differences=tuple(_difference(row, counts) for row in audit.differences),
        thresholds=tuple(_thresholds(row, given, counts) for row in audit.thresholds),
        metrics=tuple(metrics),
        metric_differences=tuple(differences),
        confusions=tuple(_confusions(given, counts)),
    )


def _confusions(given: WholeAudit, counts: Tally) -> Iterator[Confusion]:
    for group, part in given.sets():
        for multiple in given.multiples:
            for line in given.lines:
                found = _decisions(counts, line.name, BAD, multiple, part)
                yield Confusion(line.name, group, multiple, *found)


def _decisions(
    counts: Tally, model: str, movers: str, multiple: float, part: slice = slice(None)
) -> DecisionCounts:
    """The decisions about everyone, or about the groups at these positions."""
    return DecisionCounts.tabled(counts["decided", model, movers, multiple][part].sum(axis=0))


def _area(counts: Tally, model: str, movers: str, multiple: float) -> float:
    """The area under the ROC curve of everyone."""
    return Ranking(*counts[model, movers, multiple].sum(axis=0)).area()


def _quality(row: Quality, counts: Tally) -> Quality:
    at_rest = (counts, row.model, BAD, 0.0)
    own = (row.idle, row.same_score)
    return quality_row_of(row.model, _decisions(*at_rest), _area(*at_rest), *own)


def _gaming(row: Gaming, counts: Tally, costs: Costs) -> Gaming:
    way = (row.model, row.movers, row.multiple)
    return gaming_row_of(*way, _decisions(counts, *way), _area(counts, *way), costs)


def _difference(row: Difference, counts: Tally) -> Difference:
    gained, lost = counts["paired", row.model, row.against, row.movers, row.multiple].tolist()
    n = _decisions(counts, row.model, row.movers, row.multiple).n
    found = paired_difference(gained, lost, n)
    return Difference(row.model, row.against, row.movers, row.multiple, *found)


def _thresholds(row: ThresholdRow, given: WholeAudit, counts: Tally) -> ThresholdRow:
    """The row at the edge of the bins that approves the stated share most nearly."""
    name = row.model
    if row.approve is None:
        ways = ((BAD, 0.0), (BAD, given.multiples[-1]))
        clean, gamed = (_decisions(counts, name, *way) for way in ways)
        return threshold_row_of(name, None, row.threshold, clean, gamed, given.costs)
    tables = [counts[name, BAD, 0.0].sum(axis=0), counts["gamed", name].sum(axis=0)]
    edges, total = given.edges[name, BAD, 0.0], tables[0].sum()
    if not edges.size:
        return row
    # The numbers below each edge, by label; beyond the last edge, everyone is below.
    below = [np.cumsum(each, axis=1) for each in tables]
    at = int(np.argmin(np.abs(total - below[0].sum(axis=0)[:-1] - row.approve * total)))
    (line,) = (line for line in given.lines if line.name == name)
    threshold = None
    if line.calibration is not None:
        threshold = float(line.calibration.probability(edges[at : at + 1])[0])
    clean, gamed = (
        DecisionCounts.tabled(np.column_stack([each[:, at], each[:, -1] - each[:, at]]))
        for each in below
    )
    return threshold_row_of(name, row.approve, threshold, clean, gamed, given.costs)

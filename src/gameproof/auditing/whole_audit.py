"""An audit of more people than fit into memory.

`compare_models` audits a sample. Two passes over all people then replace the main rows: metrics
with their intervals and differences, confusion matrices, gaming by multiples of the budgets and
thresholds. Worst cases, weak columns, recourse, calibration and numbers that depend on the scale
remain those of the sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.intervals import paired_interval, share_interval
from gameproof.auditing.metric_rows import COMPARED, largest_change
from gameproof.auditing.metric_types import Confusion, Metric, MetricDifference, ThresholdRow
from gameproof.auditing.people_groups import FEWEST
from gameproof.auditing.row_types import Difference, Gaming, Quality
from gameproof.auditing.score_bins import BinnedRanking
from gameproof.auditing.scored_applicants import BAD
from gameproof.auditing.threshold_rows import approval_effect
from gameproof.auditing.value_sums import difference, estimates
from gameproof.auditing.whole_tallies import Tallies, Tally, WholeAudit


def rows_used(all_rows: str, sampled: int) -> str:
    """Which numbers of an audit come from all rows, and which from a sample."""
    return (
        f"metrics, approvals, thresholds and gaming come from all {all_rows}; worst cases, weak "
        "columns, recourse, calibration and charts of scores come from a random sample of "
        f"{sampled:,}"
    )


def whole_audit(audit: Audit, given: WholeAudit, tallies: Tallies) -> Audit:
    """The audit of a sample, with its main rows computed from all people."""
    counts, sums = tallies
    metrics, differences = _metric_rows(given, sums)
    return replace(
        audit,
        quality=tuple(_quality(row, given, counts) for row in audit.quality),
        gaming=tuple(_gaming(row, given, counts) for row in audit.gaming),
        differences=tuple(_difference(row, counts) for row in audit.differences),
        thresholds=tuple(_thresholds(row, given, counts) for row in audit.thresholds),
        metrics=tuple(metrics),
        metric_differences=tuple(differences),
        confusions=tuple(_confusions(given, counts)),
    )


def _metric_rows(given: WholeAudit, sums: Tally) -> tuple[list[Metric], list[MetricDifference]]:
    metrics, differences = [], []
    names = [line.name for line in given.lines]
    for group, _ in given.sets():
        fewest = 1 if group is None else FEWEST
        for multiple in given.multiples:
            for name in names:
                own = {key[3]: s for key, s in sums.items() if key[:-1] == (name, group, multiple)}
                for metric, estimate in estimates(own, fewest).items():
                    metrics.append(Metric(name, group, metric, multiple, *estimate))
            for one, two in combinations(names, 2):
                for metric in dict.fromkeys((given.measure, *COMPARED)):
                    each = sums.get((two, one, group, multiple, metric))
                    most = largest_change(metric, given.costs)
                    found = None if each is None else difference(metric, each, most, fewest)
                    if found is not None:
                        row = (two, one, group, metric, multiple, *found)
                        differences.append(MetricDifference(*row))
    return metrics, differences


def _confusions(given: WholeAudit, counts: Tally) -> Iterator[Confusion]:
    for group, part in given.sets():
        for multiple in given.multiples:
            for line in given.lines:
                decided = counts["decided", line.name, BAD, multiple][part].sum(axis=0)
                (bad_refused, bad_accepted), (good_refused, good_accepted) = decided.tolist()
                row = (good_accepted, good_refused, bad_accepted, bad_refused)
                yield Confusion(line.name, group, multiple, *row)


def _quality(row: Quality, given: WholeAudit, counts: Tally) -> Quality:
    gaming = _gaming(_at_rest(row), given, counts)
    decided = counts["decided", row.model, BAD, 0.0].sum(axis=0)
    n, n_good = int(decided.sum()), int(decided[1].sum())
    return replace(
        row,
        n=n,
        n_positive=n_good,
        accuracy=gaming.accuracy,
        low=gaming.low,
        high=gaming.high,
        majority=max(n_good, n - n_good) / n,
        auc=gaming.auc,
        accepted_positive=gaming.accepted_positive,
        accepted_negative=gaming.accepted_negative,
    )


def _at_rest(row: Quality) -> Gaming:
    """A row of the model when nobody games, to be filled."""
    return Gaming(row.model, BAD, 0.0, *[0.0] * 7)


def _gaming(row: Gaming, given: WholeAudit, counts: Tally) -> Gaming:
    key = (row.model, row.movers, row.multiple)
    decided = counts["decided", *key].sum(axis=0)
    (bad_refused, bad_accepted), (good_refused, good_accepted) = decided.tolist()
    n, right = int(decided.sum()), bad_refused + good_accepted
    low, high = share_interval(right, n)
    lost = given.costs.accept_bad * bad_accepted + given.costs.refuse_good * good_refused
    return replace(
        row,
        accuracy=right / n,
        low=low,
        high=high,
        auc=BinnedRanking(*counts[key].sum(axis=0)).auc(),
        accepted_positive=good_accepted / (good_accepted + good_refused),
        accepted_negative=bad_accepted / (bad_accepted + bad_refused),
        cost=lost / n,
    )


def _difference(row: Difference, counts: Tally) -> Difference:
    gained, lost = counts["paired", row.model, row.against, row.movers, row.multiple].tolist()
    n = int(counts["decided", row.model, row.movers, row.multiple].sum())
    low, high = paired_interval(gained, lost, n)
    return replace(row, difference=(gained - lost) / n, low=low, high=high)


def _thresholds(row: ThresholdRow, given: WholeAudit, counts: Tally) -> ThresholdRow:
    """The row at the edge of the bins that approves the stated share most nearly."""
    name = row.model
    if row.approve is None:
        ways = [(BAD, 0.0), (BAD, given.multiples[-1])]
        clean, gamed = (counts["decided", name, *way].sum(axis=0) for way in ways)
        effects = [
            approval_effect(each[:, 1], each.sum(axis=1), given.costs) for each in (clean, gamed)
        ]
        return ThresholdRow(name, None, row.threshold, *effects[0], *effects[1])
    tables = [counts[name, BAD, 0.0].sum(axis=0), counts["gamed", name].sum(axis=0)]
    edges, total = given.edges[name, BAD, 0.0], tables[0].sum()
    # The numbers above each edge, by label; before the first edge, everyone is above.
    above = [each.sum(axis=1)[:, None] - np.cumsum(each, axis=1)[:, :-1] for each in tables]
    if not edges.size:
        return row
    at = int(np.argmin(np.abs(above[0].sum(axis=0) - row.approve * total)))
    (line,) = (line for line in given.lines if line.name == name)
    threshold = None
    if line.calibration is not None:
        threshold = float(line.calibration.probability(edges[at : at + 1])[0])
    whole = tables[0].sum(axis=1)
    effects = [approval_effect(each[:, at], whole, given.costs) for each in above]
    return ThresholdRow(name, row.approve, threshold, *effects[0], *effects[1])

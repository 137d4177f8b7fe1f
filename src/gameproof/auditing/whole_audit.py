"""An audit of more people than fit into memory.

`compare_models` audits a sample. Two passes over all people then replace the main rows: metrics
with their intervals and differences, confusion matrices, gaming by multiples of the budgets and
thresholds. Worst cases, weak columns, recourse, calibration and numbers that depend on the scale
remain those of the sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from gameproof.auditing.applicants import Applicants
from gameproof.auditing.audit_result import Audit
from gameproof.auditing.gaming_rows import Costs
from gameproof.auditing.intervals import paired_interval, share_interval
from gameproof.auditing.linear_model import LinearModel
from gameproof.auditing.metric_rows import COMPARED, GAMED, Judged, largest_change
from gameproof.auditing.metric_types import Confusion, Metric, MetricDifference, ThresholdRow
from gameproof.auditing.people_groups import FEWEST
from gameproof.auditing.row_types import Difference, Gaming, Quality
from gameproof.auditing.score_bins import BinnedRanking, bin_edges, binned, counts_by_label
from gameproof.auditing.scored_applicants import BAD, ScoredApplicants
from gameproof.auditing.value_sums import difference, estimates, person_values, sums_by_label
from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.estimators.table_budgets import Budgets
from gameproof.rows.row_source import RowSource

Key = tuple[Any, ...]
Tally = dict[Key, Any]


class AuditedRows(NamedTuple):
    """A block of people: a table, labels -1 and +1, and groups, None if there are none."""

    X: Matrix
    y: Vector
    groups: NDArray[np.str_] | None


@final
@dataclass(frozen=True, eq=False)
class WholeAudit:
    """The models under audit, and the audit of a sample, whose rows will be replaced.

    `edges` are the edges of the bins of scores, for each model and each way of gaming."""

    lines: tuple[LinearModel, ...]
    prepare: Any
    budgets: Budgets
    costs: Costs
    measure: str
    ways: tuple[tuple[str, float], ...]
    groups: tuple[str, ...]
    edges: dict[Key, Vector]

    @classmethod
    def of(
        cls,
        audit: Audit,
        lines: Sequence[LinearModel],
        prepare: Any,
        sample: AuditedRows,
        groups: Sequence[str],
    ) -> WholeAudit:
        """What the passes need to know."""
        ways = tuple(dict.fromkeys((row.movers, row.multiple) for row in audit.gaming))
        found = cls(
            tuple(lines),
            prepare,
            audit.budgets,
            audit.costs,
            audit.measure.name,
            ways,
            tuple(groups),
            {},
        )
        for case in found.cases(sample):
            for movers, multiple in ways:
                scores = case.gamed(multiple, movers)
                found.edges[case.name, movers, multiple] = bin_edges(scores, 2 * case.rounding)
        return found

    def cases(self, rows: AuditedRows) -> list[ScoredApplicants]:
        """The models with the people of a block."""
        names = self.lines[0].names if self.lines[0].named else None
        people = Applicants.of(rows.X, rows.y, self.budgets, self.prepare, names, one_label=True)
        return [ScoredApplicants.of(line, people, 1.0) for line in self.lines]

    @property
    def multiples(self) -> tuple[float, ...]:
        """The multiples of the budgets that metrics are about."""
        return (0.0, GAMED) if (BAD, GAMED) in self.ways and self.budgets.columns else (0.0,)

    def codes(self, rows: AuditedRows) -> Indices:
        """The group of each person, by number."""
        if rows.groups is None:
            return np.zeros(len(rows.y), dtype=np.int64)
        names, codes = np.unique(rows.groups, return_inverse=True)
        places = {group: k for k, group in enumerate(self.groups)}
        return np.array([places[group] for group in names.tolist()], dtype=np.int64)[codes]

    def sets(self) -> Iterator[tuple[str | None, slice]]:
        """Everyone, and then each group, as positions on the axis of groups."""
        yield None, slice(None)
        if len(self.groups) > 1 or self.groups != ("",):
            for k, group in enumerate(self.groups):
                yield group, slice(k, k + 1)


class Tallies(NamedTuple):
    """What two passes over all people found: counts, and the sums whose means are metrics."""

    counts: Tally
    sums: Tally

    @classmethod
    def of(cls, given: WholeAudit, source: RowSource) -> Tallies:
        """The tallies of all people. Blocks are `AuditedRows`."""
        counts = _added(source.map(_counted, given))
        rankings = {
            (line.name, multiple, group): BinnedRanking(
                *counts[line.name, BAD, multiple][part].sum(axis=0)
            )
            for line in given.lines
            for multiple in given.multiples
            for group, part in given.sets()
        }
        return cls(counts, _added(source.map(_summed, given, rankings)))


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


def _counted(rows: AuditedRows, given: WholeAudit) -> Tally:
    """Counts by group, label and bin; by group, label and decision; and of paired decisions."""
    if not len(rows.y):
        return {}
    found: Tally = {}
    cases, groups, good = given.cases(rows), given.codes(rows), rows.y > 0
    number = len(given.groups)
    for movers, multiple in given.ways:
        right = {}
        for case in cases:
            name, scores = case.name, case.gamed(multiple, movers)
            edges = given.edges[name, movers, multiple]
            key = (name, movers, multiple)
            bins = binned(scores, edges)
            found[key] = counts_by_label(bins, good, groups, (number, edges.size + 1))
            approved = (scores > 0).astype(np.int64)
            found["decided", *key] = counts_by_label(approved, good, groups, (number, 2))
            right[name] = (scores > 0) == good
        for one, two in combinations(right, 2):
            gained, lost = right[two] & ~right[one], right[one] & ~right[two]
            found["paired", two, one, movers, multiple] = np.array([gained.sum(), lost.sum()])
    for case in cases:  # gaming in the bins of scores when nobody games, for thresholds
        edges = given.edges[case.name, BAD, 0.0]
        bins = binned(case.gamed(given.multiples[-1]), edges)
        found["gamed", case.name] = counts_by_label(bins, good, groups, (number, edges.size + 1))
    return found


def _summed(rows: AuditedRows, given: WholeAudit, rankings: dict[Key, BinnedRanking]) -> Tally:
    """The sums whose means are metrics, for each model and for paired differences."""
    if not len(rows.y):
        return {}
    found: Tally = {}
    cases, codes = given.cases(rows), given.codes(rows)
    for group, part in given.sets():
        chosen = np.ones(len(codes), dtype=bool) if group is None else codes == part.start
        for multiple in given.multiples:
            by_model = {}
            for case in cases:
                people = Judged.of(case, multiple, given.costs, chosen)
                ranking = rankings[case.name, multiple, group]
                edges = given.edges[case.name, BAD, multiple]
                values = by_model[case.name] = person_values(people, ranking, edges)
                for metric, (each, where) in values.items():
                    key = (case.name, group, multiple, metric)
                    found[key] = sums_by_label(each, where, people.good)
            for one, two in combinations(by_model, 2):
                for metric in dict.fromkeys((given.measure, *COMPARED)):
                    if metric in by_model[one]:
                        (a, _), (b, where) = by_model[one][metric], by_model[two][metric]
                        pair = (two, one, group, multiple, metric)
                        found[pair] = sums_by_label(b - a, where, people.good)
    return found


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
        effects = [_effect(each[:, 1], each.sum(axis=1), given.costs) for each in (clean, gamed)]
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
    effects = [_effect(each[:, at], whole, given.costs) for each in above]
    return ThresholdRow(name, row.approve, threshold, *effects[0], *effects[1])


def _effect(
    approved: Indices, whole: Indices, costs: Costs
) -> tuple[float, float | None, float, float]:
    """Approval rate, bad rate among the approved, bad applicants approved, and cost, from the
    numbers of bad and good people."""
    let_in, total, n = int(approved[0]), int(approved.sum()), int(whole.sum())
    kept_out = int(whole[1] - approved[1])
    cost = (costs.accept_bad * let_in + costs.refuse_good * kept_out) / n
    return total / n, let_in / total if total else None, let_in / int(whole[0]), cost


def _added(parts: Iterator[Tally]) -> Tally:
    """The sums over all blocks, in their order."""
    total: Tally = {}
    for part in parts:
        for key, value in part.items():
            total[key] = total[key] + value if key in total else value
    return total

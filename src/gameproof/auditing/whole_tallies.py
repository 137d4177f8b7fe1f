"""What passes over all people of an audit find.

The first pass counts people by the bin of their score, and by decision. The second one finds the
moments of the numbers whose means are metrics, once the first has ranked the bins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import add
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from gameproof.auditing.applicants import Applicants
from gameproof.auditing.audit_result import Audit
from gameproof.auditing.decision_counts import Costs
from gameproof.auditing.judged_people import JudgedPeople
from gameproof.auditing.linear_model import LinearModel
from gameproof.auditing.metric_rows import reported_multiples
from gameproof.auditing.ranking import Ranking
from gameproof.auditing.score_bins import bin_edges, binned, counts_by_label
from gameproof.auditing.scored_applicants import BAD, ScoredApplicants
from gameproof.auditing.value_moments import MetricKey, ValueMoments, metric_moments
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
        """What the passes need to know; `groups` are those of all people, if there are any."""
        ways = tuple(dict.fromkeys((row.movers, row.multiple) for row in audit.gaming))
        found = cls(
            tuple(lines),
            prepare,
            audit.budgets,
            audit.costs,
            audit.measure.name,
            ways,
            ("",) if sample.groups is None else tuple(groups),
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
        return reported_multiples(self.budgets.columns)

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
        if self.groups != ("",):
            for k, group in enumerate(self.groups):
                yield group, slice(k, k + 1)


class Tallies(NamedTuple):
    """What two passes over all people found: counts, and moments whose means are metrics."""

    given: WholeAudit
    counts: Tally
    moments: dict[MetricKey, ValueMoments]

    @classmethod
    def of(cls, given: WholeAudit, source: RowSource) -> Tallies:
        """The tallies of all people. Blocks are `AuditedRows`."""
        counts = _total(source.map(_counted, given), add)
        rankings = {
            (line.name, multiple, group): Ranking(
                *counts[line.name, BAD, multiple][part].sum(axis=0)
            )
            for line in given.lines
            for multiple in given.multiples
            for group, part in given.sets()
        }
        moments = _total(source.map(_described, given, rankings), ValueMoments.merged)
        return cls(given, counts, moments)


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


def _described(
    rows: AuditedRows, given: WholeAudit, rankings: dict[Key, Ranking]
) -> dict[MetricKey, ValueMoments]:
    """The moments whose means are metrics, for each model and for paired differences."""
    found: dict[MetricKey, ValueMoments] = {}
    if not len(rows.y):
        return found
    cases, codes = given.cases(rows), given.codes(rows)
    for group, part in given.sets():
        chosen = np.ones(len(codes), dtype=bool) if group is None else codes == part.start
        good = rows.y[chosen] > 0
        for multiple in given.multiples:
            people = {}
            for case in cases:
                scores = case.gamed(multiple)[chosen]
                places = binned(scores, given.edges[case.name, BAD, multiple])
                ranking = rankings[case.name, multiple, group]
                people[case.name] = JudgedPeople(scores, good, places, ranking, case.calibration)
            found |= metric_moments(people, given.costs, given.measure, group, multiple)
    return found


def _total(parts: Iterator[dict[Any, Any]], both: Callable[[Any, Any], Any]) -> dict[Any, Any]:
    """The counts or moments of all blocks in their order; `both` joins those of two blocks."""
    total: dict[Any, Any] = {}
    for part in parts:
        for key, value in part.items():
            total[key] = both(total[key], value) if key in total else value
    return total

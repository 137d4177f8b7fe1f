"""Training rows and test rows of a table in blocks: in files, or on a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, final

import numpy as np

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.linear_model import LinearModel
from gameproof.auditing.people_groups import in_order
from gameproof.auditing.whole_audit import rows_used, whole_audit
from gameproof.auditing.whole_tallies import AuditedRows, Tallies, WholeAudit
from gameproof.core.arguments import Matrix, Vector
from gameproof.estimators.calibration_fit import (
    CalibrationCurve,
    CalibrationLine,
    LogisticSums,
    fitted_calibrations,
    logistic_sums,
)
from gameproof.estimators.gamed_rows import prepared_scores
from gameproof.estimators.prepare import Prepare
from gameproof.estimators.prepare_blocks import fit_prepare
from gameproof.estimators.row_fit import fit_blocks
from gameproof.estimators.row_recipe import Columns
from gameproof.rows.moments import Moments
from gameproof.rows.quantile_sketch import exact_pairs
from gameproof.rows.row_blocks import added
from gameproof.rows.row_source import RawRows, RowSource
from gameproof.tables.dataset import Dataset
from gameproof.tables.encoded_rows import EncodedRows, Split, audited_rows, joined_rows, raw_rows
from gameproof.tables.fit_settings import FitSettings
from gameproof.tables.split_table import Decision, SplitTable, chosen_cut, require_both_classes
from gameproof.tables.training_table import TrainingTable

# Rows of each part that are in memory, for choices and for charts.
SAMPLE = 100_000


class PartCounts(NamedTuple):
    """What one pass finds in the training rows, or the test rows, of a block."""

    n: int
    n_good: int
    groups: frozenset[str]
    sample: EncodedRows


@final
class BlockSplit(SplitTable):
    """A split of rows in blocks. Test rows are drawn by their places."""

    def __init__(self, training: TrainingTable, share: float, seed: int) -> None:
        assert training.whole is not None
        self._blocks, self._split = training.whole.blocks, Split(share, seed)
        self._features = training.plan.features
        self.progress = training.whole.progress  # type: ignore[method-assign]
        expected = [training.whole.n] * 2
        if not training.split_by:
            expected = [round(training.whole.n * part) for part in (1 - share, share)]
        shares = tuple(min(1.0, SAMPLE / max(1, n)) for n in expected)
        parts = list(self._blocks.map(_part_counts, self._split, shares))
        self.n_train, good, self.train, _, _ = self._merged(training, [p[0] for p in parts])
        self.n_test, self._good, self.test, self.groups, names = self._merged(
            training, [p[1] for p in parts]
        )
        self._names, self.grouped_by = names, training.grouped_by
        self._tallied: Tallies | None = None
        require_both_classes(good, self.n_train, "training", training, share)
        require_both_classes(self._good, self.n_test, "test", training, share)
        self.good_share = good / self.n_train

    def _merged(
        self, training: TrainingTable, parts: Sequence[PartCounts]
    ) -> tuple[int, int, Dataset, Any, tuple[str, ...]]:
        n, good = sum(part.n for part in parts), sum(part.n_good for part in parts)
        names = in_order(name for part in parts for name in part.groups)
        sample = joined_rows([part.sample for part in parts])
        data = Dataset(training.table.source, sample.X, sample.y, self._features)
        return n, good, data, sample.groups, tuple(names)

    @property
    def _training(self) -> RowSource:
        return self._blocks.mapped(raw_rows, self._split, n=self.n_train)

    def prepare(self, given: Prepare) -> Prepare:
        columns = Columns(len(self._features.names), None, given)
        return fit_prepare(given, self._training, columns)[0]

    def fit(self, model: Any, prepare: Prepare) -> None:
        if model.prepare is not None:
            fit_blocks(model, self._training, len(self._features.names))
            return
        source = self._training.mapped(_prepared, prepare, n=self.n_train)
        fit_blocks(model, source, len(prepare.owners_))

    def decisions(
        self, models: Mapping[str, Any], prepare: Prepare, settings: FitSettings
    ) -> dict[str, Decision]:
        source = self._training.mapped(_scored, prepare, list(models.values()), n=self.n_train)
        spread = Moments.total(source.map(_spread))
        sums = partial(_sums, source)
        calibrations = fitted_calibrations(spread, self.good_share * self.n_train, sums)
        found = {}
        for k, (name, calibration) in enumerate(zip(models, calibrations, strict=True)):
            cut = chosen_cut(calibration, settings, partial(_approving, source, k))
            found[name] = calibration, cut
        return found

    @property
    def sampled(self) -> bool:
        """Whether `test` is only a sample of the test rows."""
        return len(self.test) < self.n_test

    def tested(self, audit: Audit, lines: Sequence[LinearModel], prepare: Prepare) -> Audit:
        if not self.sampled:
            return audit
        if self._tallied is None:  # a page and a summary need the same passes
            sample = AuditedRows(self.test.X, self.test.y, self.groups)
            source = self._blocks.mapped(audited_rows, self._split, n=self.n_test)
            given = WholeAudit.of(audit, lines, prepare, sample, self._names)
            self._tallied = Tallies.of(given, source)
        return whole_audit(audit, self._tallied)

    def notes(self) -> list[str]:
        found = []
        if len(self.train) < self.n_train:
            found.append(
                f"settings are chosen and default budgets are computed on a random sample of "
                f"{len(self.train):,} training rows; the fits use all {self.n_train:,}"
            )
        if self.sampled:
            found.append(rows_used(f"{self.n_test:,} test rows", len(self.test)))
        return found


def _part_counts(
    rows: EncodedRows, split: Split, shares: tuple[float, float]
) -> tuple[PartCounts, PartCounts]:
    """Counts and samples of the training rows and of the test rows of a block."""
    found = []
    for test, share in zip((False, True), shares, strict=True):
        part = split.part(rows, test)
        groups = frozenset() if part.groups is None else frozenset(part.groups.tolist())
        sample = split.sample(rows, test, share)
        found.append(PartCounts(len(part.y), int((part.y > 0).sum()), groups, sample))
    return found[0], found[1]


def _prepared(raw: RawRows, prepare: Prepare) -> RawRows:
    """The rows with the columns that a preparation makes."""
    width = len(prepare.owners_)
    made = prepare.transform(raw.X) if len(raw.y) else np.empty((0, width))
    return raw._replace(X=made)


def _scored(raw: RawRows, prepare: Prepare, models: list[Any]) -> tuple[Matrix, Any]:
    """The scores of all classifiers, and who is good."""
    Z = _prepared(raw, prepare).X
    return np.column_stack([prepared_scores(model, Z) for model in models]), raw.y > 0


def _spread(scored: tuple[Matrix, Any]) -> Moments:
    return Moments.of(scored[0])


def _sums(source: RowSource, of: CalibrationLine | CalibrationCurve, weights: Matrix) -> Any:
    return added(source.map(_sums_of, of, weights))


def _sums_of(
    scored: tuple[Matrix, Any], of: CalibrationLine | CalibrationCurve, weights: Matrix
) -> LogisticSums:
    return logistic_sums(*scored, of, weights)


def _approving(source: RowSource, k: int, share: float) -> float:
    """The score of classifier k above which this share of the rows lies, as nearly as ties
    allow."""

    def ranks(n: int) -> tuple[int, int]:
        above = round(share * n)
        return max(1, n - above), min(n, n - above + 1)

    (pair,) = exact_pairs(ranks, source, _column, k)
    assert pair is not None
    n = source.n or 0
    if round(share * n) == n:
        return float(np.nextafter(pair[0], -np.inf))
    return pair[1] if round(share * n) == 0 else pair[0] / 2 + pair[1] / 2


def _column(scored: tuple[Matrix, Any], k: int) -> list[Vector]:
    return [scored[0][:, k]]

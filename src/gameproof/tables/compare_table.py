"""`compare_table`: three classifiers on the same rows, over one or several splits of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, final

from gameproof.auditing.accuracy_section import cautions
from gameproof.auditing.audit_result import Audit
from gameproof.auditing.average_splits import average_splits
from gameproof.core.arguments import as_count
from gameproof.tables.audit_lines import (
    POWERS_SHOWN,
    budget_lines,
    gaming_lines,
    lead_lines,
    scale_lines,
    worst_lines,
    wrapped,
)
from gameproof.tables.classifiers_page import write_classifiers_page
from gameproof.tables.fit_notes import FitNotes
from gameproof.tables.fit_settings import FitSettings, checked_radius
from gameproof.tables.group_lines import group_lines
from gameproof.tables.metric_lines import (
    metric_lines,
    threshold_lines,
    verdict_lines,
)
from gameproof.tables.setting_lines import MORE_ROWS, setting_lines
from gameproof.tables.three_classifiers import ThreeClassifiers, fit_classifiers
from gameproof.tables.training_table import TrainingTable


@final
@dataclass(frozen=True, eq=False, repr=False)
class TableComparison:
    """Three classifiers on every split; numbers are means over the splits.

    `first` holds the classifiers of the first split, whose radius all splits use.
    """

    training: TrainingTable
    first: ThreeClassifiers
    audit: Audit
    fit_notes: tuple[str, ...]

    @property
    def notes(self) -> list[str]:
        """What to keep in mind when the numbers are read."""
        return [*self.fit_notes, *cautions(self.audit, MORE_ROWS)]

    def lines(self, full: bool = False) -> list[str]:
        """The summary, line by line: what a decision needs, or with all tables if it is `full`."""
        first, audit = self.first, self.audit
        powers = sorted({*POWERS_SHOWN, audit.power})
        return [
            *verdict_lines(audit),
            *self.training.lines(),
            *setting_lines(self.training, first, audit.splits),
            *(wrapped(f"note: {note}") for note in self.notes),
            *metric_lines(audit, full),
            *(budget_lines(audit) if full or not audit.movable else gaming_lines(audit)),
            *threshold_lines(audit, full),
            *group_lines(audit, full),
            *lead_lines(audit, full),
            *worst_lines(audit, first.radius),
            *(scale_lines(audit, powers, first.radius) if full else []),
        ]

    def record(self) -> dict[str, Any]:
        """The comparison as JSON holds it."""
        return {
            **self.training.record(),
            "verdict": self.audit.verdict.record(),
            "measure": self.first.measure.name,
            "radius": self.first.radius,
            "why_this_radius": self.first.radius_reason,
            "notes": self.notes,
            "audit": self.audit.record(),
        }

    def write_page(self, path: str | Path, *, command: str = "") -> None:
        """Writes the comparison as one HTML file with figures, which needs no network."""
        settings = {"radius": self.first.radius, "splits": self.audit.splits}
        write_classifiers_page(
            path, self.audit, self.training, self.first, settings, command, notes=self.fit_notes
        )

    def __repr__(self) -> str:
        return "\n".join(self.lines())


def compare_table(
    training: TrainingTable,
    settings: FitSettings | None = None,
    *,
    radius: float | Literal["auto"] = "auto",
    splits: int = 1,
    progress: bool | None = None,
) -> TableComparison:
    """Fits the three classifiers on every split and averages their audits.

    The first split chooses the radius. All splits use it, so that means are about one classifier.
    """
    checked = (settings or FitSettings()).checked()
    chosen = checked_radius(radius)
    if training.split_by and splits > 1:
        raise ValueError(
            f"an out-of-time test ({training.split_by}) has one split, got {splits} (--splits)"
        )
    found: list[ThreeClassifiers] = []
    for k in range(as_count("splits", splits)):
        each = fit_classifiers(
            training,
            checked._replace(train_for=found[0].train_for) if found else checked,
            seed=checked.seed + k,
            radius=found[0].radius if found else chosen,
            progress=progress,
            title=f"split {k + 1} of {splits}: " if splits > 1 else "",
        )
        found.append(each)
    first = found[0]
    return TableComparison(training, first, _mean_audit(found), _all_notes(found))


def _mean_audit(found: Sequence[ThreeClassifiers]) -> Audit:
    audits = [each.audit_with_curves for each in found]
    if len(audits) == 1:
        return audits[0]
    return average_splits(audits, overlap=found[0].split.n_test / found[0].split.n_train)


def _all_notes(found: Sequence[ThreeClassifiers]) -> tuple[str, ...]:
    """The notes of all splits, each once."""
    about_splits = dict.fromkeys(note for each in found for note in each.split.notes())
    return (*about_splits, *FitNotes.joined(each.warned for each in found).sentences())

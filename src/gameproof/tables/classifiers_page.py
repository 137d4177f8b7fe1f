"""The page of three classifiers on a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gameproof.auditing.audit_page import write_audit
from gameproof.auditing.audit_result import Audit
from gameproof.auditing.radius_section import which_radius
from gameproof.tables.three_classifiers import ThreeClassifiers
from gameproof.tables.training_table import TrainingTable


def write_classifiers_page(
    path: str | Path,
    audit: Audit,
    training: TrainingTable,
    classifiers: ThreeClassifiers,
    settings: Mapping[str, Any],
    command: str,
    notes: Sequence[str] = (),
) -> None:
    """Writes the page of three classifiers, with the curve that the radius was chosen from."""
    target, source = training.plan.target, training.table.source
    chosen = None
    if (curve := classifiers.radius_curve) is not None:
        label = curve.measure.label
        rows = classifiers.rows_for_choice
        reason = f"{classifiers.radius_reason} It was chosen on {rows:,} training rows."
        chosen = which_radius(curve.rows(), curve.recommended, reason, label)
    digests = {source: training.table.digest} if training.table.digest else {}
    write_audit(
        path,
        audit,
        f"{target.name} = {target.favourable}: three classifiers, gamed",
        subtitle=f"{source}: {training.n:,} rows; budgets: {training.budgets.describe()}",
        radius=chosen,
        command=command,
        seed=classifiers.settings.seed,
        data={**digests, "the rows": training.fingerprint},
        settings={
            **{name.replace("_", " "): value for name, value in settings.items()},
            "use of the columns": "; ".join(line.strip() for line in training.lines()[1:]),
        },
        notes=notes,
    )

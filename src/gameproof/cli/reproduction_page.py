"""The page of ``gameproof reproduce``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gameproof.paper.experiment_study import ExperimentStudy


def write_reproduction_page(
    path: Path, studies: Sequence[ExperimentStudy], note: str, command: str
) -> None:
    """Writes the claims of all studies with their verdicts, and the figures of each."""
    from gameproof.auditing.page import write_page
    from gameproof.auditing.provenance import provenance
    from gameproof.auditing.reproduction_sections import reproduction_sections
    from gameproof.paper.experiments import EXPERIMENTS

    claims = [{"experiment": s.name, **found.row()} for s in studies for found in s.judged]
    experiments = [
        {
            "name": study.name,
            "title": EXPERIMENTS[study.name],
            "notes": study.notes,
            "figures": [figure for _, figure in study.figures],
        }
        for study in studies
    ]
    write_page(
        path,
        "The paper's experiments, reproduced",
        reproduction_sections(claims, experiments),
        provenance(command=command, settings={s.name: f"{s.seeds} seeds" for s in studies}),
        subtitle=note,
    )

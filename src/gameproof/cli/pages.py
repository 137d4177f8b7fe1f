"""What the commands found, as pages."""

from __future__ import annotations

import argparse
import hashlib
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gameproof.auditing.audit_result import Audit
    from gameproof.cli.audit_input import Case
    from gameproof.cli.table_options import People
    from gameproof.cli.training import Trained
    from gameproof.paper.study import Study
    from gameproof.tables.budget_learning.learned_budgets import LearnedBudgets
    from gameproof.tables.table import Table


def command_line(options: argparse.Namespace) -> str:
    """What was typed."""
    return shlex.join(["gameproof", *options.typed])


def write_people_page(
    path: Path,
    people: People,
    rows: Audit,
    settings: Mapping[str, Any],
    found: Trained,
    options: argparse.Namespace,
) -> None:
    """The page of ``fit`` and ``compare``; `found` is what the first split gave."""
    from gameproof.auditing.audit_page import write_audit
    from gameproof.auditing.radius_section import which_radius

    target = people.plan.target
    chosen = None
    if (curve := found.curve) is not None:
        chosen = which_radius(curve.rows(), curve.recommended, found.why)
    write_audit(
        path,
        rows,
        f"{target.name} = {target.favourable}: three classifiers, gamed",
        subtitle=f"{people.table.source}: {len(people.data):,} rows; budgets: "
        f"{people.budgets.describe()}",
        radius=chosen,
        command=command_line(options),
        seed=options.seed,
        data={people.table.source: people.table.digest, "the rows": people.fingerprint},
        settings={
            **{name.replace("_", " "): value for name, value in settings.items()},
            "what became of the columns": "; ".join(line.strip() for line in people.lines()[1:]),
        },
        notes=found.notes,
    )


def write_audit_page(path: Path, rows: Audit, case: Case, options: argparse.Namespace) -> None:
    """The page of ``audit``."""
    from gameproof.auditing.audit_page import write_audit

    write_audit(
        path,
        rows,
        f"Audit of {options.model.name}",
        subtitle=case.what,
        command=command_line(options),
        data={str(options.model): _digest(options.model), **case.digests},
        notes=case.notes,
    )


def write_reproduction_page(
    path: Path, studies: Sequence[Study], note: str, options: argparse.Namespace
) -> None:
    """The page of ``reproduce``."""
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
        "The paper's experiments, again",
        reproduction_sections(claims, experiments),
        provenance(
            command=command_line(options), settings={s.name: f"{s.seeds} seeds" for s in studies}
        ),
        subtitle=note,
    )


def write_budgets_page(
    path: Path, found: LearnedBudgets, tables: Sequence[Table], options: argparse.Namespace
) -> None:
    """The page of ``learn``."""
    from gameproof.auditing.page import write_page
    from gameproof.auditing.provenance import provenance
    from gameproof.tables.budget_learning.moves_page import WEAK, moves_sections, moves_tiles

    data = {table.source: table.digest for table in tables}
    if options.model:
        data[str(options.model)] = _digest(options.model)
    write_page(
        path,
        "What people changed, and the budgets that follow",
        moves_sections(found),
        provenance(command=command_line(options), seed=options.seed, data=data),
        subtitle=" and ".join(table.source for table in tables),
        tiles=moves_tiles(found),
        notes=[*([WEAK] if found.evidence == "unpaired" else []), *found.notes],
    )


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()

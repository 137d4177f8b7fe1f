"""`write_audit`: the page of an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gameproof.auditing.accuracy_section import accuracy_section, cautions
from gameproof.auditing.audit_result import Audit
from gameproof.auditing.audited_measure import ends, measured
from gameproof.auditing.calibration_section import calibration_section
from gameproof.auditing.cost_section import cost_section
from gameproof.auditing.gaming_section import gaming_section
from gameproof.auditing.group_section import group_section
from gameproof.auditing.metric_rows import GAMED
from gameproof.auditing.metric_types import Metric
from gameproof.auditing.number_format import (
    as_percent,
    listed,
    measure_text,
    percent,
    percent_interval,
)
from gameproof.auditing.page import write_page
from gameproof.auditing.page_model import Section, Tile
from gameproof.auditing.provenance import provenance
from gameproof.auditing.recourse_section import recourse_section
from gameproof.auditing.scale_section import scale_section
from gameproof.auditing.section_parts import at_radius
from gameproof.auditing.threshold_section import threshold_section
from gameproof.auditing.weak_columns_section import weak_columns_section
from gameproof.auditing.worst_case_section import worst_case_section
from gameproof.core.arguments import shown


def write_audit(
    path: str | Path,
    audit: Audit,
    title: str = "",
    *,
    subtitle: str = "",
    radius: Section | None = None,
    command: str = "",
    seed: int | None = None,
    data: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Writes an audit as one self-contained HTML file.

    Parameters
    ----------
    path : str or Path
        The file to write; an existing file is replaced completely or not at all.
    audit : Audit
        The result of `audit`, `compare_models` or `average_splits`.
    title : str, optional
        The title of the page.
    subtitle : str, optional
        A line below the title.
    radius : Section, optional
        The section of `which_radius`, if a radius was chosen.
    command : str, optional
        The command that made the audit.
    seed : int, optional
        The seed that was used.
    data : mapping of str to str, optional
        Fingerprints of files by name.
    settings : mapping, optional
        Other settings by name. Budgets, power and label cost are always shown.
    notes : sequence of str, optional
        What readers should know first. The audit's own cautions are added.

    Raises
    ------
    TypeError
        If `audit` is not an `Audit`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import gameproof as gp
    >>> X, y = gp.synthetic_people(n=300, d=4, seed=0)
    >>> found = gp.audit(gp.LinearModel([1.0, 1.0, 1.0, 1.0]), X, y, budgets=[0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "audit.html")
    ...     gp.write_audit(path, found, "My audit")
    ...     "<h1>My audit</h1>" in path.read_text(encoding="utf-8")
    True
    """
    if not isinstance(audit, Audit):
        raise TypeError(
            f"audit must be an Audit, got {shown(audit)}; call write_audit(path, audit)"
        )
    chosen = {
        "budgets": ", ".join(filter(None, (audit.budgets.describe(), audit.why_budgets))),
        "gaming power expected": ", ".join(filter(None, (f"{audit.power:g}", audit.why_power))),
        "label cost": ", ".join(filter(None, (f"{audit.label_cost:g}", audit.why_label_cost))),
        **(settings or {}),
    }
    people = {**(data or {}), "the people": audit.fingerprint}
    write_page(
        path,
        title or f"Audit of {listed(audit.models)}",
        audit_sections(audit, radius),
        provenance(command=command, seed=seed, data=people, settings=chosen),
        subtitle=subtitle,
        verdict=audit.verdict.sentence,
        warnings=audit.verdict.warnings,
        tiles=audit_tiles(audit),
        notes=[*notes, *cautions(audit)],
    )


def audit_sections(audit: Audit, radius: Section | None = None) -> list[Section]:
    """The sections that apply to the audit, in order.

    Numbers that depend on the scale of the scores come last, in a collapsed section.
    """
    sections = (
        accuracy_section(audit),
        gaming_section(audit),
        cost_section(audit),
        threshold_section(audit),
        calibration_section(audit),
        weak_columns_section(audit),
        group_section(audit),
        recourse_section(audit),
        worst_case_section(audit),
        radius,
        scale_section(audit),
    )
    return [section for section in sections if section is not None]


def _areas(audit: Audit, name: str) -> list[Metric]:
    """The areas under the curve of a model, clean and gamed."""
    rows: list[Metric] = audit.of(audit.metrics, name)
    return [row for row in rows if (row.metric, row.group) == ("auc", None)]


def audit_tiles(audit: Audit) -> list[Tile]:
    """Key numbers of the subject, for the top of the page."""
    name = audit.subject
    (good,) = audit.of(audit.quality, name)
    tiles = []
    if len(audit.models) > 1:
        said = "recommended" if audit.verdict.model else "not recommended"
        tiles.append(Tile("these numbers are of", name, said))
    cases = {"nobody games": 0.0, **({"budgets used": GAMED} if audit.movable else {})}
    if audit.measure.name not in ("accuracy", "auc"):
        for when, multiple in cases.items():
            row = measured(audit, name, multiple)
            value, span = measure_text(row.value), f"95 % interval {ends(row.low, row.high)}"
            tiles.append(Tile(f"{audit.measure.spoken}, {when}", value, span))
    tiles += [
        Tile(
            f"AUC, {when}",
            f"{row.value:.3f}",
            f"95 % interval {row.low:.3f} to {row.high:.3f}",
        )
        for row, when in zip(_areas(audit, name), cases, strict=False)
    ]
    tiles.append(Tile("right, nobody games", percent(good.accuracy), percent_interval(good)))
    if audit.movable:
        shown = audit.at(name, 1.0)
        tiles.append(Tile("right, budgets used", percent(shown.accuracy), percent_interval(shown)))
        tiles.append(
            Tile(
                "accepted, should be refused",
                percent(shown.accepted_negative),
                f"budgets used; {percent(good.accepted_negative)} when nobody games",
            )
        )
    if audit.radius != 0 and (worst := at_radius(audit, name)) is not None:
        note = "and budgets used" if audit.movable else "nobody games"
        fitted_for = audit.radius if name == audit.models[-1] else None
        own = "the model's radius" if fitted_for == worst.radius else "radius"
        label = f"right at worst, {own} {worst.radius:.3g}"
        tiles.append(Tile(label, percent(worst.accuracy), note))
    weak = audit.of(audit.weaknesses, name)
    if weak and weak[0].share is not None and as_percent(weak[0].gained):
        tiles.append(
            Tile("weakest spot", weak[0].feature, f"{percent(weak[0].share)} of what gaming gains")
        )
    return tiles

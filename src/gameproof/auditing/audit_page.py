"""From the rows of an audit to its page, and from the findings of experiments to theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from gameproof.auditing.accuracy_section import accuracy_section, cautions
from gameproof.auditing.audit_result import Audit
from gameproof.auditing.gaming_section import gaming_section
from gameproof.auditing.number_format import listed, p_value, percent, percent_interval, survival
from gameproof.auditing.page import write_page
from gameproof.auditing.page_model import Chart, Column, Section, Table, Tile
from gameproof.auditing.provenance import provenance
from gameproof.auditing.recourse_section import recourse_section, weak_columns_section
from gameproof.auditing.scale_section import scale_section
from gameproof.auditing.section_parts import at_radius
from gameproof.auditing.worst_case_section import cost_section, worst_case_section
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
    """Writes an audit, of one model or of several, as one HTML file that needs nothing else.

    radius
        What `which_radius` made, where a radius was chosen.
    command, seed, data, settings
        For the part on how it was made: what was typed, what was drawn, fingerprints of files by
        name, and other settings by name. What the audit knows itself need not be given.
    notes
        For the top of the page: what is to be known before it is read. Cautions of the audit's own
        are added, such as that rows are few.
    """
    if not isinstance(audit, Audit):
        raise TypeError(f"write_audit takes a path and then an Audit, got {shown(audit)}")
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
        tiles=audit_tiles(audit),
        notes=[*notes, *cautions(audit)],
    )


def audit_sections(audit: Audit, radius: Section | None = None) -> list[Section]:
    """Those that have something to say, in the order in which they are asked; what depends on the
    scale of the scores comes last, and is closed until it is opened."""
    provenance = (
        accuracy_section(audit),
        gaming_section(audit),
        worst_case_section(audit),
        cost_section(audit),
        weak_columns_section(audit),
        recourse_section(audit),
        radius,
        scale_section(audit),
    )
    return [section for section in provenance if section is not None]


def audit_tiles(audit: Audit) -> list[Tile]:
    """A few numbers on the model in question, for those who read no further."""
    name = audit.models[-1]
    (good,) = audit.of(audit.quality, name)
    tiles = [Tile("right, nobody games", percent(good.accuracy), percent_interval(good))]
    if audit.movable:
        shown = audit.at(name, 1.0)
        tiles.append(Tile("right, budgets used", percent(shown.accuracy), percent_interval(shown)))
        tiles.append(
            Tile(
                "of those who should be refused, accepted",
                percent(shown.accepted_negative),
                f"budgets used; {percent(good.accepted_negative)} where nobody games",
            )
        )
    if (worst := at_radius(audit, name)) is not None:
        note = "and budgets used" if audit.movable else "nobody games"
        own = "the model's radius" if audit.radius == worst.radius else "radius"
        label = f"right at worst, {own} {worst.radius:.3g}"
        tiles.append(Tile(label, percent(worst.accuracy), note))
    weak = audit.of(audit.weaknesses, name)
    if weak and weak[0].share is not None:
        tiles.append(
            Tile("weakest spot", weak[0].feature, f"{percent(weak[0].share)} of what gaming gains")
        )
    return tiles


def reproduction_sections(
    claims: Sequence[Mapping[str, Any]], experiments: Sequence[Mapping[str, Any]]
) -> list[Section]:
    """The page of experiments.

    claims
        Rows with text, measure, effect, low, high, border, verdict, p, p_adjusted, survives and
        experiment.
    experiments
        Each with a name, a title, notes, and figures as panels of charts.
    """
    # On a telephone the first two columns are in sight without scrolling.
    columns = [
        Column("claim"),
        Column("verdict", "verdict"),
        *(Column(name) for name in ("survives correction", "experiment", "measure")),
        *(Column(name, "number") for name in ("effect", "95 % from", "to", "border")),
        *(Column(name) for name in ("p", "adjusted p")),
    ]
    names = ("text", "verdict", "survives", "experiment", "measure")
    numbered = ("effect", "low", "high", "border", "p", "p_adjusted")
    verdicts = [claim["verdict"] for claim in claims]
    counted = {word: verdicts.count(word) for word in ("holds", "does not hold", "undecided")}
    surviving = sum(claim["survives"] for claim in claims)
    finding = (
        f"Of {len(claims)} checks of claims, {counted['holds']} hold, "
        f"{counted['does not hold']} do not, and {counted['undecided']} are undecided; "
        f"{surviving} of the verdicts survive the correction for the number of claims."
    )
    notes = [
        "A claim holds, or does not, where all of its 95 % interval is on one side of the border.",
        "The correction is Holm's step-down procedure on two-sided p-values, over all claims of "
        "all experiments that are finished in the same folder: the chance that even one surviving "
        "verdict is due to chance is at most 5 %.",
    ]
    written = [{**claim, **_as_words(claim)} for claim in claims]
    table = Table(
        "claims", columns, [[claim[name] for name in (*names, *numbered)] for claim in written]
    )
    first = Section("What became of the claims?", finding, tables=[table], notes=notes, open=True)
    return [first, *(_experiment(each) for each in experiments)]


def _as_words(claim: Mapping[str, Any]) -> dict[str, str]:
    """Of a claim: whether its verdict survives, and p-values to two digits."""
    return {
        "survives": survival(claim["verdict"], claim["survives"]),
        "p": p_value(claim["p"]),
        "p_adjusted": p_value(claim["p_adjusted"]),
    }


def _experiment(found: Mapping[str, Any]) -> Section:
    """The first note is the finding; every chart has its numbers in a table."""
    notes = list(found.get("notes", ()))
    charts = [chart for figure in found["figures"] for chart in figure.charts]
    return Section(
        f"{found['name']}: {found['title']}",
        notes[0] if notes else "",
        notes=notes[1:],
        panels=found["figures"],
        tables=[numbers(chart) for chart in charts],
    )


def numbers(chart: Chart) -> Table:
    """What a chart of lines shows: a row for each x, a column for each line."""
    caption = f"{chart.y_label} by {chart.x_label}, {chart.title}"
    columns = [Column(chart.x_label, "number")]
    columns += [Column(series.name, "interval") for series in chart.series]
    found = [dict(zip(s.x, zip_longest(s.y, s.low, s.high), strict=True)) for s in chart.series]
    places = sorted({x for series in found for x in series})
    rows = [[x, *(series.get(x) for series in found)] for x in places]
    return Table(caption, columns, rows)

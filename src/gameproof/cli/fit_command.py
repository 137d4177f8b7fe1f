"""``gameproof fit``: from a table to a model that holds up, beside two that do not."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from gameproof.cli.console import Console
from gameproof.cli.options import GIVEN, Help
from gameproof.cli.outputs import add_force, add_report, make_sure
from gameproof.cli.results import budget_lines, scale_lines, worst_lines
from gameproof.cli.table_options import add_meaning, add_table, gather
from gameproof.cli.training import ROBUST, add_training, trained

if TYPE_CHECKING:
    from gameproof.auditing.audit_result import Audit
    from gameproof.cli.table_options import People
    from gameproof.cli.training import Trained

EXAMPLE = """example:
  gameproof data write people people.csv
  gameproof fit people.csv --target repaid --favourable yes \\
    --movable savings:0..5000,credit_lines,utilisation:-0.2..0 -o model.json --report page.html"""
MORE = "more rows, or a larger --test,"  # what to do where test rows are few
SETTINGS = ("radius", "why_this_radius", "power", "label_cost", "rows_trained", "rows_tested")


def add_parser(words: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """``fit``."""
    parser = words.add_parser(
        "fit",
        parents=[shared],
        help="fit a robust classifier to a table, and compare it",
        description="Fits a classifier that holds up when people game it to a table, compares it "
        "with plain and strategic logistic regression on rows kept apart, and writes it to a file.",
        epilog=EXAMPLE,
        formatter_class=Help,
    )
    add_table(parser)
    add_meaning(parser)
    add_training(parser)
    parser.add_argument(
        "-o", "--out", type=Path, required=True, metavar="MODEL", help="the file for the model"
    )
    add_report(parser)
    add_force(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, console: Console) -> None:
    """Reads the table, fits, compares, writes and prints."""
    make_sure(options.out, options.report, force=options.force, inputs=(options.table,))
    people = gather(options, console)
    found = trained(people, options, console)
    with console.step(f"testing on {len(found.test):,} rows"):
        rows = _audited(found, options)
    made = training_record(found, rows, options)
    written = [f"model: {options.out}"]
    if options.report:
        from gameproof.cli.pages import write_people_page

        settings = {name: made[name] for name in SETTINGS}
        write_people_page(options.report, people, rows, settings, found, options)
        written.append(f"page: {options.report}")
    _save(people, found, made, options)
    record = {
        **people.record(),
        **made,
        "audit": rows.record(),
        "model": str(options.out),
        "report": str(options.report) if options.report else None,
    }
    lines = [*people.lines(), *training_lines(found, rows, made["notes"]), *written]
    console.show("\n".join(lines), record)


def _audited(found: Trained, options: argparse.Namespace) -> Audit:
    """On a grid where there is a page to draw, else only what the summary shows."""
    if options.report:
        from gameproof.auditing.audit import POWERS, RADII

        return found.audit(options, POWERS, RADII)
    return found.audit(options, (), ())


def training_lines(found: Trained, rows: Audit, notes: Sequence[str]) -> list[str]:
    """What was fitted, and how it does."""
    model = found.models[ROBUST]
    return [
        f"learned from {len(found.train):,} rows, tested on {len(found.test):,}",
        radius_line(found.radius, found.why),
        *(f"note: {note}" for note in notes),
        *budget_lines(rows),
        *worst_lines(rows, found.radius),
        *scale_lines(rows, [rows.power], found.radius),
        f"  worst-case log loss on the rows learned from: {model.worst_case_risk_:.4f}",
    ]


def radius_line(radius: float, why: str) -> str:
    """The radius and why this one; a reason is a sentence of several lines."""
    line = f"radius {radius:.3g}, as given" if why == GIVEN else f"radius: {why}"
    return fill(line, 96, subsequent_indent="  ", break_long_words=False)


def accuracies(rows: Audit, radius: float) -> dict[str, dict[str, float]]:
    """Of each classifier: where nobody moves, where those who should be refused use their budgets,
    and at worst where data is inaccurate by the radius as well."""
    return {
        name: {what: row.accuracy for what, row in _shown(rows, radius, name).items()}
        for name in rows.models
    }


def _intervals(rows: Audit, radius: float) -> dict[str, dict[str, tuple[float, float]]]:
    """The intervals of the accuracies."""
    return {
        name: {what: (row.low, row.high) for what, row in _shown(rows, radius, name).items()}
        for name in rows.models
    }


def _shown(rows: Audit, radius: float, name: str) -> dict[str, Any]:
    (worst,) = [row for row in rows.of(rows.shifts, name) if row.radius == radius]
    used = rows.at(name, 1.0 if rows.movable else 0.0)
    return {"clean": rows.at(name, 0.0), "gamed": used, "worst_case": worst}


def training_record(found: Trained, rows: Audit, options: argparse.Namespace) -> dict[str, Any]:
    """The same for machines, and for the model's file."""
    from gameproof.auditing.accuracy_section import cautions

    return {
        "rows_trained": len(found.train),
        "rows_tested": len(found.test),
        "seed": options.seed,
        "power": options.power,
        "label_cost": options.label_cost,
        "radius": found.radius,
        "why_this_radius": found.why,
        "worst_case_risk": found.models[ROBUST].worst_case_risk_,
        "accuracy": accuracies(rows, found.radius),
        "intervals": _intervals(rows, found.radius),
        "notes": [*found.notes, *cautions(rows, MORE)],
    }


def _save(
    people: People, found: Trained, made: dict[str, Any], options: argparse.Namespace
) -> None:
    from gameproof.cli.pages import command_line
    from gameproof.tables.table_model import TableModel

    training = {**people.record(), **made, "command": command_line(options)}
    TableModel(people.plan, found.prepare, found.models[ROBUST], training).save(options.out)

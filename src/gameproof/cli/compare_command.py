"""``gameproof compare``: three classifiers on the same rows of a table."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gameproof.cli.audit_command import POWERS_SHOWN
from gameproof.cli.console import Console
from gameproof.cli.fit_command import MORE, radius_line
from gameproof.cli.options import Help, whole
from gameproof.cli.outputs import add_force, add_report, make_sure
from gameproof.cli.results import budget_lines, lead_lines, scale_lines, worst_lines
from gameproof.cli.table_options import add_meaning, add_table, gather
from gameproof.cli.training import add_training, trained

if TYPE_CHECKING:
    from gameproof.auditing.audit_result import Audit

EXAMPLE = """example:
  gameproof compare people.csv --target repaid --favourable yes \\
    --movable savings:0..5000,credit_lines,utilisation:-0.2..0 --splits 10"""


def add_parser(words: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """``compare``."""
    parser = words.add_parser(
        "compare",
        parents=[shared],
        help="three classifiers on the same rows of a table",
        description="Fits plain logistic regression, strategic logistic regression and the robust "
        "classifier to the same rows, and tests them on the others where people game them.",
        epilog=EXAMPLE,
        formatter_class=Help,
    )
    add_table(parser)
    add_meaning(parser)
    add_training(parser)
    parser.add_argument(
        "--splits",
        type=whole(1),
        default=1,
        metavar="N",
        help="means and intervals over so many splits (%(default)s)",
    )
    add_report(parser)
    add_force(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, console: Console) -> None:
    """Fits all three models on every split and prints the comparison."""
    from gameproof.auditing.accuracy_section import cautions
    from gameproof.auditing.audit import POWERS, RADII
    from gameproof.auditing.average_splits import average_splits

    make_sure(options.report, force=options.force, inputs=(options.table,))
    people = gather(options, console)
    audits: list[Audit] = []
    notes: list[str] = []
    radius = None
    for k in range(options.splits):
        if options.splits > 1:
            console.say(f"split {k + 1} of {options.splits}")
        each = trained(people, options, console, seed=options.seed + k, radius=radius)
        if k == 0:
            found = each
            # One radius for all splits: their mean is about one classifier.
            radius = found.radius
        notes += [note for note in each.notes if note not in notes]
        audits.append(each.audit(options, POWERS, RADII))
    found = replace(found, notes=notes)
    overlap = len(found.test) / len(found.train)
    rows = audits[0] if options.splits == 1 else average_splits(audits, overlap=overlap)
    written = []
    if options.report:
        from gameproof.cli.pages import write_people_page

        settings = {"radius": found.radius, "splits": options.splits}
        write_people_page(options.report, people, rows, settings, found, options)
        written.append(f"page: {options.report}")
    notes = [*notes, *cautions(rows, MORE)]  # a page finds these itself
    lines = [
        *people.lines(),
        f"learned from {len(found.train):,} rows, tested on {len(found.test):,}",
        radius_line(found.radius, found.why),
        *(f"note: {note}" for note in notes),
        *budget_lines(rows),
        *lead_lines(rows),
        *worst_lines(rows, found.radius),
        *scale_lines(rows, sorted({*POWERS_SHOWN, rows.power}), found.radius),
        *written,
    ]
    made = {"radius": found.radius, "why_this_radius": found.why, "notes": notes}
    record = {**people.record(), **made, "audit": rows.record()}
    console.show("\n".join(lines), record)

"""``gameproof audit``: what becomes of a model in use when people game it and data is off."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from textwrap import fill
from typing import TYPE_CHECKING, Any

from gameproof.cli.cases import Case, opened
from gameproof.cli.console import Console
from gameproof.cli.options import Help, model_file, number
from gameproof.cli.outputs import add_force, add_report, make_sure
from gameproof.cli.people import add_meaning, add_table, name_of
from gameproof.data.naming import quoted

if TYPE_CHECKING:
    from gameproof.report.audit import Audit

EXAMPLE = """examples:
  gameproof audit model.json people.csv --report page.html
  gameproof audit in_use.skops people.csv --target repaid --favourable yes \\
    --movable savings,credit_lines"""
POWERS_SHOWN = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0)
RADII_SHOWN = (0.0, 0.02, 0.04, 0.1, 0.2, 0.3)


def add_parser(words: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """``audit``."""
    parser = words.add_parser(
        "audit",
        parents=[shared],
        help="what gaming does to a model that is in use",
        description="Tells how the accuracy of a linear classifier falls with the power to game it "
        "and with data that is off, which features are worth gaming and what that costs, and who "
        "is hurt. The model is one of gameproof, or a linear one of scikit-learn saved by skops.",
        epilog=EXAMPLE,
        formatter_class=Help,
    )
    parser.add_argument(
        "model", type=model_file, metavar="MODEL", help="what fit wrote, or a skops file"
    )
    add_table(parser)
    add_meaning(parser, known=True)
    parser.add_argument(
        "--power",
        type=number(0),
        metavar="Z",
        help="the gaming to expect (what the model was fitted for; where that is not known, 0.05)",
    )
    parser.add_argument(
        "--label-cost",
        type=number(0, infinite=True),
        metavar="K",
        help="what it costs to flip a favourable label; inf if labels are sure (what the model was "
        "fitted for; where that is not known, 0.5)",
    )
    add_report(parser)
    add_force(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, console: Console) -> None:
    """Reads both, audits, tells."""
    from gameproof.report.audit import RADII, audit
    from gameproof.report.model import LinearModel
    from gameproof.report.on_accuracy import cautions

    make_sure(options.report, force=options.force, inputs=(options.model, options.table))
    with console.step(f"reading {options.model} and {name_of(options.table)}"):
        case = opened(options)
    with console.step(f"auditing on {case.y.size:,} rows"):
        rows = audit(
            LinearModel(case.coef, case.intercept, case.names, options.model.name),
            case.X,
            case.y,
            movable=case.movable,
            radii=[*RADII, case.radius or 0.0],
            label_cost=case.label_cost,
            power=case.power,
            scale=case.scale,
        )
        rows = replace(
            rows,
            radius=case.radius,
            outcomes=case.outcomes,
            why_power=case.why_power,
            why_label_cost=case.why_label_cost,
            learned_from=case.learned_from,
        )
    written = []
    if options.report:
        from gameproof.cli.pages import write_audit_page

        write_audit_page(options.report, rows, case, options)
        written.append(f"page: {options.report}")
    notes = [*case.notes, *cautions(rows)]
    lines = [*audit_lines(rows, case, notes), *written]
    console.show("\n".join(lines), {**rows.record(), "notes": notes})


def audit_lines(rows: Audit, case: Case, notes: Sequence[str]) -> list[str]:
    """What was found, to be read."""
    (good,) = rows.quality
    gaming = {row.power: row.accuracy for row in rows.gaming}
    shifts = {row.radius: row.accuracy for row in rows.shifts}
    own = f" (the model's own is {rows.radius:.3g})" if rows.radius else ""
    gamed = f"and at worst, gamed with power {rows.power:g} and" if rows.games else "at worst, with"
    free = "" if rows.label_cost else "; favourable labels turn for nothing, at radius 0 as well"
    lines = [
        case.what,
        f"gaming power to expect: {rows.power:g}, {rows.why_power}"
        if rows.movable
        else "nothing can be moved, so nobody games it",
        f"label cost: {rows.label_cost:g}, {rows.why_label_cost}{free}",
        *(f"note: {note}" for note in notes),
        f"right in {good.accuracy:.3f} of {good.n:,} rows (95% from {good.low:.3f} to "
        f"{good.high:.3f}); deciding all alike: {good.majority:.3f}",
    ]
    if rows.movable:
        lines.append("accuracy where people game it, by their power:")
        lines.append(_line("power", {p: gaming[p] for p in shown_powers(rows)}))
    lines += [
        f"{gamed} data off by a radius{own}:",
        _line("radius", {r: shifts[r] for r in sorted({*RADII_SHOWN, rows.radius or 0.0})}),
    ]
    lines += _weakness_lines(rows, case) if rows.weaknesses else []
    from gameproof.report.words import hundredths

    whom = {1: f"burden on those with {quoted(case.favourable)}", -1: "recourse of the others"}
    for hurt in rows.hurt:
        far = "; nothing they can change helps" if hurt.refused else ""
        if hurt.q50 is not None:
            far = f"; it takes {hurt.q50:.2f} deviations in the median"
        lines.append(f"{whom[hurt.label]}: {hundredths(hurt.refused):.1f}% are refused{far}")
    return lines


def shown_powers(rows: Audit) -> list[float]:
    """Those that a terminal has room for; where nothing can be moved, all are alike."""
    return sorted({*POWERS_SHOWN, rows.power}) if rows.movable else [0.0]


def _weakness_lines(rows: Audit, case: Case) -> list[str]:
    """A line for each feature that can be gamed, what gains most first."""
    if rows.quality[-1].idle:
        return ["gaming gains nothing: the model gives no weight to what can be moved"]
    width = max(len(quoted(row.feature)) for row in rows.weaknesses)
    power = f" with power {rows.power:g}" if rows.games else ""
    cost = ", the accuracy it costs" if rows.games else ""
    head = (
        f"features worth gaming, each alone{power}: its share of what gaming gains{cost}, and the "
        "step that takes the median refused person across, in deviations and in the table's units"
    )
    lines = [fill(head, 104)]
    for row in rows.weaknesses:
        needed = "no step helps"
        if row.needed is not None and row.needed_scaled is not None:
            told = f"{row.needed:+.4g}"
            if case.in_table is not None:
                told = case.in_table(row.feature, row.needed)
            needed = f"{row.needed_scaled:5.2f}   {told}"
        lost = f"  {row.loss:7.3f}" if rows.games else ""
        share = 100 * (row.share or 0.0)
        lines.append(f"  {quoted(row.feature):{width}s} {share:5.0f}%{lost}  {needed}")
    return lines


def _line(head: str, numbers: dict[float, float]) -> str:
    top = f"  {head:9s}" + "".join(f"{number:>8.3g}" for number in numbers)
    return top + "\n" + " " * 11 + "".join(f"{value:8.3f}" for value in numbers.values())

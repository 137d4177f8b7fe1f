"""``gameproof audit``: what becomes of a model in use when people game it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gameproof.cli.audit_input import Case, opened
from gameproof.cli.console import Console
from gameproof.cli.options import Help, model_file, number
from gameproof.cli.outputs import add_force, add_report, make_sure
from gameproof.cli.results import add_costs, budget_lines, scale_lines, wrapped
from gameproof.cli.table_options import add_meaning, add_table, name_of
from gameproof.core.naming import quoted

if TYPE_CHECKING:
    from gameproof.auditing.audit_result import Audit

EXAMPLE = """examples:
  gameproof audit model.json people.csv --report page.html
  gameproof audit in_use.skops people.csv --target repaid --favourable yes \\
    --movable savings:0..5000,credit_lines"""
POWERS_SHOWN = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0)
RADII_SHOWN = (0.0, 0.02, 0.04, 0.1, 0.2, 0.3)


def add_parser(words: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """``audit``."""
    parser = words.add_parser(
        "audit",
        parents=[shared],
        help="what gaming does to a model that is in use",
        description="Reports what is left of the accuracy of a linear classifier when people "
        "change what they can, and when data is inaccurate; which columns are the weak spot, and "
        "who is hurt. The model is one of gameproof, or a linear one of scikit-learn saved by "
        "skops.",
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
        help="the gaming to expect, for the secondary numbers (what the model was fitted for; "
        "where that is not known, 0.05)",
    )
    parser.add_argument(
        "--label-cost",
        type=number(0, infinite=True),
        metavar="K",
        help="what it costs to flip a favourable label; inf if labels are sure (what the model was "
        "fitted for; where that is not known, 0.5)",
    )
    add_costs(parser)
    add_report(parser)
    add_force(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, console: Console) -> None:
    """Reads the model and the table, audits and prints."""
    from gameproof.auditing.accuracy_section import cautions
    from gameproof.auditing.audit import RADII, audit
    from gameproof.auditing.linear_model import LinearModel

    make_sure(options.report, force=options.force, inputs=(options.model, options.table))
    with console.step(f"reading {options.model} and {name_of(options.table)}"):
        case = opened(options)
    with console.step(f"auditing on {case.y.size:,} rows"):
        rows = audit(
            LinearModel(case.coef, case.intercept, case.names, options.model.name),
            case.X,
            case.y,
            budgets=case.budgets,
            prepare=case.prepare,
            cost_accept_bad=options.cost_accept_bad,
            cost_refuse_good=options.cost_refuse_good,
            radii=[*RADII, case.radius or 0.0],
            label_cost=case.label_cost,
            power=case.power,
            scale=case.scale,
        )
        rows = replace(
            rows,
            radius=case.radius,
            outcomes=case.outcomes,
            why_budgets=case.why_budgets,
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
    least = {row.radius: row for row in rows.shifts}
    radii = sorted({*RADII_SHOWN, rows.radius or 0.0})
    own = f" (the model's own is {rows.radius:.3g})" if rows.radius else ""
    free = "" if rows.label_cost else "; favourable labels turn for nothing, at radius 0 as well"
    used = " after people used their budgets" if rows.movable else ""
    budgets = rows.budgets.by_column().items()
    lines = [
        case.what,
        f"movable, {rows.why_budgets}:"
        if budgets
        else "nothing can be changed, so nobody games it",
        *(f"  {quoted(name)}: {budget}" for name, budget in budgets),
        f"label cost: {rows.label_cost:g}, {rows.why_label_cost}{free}",
        *(f"note: {note}" for note in notes),
        f"right in {good.accuracy:.3f} of {good.n:,} rows (95% from {good.low:.3f} to "
        f"{good.high:.3f}); AUC {good.auc:.3f}",
        *budget_lines(rows),
        f"worst-case accuracy by radius{own}{used}:",
        "  radius   " + "".join(f"{radius:>8.3g}" for radius in radii),
        "           " + "".join(f"{least[radius].accuracy:8.3f}" for radius in radii),
        *_weakness_lines(rows),
        *_hurt_lines(rows, case),
    ]
    powers = sorted({*POWERS_SHOWN, rows.power})
    more = [f"  gaming power to expect: {rows.power:g}, {rows.why_power}"] if rows.movable else []
    return [*lines, *scale_lines(rows, powers), *more]


def _hurt_lines(rows: Audit, case: Case) -> list[str]:
    from gameproof.auditing.number_format import as_percent
    from gameproof.auditing.recourse_section import times_budgets

    whom = {1: f"good applicants ({quoted(case.favourable)})", -1: "bad applicants"}
    lines = []
    for hurt in rows.hurt:
        line = f"{whom[hurt.label]} refused: {as_percent(hurt.refused):.1f}%"
        if rows.movable and hurt.refused and rows.quality[-1].idle:
            line += "; nothing they can change helps"
        elif rows.movable and hurt.within is not None:
            line += f"; {as_percent(hurt.within):.1f}% of these get accepted within their budgets, "
            line += f"half need {times_budgets(hurt.q50)}"
        lines.append(line)
    return lines


def _weakness_lines(rows: Audit) -> list[str]:
    """A line for each column that can be changed, what gains most first."""
    if not rows.weaknesses:
        return []
    if rows.quality[-1].idle:
        return ["gaming gains nothing: the model gives no weight to what people can change"]
    width = max(len(quoted(row.feature)) for row in rows.weaknesses)
    head = (
        "weak spots, the budget of each column alone: its share of the gain in score, the accuracy "
        "it costs, and the bad applicants it gets approved"
    )
    lines = [wrapped(head)]
    for row in rows.weaknesses:
        share, before = 100 * (row.share or 0.0), row.accepted_negative - row.gained
        lines.append(
            f"  {quoted(row.feature):{width}s} {share:5.0f}%  {row.loss:7.3f}   "
            f"from {before:.3f} to {row.accepted_negative:.3f}"
        )
    return lines

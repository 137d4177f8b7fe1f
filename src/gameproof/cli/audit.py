"""``gameproof audit``: what becomes of a model in use when people game it and data is off."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from gameproof.cli.console import Console
from gameproof.cli.outputs import add_force, add_report, make_sure
from gameproof.cli.people import add_meaning, add_table, names, require_both

if TYPE_CHECKING:
    from gameproof.classify.foreign import Foreign
    from gameproof.classify.table import TableModel
    from gameproof.data.reading import Table
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
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="what fit wrote, or a skops file")
    add_table(parser)
    add_meaning(parser, known=True)
    parser.add_argument(
        "--power",
        type=float,
        metavar="Z",
        help="the gaming to expect (what the model was fitted for, or 0.5)",
    )
    parser.add_argument(
        "--label-cost", type=float, metavar="K", help="what it costs to flip a label (0.5)"
    )
    add_report(parser)
    add_force(parser)
    parser.set_defaults(run=run)


@final
@dataclass(frozen=True, eq=False)
class Case:
    """A linear model and people in the columns that it sees."""

    what: str
    coef: Any
    intercept: float
    names: list[str]
    X: Any
    y: Any
    movable: list[int]
    scale: Any
    power: float
    label_cost: float
    favourable: str
    notes: list[str] = field(default_factory=list)
    # A step in a column that the model sees, in the units of the table.
    in_table: Callable[[str, float], str] = lambda name, step: f"{step:+.4g}"


def run(options: argparse.Namespace, console: Console) -> None:
    """Reads both, audits, tells."""
    from gameproof.data.reading import open_table
    from gameproof.report.audit import POWERS, RADII, audit
    from gameproof.report.model import LinearModel

    make_sure(options.report, force=options.force, inputs=(options.model, options.table))
    with console.step(f"reading {options.model} and {options.table}"):
        model = _opened(options.model)
        table = open_table(options.table)
        made = _of_ours if hasattr(model, "plan") else _of_foreign
        case = made(model, table, options)
    with console.step(f"auditing on {case.y.size:,} rows"):
        rows = audit(
            LinearModel(case.coef, case.intercept, case.names, options.model.name),
            case.X,
            case.y,
            movable=case.movable,
            powers=sorted({*POWERS, *POWERS_SHOWN, case.power}),
            radii=sorted({*RADII, *RADII_SHOWN}),
            label_cost=case.label_cost,
            power=case.power,
            scale=case.scale,
        )
    written = []
    if options.report:
        from gameproof.cli.pages import write_audit_page

        write_audit_page(options.report, rows, case, options)
        written.append(f"page: {options.report}")
    record = {**rows.record(), "notes": case.notes}
    console.show("\n".join([*audit_lines(rows, case), *written]), record)


def audit_lines(rows: Audit, case: Case) -> list[str]:
    """What was found, to be read."""
    (good,) = rows.quality
    gaming = {row.power: row.accuracy for row in rows.gaming}
    shifts = {row.radius: row.accuracy for row in rows.shifts}
    lines = [
        case.what,
        *(f"note: {note}" for note in case.notes),
        f"right in {good.accuracy:.3f} of {good.n:,} rows (95% from {good.low:.3f} to "
        f"{good.high:.3f}); deciding all alike: {good.majority:.3f}",
        "accuracy where people game it, by their power:",
        _line("power", {p: gaming[p] for p in sorted({*POWERS_SHOWN, rows.power})}),
        f"and at worst, gamed with power {rows.power:g} and data off by a radius:",
        _line("radius", {r: shifts[r] for r in RADII_SHOWN}),
    ]
    lines += _weakness_lines(rows, case) if rows.weaknesses else []
    whom = {1: f"burden on those with {case.favourable}", -1: "recourse of the others"}
    for hurt in rows.hurt:
        far = "no step helps" if hurt.q50 is None else f"{hurt.q50:.2f} deviations in the median"
        lines.append(f"{whom[hurt.label]}: {100 * hurt.refused:.1f}% are refused; it takes {far}")
    return lines


def _weakness_lines(rows: Audit, case: Case) -> list[str]:
    """A line for each feature that can be gamed, what gains most first."""
    width = max(len(row.feature) for row in rows.weaknesses)
    lines = [
        f"features worth gaming, each alone with power {rows.power:g}: its share of what gaming "
        "gains, the accuracy it",
        "costs, and the step that takes the median refused person across, in deviations and in the "
        "table's units",
    ]
    for row in rows.weaknesses:
        needed = "no step helps"
        if row.needed is not None and row.needed_scaled is not None:
            needed = f"{row.needed_scaled:5.2f}   {case.in_table(row.feature, row.needed)}"
        lines.append(f"  {row.feature:{width}s} {100 * row.share:5.0f}%  {row.loss:7.3f}  {needed}")
    return lines


def _line(head: str, numbers: dict[float, float]) -> str:
    top = f"  {head:9s}" + "".join(f"{number:>8g}" for number in numbers)
    return top + "\n" + " " * 11 + "".join(f"{value:8.3f}" for value in numbers.values())


def _opened(path: Path) -> Any:
    """A model of ours or a foreign one, by what the file holds."""
    from gameproof.classify.foreign import load_foreign
    from gameproof.classify.load import load_table_model
    from gameproof.errors import ModelFileError

    if path.is_dir():
        raise ModelFileError(f"{path} is a folder, expected a model")
    with path.open("rb") as file:
        start = file.read(4)
    if start.startswith(b"PK"):
        return load_foreign(path)
    if start.startswith(b"\x80"):
        raise ModelFileError(
            f"{path} is a pickle, which can run any program when it is opened; save the model with "
            "skops.io.dump instead"
        )
    return load_table_model(path)


def _of_ours(model: TableModel, table: Table, options: argparse.Namespace) -> Case:
    """A model of ours knows what its table means."""
    target = model.plan.target
    for option, own in (("target", target.name), ("favourable", target.favourable)):
        given = getattr(options, option)
        if given is not None and given != own:
            raise ValueError(f"the model's {option} is {own!r}, got --{option} {given}")
    rows, y = target.labels(table)
    require_both(y, target.favourable, target.other)
    Z, unknown = model.prepared(table if rows.size == table.n else table.take(rows))
    movable = model.prepare.movable_.tolist()
    if options.movable is not None:
        chosen = tuple(names(options.movable, table))
        for name in chosen:
            if name not in model.plan.features.names or name in model.plan.features.levels:
                raise ValueError(f"the model has no number {name!r} that could be moved")
        movable = model.moved_by(chosen)
    notes = [f"{name}: {count:,} cells have unknown levels" for name, count in unknown.items()]
    if rows.size < table.n:
        notes.append(f"left out {table.n - rows.size:,} rows without {target.name}")
    fitted_for = float(model.training.get("power", 0.5))
    cost = float(model.training.get("label_cost", 0.5))
    return Case(
        f"{options.model}: {target.name} = {target.favourable}, fitted by gameproof",
        model.classifier.coef_[0],
        float(model.classifier.intercept_[0]),
        model.names,
        Z,
        y,
        movable,
        model.classifier.units_.scale,
        fitted_for if options.power is None else options.power,
        cost if options.label_cost is None else options.label_cost,
        target.favourable,
        notes,
        lambda name, step: _told(model, name, step),
    )


def _told(model: TableModel, name: str, step: float) -> str:
    """For a column of numbers, from its median to where the step leads."""
    from gameproof.data.prepare import Number

    encoders = dict(zip(model.plan.features.names, model.prepare.encoders_, strict=True))
    encoder = encoders.get(name)
    if not isinstance(encoder, Number):
        return ""
    start, end = encoder.after_step(step)
    return f"from the median {_read(start)} to {_read(end)}"


def _read(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"


def _of_foreign(model: Foreign, table: Table, options: argparse.Namespace) -> Case:
    """A model of scikit-learn sees the columns of the table as they are."""
    import numpy as np

    from gameproof.data.labels import Target, same_value
    from gameproof.data.plan import number_columns

    if options.target is None or options.movable is None:
        raise ValueError(
            "a model of scikit-learn does not know what the table means: give --target, "
            "--favourable and --movable"
        )
    target = Target.of(table, options.target, options.favourable, options.rest)
    matching = [c for c in model.classes if same_value(str(c), target.favourable)]
    if len(matching) != 1:
        raise ValueError(
            f"the favourable value is {target.favourable!r}, and the classes of the model are "
            f"{' and '.join(map(str, model.classes))}"
        )
    seen, guessed = number_columns(table, target.name, model.names, model.coef.size)
    rows, y = target.labels(table)
    X = np.column_stack(list(seen.values()))[rows]
    whole = ~np.isnan(X).any(axis=1)
    notes = []
    if guessed:
        notes.append(f"the model has no names; its columns are taken to be {', '.join(seen)}")
    if not whole.all():
        notes.append(f"left out {int((~whole).sum()):,} rows with missing values")
    require_both(y[whole], target.favourable, target.other)
    coef, intercept = model.towards(matching[0])
    chosen = names(options.movable, table)
    for name in chosen:
        if name not in seen:
            table.column(name, "movable column")
            raise ValueError(f"the model does not look at the movable column {name!r}")
    return Case(
        f"{options.model}: {target.name} = {target.favourable}, {model.kind} of scikit-learn",
        coef,
        intercept,
        list(seen),
        X[whole],
        y[whole],
        [list(seen).index(name) for name in chosen],
        None,
        0.5 if options.power is None else options.power,
        0.5 if options.label_cost is None else options.label_cost,
        target.favourable,
        notes,
    )

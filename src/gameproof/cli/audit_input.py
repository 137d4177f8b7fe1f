"""A model in a file and the people of a table, as an audit takes them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from gameproof.cli.movable_option import budgets_of, stated
from gameproof.cli.options import GIVEN
from gameproof.cli.table_options import LEAST, fewest, read, require_both
from gameproof.core.naming import listed, quoted

if TYPE_CHECKING:
    from gameproof.estimators.prepare import Prepare
    from gameproof.estimators.sklearn_import import ImportedClassifier
    from gameproof.estimators.table_budgets import Budgets
    from gameproof.tables.table import Table
    from gameproof.tables.table_model import TableModel
    from gameproof.tables.target import Target

# The price of a label, where nobody says.
LABEL_COST = 0.5
FITTED, USUAL = "which the model was fitted for", "the default of gameproof fit"
AS_IN_FIT = "as when it was fitted"
IGNORES = "this model ignores the data: it makes the same decision about everyone"
JUDGE = "judge a model by"  # what an audit needs rows for
UNKNOWN = (
    "a model of scikit-learn does not tell which rows it learned from; if these are among them, "
    "its accuracy is optimistic"
)


@final
@dataclass(frozen=True, eq=False)
class Case:
    """A linear model and people in the columns that it sees."""

    what: str
    coef: Any
    intercept: float
    names: list[str]
    X: Any  # in the units of the table
    y: Any
    budgets: Budgets
    why_budgets: str
    scale: Any
    power: float
    why_power: str
    label_cost: float
    why_label_cost: str
    favourable: str
    notes: list[str] = field(default_factory=list)
    prepare: Prepare | None = None  # None where the model sees the table as it is
    radius: float | None = None  # that of the fit
    outcomes: tuple[str, ...] = ()  # the favourable one and the other, with their column
    digests: Mapping[str, str] = field(default_factory=dict)  # of the table's file, by its name
    learned_from: float | None = None  # the share of these rows, where that can be known


def opened(options: argparse.Namespace) -> Case:
    """The model and the table that the options name."""
    model = _model(options.model)
    table = read(options.table)
    made = _of_ours if hasattr(model, "plan") else _of_foreign
    return replace(made(model, table, options), digests={table.source: table.digest})


def _model(path: Path) -> Any:
    """A model of ours or a foreign one, by what the file holds."""
    from gameproof.core.errors import ModelFileError
    from gameproof.estimators.sklearn_import import load_sklearn_classifier
    from gameproof.tables.load_model import load_table_model

    if path.is_dir():
        raise ModelFileError(f"{path} is a folder, expected a model")
    with path.open("rb") as file:
        start = file.read(4)
    if start.startswith(b"PK"):
        return load_sklearn_classifier(path)
    if start.startswith(b"\x80"):
        raise ModelFileError(
            f"{path} is a pickle, which can run any program when it is opened; save the model with "
            "skops.io.dump instead"
        )
    return load_table_model(path)


def _of_ours(model: TableModel, table: Table, options: argparse.Namespace) -> Case:
    """A model of ours knows what its table means."""
    from gameproof.strategic.power_costs import DEFAULT_POWER
    from gameproof.tables.target import Target, same_value

    target = model.plan.target
    for option, own in (("target", target.name), ("favourable", target.favourable)):
        given = getattr(options, option)
        if given not in (None, own) and not (option == "favourable" and same_value(given, own)):
            raise ValueError(f"the model's {option} is {own!r}, got --{option} {given}")
    if options.rest:
        target = Target.of(table, target.name, target.favourable, rest=True)
    rows, y = target.labels(table)
    require_both(y, target.favourable, target.other, JUDGE)
    known = table if rows.size == table.n else table.take(rows)
    X, notes = model.plan.encoded(known).X, model.prepared(known).notes
    budgets, why = _budgets(model, X, table, options)
    if rows.size < table.n:
        notes.append(f"left out {table.n - rows.size:,} rows without {quoted(target.name)}")
    notes += _idle(model.classifier.coef_[0])
    radius = model.training.get("radius")
    # A model that was fitted with nothing to move was fitted for no power.
    power = model.training.get("power") if model.plan.features.movable else None
    return Case(
        f"{options.model}: {_aim(target)}, fitted by gameproof",
        model.classifier.coef_[0],
        float(model.classifier.intercept_[0]),
        model.names,
        X,
        y,
        budgets,
        why,
        model.classifier.units_.scale,
        *expected(options.power, power, DEFAULT_POWER, AS_IN_FIT),
        *expected(options.label_cost, model.training.get("label_cost"), LABEL_COST),
        target.favourable,
        notes,
        model.prepare,
        None if radius is None else float(radius),
        outcomes(target),
        learned_from=_learned_from(model, known, y),
    )


def _budgets(
    model: TableModel, X: Any, table: Table, options: argparse.Namespace
) -> tuple[Budgets, str]:
    """What people can change and why that: as given, else what the model was fitted for."""
    from gameproof.estimators.table_budgets import Budgets

    features = model.plan.features
    if options.movable is not None:
        given = stated(options.movable, table)
        for name in given:
            if name not in features.names:
                raise ValueError(f"the model does not look at the movable column {name!r}")
        return budgets_of(given, features, X), GIVEN
    if model.budgets is not None:
        return model.budgets, FITTED
    return Budgets.of(features.movable, features, X), FITTED


def expected(
    given: float | None, fitted_for: float | None, usual: float, why: str = FITTED
) -> tuple[float, str]:
    """What to expect and why: as given, else as in the fit, else what a fit would take."""
    if given is not None:
        return given, GIVEN
    return (usual, USUAL) if fitted_for is None else (float(fitted_for), why)


def _learned_from(model: TableModel, table: Table, y: Any) -> float | None:
    """The share of these rows that the model learned from, if they are the table it was fitted to;
    None where that is not known."""
    from gameproof.tables.dataset import Dataset

    data = Dataset(table.source, model.plan.encoded(table).X, y, model.plan.features)
    if data.fingerprint == model.training.get("fingerprint"):
        return float(model.training["rows_trained"] / len(data))
    return None


def _aim(target: Target) -> str:
    """What a model decides about, in a line."""
    return f"{quoted(target.name)} = {quoted(target.favourable)}"


def outcomes(target: Target) -> tuple[str, str]:
    """What a page calls those with label +1 and those with label -1."""
    return f"{target.name} = {target.favourable}", f"{target.name} = {target.other}"


def _idle(coef: Any) -> list[str]:
    """What there is to say of a model without any coefficients."""
    return (
        []
        if coef.any()
        else ["this model ignores the data: it makes the same decision about everyone"]
    )


def _require_whole(table: Table, seen: dict[str, Any], y: Any, whole: Any) -> None:
    """Refuses a table that has enough people of both outcomes, but not without gaps."""
    import numpy as np

    from gameproof.core.errors import DataError

    if fewest(y[whole]) >= LEAST or fewest(y) < LEAST:
        return
    counts = {name: int(np.isnan(column).sum()) for name, column in seen.items()}
    worst = sorted((name for name in counts if counts[name]), key=lambda name: -counts[name])
    told = [f"{quoted(name)} {counts[name]:,}" for name in worst]
    raise DataError(
        f"{table.source}: {int((~whole).sum()):,} of {y.size:,} rows are left out for missing "
        f"values ({listed(told, 4)}), and the rest are "
        f"too few: {LEAST} of each outcome are the least"
    )


def _of_foreign(model: ImportedClassifier, table: Table, options: argparse.Namespace) -> Case:
    """A model of scikit-learn sees the columns of the table as they are."""
    import numpy as np

    from gameproof.estimators.features import Features
    from gameproof.strategic.power_costs import DEFAULT_POWER
    from gameproof.tables.column_plan import number_columns
    from gameproof.tables.target import Target, same_value

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
    notes = [UNKNOWN]
    if guessed:
        notes.append(
            f"the model has no names; its columns are taken to be {', '.join(map(quoted, seen))}"
        )
    if not whole.all():
        notes.append(f"left out {int((~whole).sum()):,} rows with missing values")
        _require_whole(table, dict(zip(seen, X.T, strict=True)), y, whole)
    require_both(y[whole], target.favourable, target.other, JUDGE)
    coef, intercept = model.towards(matching[0])
    notes += _idle(coef)
    chosen = stated(options.movable, table)
    for name in chosen:
        if name not in seen:
            table.column(name, "movable column")
            raise ValueError(f"the model does not look at the movable column {name!r}")
    return Case(
        f"{options.model}: {_aim(target)}, {model.kind} of scikit-learn",
        coef,
        intercept,
        list(seen),
        X[whole],
        y[whole],
        budgets_of(chosen, Features(tuple(seen)), X[whole]),
        GIVEN,
        None,
        *expected(options.power, None, DEFAULT_POWER),
        *expected(options.label_cost, None, LABEL_COST),
        target.favourable,
        notes,
        outcomes=outcomes(target),
    )

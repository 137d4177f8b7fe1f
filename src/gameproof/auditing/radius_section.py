"""Which radius: the accuracy-robustness curve that a radius was chosen by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gameproof.auditing.number_format import listed, number
from gameproof.auditing.page_model import Chart, Column, Section, Series, Table

SHARES = {"clean": "accuracy, nobody games", "gamed": "accuracy, people game"}


def which_radius(rows: Sequence[Mapping[str, Any]], recommended: float, reason: str) -> Section:
    """The section for a page, from the rows of a curve, the radius chosen, and why in a sentence.

    Each row has a radius, "clean" and "gamed" accuracy, and may have the worst-case "risk", errors
    of these over folds such as "clean error", and whether the classifier "ignores data".

    >>> rows = [{"radius": r, "clean": 0.8 - r, "gamed": 0.7} for r in (0.0, 0.1)]
    >>> which_radius(rows, 0.1, "It costs a tenth.").title
    'Which radius?'
    """
    radii = [float(row["radius"]) for row in rows]
    accuracy = Chart(
        "lines",
        "Accuracy on people left out, by the radius of training",
        f"{listed(list(SHARES.values()))}, against the radius. {reason}",
        [_band(rows, radii, key, name, k) for k, (key, name) in enumerate(SHARES.items())],
        "radius",
        "share decided rightly, ± one standard error",
        percent=True,
        upright=[(recommended, "chosen")],
    )
    charts = [accuracy]
    if "risk" in rows[0]:
        ends = [f"{number(row['risk'])} at radius {row['radius']:g}" for row in (rows[0], rows[-1])]
        charts.append(
            Chart(
                "lines",
                "Worst-case log loss within the radius of training",
                f"The worst-case log loss is {listed(ends)}.",
                [_band(rows, radii, "risk", "worst-case log loss", 0)],
                "radius",
                "log loss, ± one standard error",
                upright=[(recommended, "chosen")],
            )
        )
    ignoring = [row["radius"] for row in rows if row.get("ignores data")]
    told = "on, the best classifier of some people ignores the data."
    notes = [f"From a radius of {ignoring[0]:g} {told}"] if ignoring else []
    return Section("Which radius?", reason, charts, [_table(rows)], notes)


def _band(
    rows: Sequence[Mapping[str, Any]], radii: Sequence[float], key: str, name: str, look: int
) -> Series:
    y = [float(row[key]) for row in rows]
    error = [float(row[f"{key} error"]) for row in rows if f"{key} error" in row]
    low, high = ([v + sign * e for v, e in zip(y, error, strict=bool(error))] for sign in (-1, 1))
    return Series(name, y, radii, low, high, look)


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    columns, keys = [Column("radius", "number")], ["radius"]
    for key, name in {**SHARES, "risk": "worst-case log loss"}.items():
        for each, title in ((key, name), (f"{key} error", "±")):
            if each in rows[0]:
                columns.append(Column(title, "percent" if key in SHARES else "number"))
                keys.append(each)
    values = [[row[key] for key in keys] for row in rows]
    return Table("accuracy by radius of training", columns, values)

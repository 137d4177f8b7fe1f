"""`which_radius`: the section on the choice of a radius."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gameproof.auditing.number_format import listed, number
from gameproof.auditing.page_model import Chart, PageColumn, PageTable, Section, Series

CASES = {"clean": "nobody games", "gamed": "people game"}


def which_radius(
    rows: Sequence[Mapping[str, Any]], recommended: float, reason: str, measure: str = "accuracy"
) -> Section:
    """Makes the section of a page that shows how a radius was chosen.

    Parameters
    ----------
    rows : sequence of mappings
        The curve, such as ``RadiusCurve.rows()``. Each row has "radius", the measure "clean" and
        "gamed", and may have the worst-case "risk", standard errors such as "clean error", and
        "ignores data", whether the classifier ignores the data.
    recommended : float
        The radius that was chosen.
    reason : str
        Why, in a sentence.
    measure : str, optional
        The name of the measure.

    Returns
    -------
    Section
        A section for `write_audit` or `write_page`.

    Examples
    --------
    >>> import gameproof as gp
    >>> rows = [{"radius": r, "clean": 0.8 - r, "gamed": 0.7} for r in (0.0, 0.1)]
    >>> gp.which_radius(rows, 0.1, "It costs a tenth.").title
    'Which radius?'
    """
    radii = [float(row["radius"]) for row in rows]
    titles = {key: f"{measure}, {name}" for key, name in CASES.items()}
    charts = [
        Chart(
            "lines",
            f"{measure[:1].upper()}{measure[1:]} on held-out people by training radius",
            f"{listed(list(titles.values()))}, against the radius. {reason}",
            [_band(rows, radii, key, name, k) for k, (key, name) in enumerate(titles.items())],
            "radius",
            f"{measure}, ± one standard error",
            upright=[(recommended, "chosen")],
        )
    ]
    if "risk" in rows[0]:
        ends = [f"{number(row['risk'])} at radius {row['radius']:g}" for row in (rows[0], rows[-1])]
        charts.append(
            Chart(
                "lines",
                "Worst-case log loss within the training radius",
                f"The worst-case log loss is {listed(ends)}.",
                [_band(rows, radii, "risk", "worst-case log loss", 0)],
                "radius",
                "log loss, ± one standard error",
                upright=[(recommended, "chosen")],
            )
        )
    ignoring = [row["radius"] for row in rows if row.get("ignores data")]
    note = "the classifier of at least one fold ignores the data."
    notes = [f"From a radius of {ignoring[0]:g} on, {note}"] if ignoring else []
    return Section("Which radius?", reason, charts, [_table(rows, titles, measure)], notes)


def _band(
    rows: Sequence[Mapping[str, Any]], radii: Sequence[float], key: str, name: str, look: int
) -> Series:
    y = [float(row[key]) for row in rows]
    error = [float(row[f"{key} error"]) for row in rows if f"{key} error" in row]
    low, high = ([v + sign * e for v, e in zip(y, error, strict=bool(error))] for sign in (-1, 1))
    return Series(name, y, radii, low, high, look)


def _table(rows: Sequence[Mapping[str, Any]], titles: Mapping[str, str], measure: str) -> PageTable:
    columns, keys = [PageColumn("radius", "number")], ["radius"]
    for key, name in {**titles, "risk": "worst-case log loss"}.items():
        for each, title in ((key, name), (f"{key} error", "±")):
            if each in rows[0]:
                columns.append(PageColumn(title, "decimal"))
                keys.append(each)
    values = [[row[key] for key in keys] for row in rows]
    return PageTable(f"{measure} by training radius", columns, values)

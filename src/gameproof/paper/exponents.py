"""Exponents in values ~ n^a d^b, for tuned runs and for one setting for all n and d."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gameproof.auditing.figures import line_chart
from gameproof.auditing.page_model import Chart, Panels, Series
from gameproof.paper.experiment_runs import SETTING, Row, where
from gameproof.paper.experiment_study import ExperimentStudy

# The figure shows settings with this radius, the package's default.
SHOWN = 4.0


def exponents(rows: list[Row]) -> tuple[float, float]:
    """Fits queries ~ n^a d^b by least squares on logarithms and returns a and b."""
    logs = np.log([[row["n"], row["d"], row["queries"]] for row in rows])
    design = np.column_stack([logs[:, :2], np.ones(len(logs))])
    a, b, _ = np.linalg.lstsq(design, logs[:, 2], rcond=None)[0]
    return float(a), float(b)


def fixed_exponents(rows: list[Row], runs: int) -> list[Row]:
    """Returns the exponents of each setting with which all runs reached the gap."""
    found = []
    for setting in dict.fromkeys(tuple(row[name] for name in SETTING) for row in rows):
        named = dict(zip(SETTING, setting, strict=True))
        own = [row for row in where(rows, **named) if not np.isnan(row["queries"])]
        if len(own) == runs:
            a, b = exponents(own)
            middle = float(np.exp(np.mean(np.log([row["queries"] for row in own]))))
            found.append({**named, "n": a, "d": b, "queries": middle})
    return found


def draw_exponents(
    study: ExperimentStudy, fixed: list[Row], theorem: Mapping[str, tuple[float, float]]
) -> None:
    """Draws the exponents by setting and notes their range."""
    caption = (
        f"Exponents of n and d if one setting is used for all n and d, with radius {SHOWN:g} and "
        "several steps and multipliers of the adversary's steps, and the theorem's exponents when "
        "tuned. Settings with which a tuning run misses the gap are left out."
    )
    charts = [_chart(where(fixed, radius=SHOWN), name, theorem) for name in "nd"]
    study.draw("exponents", Panels(caption, charts))
    least, most = ([f(row[name] for row in fixed) for name in "nd"] for f in (min, max))
    study.note(
        f"With one setting for all n and d, the exponent of n lies between {least[0]:.2f} and "
        f"{most[0]:.2f} and the exponent of d between {least[1]:.2f} and {most[1]:.2f}, over the "
        f"{len(fixed)} settings of the grid with which all tuning runs reach the gap."
    )


def _chart(rows: list[Row], name: str, theorem: Mapping[str, tuple[float, float]]) -> Chart:
    """Returns the chart of one exponent by step, with one line per multiplier."""
    series = []
    for gamma in sorted({row["gamma"] for row in rows}):
        own = sorted(where(rows, gamma=gamma), key=lambda row: float(row["step"]))
        steps = [row["step"] for row in own]
        series.append(Series(f"multiplier {gamma:g} n", [row[name] for row in own], steps))
    steps = sorted({row["step"] for row in rows})
    bound = theorem["tuned"]["nd".index(name)]
    series.append(Series("theorem", [bound] * len(steps), steps, guide=True))
    return line_chart(f"exponent of {name}", "step η₀", "exponent", series)

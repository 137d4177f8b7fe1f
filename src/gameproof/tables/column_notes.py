"""Notes on columns that can be used, but may not mean what they seem to mean.

Numbers such as -999 and 99999 often stand for a missing value, long integers for accounts, integers
that all differ for rows or people, and numbers with leading zeros for postal codes. An absurdly
large number is often a mistake. A column with hardly any values adds little.
"""

from __future__ import annotations

import re

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.core.naming import quoted
from gameproof.tables.column import Column
from gameproof.tables.column_checks import filled
from gameproof.tables.column_plan import ColumnPlan
from gameproof.tables.table import Table

MOSTLY_MISSING = 0.95
FEWEST = 3  # rows with the same number, from which it may be a code
CODES = (-1, *(sign * (10**k - 1) for k in range(2, 10) for sign in (-1, 1)), 96, 97, 98)
POSTAL = re.compile(r"(^|[^a-z])(zip|post|postal|postcode|plz|cap|cep)([^a-z]|code|$)", re.I)
ACCOUNT_DIGITS = 8
# A number may be a mistake if it is larger than ABSURD times the size of the usual ones.
USUAL, ABSURD = 0.99, 100_000
ALL_DIFFERENT = 1000  # rows from which integers that all differ are hardly amounts


def column_notes(table: Table, plan: ColumnPlan) -> list[str]:
    """One note for each column of numbers that looks suspicious, and for each nearly empty one."""
    notes = [
        f"{quoted(name)}: numbers followed by {unit!r}; write plain numbers to use them as numbers"
        for name in (*plan.pooled, *plan.left_out)
        if (unit := _common_ending(table.columns[name]))
    ]
    for name in plan.features.names:
        column = table.columns[name]
        missing = 0.0
        if column.kind != "date":
            # Numbers of a Parquet file are counted as they are: writing them as text takes long.
            cells = column.numbers if column.kind == "number" else column.text
            missing = cells.null_count / table.n
        if missing >= MOSTLY_MISSING:
            notes.append(f"{quoted(name)} has no value in {100 * missing:.1f} % of the rows")
        if column.kind == "number" and name not in plan.features.levels:
            values = filled(column.numbers)
            known = values[~np.isnan(values)]
            if text := _identifier(column, known) or _code(known) or _outlier(known):
                notes.append(f"{quoted(name)}: {text}")
    return notes


def _common_ending(column: Column) -> str:
    """The text that follows the number in every cell, such as k in 2.6k; empty if there is none."""
    import pyarrow.compute as pc

    if column.kind != "text":
        return ""
    found = pc.extract_regex(column.distinct, r"^[+-]?\d[\d.,]*\s*(?P<unit>\pL[^\d]*)$")
    endings = pc.unique(pc.struct_field(found, "unit")).to_pylist()
    return endings[0] or "" if len(endings) == 1 else ""


def _code(known: Vector) -> str:
    """A number that is far from all others and is often used for a missing value."""
    values, counts = np.unique(known, return_counts=True)
    codes = [k for k in (0, -1) if values[k] in CODES and counts[k] >= FEWEST]
    others = values[~np.isin(values, CODES)]
    for k in codes:
        if others.size and _apart(float(values[k]), others):
            return (
                f"{values[k]:.15g} in {counts[k]:,} rows is far from all other values; if it "
                "stands for a missing value, leave these cells empty"
            )
    return ""


def _outlier(known: Vector) -> str:
    """A number so large that it may be a mistake: it changes how the column is scaled."""
    sizes = np.abs(known)
    usual = float(np.quantile(sizes, USUAL, method="lower")) if known.size else 0.0
    if usual == 0 or sizes.max() <= ABSURD * usual:
        return ""
    return (
        f"{known[sizes.argmax()]:.15g} is over {ABSURD:,} times as large as {100 * USUAL:.0f} % of "
        "the values; if it is a mistake, correct it or leave the cell empty"
    )


def _apart(code: float, others: Vector) -> bool:
    """True if a number lies far outside the others; -1 if it is the only negative number."""
    low, high = float(others.min()), float(others.max())
    if code < 0:
        return low >= 0 if code == -1 else low > code / 2
    return bool(high < code / 2)


def _identifier(column: Column, known: Vector) -> str:
    """Why numbers may be names of things."""
    advice = "drop the column (--drop), or treat it as a category (--category)"
    if not known.size or (known != np.round(known)).any():
        return ""
    if column.is_text and _has_leading_zeros(column):
        return f"leading zeros, as in postal codes and account numbers; {advice}"
    smallest, largest = np.abs(known).min(), np.abs(known).max()
    lengths = {len(f"{smallest:.0f}"), len(f"{largest:.0f}")}
    distinct = np.unique(known).size
    if min(lengths) >= ACCOUNT_DIGITS and max(lengths) - min(lengths) <= 2:
        if 2 * distinct > known.size:
            return f"long integers that look like account numbers; {advice}"
    elif POSTAL.search(column.name) and max(lengths) <= 6 and distinct > 20:
        return f"the name suggests postal codes; {advice}"
    if distinct == len(column.cells) >= ALL_DIFFERENT:
        return "every row has another integer; if these number rows or people, use --drop"
    return ""


def _has_leading_zeros(column: Column) -> bool:
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(column.distinct, r"^0\d{2,}$")).as_py())

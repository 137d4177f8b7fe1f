"""Audits on several splits of one table, as one audit of means with intervals over the splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from hashlib import sha256
from math import inf
from typing import Any

import numpy as np

from gameproof.auditing.audit_result import Audit
from gameproof.auditing.gaming_rows import most_gained_first
from gameproof.auditing.intervals import split_interval

# What tells rows of one kind apart, and what an interval is around, with the least that can be; the
# most is 1.
KEYS = (
    "model",
    "against",
    "movers",
    "multiple",
    "radius",
    "power",
    "feature",
    "budget",
    "group",
    "label",
)
CENTRES = {"accuracy": 0.0, "difference": -1.0}
# How many times a budget is needed may be very much on one of the splits.
MEDIANS = ("q10", "q25", "q50", "q75", "q90")
# Counts of people in bins of scores mean nothing over splits with other bins.
DROPPED = "bins"


def average_splits(audits: Sequence[Audit], *, overlap: float = 0.0) -> Audit:
    """The means of audits of the same models, budgets and radii on several splits of one table.

    How many times their budgets people need is the median over splits instead: one of them may give
    hardly any weight to what can be changed. What one split leaves open is the mean of the others.
    The intervals are over the splits. `overlap` is the number of test rows over that of training
    rows where splits are drawn anew from one table, so that they share rows; 0 where they share
    none.

    >>> from gameproof.auditing.audit import audit
    >>> from gameproof.auditing.linear_model import LinearModel
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((400, 2))
    >>> y = np.sign(X[:, 0] + rng.standard_normal(400))
    >>> model = LinearModel([1.0, 0.0])
    >>> parts = [audit(model, X[k::4], y[k::4], budgets={0: (0, 1)}) for k in range(4)]
    >>> mean, whole = average_splits(parts).quality[0], audit(model, X, y).quality[0]
    >>> round(mean.accuracy, 4) == round(whole.accuracy, 4), mean.low < whole.accuracy < mean.high
    (True, True)
    """
    if not audits:
        raise ValueError("there is no audit to average")
    if not overlap >= 0:
        raise ValueError(f"overlap must be at least 0, got {overlap}")
    first = audits[0]
    if any(other.models != first.models for other in audits):
        raise ValueError("audits of different models have no mean")
    if any(other.budgets.describe() != first.budgets.describe() for other in audits):
        raise ValueError(
            "audits with different budgets have no mean; give the same budgets, in the table's "
            "units, to all of them"
        )
    found: dict[str, Any] = {DROPPED: (), "splits": len(audits)}
    together = "".join(audit.fingerprint for audit in audits)
    found["fingerprint"] = sha256(together.encode()).hexdigest()
    for field in fields(first):
        rows = getattr(first, field.name)
        if field.name != DROPPED and isinstance(rows, tuple) and rows:
            if not is_dataclass(rows[0]):
                continue
            tables = [getattr(audit, field.name) for audit in audits]
            found[field.name] = tuple(_averaged(tables, overlap))
    found["weaknesses"] = tuple(most_gained_first(found.get("weaknesses", ()), first.models))
    return replace(first, **found)


def _averaged(tables: Sequence[Sequence[Any]], overlap: float) -> list[Any]:
    """Row by row of the first table; rows are found in the others by their keys."""
    keyed = [{_key(row): row for row in table} for table in tables]
    if any(other.keys() != keyed[0].keys() for other in keyed):
        raise ValueError("audits with different multiples, radii, powers or groups have no mean")
    return [_mean([other[key] for other in keyed], overlap) for key in keyed[0]]


def _key(row: Any) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in KEYS if hasattr(row, name))


def _mean(rows: Sequence[Any], overlap: float) -> Any:
    found: dict[str, Any] = {}
    for field in fields(rows[0]):
        if field.name in KEYS:
            continue
        values = [getattr(row, field.name) for row in rows]
        known = [value for value in values if value is not None]
        found[field.name] = None
        if field.name in MEDIANS:
            found[field.name] = _middle(rows, field.name)
        elif known:
            mean = float(np.mean(known))
            found[field.name] = round(mean) if isinstance(known[0], int) else mean
    if "low" in found:
        centre, least = next(pair for pair in CENTRES.items() if pair[0] in found)
        numbers = np.array([getattr(row, centre) for row in rows])
        alone = float(np.mean([row.high - row.low for row in rows])) / 2
        low, high = split_interval(numbers, overlap, alone)
        found["low"], found["high"] = max(least, low), min(1.0, high)
    return replace(rows[0], **found)


def _middle(rows: Sequence[Any], name: str) -> float | None:
    """The median over splits where anybody is refused; None where that is out of reach."""
    values = [getattr(row, name) for row in rows if row.within is not None]
    middle = float(np.median([inf if v is None else v for v in values])) if values else inf
    return middle if middle < inf else None

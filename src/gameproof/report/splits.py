"""Audits on several splits of one table, as one audit of means with intervals over the splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from hashlib import sha256
from typing import Any

import numpy as np

from gameproof.report.audit import Audit
from gameproof.report.intervals import split_interval
from gameproof.report.measure import most_gained_first

# What tells rows of one kind apart, and what an interval is around, with the least that can be; the
# most is 1.
KEYS = ("model", "against", "power", "radius", "feature", "group", "label")
CENTRES = {"accuracy": 0.0, "difference": -1.0}
# What is divided by a coefficient, which may be near 0 on one of the splits.
MEDIANS = ("needed", "needed_scaled")
# Counts of people in bins of scores mean nothing over splits with other bins.
DROPPED = "bins"


def average_splits(audits: Sequence[Audit], *, overlap: float = 0.0) -> Audit:
    """The means of audits of the same models, powers and radii on several splits of one table.

    The move that a feature needs is the median over splits instead: one of them may give it hardly
    any weight. What a split cannot tell, as one whose classifier gives no weight to what can be
    moved, is told by the others. The intervals are over the splits. `overlap` is the number of test
    rows over that of training rows where splits are drawn anew from one table, so that they share
    rows; 0 where they share none.

    >>> from gameproof.report.audit import audit
    >>> from gameproof.report.model import LinearModel
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((400, 2))
    >>> y = np.sign(X[:, 0] + rng.standard_normal(400))
    >>> model = LinearModel([1.0, 0.0])
    >>> parts = [audit(model, X[k::4], y[k::4], scale=1.0, powers=(0.0,)) for k in range(4)]
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
    found: dict[str, Any] = {DROPPED: (), "splits": len(audits)}
    together = "".join(audit.fingerprint for audit in audits)
    found["fingerprint"] = sha256(together.encode()).hexdigest()
    for field in fields(first):
        rows = getattr(first, field.name)
        if field.name != DROPPED and isinstance(rows, tuple) and rows:
            if isinstance(rows[0], str):
                continue
            tables = [getattr(audit, field.name) for audit in audits]
            found[field.name] = tuple(_averaged(tables, overlap))
    found["weaknesses"] = tuple(most_gained_first(found.get("weaknesses", ()), first.models))
    return replace(first, **found)


def _averaged(tables: Sequence[Sequence[Any]], overlap: float) -> list[Any]:
    """Row by row of the first table; rows are found in the others by their keys."""
    keyed = [{_key(row): row for row in table} for table in tables]
    if any(other.keys() != keyed[0].keys() for other in keyed):
        raise ValueError("audits with different powers, radii, features or groups have no mean")
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
        if known:
            mean = float((np.median if field.name in MEDIANS else np.mean)(known))
            found[field.name] = round(mean) if isinstance(known[0], int) else mean
    if "low" in found:
        centre, least = next(pair for pair in CENTRES.items() if pair[0] in found)
        numbers = np.array([getattr(row, centre) for row in rows])
        alone = float(np.mean([row.high - row.low for row in rows])) / 2
        low, high = split_interval(numbers, overlap, alone)
        found["low"], found["high"] = max(least, low), min(1.0, high)
    return replace(rows[0], **found)

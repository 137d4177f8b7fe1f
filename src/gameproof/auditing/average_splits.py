"""`average_splits`: averages audits of several splits of a table, with intervals over splits."""

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

# Fields that identify a row among those of its type.
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
    "metric",
    "approve",
)
# Fields that have an interval, and the limits of the interval.
CENTRES = {
    "accuracy": (0.0, 1.0),
    "within": (0.0, 1.0),
    "difference": (-inf, inf),
    "value": (-inf, inf),
}
# The multiple that people need may be very large on one of the splits, so it is not averaged.
MEDIANS = ("q10", "q25", "q50", "q75", "q90")
# Histograms with different bins cannot be averaged.
DROPPED = ("bins", "calibration")
# These rows may be missing on a split: nobody approved has a bad rate, and groups may be empty.
PARTIAL = ("metrics", "metric_differences", "confusions", "hurt")
SPLITS = "Nadeau and Bengio"


def average_splits(audits: Sequence[Audit], *, overlap: float = 0.0) -> Audit:
    """Averages audits of the same models, budgets and radii over several splits of a table.

    Rows are means over splits, except that the multiple of their budgets that people need is a
    median: it may be very large on a split whose model gives hardly any weight to what people can
    change. Values that are missing on a split are left out. Intervals are over the splits.

    Parameters
    ----------
    audits : sequence of Audit
        One audit per split.
    overlap : float, optional
        The number of test rows divided by the number of training rows, if the splits are drawn
        independently from one table and so share rows; 0 if they share none.

    Returns
    -------
    Audit
        The averages.

    Raises
    ------
    ValueError
        If there is no audit, or if the audits differ in models, budgets or grids.

    Examples
    --------
    >>> import numpy as np
    >>> from gameproof import LinearModel, audit, average_splits
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
        raise ValueError("audits is empty; give at least one audit")
    if not overlap >= 0:
        raise ValueError(f"overlap must be at least 0, got {overlap}")
    first = audits[0]
    if any(other.models != first.models for other in audits):
        raise ValueError("audits of different models cannot be averaged")
    if any(other.budgets.describe() != first.budgets.describe() for other in audits):
        raise ValueError(
            "audits with different budgets cannot be averaged; state the same budgets for all of "
            "them, in the table's units"
        )
    found: dict[str, Any] = {**dict.fromkeys(DROPPED, ()), "splits": len(audits)}
    together = "".join(audit.fingerprint for audit in audits)
    found["fingerprint"] = sha256(together.encode()).hexdigest()
    for field in fields(first):
        rows = getattr(first, field.name)
        if field.name not in DROPPED and isinstance(rows, tuple) and rows:
            if not is_dataclass(rows[0]):
                continue
            tables = [getattr(audit, field.name) for audit in audits]
            partial = field.name in PARTIAL
            found[field.name] = tuple(_averaged(tables, overlap, partial))
    found["weaknesses"] = tuple(most_gained_first(found.get("weaknesses", ()), first.models))
    return replace(first, **found)


def _averaged(tables: Sequence[Sequence[Any]], overlap: float, partial: bool) -> list[Any]:
    """Averages of rows with the same key; if `partial`, of keys that all tables have."""
    keyed = [{_key(row): row for row in table} for table in tables]
    if partial:
        common = [key for key in keyed[0] if all(key in other for other in keyed)]
        return [_mean([other[key] for other in keyed], overlap) for key in common]
    if any(other.keys() != keyed[0].keys() for other in keyed):
        raise ValueError(
            "audits with different multiples, radii, powers or groups cannot be averaged"
        )
    return [_mean([other[key] for other in keyed], overlap) for key in keyed[0]]


def _key(row: Any) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in KEYS if hasattr(row, name))


def _mean(rows: Sequence[Any], overlap: float) -> Any:
    found: dict[str, Any] = {}
    for field in fields(rows[0]):
        if field.name in KEYS:
            continue
        if field.name == "interval":
            found[field.name] = SPLITS
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
        centre, (least, most) = next(pair for pair in CENTRES.items() if pair[0] in found)
        known = [row for row in rows if getattr(row, centre) is not None]
        if known:
            numbers = np.array([getattr(row, centre) for row in known])
            alone = float(np.mean([row.high - row.low for row in known])) / 2
            low, high = split_interval(numbers, overlap, alone)
            found["low"], found["high"] = max(least, low), min(most, high)
    return replace(rows[0], **found)


def _middle(rows: Sequence[Any], name: str) -> float | None:
    """The median over the splits on which anyone is refused; None if it is out of reach."""
    values = [getattr(row, name) for row in rows if row.within is not None]
    middle = float(np.median([inf if v is None else v for v in values])) if values else inf
    return middle if middle < inf else None

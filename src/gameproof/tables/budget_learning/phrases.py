"""Numbers, shares and p-values in sentences."""

from __future__ import annotations

import numpy as np

from gameproof.tables.budget_learning.evidence import Mean, Share

WAYS = {1: "up", -1: "down", 0: "either way"}


def number(value: float) -> str:
    """A number with about three digits.

    >>> number(12345.6), number(0.01234), number(float("inf"))
    ('12,346', '0.0123', '∞')
    """
    if np.isnan(value):
        return "?"
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"
    return text.replace("-", "−")


def signed(value: float) -> str:
    """A number with its sign."""
    return number(value) if value <= 0 else f"+{number(value)}"


def percent(share: float) -> str:
    """A share in percent.

    >>> percent(0.95), percent(0.123), percent(0)
    ('95%', '12.3%', '0%')
    """
    text = f"{100 * share:.1f}"
    return f"{text.removesuffix('.0')}%"


def p_text(p_value: float) -> str:
    """A p-value."""
    return f"p {p_number(p_value)}" if p_value < 0.001 else f"p = {p_number(p_value)}"


def p_number(p_value: float) -> str:
    """A p-value as a table shows it."""
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def share_text(share: Share) -> str:
    """A share with its interval, if there is one."""
    if np.isnan(share.low):
        return percent(share.value)
    return f"{percent(share.value)} ({100 * share.low:.1f} to {100 * share.high:.1f})"


def mean_text(mean: Mean) -> str:
    """A mean with its interval, if there is one."""
    if np.isnan(mean.low):
        return signed(mean.value)
    return f"{signed(mean.value)} ({number(mean.low)} to {number(mean.high)})"


def people(count: int) -> str:
    """A number of people."""
    return "1 person" if count == 1 else f"{count:,} people"

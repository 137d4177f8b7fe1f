"""Numbers in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SPACE = "\u00a0"


def as_percent(share: float) -> float:
    """A share in percent, of one decimal: that of the share with three, so that 0.807 elsewhere is
    80.7 here. Times 100 first, a half may be rounded the other way.

    >>> hundredths(0.8075), f"{0.8075:.3f}"
    (80.7, '0.807')
    """
    return round(100 * float(f"{share:.3f}"), 1)


def percent(share: float) -> str:
    """A share.

    >>> percent(0.7634)
    '76.3\\xa0%'
    """
    return f"{as_percent(share):.1f}{SPACE}%"


def number(value: float) -> str:
    """With as many digits as are read.

    >>> number(1.2345), number(-0.01234), number(12345.6)
    ('1.23', '−0.012', '12,346')
    """
    size = abs(value)
    text = f"{value:,.0f}" if size >= 100 else f"{value:.2f}" if size >= 0.1 else f"{value:.2g}"
    return text.replace("-", "−")


def percent_interval(row: Any) -> str:
    """The interval of a share."""
    return f"{as_percent(row.low):.1f} to {percent(row.high)}"


def points(value: float) -> str:
    """A difference of two shares, without its sign.

    >>> points(-0.012), points(0.01)
    ('1.2\\xa0points', '1.0\\xa0points')
    """
    return f"{abs(as_percent(value)):.1f}{SPACE}points"


def signed_points(difference: float) -> str:
    """A difference of two shares, with its sign.

    >>> in_points(-0.012), in_points(-0.0001)
    ('−1.2', '0.0')
    """
    rounded = as_percent(difference)
    return f"{rounded:+.1f}".replace("-", "−") if rounded else "0.0"


def points_interval(low: float, high: float) -> str:
    """The interval of a difference, in points.

    >>> signed(-0.012, 0.03)
    '−1.2 to +3.0'
    """
    return f"{signed_points(low)} to {signed_points(high)}"


def comparison(difference: float) -> str:
    """How often one is right, compared with another.

    >>> compared(-0.012), compared(0.0001)
    ('less often by 1.2\\xa0points', 'as often')
    """
    if abs(difference) < 0.0005:
        return "as often"
    return f"{'more' if difference > 0 else 'less'} often by {points(difference)}"


def listed(parts: Sequence[str]) -> str:
    """Joined by commas and an and.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([*([", ".join(parts[:-1])] if len(parts) > 1 else []), *parts[-1:]])


def p_value(p: float) -> str:
    """A p-value to two digits."""
    return f"{p:.2g}" if p >= 1e-4 else "< 0.0001"


def survival(verdict: str, survives: bool) -> str:
    """Whether a verdict survives a correction: nothing where there is no verdict to survive."""
    if verdict == "undecided":
        return "–"
    return "yes" if survives else "no"

"""Numbers as text, for sentences and tables."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

SPACE = "\u00a0"
NOTHING = "–"
TINY, HUGE = 5e-5, 1e9  # sizes from which numbers are not printed as they are
LARGE_COST = 1e6  # from here on a cost is shown with three digits


def as_percent(share: float) -> float:
    """A share in percent with one decimal.

    The share is rounded to three decimals first, so that 0.807 elsewhere is 80.7 here. Multiplying
    by 100 first could round a half the other way.

    >>> as_percent(0.8075), f"{0.8075:.3f}"
    (80.7, '0.807')
    """
    return round(100 * float(f"{share:.3f}"), 1)


def percent(share: float) -> str:
    """A share in percent, as text.

    >>> percent(0.7634)
    '76.3\\xa0%'
    """
    return f"{as_percent(share):.1f}{SPACE}%"


def beside_clean(gamed: float, clean: float) -> str:
    """A share when people game, next to the share when nobody does.

    >>> beside_clean(0.2, 0.1), beside_clean(0.1, 0.1)
    ('20.0\\xa0% instead of 10.0\\xa0%', '10.0\\xa0%, as when nobody games')
    """
    if percent(gamed) == percent(clean):
        return f"{percent(gamed)}, as when nobody games"
    return f"{percent(gamed)} instead of {percent(clean)}"


def number(value: float) -> str:
    """A number with about three significant digits.

    >>> number(1.2345), number(-0.01234), number(12345.6)
    ('1.23', '−0.012', '12,346')
    """
    size = abs(value)
    text = f"{value:,.0f}" if size >= 100 else f"{value:.2f}" if size >= 0.1 else f"{value:.2g}"
    return text.replace("-", "−")


def measure_text(value: float) -> str:
    """A measure, or a cost per applicant, with about three digits.

    >>> measure_text(0.18), measure_text(96.502), measure_text(1160.6), measure_text(2_345_678.0)
    ('0.180', '96.5', '1,161', '2.35e+06')
    >>> measure_text(-24.11)
    '-24.1'
    """
    size = abs(value)
    if size < 9.9995:
        return f"{value:.3f}"
    if size < 99.95:
        return f"{value:.1f}"
    return f"{value:,.0f}" if size < LARGE_COST else f"{value:.3g}"


def percent_interval(row: Any) -> str:
    """The interval of a row's share, in percent."""
    return f"{as_percent(row.low):.1f} to {percent(row.high)}"


def points(value: float) -> str:
    """The size of a difference of two shares, in percentage points.

    >>> points(-0.012), points(0.01)
    ('1.2\\xa0points', '1.0\\xa0points')
    """
    return f"{abs(as_percent(value)):.1f}{SPACE}points"


def signed_points(difference: float) -> str:
    """A difference of two shares in percentage points, with its sign.

    >>> signed_points(-0.012), signed_points(-0.0001)
    ('−1.2', '0.0')
    """
    rounded = as_percent(difference)
    return f"{rounded:+.1f}".replace("-", "−") if rounded else "0.0"


def signed_decimal(difference: float) -> str:
    """A difference with three decimals and its sign; 0 has none.

    >>> signed_decimal(-0.0121), signed_decimal(-0.0001)
    ('-0.012', '0.000')
    """
    text = f"{difference:+.3f}"
    return text if float(text) else "0.000"


def points_interval(low: float, high: float) -> str:
    """The interval of a difference, in percentage points.

    >>> points_interval(-0.012, 0.03)
    '−1.2 to +3.0'
    """
    return f"{signed_points(low)} to {signed_points(high)}"


def comparison(difference: float) -> str:
    """How often a model is right compared with another, as text.

    >>> comparison(-0.012), comparison(0.0001)
    ('less often by 1.2\\xa0points', 'as often')
    """
    if abs(difference) < 0.0005:
        return "as often"
    return f"{'more' if difference > 0 else 'less'} often by {points(difference)}"


def listed(parts: Sequence[str]) -> str:
    """Parts joined by commas and "and".

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([*([", ".join(parts[:-1])] if len(parts) > 1 else []), *parts[-1:]])


def shortened(text: str, most: int = 32) -> str:
    """The text, cut off if it is longer than `most` characters.

    >>> shortened("NumberOfOpenCreditLinesAndLoans", 12)
    'NumberOfOpe…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def setting(value: Any) -> str:
    """A setting as a person would say it.

    >>> setting(True), setting(120000), setting(1.0), setting("auto")
    ('yes', '120,000', '1', 'auto')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def p_value(p: float) -> str:
    """A p-value to two digits."""
    return f"{p:.2g}" if p >= 1e-4 else "< 0.0001"


def survival(verdict: str, survives: bool) -> str:
    """Whether a verdict survives the correction for multiple tests; a dash if it is undecided."""
    if verdict == "undecided":
        return "–"
    return "yes" if survives else "no"


def _sayable(value: float) -> str:
    """A number for a sentence: three digits, without exponents."""
    size = abs(value)
    if size < TINY:
        return "0"
    if size >= HUGE:
        return "over a billion" if value > 0 else "below -1 billion"
    if size >= 999.5:
        return f"{value:,.0f}"
    return f"{value:.3g}" if size >= 0.001 else f"{value:.4f}"


def cell(value: Any, kind: str = "text") -> str:
    """A value of a table as text.

    >>> cell(0.7634, "percent"), cell(-0.012, "points"), cell(1234567, "count"), cell(None)
    ('76.3\\xa0%', '−1.2', '1,234,567', '–')
    >>> cell(0.75, "decimal"), cell(0.75, "number"), cell(96.502, "decimal")
    ('0.750', '0.75', '96.5')
    >>> cell((0.75, 0.7, 0.8), "decimal interval")
    '0.750 (0.700 to 0.800)'
    """
    if value is None or (isinstance(value, float) and not isfinite(value)):
        return NOTHING
    if kind == "percent":
        return percent(value)
    if kind == "points":
        return signed_points(value)
    if kind == "count":
        return f"{value:,}"
    if kind == "label":
        return f"{value:+d}".replace("-", "−")
    if kind == "decimal" and abs(value) < LARGE_COST:
        return measure_text(value).replace("-", "−")
    if kind in ("number", "decimal"):
        return _sayable(float(value)).replace("-", "−")
    if kind in ("interval", "decimal interval"):
        each = "decimal" if kind.startswith("decimal") else "number"
        middle, low, high = (cell(part, each) for part in value)
        return middle if low == NOTHING else f"{middle} ({low} to {high})"
    return str(value)

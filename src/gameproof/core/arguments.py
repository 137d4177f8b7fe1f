"""Argument checks: each converts an argument or raises an error that says what was expected."""

from __future__ import annotations

import reprlib
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]
T = TypeVar("T", bound=np.generic)
# Number of rows that are checked at once.
BLOCK = 2**16


def shown(value: Any) -> str:
    """A value as an error message shows it: type and shape of an array or table, else its repr."""
    shape = getattr(value, "shape", ())
    if not shape:
        return reprlib.repr(value)
    held = f" and type {value.dtype}" if hasattr(value, "dtype") else ""
    return f"{type(value).__name__} of shape {shape}{held}"


def as_numbers(name: str, value: ArrayLike, kind: str = "an array") -> NDArray[np.float64]:
    """A new float array, or an error for strings and ragged input."""
    require_unmasked(name, value)
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise TypeError(f"{name} must be {kind} of numbers, got a ragged one") from error
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be {kind} of numbers, got {shown(value)}")
    return np.array(array, dtype=np.float64, order="C")


def read_only(array: NDArray[T]) -> NDArray[T]:
    """A read-only view of the array."""
    view = array.view()
    view.flags.writeable = False
    return view


def require_unmasked(name: str, value: object) -> None:
    """Rejects masked entries, which NumPy would otherwise treat as numbers."""
    if np.ma.is_masked(value):
        raise ValueError(f"{name} has masked entries; fill them, or leave their rows out")


def require_finite(name: str, array: NDArray[np.float64]) -> None:
    """Rejects NaN and infinities, and reports where the first one is."""
    for start in range(0, len(array), BLOCK):  # a mask of the whole array could exceed memory
        finite = np.isfinite(array[start : start + BLOCK])
        if finite.all():
            continue
        bad = np.argwhere(~finite)
        at = (start + int(bad[0][0]), *(int(k) for k in bad[0][1:]))
        where = at[0] if len(at) == 1 else at
        raise ValueError(f"{name} must be finite, got {array[at]} at coordinate {where}")


def as_vector(name: str, value: ArrayLike) -> Vector:
    """A finite one-dimensional float copy of the argument, or an error."""
    vector = as_numbers(name, value, "a vector")
    if vector.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {vector.shape}")
    if vector.size == 0:
        raise ValueError(f"{name} is empty, expected at least one number")
    require_finite(name, vector)
    return vector


def as_number(name: str, value: float) -> float:
    """A float, or an error for strings, arrays and booleans."""
    # NumPy before 2.4 converts arrays of one element, with a warning.
    if isinstance(value, (bool, np.bool_, str, bytes)) or getattr(value, "ndim", 0) > 0:
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a number, got {value!r}") from error


def as_positive(name: str, value: float) -> float:
    """A positive finite float, or an error."""
    number = as_number(name, value)
    if not (np.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be positive and finite, got {value}")
    return number


def as_share(name: str, value: float) -> float:
    """A float between 0 and 1, both excluded, or an error."""
    share = as_number(name, value)
    if not 0 < share < 1:
        raise ValueError(f"{name} must lie between 0 and 1, got {value}")
    return share


def as_prices(name: str, value: ArrayLike, size: int | None, what_inf_is: str) -> Vector:
    """One positive number per feature, or an error; `what_inf_is` says what infinity means."""
    prices = as_numbers(name, value, "a vector")
    if prices.ndim != 1 or prices.size == 0 or size not in (None, prices.size):
        wanted = "one number per feature" if size is None else f"one number per feature, {size}"
        raise ValueError(f"{name} must have {wanted}, got shape {prices.shape}")
    if not (prices > 0).all():  # also rejects NaN
        bad = int(np.argmin(prices > 0))
        raise ValueError(
            f"{name} must be positive, got {prices[bad]:g} for feature {bad}; use inf for "
            f"{what_inf_is}"
        )
    return prices


def as_count(name: str, value: int, least: int = 1) -> int:
    """An integer of at least `least`, or an error."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return int(value)


def as_generator(seed: Any) -> np.random.Generator:
    """A generator seeded with `seed`, or `seed` itself where it is a generator."""
    if isinstance(seed, np.random.RandomState):  # for NumPy before 2.2, whose default_rng fails
        return np.random.Generator(seed._bit_generator)
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"seed must be an integer of at least 0, a Generator or None, got {seed!r}"
        ) from error

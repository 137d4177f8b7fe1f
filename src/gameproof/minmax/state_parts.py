"""Parts of a state as a file holds them: marks, records and the random generator.

Everything that is unpacked is checked. A generator with a forged state could read beyond its
memory, or repeat one number forever.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

import numpy as np

from gameproof.core.npz_files import Arrays
from gameproof.minmax.averages import Mark
from gameproof.minmax.trace import COUNTS, TraceRow

MOST_MARKS = 2
GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
# The largest positions in the buffers of generators; NumPy does not check them.
POSITIONS = {"MT19937": 624, "Philox": 4}


def as_text(name: str, value: Any) -> str:
    """Checks that a part of a header is text."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be text, got {value!r}")
    return value


def as_real(name: str, value: Any) -> float:
    """Checks that a part of a header is a finite number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not (isfinite(value) and value >= 0):
        raise ValueError(f"{name} must be finite and not negative, got {value!r}")
    return float(value)


def pack_marks(marks: list[Mark]) -> Arrays:
    """The arrays of marks."""
    return {
        f"mark{k}_{name}": np.asarray(part)
        for k, mark in enumerate(marks)
        for name, part in mark._asdict().items()
    }


def unpack_marks(number: Any, arrays: Arrays) -> list[Mark]:
    """`number` marks. Removes their arrays from `arrays`."""
    if isinstance(number, bool) or number not in range(MOST_MARKS + 1):
        raise ValueError(f"it has {number!r} marks, expected at most {MOST_MARKS}")
    marks = []
    for k in range(number):
        epoch, weight, x, y = (arrays.pop(f"mark{k}_{name}") for name in Mark._fields)
        if epoch.shape or epoch.dtype.kind not in "iu" or weight.shape or x.ndim != 1 != y.ndim:
            raise ValueError(f"mark {k} has parts of the wrong shape or type")
        marks.append(Mark(int(epoch), float(weight), x, y))
    return marks


def pack_rows(rows: list[TraceRow]) -> Arrays:
    """The arrays of records, one for each column."""
    table = np.array(rows, dtype=np.float64).reshape(-1, len(TraceRow._fields))
    return {f"row_{name}": column for name, column in zip(TraceRow._fields, table.T, strict=True)}


def unpack_rows(arrays: Arrays) -> list[TraceRow]:
    """The records. Removes their columns from `arrays`."""
    columns = {name: arrays.pop(f"row_{name}") for name in TraceRow._fields}
    for name, column in columns.items():
        if column.ndim != 1 or column.dtype != np.float64:
            raise ValueError(f"the column {name} of the records has the wrong shape or type")
        if name != "score" and not (np.isfinite(column).all() and (column >= 0).all()):
            raise ValueError(f"the column {name} of the records has a negative or infinite number")
        if name in COUNTS and not (column <= 2**53).all():
            raise ValueError(f"the column {name} of the records has a number that is too large")
    return [
        TraceRow(e, int(s), int(q), int(d), *rest)
        for e, s, q, d, *rest in zip(*(c.tolist() for c in columns.values()), strict=True)
    ]


def generator_state(rng: np.random.Generator) -> dict[str, Any]:
    """The generator's state as JSON can hold it; arrays become lists."""
    state: dict[str, Any] = json.loads(
        json.dumps(rng.bit_generator.state, default=lambda value: value.tolist())
    )
    return state


def generator(state: Any) -> np.random.Generator:
    """The generator whose state this is; raises if no generator can have it."""
    kind = state.get("bit_generator") if isinstance(state, dict) else state
    if kind not in GENERATORS:
        raise ValueError(f"unknown random generator {kind!r}")
    bits = getattr(np.random, kind)(0)
    wrong = f"the state of the random generator {kind} is damaged"
    try:
        bits.state = _like(state, bits.state)
        rng = np.random.Generator(bits)
        # NumPy accepts numbers that do not fit, and truncates them.
        sound = generator_state(rng) == state and _is_sound(kind, state)
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(wrong) from error
    if not sound:
        raise ValueError(wrong)
    return rng


def _like(part: Any, model: Any) -> Any:
    """A part of a state, with lists as arrays; raises if it is built differently from the model."""
    if isinstance(model, dict):
        if part.keys() != model.keys():
            raise ValueError("expected other parts")
        return {name: _like(part[name], model[name]) for name in model}
    if isinstance(model, np.ndarray):
        if not all(type(number) is int for number in part) or len(part) != model.size:
            raise ValueError("expected as many integers as the generator has")
        return np.array(part, dtype=model.dtype)
    if type(part) is not type(model) or (isinstance(part, int) and part < 0):
        raise ValueError("expected an integer that is not negative")
    return part


def _is_sound(kind: str, state: dict[str, Any]) -> bool:
    """False for positions beyond a buffer, and for generators that repeat one number."""
    inner = state["state"]
    if state.get("has_uint32", 0) not in (0, 1):
        return False
    if kind == "MT19937":
        first, *rest = inner["key"]
        return bool(inner["pos"] <= POSITIONS[kind] and (first >= 2**31 or any(rest)))
    if kind == "Philox":
        return bool(state["buffer_pos"] <= POSITIONS[kind])
    return not kind.startswith("PCG64") or bool(inner["inc"] % 2 == 1)

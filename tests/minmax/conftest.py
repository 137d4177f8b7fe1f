"""What the tests of the solver share."""

from collections import Counter
from collections.abc import Callable
from math import cos, sin
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest

import gameproof as gp
from solving import GAMES

Vector = Any
Fault = Callable[[], Any]
SCHEDULES = {"step": gp.Power(0.02, 0.76), "radius": gp.Power(0.5, 0.25)}


class Teller:
    """L_i(x, y) in plain Python, on a disc and an interval, which keeps a tally of its own.

    faults: what to do instead of answering, by the number of the call (from 1).
    """

    def __init__(self, faults: dict[int, Fault] | None = None, **options: Any) -> None:
        self.faults = dict(faults or {})
        self.calls = 0
        self.last: tuple[int, Vector, Vector] | None = None
        self.answered: Counter[tuple[bytes, int]] = Counter()
        self.points: dict[bytes, None] = {}  # in the order in which they were first seen
        settings = {"n": 7, "x_set": gp.Ball([0.0, 0.0], 2.0), "y_set": gp.Box([-1.0], [1.0])}
        self.problem = gp.SaddleProblem(self, name="teller", **(settings | options))

    def __call__(self, i: int, x: Vector, y: Vector) -> Any:
        self.calls += 1
        self.last = i, x, y
        point = x.tobytes() + y.tobytes()
        self.points[point] = None
        if fault := self.faults.pop(self.calls, None):
            return fault()
        self.answered[point, i] += 1
        return self.value(i, x, y)

    @staticmethod
    def value(i: int, x: Vector, y: Vector) -> float:
        return float(
            (x[0] - sin(i)) ** 2 / 2 + x[1] ** 2 / 4 + x[0] * y[0] - y[0] ** 2 + cos(i) * y[0]
        )

    @staticmethod
    def x_gradient(i: int, x: Vector, y: Vector) -> Vector:
        return np.array([x[0] - sin(i) + y[0], x[1] / 2])

    @staticmethod
    def y_gradient(i: int, x: Vector, y: Vector) -> Vector:
        return np.array([x[0] - 2 * y[0] + cos(i)])


@numba.njit
def compiled_value(i: int, x: Vector, y: Vector) -> float:
    return 0.5 * (x[0] - 0.1 * i) ** 2 + 0.25 * x[1] ** 2 + x[0] * y[0] - y[0] ** 2 + 0.05 * i


@numba.njit
def compiled_y_gradient(i: int, x: Vector, y: Vector) -> Vector:
    if y[0] == 0.75:  # a run may start here, to see what a bad gradient does
        return np.array([np.nan])
    if y[0] == -0.75:
        return np.zeros(0)
    if y[0] == 0.25:
        raise ValueError("a quarter")
    return np.array([x[0] - 2 * y[0]])


def assert_same_memory(one: gp.State, other: gp.State) -> None:
    """The same arrays and the same generator, to the last bit."""
    for name, ours, theirs in zip(one.memory._fields, one.memory, other.memory, strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype), name
        assert ours.tobytes() == theirs.tobytes(), f"{name}:\n{ours}\n{theirs}"
    assert one.arrays.keys() == other.arrays.keys()
    for name in one.arrays:
        assert one.arrays[name].tobytes() == other.arrays[name].tobytes(), name
    assert plain(one.rng.bit_generator.state) == plain(other.rng.bit_generator.state)


def assert_same_state(one: gp.State, other: gp.State) -> None:
    """The same to the last bit, but for the clock."""
    assert_same_memory(one, other)
    assert (one.problem, one.solver) == (other.problem, other.solver)
    assert len(one.marks) == len(other.marks)
    for ours, theirs in zip(one.marks, other.marks, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))
    ours, theirs = gp.Trace(one.rows), gp.Trace(other.rows)
    for column in set(ours) - {"seconds"}:
        np.testing.assert_array_equal(ours[column], theirs[column], err_msg=column)


def plain(value: Any) -> Any:
    """Arrays as lists, so that == compares them."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return value.tolist() if isinstance(value, np.ndarray) else value


@pytest.fixture
def teller() -> type[Teller]:
    return Teller


@pytest.fixture
def same_state() -> Callable[[gp.State, gp.State], None]:
    return assert_same_state


@pytest.fixture
def same_memory() -> Callable[[gp.State, gp.State], None]:
    return assert_same_memory


@pytest.fixture
def schedules() -> dict[str, gp.Power]:
    return dict(SCHEDULES)


@pytest.fixture
def compiled_functions() -> SimpleNamespace:
    """One pair of a user's compiled functions for all tests: a run of each takes seconds to
    compile."""
    return SimpleNamespace(value=compiled_value, y_gradient=compiled_y_gradient)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A state file with everything in it: records, marks, a kept estimate."""
    path = tmp_path / "state.npz"
    solver = gp.ogda_rr(average=gp.Suffix(), step=0.02, radius=0.5)
    gp.solve(GAMES["dense"], solver, epochs=3, seed=7).state.save(path)
    return path

"""Compiles step.c and calls it with a problem and a solver."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np

import gameproof as gp

SOURCE = Path(__file__).with_name("step.c")
COMMAND = ("-O3", "-march=native", "-shared", "-fPIC")
ESTIMATES = {gp.OnePoint: 0, gp.TwoPoint: 1, gp.Envelope: 2}
Number, Whole, Doubles = ctypes.c_double, ctypes.c_int64, ctypes.POINTER(ctypes.c_double)
Wholes, Words = ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_uint64)


class _Problem(ctypes.Structure):
    _fields_ = (
        *((name, Whole) for name in ("n", "d", "n_movable")),
        *((name, Doubles) for name in ("features", "labels")),
        ("movable", Wholes),
        *((name, Number) for name in ("zeta", "slope", "kappa", "cap")),
    )


class _Method(ctypes.Structure):
    _fields_ = (
        *((name, Whole) for name in ("estimate", "optimistic", "epochs")),
        ("gamma_scale", Number),
        *((name, Doubles) for name in ("etas", "radii")),
    )


def compiler() -> str | None:
    """Returns the path of a C compiler, or None."""
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


class Program:
    """step.c, compiled into a folder."""

    def __init__(self, folder: Path) -> None:
        library = folder / "step.so"
        command = [compiler() or "cc", *COMMAND, "-o", str(library), str(SOURCE), "-lm"]
        subprocess.run(command, check=True)
        found = ctypes.CDLL(str(library))
        self._run, self._touch = found.run, found.touch
        self._run.restype, self._touch.restype = None, Number

    def solve(
        self, problem: gp.StrategicProblem, solver: gp.Solver, epochs: int, seed: int
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Returns the averages x and y, and the seconds of the steps alone.

        The problem must have a quadratic cost with one power, the logistic loss, and labels that
        flip one way.
        """
        movable = np.flatnonzero(problem.data.reach)
        etas, radii = solver.by_epoch(0, epochs)
        what = _problem(problem, movable)
        how = _Method(
            ESTIMATES[type(solver.gradient)],
            solver.update.asks_previous,
            epochs,
            solver.scales(problem)[1],
            _doubles(etas),
            _doubles(radii),
        )
        words = _state(np.random.default_rng(seed))
        x, y = problem.start
        began = time.process_time()
        self._run(
            ctypes.byref(what),
            ctypes.byref(how),
            words.ctypes.data_as(Words),
            *map(_doubles, (x, y)),
        )
        return x, y, time.process_time() - began

    def touch(self, problem: gp.StrategicProblem, epochs: int) -> float:
        """Returns the seconds per step of memory access alone."""
        order = np.random.default_rng(0).permutation(problem.n).astype(np.uint32)
        gamma = np.full((problem.n, 3), 0.0)  # written, so that the pages are in memory
        labels = problem.population.y.astype(np.int8)
        what = _problem(problem, np.flatnonzero(problem.data.reach))
        places = order.ctypes.data_as(ctypes.POINTER(ctypes.c_uint32))
        signs = labels.ctypes.data_as(ctypes.POINTER(ctypes.c_int8))
        began = time.process_time()
        for _ in range(epochs):
            self._touch(ctypes.byref(what), places, signs, _doubles(gamma))
        return (time.process_time() - began) / (epochs * problem.n)


def _problem(problem: gp.StrategicProblem, movable: np.ndarray) -> _Problem:
    people = problem.population
    return _Problem(
        problem.n,
        people.d,
        movable.size,
        _doubles(people.X),
        _doubles(people.y),
        movable.ctypes.data_as(Wholes),
        float(np.asarray(people.response.power)),  # type: ignore[attr-defined]
        problem.slope,
        problem.label_cost,
        problem.alpha_max,
    )


def _doubles(array: np.ndarray) -> Any:
    return array.ctypes.data_as(Doubles)


def _state(rng: np.random.Generator) -> np.ndarray:
    """Returns the state and the increment of PCG64, high word first."""
    state = rng.bit_generator.state["state"]
    halves = [divmod(state[name], 2**64) for name in ("state", "inc")]
    return np.array(halves, dtype=np.uint64).ravel()
